"""How a run ended: one pure function of its steps and its answer."""

from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from typing import get_args

from hansei.policies.phrases import say
from hansei.policies.records import Step
from hansei.policies.words import (
    USABLE,
    AcceptedReason,
    AnswerStatus,
    Fault,
    Language,
    RunStatus,
    StepStatus,
)
from hansei.tools.outcome import OutcomeStatus

UNCOUNTED = frozenset({StepStatus.RECOVERED, StepStatus.REPLACED})
"""Steps that no longer count: made good, or taken out before they ran."""

_UNDONE = frozenset({StepStatus.FAILED, StepStatus.SKIPPED, StepStatus.PENDING})
"""Statuses of a step that was not done by the time the run ends."""

EXIT_CODES: Mapping[RunStatus, int] = {
    RunStatus.COMPLETE: 0,
    RunStatus.PARTIAL: 3,
    RunStatus.FAILED: 4,
    RunStatus.EXHAUSTED: 5,
    RunStatus.NEEDS_HUMAN: 6,
    RunStatus.RUNNING: 1,
}
"""Exit code of the command line for each status; 1 is for what must not happen."""


@dataclass(frozen=True, slots=True)
class Ending:
    """The status of a run, and whether every part of it was verified."""

    status: RunStatus
    verified: bool


def counted(steps: Iterable[Step]) -> list[Step]:
    """The steps that count for the status of a run and for what must be disclosed."""
    return [s for s in steps if s.status not in UNCOUNTED]


def undone(steps: Iterable[Step]) -> list[Step]:
    """What was not done and must be disclosed, in order.

    When a run ends nothing is pending, unless somebody has set a settled step back by hand:
    then it was not done either.
    """
    return [s for s in steps if s.status in _UNDONE]


def done(steps: Iterable[Step]) -> list[Step]:
    """Steps whose result the answer may use, in order."""
    return [s for s in steps if s.status in USABLE]


def unvouched(steps: Iterable[Step]) -> list[Step]:
    """Accepted steps that nobody vouches for although somebody should have."""
    return [
        s
        for s in steps
        if s.status is StepStatus.ACCEPTED and s.reason != AcceptedReason.NOT_REVIEWED
    ]


def budget_fault(steps: Iterable[Step]) -> str:
    """The budget that ended an attempt, also of a step that somebody has settled by hand since."""
    faults = (a for s in steps for a in s.attempts if a.fault is Fault.BUDGET)
    return next((a.fault_reason for a in faults), "")


def ending(
    steps: Iterable[Step],
    *,
    answer_status: AnswerStatus,
    answer_reason: str,
    exhausted: bool = False,
    needs_human: bool = False,
) -> Ending:
    """How a run ends.

    Needs-human comes before exhausted before failed before partial. A part that was not
    reviewed by the user's own choice leaves the run complete, but not verified.

    Args:
        steps: All steps of the run.
        answer_status: How far the answer can be trusted.
        answer_reason: Why it is only accepted, if it is.
        exhausted: A budget ended the run.
        needs_human: An interrupt, or an effect whose outcome is unknown.
    """
    parts = counted(steps)
    verified = (
        answer_status is AnswerStatus.VERIFIED
        and bool(parts)
        and all(s.status is StepStatus.VERIFIED for s in parts)
    )
    if needs_human:
        return Ending(RunStatus.NEEDS_HUMAN, verified=False)
    if exhausted:
        return Ending(RunStatus.EXHAUSTED, verified=False)
    if parts and not done(parts):
        return Ending(RunStatus.FAILED, verified=False)
    answer_open = (
        answer_status is not AnswerStatus.VERIFIED and answer_reason != AcceptedReason.NOT_REVIEWED
    )
    if undone(parts) or unvouched(parts) or answer_open:
        return Ending(RunStatus.PARTIAL, verified=False)
    return Ending(RunStatus.COMPLETE, verified=verified)


def refused_by_human(step: Step) -> bool:
    """Whether a step was not done because a human who was asked said no."""
    if any(call.outcome is OutcomeStatus.DECLINED for call in step.last_attempt.calls):
        return True
    starts = tuple(say("rejected", language) for language in get_args(Language))
    return step.status is StepStatus.FAILED and step.reason.startswith(starts)
