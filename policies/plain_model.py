"""A pydantic model that says what is wrong with its values in one sentence."""

from collections.abc import Mapping
from difflib import get_close_matches
from typing import TYPE_CHECKING, Any, Self, cast

from pydantic import BaseModel, JsonValue, ValidationError

from hansei.policies.errors import UserError
from hansei.policies.narrow import as_list, as_mapping

SHOWN = 80
"""Characters of a refused value that are shown: enough to recognise it on one line."""


class PlainModel(BaseModel):
    """Refuses values with a `UserError` of one sentence, where pydantic writes paragraphs.

    `UserError` is a `ValueError`, as pydantic's own error is, so that one `except` catches both.
    """

    @classmethod
    def called(cls) -> str:
        """What a field is called in the sentence.

        A method, since LangGraph makes a key of the state of whatever has an annotation.
        """
        return "field"

    if not TYPE_CHECKING:  # the checkers keep the signature that pydantic makes of the fields

        def __init__(self, /, **values: object) -> None:
            try:
                super().__init__(**values)
            except ValidationError as exc:
                raise _refusal(type(self), exc) from None

    @classmethod
    def model_validate(cls, obj: Any, **options: Any) -> Self:  # noqa: ANN401 - as pydantic has it
        """The model of a mapping or of an instance.

        Raises:
            UserError: A name does not exist, or a value cannot be.
        """
        try:
            return super().model_validate(obj, **options)
        except ValidationError as exc:
            raise _refusal(cls, exc) from None


def did_you_mean(name: str, known: Mapping[str, object] | list[str]) -> str:
    """The part of a sentence that offers the nearest known name, or nothing."""
    near = get_close_matches(name, list(known), n=1)
    return f" (did you mean {near[0]!r}?)" if near else ""


def _refusal(model: type[PlainModel], exc: ValidationError) -> UserError:
    """The first thing that is wrong, as a sentence: which field, which value, what is allowed."""
    first = exc.errors(include_url=False)[0]
    told: object = first.get("ctx", {}).get("error")
    if isinstance(told, UserError):  # said inside the constructor already
        return told
    place = [str(part) for part in first["loc"]]
    # The places inside a union are named after its members, which nobody knows.
    name = place[0] if place else ""
    if first["type"] == "extra_forbidden":
        known = ", ".join(model.model_fields)
        near = did_you_mean(name, list(model.model_fields))
        return UserError(f"There is no {model.called()} {name!r}{near}; there are: {known}.")
    schema = cast("dict[str, JsonValue]", model.model_json_schema())
    allowed = allowed_by(as_mapping(as_mapping(schema["properties"]).get(name)))
    return UserError(
        f"The {model.called()} {name!r} cannot be {first['input']!r:.{SHOWN}}: "
        f"{f'it must be {allowed}' if allowed else first['msg']}."
    )


def allowed_by(schema: Mapping[object, object]) -> str:
    """What a field takes, in words, from its JSON schema; nothing where that would not be short."""
    choices = [allowed_by(as_mapping(each)) for each in as_list(schema.get("anyOf"))]
    if choices:
        return ", or ".join(choices) if all(choices) else ""
    if "enum" in schema:
        return f"one of {', '.join(str(each) for each in as_list(schema['enum']))}"
    kinds = {
        "integer": "a whole number",
        "number": "a number",
        "boolean": "True or False",
        "string": "text",
        "array": "a list",
        "null": "None",
    }
    kind = kinds.get(str(schema.get("type")), "")
    if kind and "minimum" in schema:
        return f"{kind}, {schema['minimum']} or more"
    if kind and "exclusiveMinimum" in schema:
        return f"{kind} above {schema['exclusiveMinimum']}"
    return kind
