"""What must hold for every run, said again without the library's own decisions.

Each `assert_…` takes a run that is over and holds its end against what the world really did.
"""

import re
from collections import Counter
from collections.abc import Iterable

from langchain_core.messages import AIMessage
from random_runs import Played
from random_scenarios import GOOD_OUTPUTS, PASSES
from random_texts import wording
from random_world import World, subject_in

from hansei import worst_case_calls
from hansei.graphs.checkpoints import serializer
from hansei.policies.records import Step, ToolCall
from hansei.policies.state import AgentState
from hansei.policies.words import (
    AnswerStatus,
    Fault,
    FindingKind,
    Progress,
    RunStatus,
    StepStatus,
    Verdict,
    VerdictSource,
)

_VETOES = {FindingKind.VETO_RETRY, FindingKind.VETO_REPLAN}
_NOT_DONE = (StepStatus.FAILED, StepStatus.SKIPPED, StepStatus.PENDING)
_UNREVIEWED = "not_reviewed"
_INTERNAL = re.compile(
    r"\b(?:steps?|attempt) #?\d|步骤 ?\d|\bverdict\b|\bcall_(?!budget)\w+|Traceback|\bPASS\b"
)


def subject_of(step: Step) -> str:
    """What a step is about."""
    return subject_in(step.description)


def counts(state: AgentState) -> list[Step]:
    """The steps that count: all that were not made good or taken out."""
    out = {StepStatus.RECOVERED, StepStatus.REPLACED}
    return [step for step in state.steps.values() if step.status not in out]


def _with(steps: Iterable[Step], *statuses: StepStatus) -> list[Step]:
    return [step for step in steps if step.status in statuses]


def assert_over(played: Played, *, set_back: bool = False) -> None:
    """The run ended for good: no status is open, nothing is under way.

    Args:
        played: The run.
        set_back: A human has made settled steps pending again.
    """
    state = played.state
    assert state.status is not RunStatus.RUNNING
    assert state.status is not RunStatus.NEEDS_HUMAN
    assert not state.dispatch
    assert not state.replan_due
    assert set(state.order) == set(state.steps)
    for step in state.steps.values():
        assert set_back or step.status is not StepStatus.PENDING
        assert step.progress is not Progress.RUNNING


def assert_only_pass_verifies(played: Played) -> None:
    """Invariant 1: nothing but a PASS on this very result verifies, and no veto is overruled."""
    world = played.world
    for step in played.state.steps.values():
        last = step.verdicts[-1] if step.verdicts else None
        vetoed = last is not None and bool({f.kind for f in last.findings} & _VETOES)
        if step.status is StepStatus.VERIFIED:
            assert last is not None
            assert last.verdict is Verdict.PASS
            assert last.attempt == len(step.attempts) == step.last_attempt.number
            assert not vetoed
            assert not last.veto
            assert step.result == step.last_attempt.result
            assert _somebody_passed(world, step)
        if step.status in {StepStatus.VERIFIED, StepStatus.ACCEPTED}:
            assert not vetoed
            assert step.result.strip()
            assert not _bad_in_the_world(world, step)
    if played.state.verified:
        statuses = {step.status for step in counts(played.state)}
        assert statuses == {StepStatus.VERIFIED}
        assert played.state.status is RunStatus.COMPLETE
        assert played.state.answer_status is AnswerStatus.VERIFIED
        assert played.world.said["reviewer"][-1].startswith("PASS")
        assert played.world.said["reviewer"][-1] != "PASS with wrong quote"


def _somebody_passed(world: World, step: Step) -> bool:
    """Whether the scripted critic, or the scripted check, really said PASS at the end."""
    subject = subject_of(step)
    said = world.verdicts[subject]
    source = step.verdicts[-1].source
    if source is VerdictSource.CRITIC:
        return bool(said) and said[-1] in PASSES
    return source is VerdictSource.EVALUATOR and world.habit(subject).check == "pass"


def _bad_in_the_world(world: World, step: Step) -> bool:
    """Whether there cannot be a result: the try broke, or all that tools ever gave was bad."""
    attempt = step.last_attempt
    calls = [call for tried in step.attempts for call in tried.calls]
    kinds = {_kind(world, call) for call in calls}
    # Who does something need not return anything.
    acted = any(c.name == "send" and _kind(world, c) in _NOTHING for c in calls)
    check = world.habit(subject_of(step)).check
    return (
        attempt.fault is not Fault.NONE
        or not attempt.result.strip()
        or (bool(calls) and not kinds & set(GOOD_OUTPUTS) and not acted)
        or (step.tool is not None and not calls)
        or check.startswith("veto")
    )


_NOTHING = frozenset({"blank", "empty list"})


def _kind(world: World, call: ToolCall) -> str:
    """What the world really gave for a call; "never ran" if it did not."""
    ran = world.tools_run
    return next((k for n, q, k in ran if n == call.name and f'"{q}"' in call.args), "never ran")


def assert_bounded(played: Played) -> None:
    """Invariant 2: calls are counted, and neither calls nor tries exceed what was allowed."""
    state, world = played.state, played.world
    settings = world.scenario.settings
    calls = sum(cost.calls for cost in state.usage.values())
    assert calls == world.model.count()
    for role, cost in state.usage.items():
        assert cost.calls == world.model.count(role)
    assert calls <= worst_case_calls(settings)
    assert calls <= worst_case_calls(settings, steps=_first_plan(played))
    assert calls <= state.bound or state.bound == 0
    if settings.call_budget is not None:
        assert calls <= settings.call_budget
    retries, replans = settings.max_step_retries, settings.max_replans
    if settings.reflection == "never":
        retries = replans = 0
    assert state.replans <= replans
    assert len([n for n, _ in played.updates if n == "replanner"]) <= state.replans
    for step in state.steps.values():
        assert len(step.attempts) <= retries + 1
        assert [a.number for a in step.attempts] == list(range(1, len(step.attempts) + 1))
        for attempt in step.attempts:
            assert len(attempt.rounds) <= settings.max_tool_rounds
    under_way = [len(update.get("dispatch", ())) for _, update in played.updates]  # type: ignore[arg-type]
    assert max(under_way, default=0) <= settings.max_parallel


def _first_plan(played: Played) -> int:
    for node, update in played.updates:
        if node == "planner":
            order = update.get("order")
            planned = len(order) if isinstance(order, list) else 0
            return min(planned, played.world.scenario.settings.max_steps)
    return 0


def assert_tools_kept(played: Played) -> None:
    """Only tools that were given ran, and none more often than its identical calls allow."""
    ran = Counter((name, q) for name, q, _ in played.world.tools_run)
    kinds = {(name, q): kind for name, q, kind in played.world.tools_run}
    for (name, q), times in ran.items():
        assert name in {"fetch", "send", "poll"}
        assert not ("ZZ90" in q and played.world.scenario.settings.provenance)
        if name != "poll":
            # A failed call may be tried once more; any other answer is kept.
            assert times <= (2 if kinds[name, q] in {"error", "huge error", "raises"} else 1)


def assert_disclosed(played: Played) -> None:
    """Invariant 4: what was not done is told, in words that are not a claim of the contrary."""
    state = played.state
    words = wording(played.world.scenario.language)
    answer = state.answer
    assert re.search(r"\w", answer)
    assert isinstance(state.messages[-1], AIMessage)
    assert state.messages[-1].text == answer
    missing = _with(counts(state), *_NOT_DONE)
    told = answer.replace(words.boast, "")
    for subject in {subject_of(step) for step in state.steps.values()}:
        told = told.replace(words.lie(subject), "").replace(words.result(subject), "")
    nothing_done = not _with(counts(state), StepStatus.VERIFIED, StepStatus.ACCEPTED)
    for step in missing:
        subject = subject_of(step)
        words_of_it = [subject, step.description, step.reason]
        named = any(text in told for text in words_of_it if text)
        assert named or (nothing_done and re.search(r"could not be done|没有办成", told)), subject
        assert words.lie(subject) not in answer
    if missing:
        assert words.boast not in answer
    for step in _with(counts(state), StepStatus.ACCEPTED):
        if step.reason != _UNREVIEWED:
            assert subject_of(step) in told or step.description.rstrip("。.") in told
    assert not _INTERNAL.search(answer), answer
    assert "prompt" not in answer.lower()


def assert_status_fits(played: Played) -> None:
    """The status says what happened, by the words of the design."""
    state, world = played.state, played.world
    parts = counts(state)
    usable = _with(parts, StepStatus.VERIFIED, StepStatus.ACCEPTED)
    missing = _with(parts, *_NOT_DONE)
    vouched = [s for s in usable if s.status is StepStatus.VERIFIED or s.reason == _UNREVIEWED]
    by_choice = state.answer_reason == _UNREVIEWED
    answer_fine = state.answer_status is AnswerStatus.VERIFIED or by_choice
    refused = any(a.fault is Fault.BUDGET for s in state.steps.values() for a in s.attempts)
    if refused or state.exhausted:
        expected = RunStatus.EXHAUSTED
    elif not parts:
        expected = RunStatus.COMPLETE if answer_fine else RunStatus.FAILED
    elif not usable:
        expected = RunStatus.FAILED
    elif missing or len(vouched) < len(usable) or not answer_fine:
        expected = RunStatus.PARTIAL
    else:
        expected = RunStatus.COMPLETE
    assert state.status is expected
    settings = world.scenario.settings
    budgets = (settings.call_budget, settings.token_budget, settings.deadline)
    assert (state.status is not RunStatus.EXHAUSTED) or any(b is not None for b in budgets)
    if state.answer_status is AnswerStatus.ACCEPTED:
        assert state.answer_reason
    for step in _with(parts, StepStatus.ACCEPTED, StepStatus.FAILED):
        assert step.reason
    _assert_recovered(state)


def _assert_recovered(state: AgentState) -> None:
    """A step is recovered only when all that was planned in its place went well."""
    fine = {StepStatus.VERIFIED, StepStatus.ACCEPTED, StepStatus.RECOVERED}
    for step in _with(state.steps.values(), StepStatus.RECOVERED):
        stand_ins = [s for s in state.steps.values() if step.id in s.stands_in_for]
        planned = [s.status for s in stand_ins if s.status is not StepStatus.REPLACED]
        assert planned
        assert set(planned) <= fine
    for step in _with(state.steps.values(), StepStatus.VERIFIED, StepStatus.ACCEPTED):
        for needed in step.depends_on:
            assert state.steps[needed].status in fine


def assert_saved(played: Played) -> None:
    """Updates name only fields of the state, and all of it survives the serializer unchanged."""
    serde = serializer()
    fields = set(AgentState.model_fields)
    for node, update in played.updates:
        assert set(update) <= fields, node
    values = [{name: getattr(played.state, name) for name in fields}]
    for value in [*values, *(update for _, update in played.updates)]:
        assert serde.loads_typed(serde.dumps_typed(value)) == value


def assert_all(played: Played) -> None:
    """Everything that holds for every run that ended by itself."""
    assert_over(played)
    assert_only_pass_verifies(played)
    assert_bounded(played)
    assert_tools_kept(played)
    assert_disclosed(played)
    assert_status_fits(played)
    assert_saved(played)
