"""What came back from a tool, decided by its shape.

A structure speaks for itself: an error field, a status, an empty list. Only what stands
at the top of it counts, since a page that was read may well be about errors. Words in
plain text are the last resort, and only where they are the whole text or start it.
"""

import json
import re
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from enum import StrEnum
from typing import Final, TypeAlias, cast

import json_repair
from pydantic import JsonValue

from hansei.tools import outcome_words as words

JsonObject: TypeAlias = dict[str, JsonValue]

_LONGEST_REASON: Final = 200
"""Characters of a reason: one phrase in a prompt or a report."""

_LONGEST_REPR: Final = 20_000
"""Characters of Python notation that is read as data; longer is taken as plain text."""

_HTTP_ERRORS: Final = range(400, 600)


class OutcomeStatus(StrEnum):
    """What a tool's answer amounts to."""

    OK = "ok"
    """It holds something."""
    ERROR = "error"
    """The tool says that it failed, or it raised."""
    NOT_FOUND = "not_found"
    """It worked, and what was asked for does not exist."""
    EMPTY = "empty"
    """It worked, and there is nothing in it."""
    SHELL = "shell"
    """Well-formed, but it only says that the data is still on its way."""
    REFUSED = "refused"
    """The call was not made; set by whoever refused it, never read from an output."""


@dataclass(frozen=True, slots=True)
class ToolOutcome:
    """A tool's answer as a status, and why, in the tool's own words."""

    status: OutcomeStatus
    reason: str = ""
    """One plain phrase, at most 200 characters; empty when the status is `ok`."""


_OK: Final = ToolOutcome(OutcomeStatus.OK)


def read_outcome(output: str, *, raised: bool = False, tool_error: bool = False) -> ToolOutcome:
    """Reads what `output` amounts to. Never raises, whatever the text is.

    Args:
        output: What the tool returned, as text.
        raised: The tool raised; `output` is the exception's text.
        tool_error: The tool's protocol marked the answer as an error.
    """
    if raised or tool_error:
        return _outcome(OutcomeStatus.ERROR, output or "the tool failed and said nothing")
    value = _decoded(output)
    if isinstance(value, str):
        return _of_text(value)
    if isinstance(value, dict):
        return _of_object(value)
    if value is None or value == []:
        return _outcome(OutcomeStatus.EMPTY, "the tool returned nothing")
    return _OK


def _decoded(output: str) -> JsonValue:
    """Gives the data that `output` is written in, or `output` itself as text."""
    text = output.strip()
    try:
        return cast("JsonValue", json.loads(text, strict=False))
    except (ValueError, RecursionError):
        pass  # not JSON: an ordinary case, the text itself is the answer
    if text.startswith("{'") and text.endswith("}") and len(text) <= _LONGEST_REPR:
        # A dict that somebody put through str().
        try:
            value = cast("JsonValue", json_repair.loads(text, skip_json_loads=True))
        except (ValueError, RecursionError):
            return text  # nested too deeply for the repair
        return value if isinstance(value, dict) else text
    return text


def _of_object(value: JsonObject) -> ToolOutcome:
    fields = {key.strip().lower(): item for key, item in value.items()}
    failure = _failure(fields)
    if failure is not None:
        missing = words.NOT_FOUND.search(failure) or fields.get("found") is False
        return _outcome(OutcomeStatus.NOT_FOUND if missing else OutcomeStatus.ERROR, failure)
    status = _status(fields)
    if fields.get("found") is False or words.NOT_FOUND_STATUS.fullmatch(status):
        return _outcome(OutcomeStatus.NOT_FOUND, _message(fields) or status or "not found")
    inner = _unwrapped(fields)
    return _shell(inner) or _nothing(inner, acknowledged=_is_acknowledged(fields)) or _OK


def _failure(fields: Mapping[str, JsonValue]) -> str | None:
    """Gives what the object says went wrong, None if it does not say so."""
    for key in words.ERROR_KEYS:
        text = _error_text(fields.get(key))
        if text:
            return text if text != "true" else _message(fields) or "the tool reports an error"
    message = _message(fields)
    if any(fields.get(key) is False for key in words.SUCCESS_KEYS):
        return message or "the tool reports no success"
    if any(fields.get(key) is True for key in ("is_error", "iserror")):
        return message or "the tool reports an error"
    code = _http_error(fields)
    if code is not None:
        return f"{code} {message}".strip()
    status = _plain(fields.get("status")) or _plain(fields.get("状态"))
    if words.ERROR_STATUS.fullmatch(status):
        return message or status
    return None


def _error_text(error: JsonValue) -> str:
    """Gives the text of an error field; empty if the field says that there was none."""
    if isinstance(error, str):
        return "" if words.NO_ERROR.fullmatch(error.strip()) else error.strip()
    if isinstance(error, float) or not error:
        return ""  # a fraction is a measured error, not a failure
    if isinstance(error, dict):
        return _message(error) or _compact(error)
    if isinstance(error, list):
        said = (_message(e) if isinstance(e, dict) else _plain(e) for e in error[:5])
        return "; ".join(filter(None, said)) or _compact(error)
    return "true" if error is True else f"error {error}"


def _http_error(fields: Mapping[str, JsonValue]) -> int | None:
    for key in words.HTTP_KEYS:
        code = _whole_number(fields.get(key))
        if code in _HTTP_ERRORS:
            return code
    code = _whole_number(fields.get("code"))
    succeeded = any(fields.get(key) is True for key in words.SUCCESS_KEYS)
    # Beside a city's name, 431 is a postal or area code; an HTTP code comes in an envelope.
    if code in _HTTP_ERRORS and not succeeded and words.ENVELOPE_KEYS.issuperset(fields):
        return code
    return None


def _whole_number(value: JsonValue) -> int | None:
    if isinstance(value, str) and re.fullmatch(r"[0-9]{3}", value):
        return int(value)
    return value if isinstance(value, int) and not isinstance(value, bool) else None


def _unwrapped(fields: Mapping[str, JsonValue]) -> Mapping[str, JsonValue]:
    """Looks through an envelope (`{"code": 0, "data": {…}}`), which says nothing itself."""
    inside = [item for key in words.WRAPPER_KEYS if isinstance(item := fields.get(key), dict)]
    if len(inside) != 1 or not words.ENVELOPE_KEYS.issuperset(fields) or not inside[0]:
        return fields
    return {key.strip().lower(): item for key, item in inside[0].items()}


def _shell(fields: Mapping[str, JsonValue]) -> ToolOutcome | None:
    status = _status(fields)
    if words.is_on_its_way(status):
        return _outcome(OutcomeStatus.SHELL, status)
    ambiguous = bool(words.AMBIGUOUS_STATUS.fullmatch(status))
    told = [key for key, item in fields.items() if _informs(key, item)]
    if any(not (ambiguous and key in words.STATUS_KEYS) for key in told):
        return None
    if ambiguous:
        return _outcome(OutcomeStatus.SHELL, status)
    remark = _message(fields)
    if len(remark) < words.SHORT_TEXT and words.COME_BACK.search(remark):
        return _outcome(OutcomeStatus.SHELL, remark)
    return None


def _nothing(fields: Mapping[str, JsonValue], *, acknowledged: bool) -> ToolOutcome | None:
    """Says whether the object holds nothing; "done", with no data to give, is something."""
    informing = {key for key, item in fields.items() if _informs(key, item)}
    hollow = any(fields.get(key, 0) in ([], {}) for key in words.CONTAINER_KEYS)
    if not informing.issubset(_echoes(fields) if hollow else ()):
        return None
    remark = _message(fields)
    if words.NOT_FOUND_TEXT.fullmatch(remark):
        return _outcome(OutcomeStatus.NOT_FOUND, remark)
    all_blank = all(key in words.REMARK_KEYS or _is_blank(item) for key, item in fields.items())
    says_nothing = not remark or bool(words.NOTHING_TEXT.fullmatch(remark))
    if hollow or (all_blank and says_nothing and not acknowledged):
        return _outcome(OutcomeStatus.EMPTY, remark or "there is nothing in the result")
    return None


def _echoes(fields: Mapping[str, JsonValue]) -> set[str]:
    """Names the short texts that beside an empty list only repeat what was asked."""
    return {
        key
        for key, item in fields.items()
        if isinstance(item, str)
        and len(item) <= words.SHORT_TEXT
        and key not in words.STATUS_KEYS
        and key not in words.CONTENT_KEYS
    }


def _informs(key: str, value: JsonValue) -> bool:
    """Says whether a field tells something about what was asked for."""
    if key in words.REMARK_KEYS or key in words.SILENT_KEYS:
        return False
    if isinstance(value, dict):
        return any(
            name not in words.REMARK_KEYS and not _is_blank(item) and not _is_echo(name, item)
            for name, item in value.items()
        )
    if isinstance(value, list):
        return not all(_is_blank(item) for item in value)
    if key in words.STATUS_KEYS and isinstance(value, str):
        return not _is_blank(value) and not words.GOOD_STATUS.fullmatch(value.strip())
    if key in words.COUNT_KEYS and value == 0:
        return False
    return not _is_blank(value) and not _is_echo(key, value)


def _is_blank(value: JsonValue) -> bool:
    if isinstance(value, str):
        return bool(words.BLANK.fullmatch(value.strip()))
    return value is None or value == [] or value == {}


def _is_echo(key: str, value: JsonValue) -> bool:
    is_scalar = isinstance(value, (str, int)) and not isinstance(value, bool)
    return is_scalar and bool(words.ECHO_KEY.fullmatch(key))


def _is_acknowledged(fields: Mapping[str, JsonValue]) -> bool:
    return (
        any(fields.get(key) is True for key in words.SUCCESS_KEYS)
        or fields.get("code") in (0, 200, "0", "200")
        or any(words.GOOD_STATUS.fullmatch(t) for t in (_status(fields), _message(fields)) if t)
    )


def _status(fields: Mapping[str, JsonValue]) -> str:
    return next((t for key in words.STATUS_KEYS if (t := _plain(fields.get(key)))), "")


def _message(fields: Mapping[str, JsonValue]) -> str:
    return next((t for key in words.REMARK_KEYS if (t := _plain(fields.get(key)))), "")


def _plain(value: JsonValue) -> str:
    return value.strip() if isinstance(value, str) else ""


def _compact(value: JsonValue) -> str:
    try:
        return json.dumps(value, ensure_ascii=False)
    except RecursionError:
        return "the error is nested too deeply to show"


_TEXT_RULES: Final[tuple[tuple[Callable[[str], object], OutcomeStatus], ...]] = (
    (words.NOTHING_TEXT.fullmatch, OutcomeStatus.EMPTY),
    (words.NOT_FOUND_TEXT.fullmatch, OutcomeStatus.NOT_FOUND),
    (words.is_on_its_way, OutcomeStatus.SHELL),
    (words.AMBIGUOUS_STATUS.fullmatch, OutcomeStatus.SHELL),
)


def _of_text(output: str) -> ToolOutcome:
    text = output.strip()
    if not text:
        return _outcome(OutcomeStatus.EMPTY, "the tool returned nothing")
    if words.ERROR_TEXT.match(text):
        return _outcome(OutcomeStatus.ERROR, text)
    if len(text) < words.SHORT_TEXT:
        for says, status in _TEXT_RULES:
            if says(text):
                return _outcome(status, text)
    return _OK


def _outcome(status: OutcomeStatus, reason: str) -> ToolOutcome:
    head = reason[: 4 * _LONGEST_REASON].encode("utf-8", "replace").decode("utf-8")
    plain = " ".join("".join(c if c.isprintable() else " " for c in head).split())
    return ToolOutcome(status, plain[:_LONGEST_REASON])
