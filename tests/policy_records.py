"""Short ways to write down the records that the policies decide on."""

from collections.abc import Mapping, Sequence

from hansei.policies.drafts import StepDraft
from hansei.policies.records import Attempt, Finding, Round, Step, ToolCall, VerdictRecord
from hansei.policies.words import (
    Fault,
    FindingKind,
    Progress,
    StepStatus,
    Verdict,
    VerdictSource,
)
from hansei.tools.outcome import OutcomeStatus

OK = OutcomeStatus.OK
ERROR = OutcomeStatus.ERROR
EMPTY = OutcomeStatus.EMPTY
NOT_FOUND = OutcomeStatus.NOT_FOUND
SHELL = OutcomeStatus.SHELL
REFUSED = OutcomeStatus.REFUSED

VERIFIED = StepStatus.VERIFIED
ACCEPTED = StepStatus.ACCEPTED
FAILED = StepStatus.FAILED
SKIPPED = StepStatus.SKIPPED
RECOVERED = StepStatus.RECOVERED
REPLACED = StepStatus.REPLACED
PENDING = StepStatus.PENDING


def called(
    name: str = "fetch",
    outcome: OutcomeStatus | None = OK,
    *,
    args: str = '{"q":"x"}',
    output: str = "",
    reason: str = "",
    from_record: bool = False,
) -> ToolCall:
    """One tool call."""
    return ToolCall(
        name=name,
        args=args,
        outcome=outcome,
        output=output,
        reason=reason,
        from_record=from_record,
    )


def tried(
    *rounds: Sequence[ToolCall],
    result: str = "done",
    number: int = 1,
    fault: Fault = Fault.NONE,
    truncated: bool = False,
) -> Attempt:
    """One attempt, made of rounds of calls."""
    return Attempt(
        number=number,
        rounds=[Round(calls=list(calls)) for calls in rounds],
        result=result,
        fault=fault,
        fault_reason="it broke" if fault is not Fault.NONE else "",
        truncated=truncated,
    )


def a_step(
    step_id: int = 1,
    status: StepStatus = PENDING,
    *attempts: Attempt,
    description: str = "",
    tool: str | None = None,
    needs: Sequence[int] = (),
    reason: str = "",
    result: str = "",
    progress: Progress | None = None,
    instead_of: Sequence[int] = (),
    flagged: bool = True,
    source: VerdictSource | None = None,
) -> Step:
    """One step; what is settled counts as finished unless said otherwise."""
    settled = Progress.WAITING if status is PENDING else Progress.FINISHED
    verdicts = [] if source is None else [VerdictRecord(verdict=Verdict.PASS, source=source)]
    return Step(
        id=step_id,
        status=status,
        attempts=list(attempts),
        description=description or f"do thing number {'abcdefghi'[step_id]}",
        tool=tool,
        depends_on=list(needs),
        reason=reason,
        result=result,
        progress=progress or settled,
        stands_in_for=list(instead_of),
        needs_reflection=flagged,
        verdicts=verdicts,
    )


def by_id(*steps: Step) -> dict[int, Step]:
    """Steps as the state keeps them."""
    return {step.id: step for step in steps}


def statuses(steps: Mapping[int, Step]) -> dict[int, StepStatus]:
    """Only the statuses."""
    return {i: step.status for i, step in steps.items()}


def drafted(
    key: str,
    description: str,
    *,
    tool: str | None = None,
    needs: Sequence[str] = (),
    instead_of: Sequence[str] = (),
) -> StepDraft:
    """One step as a model wrote it."""
    return StepDraft(
        id=key,
        description=description,
        tool=tool,
        depends_on=list(needs),
        stands_in_for=list(instead_of),
    )


def found(
    kind: FindingKind,
    *,
    hint: str = "",
    reason: str = "so it is",
    check: str = "rule",
    source: VerdictSource = VerdictSource.RULE,
) -> Finding:
    """One finding of a check."""
    return Finding(kind=kind, hint=hint, reason=reason, check=check, source=source)
