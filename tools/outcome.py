"""What came back from a tool, decided by its shape.

A structure speaks for itself: an error field, a status, an empty list. Only what stands
at the top of it counts, since a page that was read may well be about errors. Words in
plain text are the last resort, and only where they are the whole text or start it.
"""

from collections.abc import Callable
from dataclasses import dataclass
from enum import StrEnum
from typing import Final, TypeAlias

from pydantic import JsonValue

from hansei.tools import outcome_words as words
from hansei.tools.decoding import decoded, json_run
from hansei.tools.failure_words import APOLOGY, FAILED_STATE, tells_failure
from hansei.tools.outcome_failure import (
    Fields,
    doubt,
    failure,
    message,
    named,
    plain,
    says_no,
    succeeded,
)
from hansei.tools.outcome_fields import (
    echoes,
    informed,
    informs,
    is_blank,
    is_hollow,
    is_no_number,
    status_of,
)

JsonObject: TypeAlias = dict[str, JsonValue]

_LONGEST_REASON: Final = 200
"""Characters of a reason: one phrase in a prompt or a report."""

_DEEPEST: Final = 3
"""Envelopes inside one another that are opened: what lies deeper is content."""

_HOLLOW: Final[tuple[JsonValue, ...]] = (None, "", [], {})


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
    DECLINED = "declined"
    """A human who was asked did not allow it, so it was not made."""
    UNKNOWN = "unknown"
    """It began before a crash, and nobody knows whether it went through; set by the journal."""


@dataclass(frozen=True, slots=True)
class ToolOutcome:
    """A tool's answer as a status, and why, in the tool's own words."""

    status: OutcomeStatus
    reason: str = ""
    """One plain phrase, at most 200 characters; empty when the status is `ok`."""
    doubt: str = ""
    """Beside the status `ok`: what may as well be no result, in the tool's own words."""


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
    value = decoded(output)
    outcome = _of_run(value) if isinstance(value, str) else None
    return outcome or _of_value(value, depth=0)


def _of_run(text: str) -> ToolOutcome | None:
    """JSON objects one after another, or one with words behind it; None for any other text."""
    values, rest = json_run(text)
    if not values:
        return None
    one = len(values) == 1
    outcome = _of_object(values[0], depth=0) if one else _of_list([*values], depth=0)
    if outcome.status is OutcomeStatus.OK:
        last = _of_object(values[-1], depth=0)
        # What comes last says how it ended.
        return outcome if one or rest else ToolOutcome(OutcomeStatus.OK, doubt=last.reason)
    if len(rest) < words.SHORT_TEXT and not words.SPEAKS_OF_IT.match(rest):
        return outcome
    return ToolOutcome(OutcomeStatus.OK, doubt=outcome.reason)


def _of_value(value: JsonValue, *, depth: int, acknowledged: bool = False) -> ToolOutcome:
    if isinstance(value, str):
        return _of_text(value)
    if isinstance(value, dict):
        return _of_object(value, depth=depth, acknowledged=acknowledged)
    if isinstance(value, list):
        return _of_list(value, depth=depth)
    if value is None or is_no_number(value):
        return _outcome(OutcomeStatus.EMPTY, "the tool returned nothing")
    return _OK


def _of_list(items: list[JsonValue], *, depth: int) -> ToolOutcome:
    """A list with nothing in it, or of nothing but failures; else it is a result."""
    if is_hollow(items):
        return _outcome(OutcomeStatus.EMPTY, "the tool returned nothing")
    if depth >= _DEEPEST:
        return _OK
    first: ToolOutcome | None = None
    for item in items:
        # An entry that tells more than its failure is a finding of a linter, a row of a log.
        if not isinstance(item, dict) or informed(named(item), beside_status=True):
            return _OK
        outcome = _of_object(item, depth=depth + 1)
        if outcome.status is OutcomeStatus.OK:
            return outcome if len(items) == 1 else _OK
        first = first or outcome
    return first or _OK


def _of_object(value: JsonObject, *, depth: int, acknowledged: bool = False) -> ToolOutcome:
    fields = named(value)
    said = failure(fields, informed=informed(fields))
    if said is not None:
        missing = words.NOT_FOUND.search(said) or says_no(fields.get("found"))
        return _outcome(OutcomeStatus.NOT_FOUND if missing else OutcomeStatus.ERROR, said)
    status = status_of(fields)
    if says_no(fields.get("found")) or words.NOT_FOUND_STATUS.fullmatch(status):
        return _outcome(OutcomeStatus.NOT_FOUND, message(fields) or status or "not found")
    acknowledged = acknowledged or _is_acknowledged(fields)
    inner = _wrapped(fields)
    if inner is not None and depth < _DEEPEST:
        outcome = _of_value(inner, depth=depth + 1, acknowledged=acknowledged)
        # A call that says it went well returns a form that was filled in wrongly, say.
        failed = outcome.status in {OutcomeStatus.ERROR, OutcomeStatus.NOT_FOUND}
        if failed and succeeded(fields):
            return _OK
        return outcome if outcome != _OK else _doubted(fields)
    part = _only_part(fields)
    if part and depth < _DEEPEST:
        # Under a name of its own it may be the record of a failure: only an empty one counts.
        outcome = _of_list(part if isinstance(part, list) else [part], depth=depth)
        if outcome != _OK and not succeeded(fields):
            return outcome
    return (
        _shell(fields)
        or _state(fields)
        or _nothing(fields, acknowledged=acknowledged)
        or _told(fields, acknowledged=acknowledged)
        or _doubted(fields)
    )


def _wrapped(fields: Fields) -> JsonValue:
    """Looks into an envelope (`{"code": 0, "data": {…}}`), which says nothing itself."""
    inside = [item for key in words.WRAPPER_KEYS if (item := fields.get(key)) not in _HOLLOW]
    if len(inside) != 1 or not words.ENVELOPE_KEYS.issuperset(fields):
        return None
    return inside[0]


def _only_part(fields: Fields) -> JsonValue:
    """The one object or list under a name of its own (`{"order": {…}}`) that tells something."""
    told = [key for key in fields if key not in words.COUNT_KEYS]
    parts = [fields[key] for key in told if isinstance(fields[key], dict | list)]
    others = [key for key in told if not isinstance(fields[key], dict | list)]
    if len(parts) != 1 or any(informs(key, fields[key]) for key in others):
        return None
    return parts[0]


def _told(fields: Fields, *, acknowledged: bool) -> ToolOutcome | None:
    """An object that holds nothing but a remark is what the remark says."""
    remark = message(fields)
    if not remark or informed(fields) or not tells_failure(remark, short=words.SHORT_TEXT):
        return None
    if acknowledged:
        return ToolOutcome(OutcomeStatus.OK, doubt=_phrase(remark))
    return _outcome(OutcomeStatus.ERROR, remark)


def _shell(fields: Fields) -> ToolOutcome | None:
    status = status_of(fields)
    if words.is_on_its_way(status):
        return _outcome(OutcomeStatus.SHELL, status)
    ambiguous = bool(words.AMBIGUOUS_STATUS.fullmatch(status))
    told = [key for key, item in fields.items() if informs(key, item)]
    if any(not (ambiguous and key in words.STATUS_KEYS) for key in told):
        return None
    remark = message(fields)
    waits = len(remark) < words.SHORT_TEXT and bool(words.COME_BACK.search(remark))
    if ambiguous:
        # An order can be in this state; a list that is still empty, or "come back", says that
        # the state is the call's.
        lists = [item or [] for key, item in fields.items() if key in words.CONTAINER_KEYS]
        hollow = any(is_hollow(item) for item in [*fields.values(), *lists])
        if words.REAL_STATE.fullmatch(status) and not waits and not hollow:
            return ToolOutcome(OutcomeStatus.OK, doubt=_phrase(status))
        return _outcome(OutcomeStatus.SHELL, status)
    return _outcome(OutcomeStatus.SHELL, remark) if waits else None


def _state(fields: Fields) -> ToolOutcome | None:
    """A state that an order can be in as well as the call, where nothing else is told."""
    status = status_of(fields)
    if not any(state.fullmatch(status) for state in _DOUBTFUL_STATES):
        return None
    if any(informs(key, item) for key, item in fields.items() if key not in words.STATUS_KEYS):
        return None
    remark = message(fields)
    if tells_failure(remark, short=words.SHORT_TEXT):
        return _outcome(OutcomeStatus.ERROR, remark)
    return ToolOutcome(OutcomeStatus.OK, doubt=_phrase(status))


def _doubted(fields: Fields) -> ToolOutcome:
    return ToolOutcome(OutcomeStatus.OK, doubt=_phrase(doubt(fields, informed=informed(fields))))


def _nothing(fields: Fields, *, acknowledged: bool) -> ToolOutcome | None:
    """Says whether the object holds nothing; "done", with no data to give, is something."""
    informing = {key for key, item in fields.items() if informs(key, item)}
    hollow = any(is_hollow(fields.get(key)) for key in words.CONTAINER_KEYS)
    if not informing.issubset(echoes(fields) if hollow else ()):
        return None
    remark = message(fields)
    if words.NOT_FOUND_TEXT.fullmatch(remark):
        return _outcome(OutcomeStatus.NOT_FOUND, remark)
    all_blank = all(key in words.REMARK_KEYS or is_blank(item) for key, item in fields.items())
    says_nothing = not remark or bool(words.NOTHING_TEXT.fullmatch(remark))
    if hollow or (all_blank and says_nothing and not acknowledged):
        return _outcome(OutcomeStatus.EMPTY, remark or "there is nothing in the result")
    return None


def _is_acknowledged(fields: Fields) -> bool:
    return (
        succeeded(fields)
        or _denies_errors(fields)
        or fields.get("code") in (0, 200, "0", "200")
        or any(words.GOOD_STATUS.fullmatch(t) for t in (status_of(fields), message(fields)) if t)
    )


def _denies_errors(fields: Fields) -> bool:
    """Says whether a field of errors says that there was none: "ok", false, or it stands alone."""
    said = [fields[key] for key in words.ERROR_KEYS if key in fields]
    return any(item is False or bool(plain(item)) for item in said) or (
        bool(said) and set(fields) <= set(words.ERROR_KEYS)
    )


_TEXT_RULES: Final[tuple[tuple[Callable[[str], object], OutcomeStatus], ...]] = (
    (words.NOTHING_TEXT.fullmatch, OutcomeStatus.EMPTY),
    (words.NOT_FOUND_TEXT.fullmatch, OutcomeStatus.NOT_FOUND),
    (words.is_on_its_way, OutcomeStatus.SHELL),
)
_DOUBTFUL_TEXTS: Final = (words.REAL_STATE, words.REFUSED_STATE, FAILED_STATE)
_DOUBTFUL_STATES: Final = (
    *(words.REFUSED_STATE, words.TIMEOUT_STATUS, words.ERROR_STATUS, FAILED_STATE),
)


def _of_text(output: str) -> ToolOutcome:
    text = output.strip()
    if not text:
        return _outcome(OutcomeStatus.EMPTY, "the tool returned nothing")
    short = len(text) < words.SHORT_TEXT
    if short:
        text = APOLOGY.sub("", text)
        for says, status in _TEXT_RULES:
            if says(text):
                return _outcome(status, text)
    if tells_failure(text, short=words.SHORT_TEXT):
        return _outcome(OutcomeStatus.ERROR, text)
    if short and any(pattern.fullmatch(text) for pattern in _DOUBTFUL_TEXTS):
        return ToolOutcome(OutcomeStatus.OK, doubt=text)
    if short and words.AMBIGUOUS_STATUS.fullmatch(text):
        return _outcome(OutcomeStatus.SHELL, text)
    return _OK


def _outcome(status: OutcomeStatus, reason: str) -> ToolOutcome:
    return ToolOutcome(status, _phrase(reason))


def _phrase(text: str) -> str:
    """One printable line of a text's beginning."""
    head = text[: 4 * _LONGEST_REASON].encode("utf-8", "replace").decode("utf-8")
    plain_head = " ".join("".join(c if c.isprintable() else " " for c in head).split())
    return plain_head[:_LONGEST_REASON]
