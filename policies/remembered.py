"""Readings of short texts that are kept: the rules ask the same of a step's few lines again."""

from collections.abc import Callable
from functools import lru_cache, wraps
from typing import Final, TypeVar

R = TypeVar("R")

SHORT: Final = 1000
"""Characters of a text that is kept: a step with its result, not the output of a tool."""

_KEPT: Final = 256
"""Texts that are kept for each reader: those of some plans, a quarter of a megabyte at most."""


def remembered(read: Callable[[str], R]) -> Callable[[str], R]:
    """Read a short text once.

    Args:
        read: Depends on nothing but the text, and gives what nobody can change.
    """
    kept = lru_cache(maxsize=_KEPT)(read)

    @wraps(read)
    def reader(text: str) -> R:
        return kept(text) if len(text) <= SHORT else read(text)

    return reader
