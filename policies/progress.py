"""What comes next: after a plan, after verdicts, after a replan, and where each edge leads."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from typing import Literal

from hansei.policies.errors import UserError
from hansei.policies.plain_model import did_you_mean
from hansei.policies.records import Step, Waiting
from hansei.policies.rulings import reopens, rulings
from hansei.policies.schedule import choose, in_flight, recover, running, skip_blocked, start
from hansei.policies.settings import Settings
from hansei.policies.state import AgentState
from hansei.policies.words import AnswerStatus, RunStatus, StepStatus

Next = Literal["executor", "approval", "replanner", "synthesizer", "end", "wait"]


@dataclass(frozen=True, slots=True)
class Move:
    """Changes that follow from where the steps stand."""

    steps: dict[int, Step] = field(default_factory=dict[int, Step])
    dispatch: list[int] = field(default_factory=list[int])
    waiting: Waiting | None = None
    """Nothing begins: a human is asked first."""


def planned(
    steps: Mapping[int, Step],
    order: Sequence[int],
    settings: Settings,
    *,
    asks: Waiting | None,
    stopped: bool = False,
) -> Move:
    """What follows from a plan or a replan: what may run begins, unless a human is asked first.

    Args:
        steps: All steps.
        order: Ids in the order of the plan.
        settings: Limits of the run.
        asks: What a human would be asked; `None` where nobody is.
        stopped: As for `advance`; nobody is asked for leave of what cannot be done.
    """
    if asks is None or stopped or not asks.steps:
        return advance(steps, order, settings, stopped=stopped)
    return Move(waiting=asks)


def advance(
    steps: Mapping[int, Step],
    order: Sequence[int],
    settings: Settings,
    *,
    replan_due: Sequence[int] = (),
    stopped: bool = False,
) -> Move:
    """Settle what can be settled, and start what may run.

    Failed steps whose stand-ins went well recover, steps that can never run are skipped, and
    ready steps get a new attempt, written down before any of its calls is made.

    Args:
        steps: All steps.
        order: Ids in the order of the plan.
        settings: Limits of the run.
        replan_due: Failed steps that wait for the replanner; nothing new begins meanwhile.
        stopped: A budget is used up, so nothing more is started and what waits is skipped.
    """
    current = dict(steps)
    changed = recover(current)
    current |= changed
    blocked = skip_blocked(current, spare=replan_due)
    changed |= blocked
    current |= blocked
    if stopped:
        waiting = {
            i: s.model_copy(update={"status": StepStatus.SKIPPED})
            for i, s in current.items()
            if s.status is StepStatus.PENDING and i not in in_flight(current)
        }
        return Move(steps={**changed, **waiting})
    chosen = choose(
        current, order, max_parallel=settings.max_parallel, only_retries=bool(replan_due)
    )
    changed |= {i: start(current[i]) for i in chosen}
    return Move(steps=changed, dispatch=chosen)


def due(state: AgentState) -> list[int]:
    """The failed steps that wait for the replanner; one settled by hand since is none."""
    return [
        i
        for i in state.replan_due
        if i in state.steps and state.steps[i].status is StepStatus.FAILED
    ]


@dataclass(frozen=True, slots=True)
class Resumed:
    """Where a run goes on after an edit of its state."""

    steps: Sequence[Step] = ()
    """Steps to hand to the executor."""
    look_back: bool = False
    """The reflector comes next: it applies what a human has decided."""


def after_edit(
    state: AgentState, settings: Settings, *, tools: frozenset[str] = frozenset()
) -> Resumed:
    """Where a run goes on after an edit of the state.

    An edit drops every task that was under way. So what was begun goes on where it stood, and
    what the edit has made ready begins, its new attempt written down. Verdicts given by hand, and
    work asked for on a run that is over, are for the reflector to settle.

    Args:
        state: The state with the edit.
        settings: Limits of the run.
        tools: All tools that there are; none are known where it is empty.

    Raises:
        UserError: A verdict is about nothing, a step is to use a tool that is not there, or the
            plan waits for leave.
    """
    given = rulings(state)
    for step in state.steps.values():
        if tools and step.status is StepStatus.PENDING and step.tool not in {None, *tools}:
            near = did_you_mean(str(step.tool), sorted(tools))
            known = ", ".join(sorted(tools))
            msg = f"Step {step.id} has no tool {step.tool!r:.80}{near}; there are: {known}."
            raise UserError(msg)
    if state.waiting is not None:
        if given:
            msg = (
                f"The {state.waiting.kind} waits for your leave; approve, reject or edit it first."
            )
            raise UserError(msg)
        return Resumed()
    begun = set(in_flight(state.steps))
    if given or reopens(state, given):
        held = set(running(state.steps)) - set(given.steps)
        return Resumed([state.steps[i] for i in state.in_order if i in held], look_back=True)
    if state.status is not RunStatus.RUNNING:
        return Resumed()
    flying = [state.steps[i] for i in state.in_order if i in begun]
    if state.exhausted or state.needs_human:
        return Resumed(flying)
    chosen = choose(
        state.steps,
        state.in_order,
        max_parallel=settings.max_parallel,
        only_retries=bool(due(state)),
    )
    steps = [*flying, *(start(state.steps[i]) for i in chosen)]
    drafted = state.answer_status is AnswerStatus.PENDING
    return Resumed(steps, look_back=drafted and not steps and not due(state))


def next_node(state: AgentState) -> Next:
    """Where a run goes from planner, reflector and replanner: a pure function of the state."""
    if state.status is not RunStatus.RUNNING:
        return "end"
    if state.waiting is not None:
        return "approval"
    if state.dispatch:
        return "executor"
    if in_flight(state.steps):
        return "wait"
    if due(state):
        return "replanner"
    if state.answer_status in {AnswerStatus.NONE, AnswerStatus.PENDING}:
        return "synthesizer"
    return "end"
