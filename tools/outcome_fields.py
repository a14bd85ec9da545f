"""What the fields of an object that a tool returned tell about what was asked for."""

import math

from pydantic import JsonValue

from hansei.tools import outcome_words as words
from hansei.tools.outcome_failure import Fields, plain


def informed(fields: Fields, *, beside_status: bool = False) -> bool:
    """Says whether any field tells something about what was asked for."""
    return any(
        informs(key, item)
        for key, item in fields.items()
        if not (beside_status and (key in words.STATUS_KEYS or key in words.ENVELOPE_KEYS))
    )


def echoes(fields: Fields) -> set[str]:
    """Names the short texts that beside an empty list only repeat what was asked."""
    return {
        key
        for key, item in fields.items()
        if isinstance(item, str)
        and len(item) <= words.SHORT_TEXT
        and key not in words.STATUS_KEYS
        and key not in words.CONTENT_KEYS
    }


def informs(key: str, value: JsonValue) -> bool:
    """Says whether a field tells something about what was asked for."""
    if key in words.REMARK_KEYS or key in words.SILENT_KEYS:
        return False
    if key in words.FAILED_FLAGS and isinstance(value, bool):
        return False
    if isinstance(value, dict):
        return any(
            name not in words.REMARK_KEYS and not is_blank(item) and not _is_echo(name, item)
            for name, item in value.items()
        )
    if isinstance(value, list):
        return not all(is_blank(item) for item in value)
    if key in words.STATUS_KEYS and isinstance(value, str):
        return not is_blank(value) and not words.GOOD_STATUS.fullmatch(value.strip())
    if key in words.COUNT_KEYS and value == 0:
        return False
    return not is_blank(value) and not _is_echo(key, value)


def is_hollow(value: JsonValue) -> bool:
    """Says whether a container has nothing in it, or only more of nothing."""
    return value == {} or (
        isinstance(value, list) and all(i in (None, [], {}) or is_no_number(i) for i in value)
    )


def is_blank(value: JsonValue) -> bool:
    """Says whether a value is only the place of one: "n/a", a dash, no number."""
    if isinstance(value, str):
        return bool(words.BLANK.fullmatch(value.strip()))
    return value is None or value == [] or value == {} or is_no_number(value)


def is_no_number(value: JsonValue) -> bool:
    """Says whether a value is what a computation gives that has no result."""
    return isinstance(value, float) and math.isnan(value)


def _is_echo(key: str, value: JsonValue) -> bool:
    is_scalar = isinstance(value, (str, int)) and not isinstance(value, bool)
    return is_scalar and bool(words.ECHO_KEY.fullmatch(key))


def status_of(fields: Fields) -> str:
    """The state that the object gives, under whatever name; empty if it gives none."""
    return next((t for key in words.STATUS_KEYS if (t := plain(fields.get(key)))), "")
