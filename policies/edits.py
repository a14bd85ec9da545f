"""What a human may change in a run: a step, its status, a verdict. Plain JSON becomes records."""

import re
from collections.abc import Mapping, Sequence

from pydantic import ValidationError

from hansei.policies.errors import UserError
from hansei.policies.plain_model import SHOWN, did_you_mean
from hansei.policies.records import Reflection, Ruling, Step, VerdictRecord
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
    applies it.

    Raises:
        UserError: A key is no number, there is no such field, or a value does not fit it.
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


def _number(key: int | str) -> int:
    try:
        return int(key)
    except ValueError:
        msg = f"Steps are named by their numbers, and {key!r:.{SHOWN}} is none."
        raise UserError(msg) from None


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
    if ruling is None or ruling.verdict is None:
        return _edited_status(old, new.model_copy(update={"verdicts": old.verdicts}))
    check_pass(new, ruling)
    kept = {"verdict": ruling, "verdicts": old.verdicts, "status": old.status}
    return new.model_copy(update={**kept, "progress": old.progress})


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
