"""Plain values from outside, narrowed to types that a checker can follow."""

from collections.abc import Mapping
from typing import cast


def as_mapping(value: object) -> Mapping[object, object]:
    """The value if it is a mapping, else an empty one."""
    return cast("Mapping[object, object]", value) if isinstance(value, Mapping) else {}


def as_list(value: object) -> list[object]:
    """The value if it is a list, else an empty one."""
    return cast("list[object]", value) if isinstance(value, list) else []
