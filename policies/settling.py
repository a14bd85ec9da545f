"""What follows from a round of verdicts: the steps, the replan that is due, and whether to stop."""

from collections.abc import Sequence
from dataclasses import dataclass, field

from hansei.policies.progress import advance, due
from hansei.policies.records import Reflection, Step, VerdictRecord
from hansei.policies.rulings import Rulings, set_back, still_unknown
from hansei.policies.settings import Settings
from hansei.policies.state import AgentState
from hansei.policies.verdicts import apply_verdict
from hansei.policies.words import Fault, StepStatus, Verdict, VerdictSource


@dataclass(frozen=True, slots=True)
class Settled:
    """Changes that follow from verdicts on steps."""

    steps: dict[int, Step] = field(default_factory=dict[int, Step])
    dispatch: list[int] = field(default_factory=list[int])
    replan_due: list[int] = field(default_factory=list[int])
    replans: int = 0
    exhausted: str = ""
    needs_human: str = ""


def settle(
    state: AgentState,
    judged: Sequence[tuple[Step, VerdictRecord]],
    given: Rulings,
    settings: Settings,
) -> Settled:
    """Apply verdicts, then settle and start what follows.

    Args:
        state: The state of the run.
        judged: Steps with their verdicts.
        given: Which of the verdicts a human has given. They lift a stop: whoever asks for work
            on a run that has stopped wants it to go on.
        settings: Limits of the run. What a human asks for comes on top of them.
    """
    steps = set_back(state.steps, {**given.edited, **given.steps})
    by_human = bool(given or given.edited)
    waiting_for = due(state)
    exhausted, needs_human = ("", "") if by_human else (state.exhausted, state.needs_human)
    for step, record in judged:
        after = apply_verdict(step, record, settings)
        steps[step.id] = after
        fault = step.last_attempt.fault if record.source is not VerdictSource.HUMAN else Fault.NONE
        if fault is Fault.BUDGET:
            exhausted = step.last_attempt.fault_reason
        exhausted = exhausted or record.refused
        if fault is Fault.UNKNOWN_EFFECT:
            needs_human = step.last_attempt.fault_reason
        wants_replan = after.status is StepStatus.FAILED and record.verdict is Verdict.REPLAN
        if wants_replan and fault is not Fault.BUDGET and not exhausted:
            waiting_for.append(step.id)
    current = {**state.steps, **steps}
    if by_human:
        needs_human = needs_human or still_unknown(current)
    stopped = bool(exhausted or needs_human)
    waiting_for = [] if stopped else list(dict.fromkeys(waiting_for))
    replans = state.replans
    if waiting_for and not state.replan_due:
        # Counted before it is made: a replanner that fails cannot have a free try.
        asked = any(ruling.verdict is Verdict.REPLAN for ruling in given.steps.values())
        if replans < settings.replans or asked:
            replans += 1
        else:
            waiting_for = []
    move = advance(current, state.in_order, settings, replan_due=waiting_for, stopped=stopped)
    return Settled(
        steps={**steps, **move.steps},
        dispatch=move.dispatch,
        replan_due=waiting_for,
        replans=replans,
        exhausted=exhausted,
        needs_human=needs_human,
    )


def reflection(step: int, record: VerdictRecord) -> Reflection:
    """The link of the chain that a verdict makes; step 0 is the answer."""
    return Reflection(
        step=step,
        attempt=record.attempt,
        verdict=record.verdict,
        source=record.source,
        analysis=record.analysis,
        suggestion=record.suggestion,
    )
