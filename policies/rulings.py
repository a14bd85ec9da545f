"""Verdicts given by hand: what they are about, and what they undo."""

from collections import Counter
from collections.abc import Mapping
from dataclasses import dataclass, field

from langchain_core.messages import AIMessage, RemoveMessage

from hansei.policies.edits import check_pass
from hansei.policies.errors import UserError
from hansei.policies.phrases import say
from hansei.policies.records import Ruling, Step, VerdictRecord
from hansei.policies.schedule import dependents, finished, in_flight, running
from hansei.policies.settings import Settings, worst_case_calls
from hansei.policies.state import AgentState
from hansei.policies.words import (
    TERMINAL,
    AnswerStatus,
    Fault,
    Language,
    Progress,
    RunStatus,
    StepStatus,
    Verdict,
    VerdictSource,
)


@dataclass(frozen=True, slots=True)
class Rulings:
    """The verdicts that a human has given and nobody has applied."""

    steps: Mapping[int, Ruling] = field(default_factory=dict[int, Ruling])
    answer: Ruling | None = None
    edited: Mapping[int, Ruling] = field(default_factory=dict[int, Ruling])
    """What follows from steps whose status or result was set by hand since they were looked at."""

    def __bool__(self) -> bool:
        """Whether there is any."""
        return bool(self.steps) or self.answer is not None


def rulings(state: AgentState) -> Rulings:
    """What a human has decided, and about what.

    A verdict of the state rather than of a step is about the steps that wait to be judged, else
    about those under way, else about the draft of the answer, else about what was judged last.

    Raises:
        UserError: There is nothing that it could be about, or nothing that could pass.
    """
    found = {i: s.verdict for i, s in state.steps.items() if s.verdict is not None}
    said, edited = state.verdict, by_hand(state)
    if said is None:
        return Rulings(found, edited=edited)
    about = finished(state.steps, state.in_order) or running(state.steps)
    if not about and state.answer_status is not AnswerStatus.PENDING and state.reflections:
        about = [state.reflections[-1].step]
    if not about and state.answer_status is AnswerStatus.PENDING:
        about = [0]
    if about == [0] and state.answer_attempts:
        return Rulings(found, answer=said, edited=edited)
    known = [i for i in about if i in state.steps]
    if not known:
        msg = "Nothing was done there yet that a verdict could be about; name the step as well."
        raise UserError(msg)
    for step in (state.steps[i] for i in known):
        check_pass(step, said)
    return Rulings({**dict.fromkeys(known, said), **found}, edited=edited)


def by_hand(state: AgentState) -> dict[int, Ruling]:
    """The steps that were edited by hand since the reflector looked, each as a verdict would be."""
    given = [
        (step.id, verdict)
        for step in state.steps.values()
        for verdict in step.verdicts
        if verdict.source is VerdictSource.HUMAN
    ]
    told = Counter(r.step for r in state.reflections if r.source is VerdictSource.HUMAN)
    counts = Counter(step for step, _ in given)
    return {
        step: Ruling(verdict=verdict.verdict, analysis=verdict.analysis)
        for step, verdict in given
        if counts[step] > told[step]
    }


def judges_answer(state: AgentState) -> bool:
    """Whether the next look back is at the answer, and not at steps.

    Raises:
        UserError: As for `rulings`.
    """
    given = rulings(state)
    # An edit may reopen steps while a draft of the answer waits: they come first.
    drafted = state.answer_status is AnswerStatus.PENDING and not in_flight(state.steps)
    return (drafted or given.answer is not None) and not given.steps


def ruled(
    ruling: Ruling, *, attempt: int, language: Language, answer: bool = False
) -> VerdictRecord:
    """The record of a verdict given by hand; a REPLAN is given a reason where it brings none."""
    anew = say("human_rewrite" if answer else "human_replan", language)
    why = anew if ruling.verdict is Verdict.REPLAN else ""
    return VerdictRecord(
        verdict=ruling.verdict,
        source=VerdictSource.HUMAN,
        attempt=max(1, attempt),
        analysis=ruling.analysis or why,
        suggestion=ruling.suggestion,
    )


def reopens(state: AgentState, given: Rulings) -> bool:
    """Whether an edit asks for work on a run that is over."""
    open_steps = any(s.status is StepStatus.PENDING for s in state.steps.values())
    return state.status is not RunStatus.RUNNING and bool(given or given.edited or open_steps)


def set_back(steps: Mapping[int, Step], given: Mapping[int, Ruling]) -> dict[int, Step]:
    """Steps to be done again, since a step that they lean on was ruled on.

    What was built on a result that is taken back is verified no more, and what was skipped for
    want of one may run after all.
    """
    again = {i for i, ruling in given.items() if ruling.verdict is not Verdict.PASS}
    stale = {i for i in dependents(steps, again) if steps[i].status in TERMINAL}
    stale |= {i for i in dependents(steps, given) if steps[i].status is StepStatus.SKIPPED}
    return {
        i: steps[i].model_copy(
            update={
                "status": StepStatus.PENDING,
                "progress": Progress.WAITING,
                "result": "",
                "reason": "",
            }
        )
        for i in sorted(stale - set(given))
        if steps[i].status is not StepStatus.REPLACED
    }


def taken_back(state: AgentState, settings: Settings, *, now: float) -> dict[str, object]:
    """The state fields that an edit by hand takes back: a given answer, and the end of the run.

    Args:
        state: The state with the edit.
        settings: Limits of the run.
        now: Seconds since the epoch; a run that was over begins its time anew.
    """
    told = state.messages[-1] if state.messages else None
    stale = isinstance(told, AIMessage) and told.text == state.answer and bool(told.id)
    over = state.status is not RunStatus.RUNNING
    return {
        "verdict": None,
        "bound": bound_after_edit(state, settings),
        "status": RunStatus.RUNNING,
        "verified": False,
        "reason": "",
        "answer": "",
        "answer_status": AnswerStatus.NONE,
        "answer_reason": "",
        "answer_hint": "",
        "answer_attempts": list[object](),
        **({"started_at": now} if over else {}),
        **({"messages": [RemoveMessage(str(told.id))]} if stale and told is not None else {}),
    }


def bound_after_edit(state: AgentState, settings: Settings) -> int:
    """The most model calls of a run on which a human has ruled.

    A replan that a human asks for comes on top of those that the settings allow.
    """
    more = settings.model_copy(update={"max_replans": settings.max_replans + 1})
    return bound_from_here(state, more)


def bound_from_here(state: AgentState, settings: Settings) -> int:
    """The most model calls of a run that may do all its steps anew, with those that were made."""
    made = sum(cost.calls for cost in state.usage.values())
    most = made + worst_case_calls(settings, steps=len(state.steps))
    return most if settings.call_budget is None else min(most, max(made, settings.call_budget))


def still_unknown(steps: Mapping[int, Step]) -> str:
    """What only a human can find out and none has yet; empty when there is nothing."""
    for step in steps.values():
        last = step.verdicts[-1] if step.verdicts else None
        if (
            step.status is StepStatus.FAILED
            and step.last_attempt.fault is Fault.UNKNOWN_EFFECT
            and not (last and last.source is VerdictSource.HUMAN)
        ):
            return step.last_attempt.fault_reason
    return ""
