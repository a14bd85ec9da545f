"""Structured replies: ask by schema, read tolerantly, repair once, else say that it failed."""

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Generic, TypeVar

from langchain_core.messages import AIMessage, BaseMessage, HumanMessage
from pydantic import BaseModel, JsonValue

from hansei.nodes.effects import Body, ModelCall, ask_model
from hansei.nodes.prompting import block
from hansei.policies.reading import Unreadable, read_object, strip_thinking
from hansei.policies.words import Language, Role

T = TypeVar("T", bound=BaseModel)

SHOWN_BACK = 2000
"""Characters of a reply that cannot be used, shown back in the repair request."""


@dataclass(frozen=True, slots=True)
class Asked(Generic[T]):
    """A structured reply, or why there is none."""

    value: T | None = None
    problems: Sequence[str] = ()
    """What is still wrong with `value`, or why nothing could be read."""
    raw: str = ""
    failure: str = ""
    refused: str = ""

    @property
    def reason(self) -> str:
        """Why there is no usable value, in plain words."""
        return self.failure or self.refused or "; ".join(self.problems)


def closed_schema(
    model: type[BaseModel], *, title: str, enums: dict[str, list[JsonValue]] | None = None
) -> dict[str, JsonValue]:
    """The model's JSON schema with every field required, nothing else allowed, enums closed.

    Args:
        model: What the reply is read into.
        title: Name of the schema, which function calling uses as the function's.
        enums: Values allowed for a field, by the field's name, wherever it occurs.
    """
    schema: dict[str, JsonValue] = model.model_json_schema(by_alias=False)
    closed = _close(schema, enums or {})
    if not isinstance(closed, dict):
        raise TypeError(type(closed))
    return {**closed, "title": title, "description": f"The reply of the {title}."}


def _close(node: JsonValue, enums: dict[str, list[JsonValue]]) -> JsonValue:
    if isinstance(node, list):
        return [_close(item, enums) for item in node]
    if not isinstance(node, dict):
        return node
    fixed = {
        key: _close(value, enums) for key, value in node.items() if key not in {"title", "default"}
    }
    properties = fixed.get("properties")
    if isinstance(properties, dict):
        for name, values in enums.items():
            if name in properties:
                properties[name] = {"enum": list(values)}
        fixed["required"] = list(properties)
        fixed["additionalProperties"] = False
    return fixed


def ask_structured(
    role: Role,
    messages: Sequence[BaseMessage],
    model: type[T],
    schema: dict[str, JsonValue],
    *,
    repairs: int,
    language: Language,
    check: Callable[[T], Sequence[str]] = lambda _: (),
    last_resort: Callable[[str], T | None] = lambda _: None,
) -> Body[Asked[T]]:
    """Ask for one structured reply, with at most `repairs` more requests for a usable one.

    Args:
        role: Who asks.
        messages: The prompt.
        model: What the reply is read into.
        schema: Its JSON schema, for the endpoint.
        repairs: Repair requests; unreadable replies and findings of `check` share them.
        language: Language of the repair request.
        check: What is wrong with a reply that could be read.
        last_resort: Reads a value out of prose that holds no JSON, without guessing.
    """
    asked: Asked[T] = Asked()
    talk = list(messages)
    for left in range(repairs, -1, -1):
        reply = yield from ask_model(ModelCall(role=role, messages=talk, schema=schema))
        if reply.failure or reply.refused:
            # A reply that could be read, if not fully used, is better than none.
            if asked.value is not None:
                return asked
            return Asked(failure=reply.failure, refused=reply.refused, raw=asked.raw or reply.text)
        text = strip_thinking(reply.text)
        value = read_object(reply.text, model, truncated=reply.truncated)
        if isinstance(value, Unreadable):
            rescued = None if reply.truncated else last_resort(text)
            if rescued is not None:
                return Asked(value=rescued, raw=reply.text)
            asked = Asked(problems=[value.reason], raw=reply.text, value=asked.value)
        else:
            problems = list(check(value))
            asked = Asked(value=value, problems=problems, raw=reply.text)
            if not problems:
                return asked
        if left:
            fields = ", ".join(model.model_fields)
            repair = block("repair", "user", language, problems=list(asked.problems), fields=fields)
            talk = [
                *messages,
                AIMessage(content=text[:SHOWN_BACK] or "(empty)"),
                HumanMessage(content=repair),
            ]
    return asked
