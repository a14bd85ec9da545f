"""Compares a tool call's arguments with the tool's JSON schema, before anything runs."""

from collections.abc import Mapping
from typing import Final, TypeAlias, cast

from pydantic import JsonValue, ValidationError
from pydantic_core import CoreSchema, SchemaError, SchemaValidator, core_schema

ToolSchema: TypeAlias = Mapping[str, JsonValue]
"""The JSON schema of a tool's arguments."""

_DEEPEST: Final = 16
"""Levels of a schema that are checked; a schema that refers to itself ends here."""


def fitting_arguments(
    args: Mapping[str, JsonValue], schema: ToolSchema, *, text_only: bool = False
) -> dict[str, JsonValue] | None:
    """Gives the arguments as the schema wants them, None if they do not fit.

    Names, presence and types are compared; ranges and patterns are left to the tool,
    whose own message tells the model more. A number where text is wanted becomes text.

    Args:
        args: The arguments by name.
        schema: The JSON schema of the arguments. Unknown names are refused unless it
            has `additionalProperties`.
        text_only: The arguments come from markup that has no types, so text that reads
            as a number or a truth value counts as one where the schema wants it.
    """
    try:
        validator = SchemaValidator(_Types(schema, text_only=text_only).of(schema, top=True))
        return cast("dict[str, JsonValue]", validator.validate_python(dict(args)))
    except (ValidationError, SchemaError, RecursionError):
        return None


class _Types:
    """Turns a JSON schema into pydantic's own, as far as names, presence and types go."""

    def __init__(self, root: ToolSchema, *, text_only: bool) -> None:
        self._root = root
        self._text_only = text_only

    def of(
        self, schema: JsonValue | ToolSchema, depth: int = 0, *, top: bool = False
    ) -> CoreSchema:
        if not isinstance(schema, Mapping) or depth > _DEEPEST:
            return core_schema.any_schema()
        reference = schema.get("$ref")
        if isinstance(reference, str):
            return self.of(self._referred(reference), depth + 1, top=top)
        if "const" in schema:
            return core_schema.literal_schema([schema["const"]])
        allowed = schema.get("enum")
        if isinstance(allowed, list) and allowed:
            return core_schema.literal_schema(allowed)
        for key in ("anyOf", "oneOf"):
            choices = schema.get(key)
            if isinstance(choices, list) and choices:
                return self._any_of(choices, depth)
        whole = schema.get("allOf")
        if isinstance(whole, list) and len(whole) == 1:
            return self.of(whole[0], depth + 1, top=top)
        kind = schema.get("type", "object" if top or "properties" in schema else None)
        if isinstance(kind, list):
            return self._any_of([{**schema, "type": one} for one in kind], depth)
        return self._of_kind(kind, schema, depth, top=top)

    def _any_of(self, choices: list[JsonValue], depth: int) -> CoreSchema:
        options: list[CoreSchema | tuple[CoreSchema, str]] = [
            self.of(choice, depth + 1) for choice in choices
        ]
        return core_schema.union_schema(options) if options else core_schema.any_schema()

    def _of_kind(self, kind: JsonValue, schema: ToolSchema, depth: int, *, top: bool) -> CoreSchema:
        strict = not self._text_only
        if kind == "string":
            return core_schema.str_schema(coerce_numbers_to_str=True)
        if kind == "integer":
            return core_schema.int_schema(strict=strict)
        if kind == "number":
            whole = core_schema.int_schema(strict=True)
            return core_schema.union_schema([whole, core_schema.float_schema(strict=strict)])
        if kind == "boolean":
            return core_schema.bool_schema(strict=strict)
        if kind == "null":
            return core_schema.none_schema()
        if kind == "array":
            return core_schema.list_schema(self.of(schema.get("items"), depth + 1), strict=True)
        if kind == "object":
            return self._object(schema, depth, top=top)
        return core_schema.any_schema()

    def _object(self, schema: ToolSchema, depth: int, *, top: bool) -> CoreSchema:
        properties = schema.get("properties")
        if not isinstance(properties, dict):
            if not top:
                return core_schema.dict_schema(core_schema.str_schema(), strict=True)
            properties = {}
        required = schema.get("required")
        needed = [key for key in required if key] if isinstance(required, list) else []
        fields = {
            key: core_schema.typed_dict_field(self.of(value, depth + 1), required=key in needed)
            for key, value in properties.items()
        }
        more = schema.get("additionalProperties", False)
        return core_schema.typed_dict_schema(
            fields, extra_behavior="forbid" if more is False else "allow", strict=True
        )

    def _referred(self, reference: str) -> JsonValue | ToolSchema:
        place: JsonValue | ToolSchema = self._root
        for part in reference.removeprefix("#").split("/")[1:]:
            if not isinstance(place, Mapping) or part not in place:
                return None
            place = place[part]
        return place
