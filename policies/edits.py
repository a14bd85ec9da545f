"""What a human may change in a run: a step, its status, a verdict. Plain JSON becomes records."""

import re
from collections.abc import Mapping, Sequence

from pydantic import ValidationError

from hansei.policies.errors import UserError
from hansei.policies.plain_model import SHOWN, did_you_mean
from hansei.policies.records import Attempt, Reflection, Ruling, Step, VerdictRecord
from hansei.policies.words import (
    USABLE,
    Progress,
    StepStatus,
    Verdict,
    VerdictSource,
)

StepEdit = Step | Mapping[str, object]
"""A whole step, or the fields of it that an edit changes."""


def merge_steps(
    left: Mapping[int, Step],
    right: Mapping[int, StepEdit] | Mapping[str, StepEdit] | Mapping[int | str, StepEdit],
) -> dict[int, Step]:
    """Merge steps by id.

    A whole `Step` replaces the one that is there. A partial mapping, which is what Studio
    and `update_state` send, is merged into it and validated, so that an edit of one field
    does not destroy the rest. Keys may be numbers written as text. A status set by hand
    is recorded with the source `human`; a verdict set by hand waits for the reflector, which
    applies it. A result set by hand is one that the human vouches for. A step that is about
    something else now is begun anew.

    Raises:
        UserError: A key is no number, there is no such field, a value does not fit it, or the edit
            would pass what was done for one thing off as done for another.
    """
    merged = dict(left)
    for key, value in right.items():
        step_id = _number(key)
        if isinstance(value, Step):
            merged[step_id] = value
            continue
        old = merged.get(step_id, Step(id=step_id))
        new = _with_fields(old, value)
        if step_id not in merged and not re.search(r"\w", new.description):
            msg = f"There is no step {step_id}; to add it, give it a description as well."
            raise UserError(msg)
        merged[step_id] = _by_hand(old, new)
    return merged


def add_reflections(
    left: Sequence[Reflection], right: Sequence[Reflection | Mapping[str, object]]
) -> list[Reflection]:
    """Add to the chain. Of plain values, which an edit sends, those that stand there are not new.

    Raises:
        ValueError: A value does not fit a reflection.
    """
    chain = list(left)
    for item in right:
        link = Reflection.model_validate(item)
        if isinstance(item, Reflection) or link not in left:
            chain.append(link)
    return chain


_MOST = 10**9
"""Largest number of a step: what any program that reads the state can hold."""


def _number(key: object) -> int:
    """The number of a step.

    Raises:
        UserError: It is none.
    """
    whole = isinstance(key, int) and not isinstance(key, bool)
    text = str(key).strip()
    if not (whole or isinstance(key, str)) or not text.isdecimal() or not 0 < int(text) <= _MOST:
        msg = f"Steps are named by their numbers, and {key!r:.{SHOWN}} is none."
        raise UserError(msg)
    return int(text)


def _with_fields(old: Step, value: Mapping[str, object]) -> Step:
    """The step with the fields of an edit."""
    for name in value:
        if name not in Step.model_fields:
            known = ", ".join(Step.model_fields)
            near = did_you_mean(name, list(Step.model_fields))
            msg = f"There is no step field {name!r:.{SHOWN}}{near}; there are: {known}."
            raise UserError(msg)
    try:
        return Step.model_validate({**old.model_dump(), **value, "id": old.id})
    except ValidationError as exc:
        first = exc.errors(include_url=False)[0]
        told: object = first.get("ctx", {}).get("error")
        if isinstance(told, UserError):
            raise told from None
        place = ".".join(str(part) for part in first["loc"])
        msg = (
            f"The step field {place!r} of step {old.id} cannot be "
            f"{first['input']!r:.{SHOWN}}: {first['msg']}."
        )
        raise UserError(msg) from None


def _by_hand(old: Step, new: Step) -> Step:
    """The step after an edit, with what the human decided on record or waiting for the reflector.

    The records of verdicts are the machine's; a last one that was changed or added is the human's
    verdict, and decides also where a status beside it says something else.
    """
    ruling = new.verdict
    if ruling is None and new.verdicts and new.verdicts != old.verdicts:
        last = new.verdicts[-1]
        ruling = Ruling(verdict=last.verdict, analysis=last.analysis, suggestion=last.suggestion)
    if ruling is None and _brings_result(old, new):
        ruling = Ruling(verdict=Verdict.PASS, analysis="the result was set by hand")
    if ruling is None or ruling.verdict is None:
        return _edited_status(
            old, _begun_anew(old, new.model_copy(update={"verdicts": old.verdicts}))
        )
    check_pass(new, ruling)
    kept = {"verdict": ruling, "verdicts": old.verdicts, "status": old.status}
    return new.model_copy(update={**kept, "progress": old.progress})


def _brings_result(old: Step, new: Step) -> bool:
    """Whether a human gives a result to a step that has none that counts."""
    given = bool(new.result.strip()) and new.result != old.result
    return given and new.status is old.status and old.status not in USABLE


def _begun_anew(old: Step, new: Step) -> Step:
    """The step without what was done for it, where an edit makes it about something else.

    Raises:
        UserError: It is settled already, or has changed something.
    """
    begun = any(attempt.rounds or attempt.result for attempt in old.attempts)
    if _task(old) == _task(new) or not begun:
        return new
    if any(call.changes for attempt in old.attempts for call in attempt.calls):
        msg = (
            f"Step {old.id} has changed something already, which must stay on record; add a step "
            "with the other task, or set its status by hand."
        )
        raise UserError(msg)
    if new.status is not StepStatus.PENDING:
        msg = (
            f"Step {old.id} is {old.status} by what was done for the task that it had; to have "
            'another one done, give it "status": "pending" as well.'
        )
        raise UserError(msg)
    record = VerdictRecord(
        source=VerdictSource.HUMAN,
        attempt=len(old.attempts),
        analysis=f"the task was changed by hand; it was: {old.description}",
    )
    return new.model_copy(
        update={
            "attempts": list[Attempt](),
            "result": "",
            "reason": "",
            "progress": Progress.WAITING,
            "verdicts": [*new.verdicts, record],
        }
    )


def _task(step: Step) -> tuple[str, str | None]:
    return " ".join(step.description.split()), step.tool


def check_pass(step: Step, ruling: Ruling) -> None:
    """See that a step that is to pass has a result.

    Raises:
        UserError: It has none.
    """
    if ruling.verdict is Verdict.PASS and not (step.result or step.last_attempt.result).strip():
        msg = f"Step {step.id} has no result that could pass; give it a result as well."
        raise UserError(msg)


_VERDICT_OF_STATUS = {StepStatus.VERIFIED: Verdict.PASS, StepStatus.FAILED: Verdict.REPLAN}
"""The verdict that a human states by setting a status."""


def _edited_status(old: Step, new: Step) -> Step:
    if new.status == old.status:
        return _vouched_for(old, new)
    if new.status in USABLE:
        check_pass(new, Ruling(verdict=Verdict.PASS))
        new = new.model_copy(update={"result": new.result or new.last_attempt.result})
    record = VerdictRecord(
        verdict=_VERDICT_OF_STATUS.get(new.status),
        source=VerdictSource.HUMAN,
        attempt=max(1, len(new.attempts)),
    )
    progress = Progress.WAITING if new.status is StepStatus.PENDING else Progress.FINISHED
    return new.model_copy(update={"verdicts": [*new.verdicts, record], "progress": progress})


def _vouched_for(old: Step, new: Step) -> Step:
    """The step with the human on record, where what was verified is not what was edited."""
    if new.result == old.result or new.status not in USABLE:
        return new
    record = VerdictRecord(
        verdict=Verdict.PASS,
        source=VerdictSource.HUMAN,
        attempt=max(1, len(new.attempts)),
        analysis="the result was edited by hand",
    )
    return new.model_copy(update={"verdicts": [*new.verdicts, record]})
