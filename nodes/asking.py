"""Structured replies: ask by schema, read tolerantly, repair once, else say that it failed."""

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Generic, TypeVar

from langchain_core.messages import AIMessage, BaseMessage, HumanMessage
from pydantic import BaseModel, JsonValue

from hansei.nodes.effects import Body, ModelCall, ask_model
from hansei.nodes.prompting import block
from hansei.policies.own_words import in_language
from hansei.policies.reading import Unreadable, read_object, strip_thinking
from hansei.policies.words import Language, Role

T = TypeVar("T", bound=BaseModel)

SHOWN_BACK = 2000
"""Characters of a reply that cannot be used, shown back in the repair request."""

KEPT = 500
"""Characters of each such reply that are kept for the record: enough to see what went wrong."""


@dataclass(frozen=True, slots=True)
class Asked(Generic[T]):
    """A structured reply, or why there is none."""

    value: T | None = None
    problems: Sequence[str] = ()
    """What is still wrong with `value`, or why nothing could be read."""
    raw: str = ""
    """The replies so far, each shortened, one a line."""
    failure: str = ""
    advice: str = ""
    """What to do about the failure."""
    refused: str = ""

    @property
    def reason(self) -> str:
        """Why there is no usable value, in plain words."""
        return self.failure or self.refused or "; ".join(self.problems)


def closed_schema(
    model: type[BaseModel],
    *,
    title: str,
    fields: Mapping[str, JsonValue] | None = None,
    omit: frozenset[str] = frozenset(),
    most: Mapping[str, int] | None = None,
) -> dict[str, JsonValue]:
    """The model's JSON schema with every field required and nothing else allowed.

    Args:
        model: What the reply is read into; it may be more tolerant than the schema.
        title: Name of the schema, which function calling uses as the function's.
        fields: Narrower schemas of fields, by the field's name, wherever it occurs.
        omit: Fields that are not asked for.
        most: The most items of a list at the top of the reply.
    """
    schema: dict[str, JsonValue] = model.model_json_schema(by_alias=False)
    closed = _close(schema, fields or {}, omit)
    if not isinstance(closed, dict):
        raise TypeError(type(closed))
    properties = closed.get("properties")
    for name, limit in (most or {}).items():
        field = properties.get(name) if isinstance(properties, dict) else None
        if isinstance(field, dict):
            field["maxItems"] = limit
    return {**closed, "title": title, "description": f"The reply of the {title}."}


def _close(node: JsonValue, fields: Mapping[str, JsonValue], omit: frozenset[str]) -> JsonValue:
    if isinstance(node, list):
        return [_close(item, fields, omit) for item in node]
    if not isinstance(node, dict):
        return node
    # What a class says of itself is for those who read the code; a model needs none of it.
    kept = {k: v for k, v in node.items() if k not in {"title", "default"} and not _is_doc(node, k)}
    fixed = {key: _close(value, fields, omit) for key, value in kept.items()}
    properties = fixed.get("properties")
    if isinstance(properties, dict):
        properties = {
            name: fields.get(name, value) for name, value in properties.items() if name not in omit
        }
        fixed["properties"] = properties
        fixed["required"] = list(properties)
        fixed["additionalProperties"] = False
    return fixed


def _is_doc(node: Mapping[str, JsonValue], key: str) -> bool:
    """Whether it is the docstring of a class, and not the field of that name."""
    return key == "description" and isinstance(node[key], str)


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
    foreign: Sequence[str] = (),
    step: int | None = None,
) -> Body[Asked[T]]:
    """Ask for one structured reply, with at most `repairs` more requests for a usable one.

    Args:
        role: Who asks.
        messages: The prompt.
        model: What the reply is read into.
        schema: Its JSON schema, for the endpoint.
        repairs: Repair requests; unreadable replies and findings of `check` share them.
        language: Language of the repair request, and of what is told of a reply.
        check: What is wrong with a reply that could be read.
        last_resort: Reads a value out of prose that holds no JSON, without guessing.
        foreign: Texts of others in the prompt; what is copied out of them is no reply.
        step: The step it is about, for traces.
    """
    asked: Asked[T] = Asked()
    best: Asked[T] = Asked()
    talk = list(messages)
    for left in range(repairs, -1, -1):
        call = ModelCall(
            role=role, messages=talk, schema=schema, repair=len(talk) > len(messages), step=step
        )
        reply = yield from ask_model(call)
        if reply.failure or reply.refused:
            # A reply that could be read, if not fully used, is better than none.
            if best.value is not None:
                return replace(best, refused=reply.refused)
            return Asked(
                failure=reply.failure, advice=reply.advice, refused=reply.refused, raw=asked.raw
            )
        raw = "\n".join(part for part in (asked.raw, reply.text[:KEPT]) if part)
        text = strip_thinking(reply.text)
        value = read_object(reply.text, model, truncated=reply.truncated, foreign=foreign)
        if isinstance(value, Unreadable):
            rescued = None if reply.truncated else last_resort(text)
            if rescued is not None:
                return Asked(value=rescued, raw=raw)
            asked = Asked(problems=[in_language(value.reason, language)], raw=raw)
        else:
            problems = [in_language(item, language) for item in check(value)]
            now = Asked(value=value, problems=problems, raw=raw)
            if not problems:
                return now
            # A repaired reply may be worse than the first, so the better one is kept.
            best = now if best.value is None or len(problems) < len(best.problems) else best
            asked = now
        if left:
            fields = ", ".join(model.model_fields)
            repair = block("repair", "user", language, problems=list(asked.problems), fields=fields)
            talk = [
                *messages,
                AIMessage(content=text[:SHOWN_BACK] or "(empty)"),
                HumanMessage(content=repair),
            ]
    return asked if best.value is None else best
