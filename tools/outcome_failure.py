"""Whether an object that a tool returned says that the call failed, and in which words."""

import json
import re
from collections.abc import Mapping
from typing import Final

from pydantic import JsonValue

from hansei.tools import outcome_words as words

_HTTP_ERRORS: Final = range(400, 600)

_TELLING: Final = frozenset(
    {
        *words.ERROR_KEYS,
        *words.ERROR_CODE_KEYS,
        *words.CODE_KEYS,
        *words.HTTP_KEYS,
        *words.SUCCESS_KEYS,
        *words.FAILED_COUNT_KEYS,
        *words.FAILED_FLAGS,
        *words.FAULT_KEYS,
        *("fault", "is_error", "iserror", "result", "结果", "status", "状态"),
    }
)
"""Names of fields that can say that a call failed; most results have none of them."""

Fields = Mapping[str, JsonValue]
"""An object by its names in lower case."""


def named(value: Mapping[str, JsonValue]) -> Fields:
    """An object with its names as they are compared."""
    return {key.strip().lower(): item for key, item in value.items()}


def failure(fields: Fields, *, informed: bool) -> str | None:
    """Gives what the object says went wrong, None if it does not say so.

    Args:
        fields: The object.
        informed: It also tells something about what was asked for; then a whole number in a
            field of errors is a count or a deviation.
    """
    return None if _TELLING.isdisjoint(fields) else _failure(fields, informed=informed)


def _failure(fields: Fields, *, informed: bool) -> str | None:
    for key in words.ERROR_KEYS:
        error = fields.get(key)
        if informed and key != "error" and isinstance(error, int):
            continue
        text = _error_text(error)
        if text:
            return text if text != "true" else message(fields) or "the tool reports an error"
    said = message(fields)
    if not informed and (told := _told_alone(fields, said)):
        return told
    if any(says_no(fields.get(key)) for key in words.SUCCESS_KEYS):
        return said or "the tool reports no success"
    if any(_is_set(fields.get(key)) for key in ("is_error", "iserror")):
        return said or "the tool reports an error"
    code = _bad_code(fields, said, informed=informed)
    if code:
        return f"{code} {said}".strip()
    if _none_of_it(fields):
        return said or "nothing of it succeeded"
    state = _bad_state(fields)
    return (said or state) if state else None


def _told_alone(fields: Fields, said: str) -> str:
    """Gives what went wrong in words that beside other fields are content; else empty."""
    fault = "" if succeeded(fields) else _fault(fields)
    if fault:
        return fault if fault != "true" else said or "the tool reports an exception"
    if any(says_yes(fields.get(key)) for key in words.FAILED_FLAGS):
        return said or "failed"
    return (said or "the tool reports no success") if _no_success(fields) else ""


def _bad_state(fields: Fields) -> str:
    """Gives the result or status that says that the call failed; else empty."""
    result = plain(fields.get("result")) or plain(fields.get("结果"))
    if words.ERROR_STATUS.fullmatch(result) and _says_no_more(fields, "result", "结果"):
        return result
    status = plain(fields.get("status")) or plain(fields.get("状态"))
    late = words.TIMEOUT_STATUS.fullmatch(status) and _says_no_more(fields, "status", "状态")
    return status if late or words.ERROR_STATUS.fullmatch(status) else ""


def doubt(fields: Fields, *, informed: bool) -> str:
    """Gives what an object that is no failure tells of one beside what it holds; else empty."""
    fault = _fault(fields)
    if fault:
        return fault if fault != "true" else "exception"
    if any(says_yes(fields.get(key)) for key in words.FAILED_FLAGS):
        return message(fields) or "failed"
    if informed or message(fields):
        return ""
    codes = (_code_text(fields.get(key)) for key in words.ERROR_CODE_KEYS)
    return next((c for c in codes if c and not words.GOOD_CODE.fullmatch(c)), "")


def succeeded(fields: Fields) -> bool:
    """Says whether the object itself says that all went well."""
    return any(says_yes(fields.get(key)) for key in words.SUCCESS_KEYS)


def says_yes(value: JsonValue) -> bool:
    """Says whether a flag is set, also as text; a number is a count and no flag."""
    return value is True or plain(value).lower() in words.YES


def says_no(value: JsonValue) -> bool:
    """Says whether a flag is set to no, also as text; a missing one says nothing."""
    return value is False or plain(value).lower() in words.NO


def message(fields: Fields) -> str:
    """The object's own remark; empty if it has none."""
    return next((t for key in words.REMARK_KEYS if (t := plain(fields.get(key)))), "")


def plain(value: JsonValue) -> str:
    """A text without spaces around it; empty for anything else."""
    return value.strip() if isinstance(value, str) else ""


def _is_set(value: JsonValue) -> bool:
    return says_yes(value) or value in (1, "1")


def _no_success(fields: Fields) -> bool:
    """Whether a flag of success is zero, which beside other counts is one of them."""
    counted = words.COUNT_KEYS.union(words.FAILED_COUNT_KEYS)
    return counted.isdisjoint(fields) and any(
        fields.get(key) in (0, "0") for key in words.SUCCESS_KEYS
    )


def _fault(fields: Fields) -> str:
    """Gives what a field says that tells of a failure or is content; empty if there is none."""
    texts = (_error_text(fields.get(key)) for key in words.FAULT_KEYS)
    fault = fields.get("fault")
    inside = message(named(fault)) if isinstance(fault, dict) else ""
    return next(filter(None, texts), inside)


def _says_no_more(fields: Fields, *told: str) -> bool:
    """Whether an object holds nothing beside these fields but remarks and what is empty."""
    said = {key for key, item in fields.items() if item not in (None, "", [], {})}
    return said <= {*told, *words.REMARK_KEYS, *words.SILENT_KEYS}


def _none_of_it(fields: Fields) -> bool:
    """Whether it counts failures and, beside them, not one success."""
    counts = {key: item for key, item in fields.items() if isinstance(item, int)}
    failed = [counts[key] for key in words.FAILED_COUNT_KEYS if key in counts]
    good = [counts[key] for key in words.GOOD_COUNT_KEYS if key in counts]
    return any(n > 0 and n is not True for n in failed) and bool(good) and not any(good)


def _error_text(error: JsonValue) -> str:
    """Gives the text of an error field; empty if the field says that there was none."""
    if isinstance(error, str):
        said = error.strip()
        return "" if words.NO_ERROR.fullmatch(said) else said
    if isinstance(error, float) or not error:
        return ""  # a fraction is a measured error, not a failure
    if isinstance(error, dict):
        if all(not item or _denies(item) for item in error.values()):
            return ""  # {"code": 0, "message": "ok"}
        return message(error) or _compact(error)
    if isinstance(error, list):
        said_each = (message(e) if isinstance(e, dict) else plain(e) for e in error[:5])
        return "; ".join(filter(None, said_each)) or _compact(error)
    return "true" if error is True else f"error {error}"


def _denies(value: JsonValue) -> bool:
    return isinstance(value, str) and bool(words.NO_ERROR.fullmatch(value.strip()))


def _bad_code(fields: Fields, said: str, *, informed: bool) -> str:
    """Gives the code by which the object says that it failed; empty if there is none."""
    for key in words.HTTP_KEYS:
        code = _whole_number(fields.get(key))
        if code in _HTTP_ERRORS:
            return str(code)
    if succeeded(fields):
        return ""
    # Beside a city's name, 431 is a postal or area code; an HTTP code comes in an envelope.
    in_envelope = words.ENVELOPE_KEYS.issuperset(fields)
    code = _whole_number(fields.get("code"))
    if code in _HTTP_ERRORS and in_envelope:
        return str(code)
    # So do other codes, with a message, and without data that would be worth the call.
    told = any(plain(fields.get(key)) for key in words.CODE_MESSAGE_KEYS)
    if not informed and not message(fields):
        codes = (plain(fields.get(key)) for key in (*words.ERROR_CODE_KEYS, *words.CODE_KEYS))
        return next((code for code in codes if words.FAILED_CODE.fullmatch(code)), "")
    if informed or not told or words.SAYS_DONE.search(said):
        return ""
    named = any(plain(fields.get(key)) for key in words.ERROR_KEYS)
    for key in (*words.ERROR_CODE_KEYS, *words.CODE_KEYS):
        text = _code_text(fields.get(key))
        if not words.GOOD_CODE.fullmatch(text) and words.BAD_CODE.fullmatch(text):
            return text if in_envelope or named or key in words.ERROR_CODE_KEYS else ""
    return ""


def _code_text(value: JsonValue) -> str:
    return str(value) if isinstance(value, int) and not isinstance(value, bool) else plain(value)


def _whole_number(value: JsonValue) -> int | None:
    if isinstance(value, str) and re.fullmatch(r"[0-9]{3}", value):
        return int(value)
    return value if isinstance(value, int) and not isinstance(value, bool) else None


def _compact(value: JsonValue) -> str:
    try:
        return json.dumps(value, ensure_ascii=False)
    except RecursionError:
        return "the error is nested too deeply to show"
