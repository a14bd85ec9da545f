"""The arguments of a call as its tool gets them, and not as a model has written them.

A tool drops what it does not know, fills in what is left out, and reads a number that is written as
text. So one refund can be asked for in many ways, and must not be made once for each.
"""

import json
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from inspect import Parameter, signature
from typing import TypeGuard, cast

from langchain_core.tools import BaseTool
from pydantic import AliasChoices, AliasPath, BaseModel, JsonValue, ValidationError
from pydantic.fields import FieldInfo

from hansei.policies.provenance import canonical
from hansei.policies.records import ToolCall
from hansei.policies.rounds import arguments

_OPEN = frozenset({"patternProperties", "$ref", "allOf", "anyOf", "oneOf", "not", "if"})
"""Words of a JSON schema after which its properties alone do not say what may be given."""


_RUN = "_run"
"""What LangChain calls a tool by."""


@dataclass(frozen=True, slots=True)
class _Reading:
    """The arguments of one call: what the tool gets for each, and how it was written."""

    by_model: bool
    values: Mapping[str, object]
    written: Mapping[str, str] = field(default_factory=dict[str, str])


class ToolArguments:
    """Reads the arguments of calls, each call once."""

    def __init__(
        self, tools: Mapping[str, BaseTool], schemas: Mapping[str, dict[str, JsonValue]]
    ) -> None:
        """Read for these tools.

        Args:
            tools: The tools by name.
            schemas: JSON schema of each tool's arguments.
        """
        self._tools = tools
        self._schemas = schemas
        self._readings: dict[tuple[str, str], _Reading] = {}

    def same(self, one: ToolCall, other: ToolCall) -> bool:
        """Whether two calls hand the same to the same tool."""
        if one.name != other.name or one.name not in self._tools:
            return False
        return one.args == other.args or _equal(self._reading(one), self._reading(other))

    def unknown(self, call: ToolCall) -> str:
        """What to tell a model that gave arguments the tool does not have; empty: it gave none."""
        tool, schema = self._tools[call.name], self._schemas[call.name]
        if _takes_more(tool, schema):
            return ""
        known = _names(tool, schema)
        odd = [name for name in arguments(call) if name not in known]
        if not odd:
            return ""
        listed = ", ".join(_properties(schema)) or "none"
        return f"not run: {call.name} has no argument {', '.join(odd)}; its arguments: {listed}"

    def _reading(self, call: ToolCall) -> _Reading:
        place = (call.name, call.args)
        if place not in self._readings:
            self._readings[place] = self._read(call)
        return self._readings[place]

    def _read(self, call: ToolCall) -> _Reading:
        tool, schema, args = self._tools[call.name], self._schemas[call.name], arguments(call)
        model = _model_of(tool)
        if model is not None and not set(model.model_fields) <= _names(tool, schema):
            shown: object = tool.tool_call_schema  # what is injected stands in no call
            model = shown if _is_model(shown) else None
        read = None if model is None else _read_by_model(model, args)
        if read is not None:
            return read
        defaults = {
            name: about["default"]
            for name, about in _properties(schema).items()
            if isinstance(about, Mapping) and "default" in about
        }
        return _Reading(by_model=False, values={**defaults, **args})


def is_refused(tool: BaseTool, args: Mapping[str, JsonValue]) -> bool:
    """Whether the tool's own validation refuses arguments, so that a call of it does not begin.

    What is missing because it is injected later is no reason; in doubt it is not refused.
    """
    model = _model_of(tool)
    if model is None:
        return False
    try:
        model.model_validate(json.loads(canonical(args)))
    except ValidationError as exc:
        shown: object = tool.tool_call_schema
        seen = set(shown.model_fields) if _is_model(shown) else set[str]()
        hidden = {
            name
            for key, info in model.model_fields.items()
            if key not in seen
            for name in (key, *_aliases(info))
        }
        return not hidden or any(e["loc"] and e["loc"][0] not in hidden for e in exc.errors())
    except Exception:  # noqa: BLE001 - a validator of the user's may raise anything
        return False
    return False


def _read_by_model(model: type[BaseModel], args: Mapping[str, JsonValue]) -> _Reading | None:
    """What a tool gets from its own model; `None` where that refuses the arguments."""
    try:
        read = model.model_validate(json.loads(canonical(args)))
    except Exception:  # noqa: BLE001 - a validator of the user's may raise anything
        return None
    # A value that is made anew for each call tells no two calls apart.
    kept = [
        name
        for name, info in model.model_fields.items()
        if name in read.model_fields_set or info.default_factory is None
    ]
    values: dict[str, object] = {name: getattr(read, name) for name in kept}
    written: dict[str, str] = {}
    for name in kept:
        for key in (name, *_aliases(model.model_fields[name])):
            if key in args:
                written[name] = canonical({"": args[key]})
    return _Reading(by_model=True, values={**values, **(read.model_extra or {})}, written=written)


def _equal(one: _Reading, other: _Reading) -> bool:
    return (
        one.by_model == other.by_model
        and one.values.keys() == other.values.keys()
        and all(
            (name in one.written and one.written[name] == other.written.get(name))
            or _alike(value, other.values[name])
            for name, value in one.values.items()
        )
    )


def _alike(one: object, other: object) -> bool:
    """Whether two values are the same to a tool: 1 and 1.0 are, 1 and true are not."""
    if _is_number(one) and _is_number(other):
        return one == other
    if type(one) is not type(other):
        return False
    if isinstance(one, BaseModel):
        return _alike(dict(one), dict(cast("BaseModel", other)))
    if isinstance(one, Mapping):
        left = cast("Mapping[object, object]", one)
        right = cast("Mapping[object, object]", other)
        return left.keys() == right.keys() and all(_alike(left[k], right[k]) for k in left)
    if isinstance(one, list | tuple):
        items, others = cast("Sequence[object]", one), cast("Sequence[object]", other)
        return len(items) == len(others) and all(map(_alike, items, others))
    try:
        return bool(one == other)
    except Exception:  # noqa: BLE001 - arrays and the like have no plain answer
        return False


def _is_number(value: object) -> bool:
    return isinstance(value, int | float) and not isinstance(value, bool)


def _takes_more(tool: BaseTool, schema: Mapping[str, JsonValue]) -> bool:
    """Whether a tool gets arguments that its schema does not name."""
    own: object = tool.args_schema
    if isinstance(own, dict):
        known = isinstance(own.get("properties"), Mapping)
        return not known or _allows_more(own) or bool(_OPEN & own.keys())
    if own is None:  # nothing is checked before the tool is called
        run: object = getattr(tool, _RUN)
        given = signature(run).parameters.values() if callable(run) else ()
        return any(one.kind is Parameter.VAR_KEYWORD for one in given)
    allowed = _is_model(own) and own.model_config.get("extra") == "allow"
    return allowed or _allows_more(schema)


def _allows_more(schema: Mapping[str, JsonValue]) -> bool:
    return schema.get("additionalProperties", False) is not False


def _names(tool: BaseTool, schema: Mapping[str, JsonValue]) -> set[str]:
    """All names under which a tool takes the arguments that its schema shows."""
    shown = set(_properties(schema))
    model = _model_of(tool)
    fields = {} if model is None else model.model_fields
    for key, info in fields.items():
        every = {key, *_aliases(info)}
        shown |= every if every & shown else set[str]()
    return shown


def _aliases(info: FieldInfo) -> list[str]:
    found: list[str] = []
    for one in (info.alias, info.validation_alias):
        choices = one.choices if isinstance(one, AliasChoices) else [one]
        for choice in choices:
            first = choice.path[0] if isinstance(choice, AliasPath) else choice
            found += [first] if isinstance(first, str) else []
    return found


def _properties(schema: Mapping[str, JsonValue]) -> Mapping[str, JsonValue]:
    found = schema.get("properties")
    return found if isinstance(found, dict) else {}


def _model_of(tool: BaseTool) -> type[BaseModel] | None:
    schema: object = tool.args_schema
    return schema if _is_model(schema) else None


def _is_model(schema: object) -> TypeGuard[type[BaseModel]]:
    return isinstance(schema, type) and issubclass(schema, BaseModel)
