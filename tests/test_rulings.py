"""Verdicts given by hand: the reflector applies them, and asks nobody."""

from collections.abc import Mapping
from pathlib import Path

import pytest
from broken_runs import made, scripted
from langchain_core.messages import AIMessage
from langchain_core.runnables import RunnableConfig
from langgraph.checkpoint.memory import InMemorySaver
from policy_records import PENDING, SKIPPED, VERIFIED, a_step, by_id, tried
from scripted_model import ScriptedChatModel
from scripted_server import call_then_say, plan, structured

from hansei import Settings, ThreadBusyError, create_plan_execute_agent
from hansei.graphs.agent import Agent
from hansei.graphs.checkpoints import open_checkpointer, serializer
from hansei.policies.edits import merge_steps
from hansei.policies.errors import UserError
from hansei.policies.progress import after_edit
from hansei.policies.records import AnswerAttempt, Reflection, Ruling
from hansei.policies.rulings import rulings, set_back
from hansei.policies.state import AgentInput, AgentState
from hansei.policies.words import (
    AnswerStatus,
    Progress,
    RunStatus,
    StepStatus,
    Verdict,
    VerdictSource,
)

BASE = Settings(max_parallel=2)
RETRY = Ruling(verdict=Verdict.RETRY)
DONE = a_step(1, PENDING, tried(), progress=Progress.FINISHED)
BUSY = a_step(2, PENDING, tried(), progress=Progress.RUNNING)
BOTH = [1, 2]
LAST = [Reflection(step=1, verdict=Verdict.PASS)]
RULED = a_step(1, VERIFIED, tried()).model_copy(update={"verdict": RETRY})


# What an edit says.


@pytest.mark.parametrize(
    "said", ["RETRY", "retry", " Retry ", "重试", {"verdict": "retry"}, Verdict.RETRY, RETRY]
)
def test_a_verdict_may_be_written_in_any_way(said: object) -> None:
    step = merge_steps(by_id(a_step(1, VERIFIED, tried())), {"1": {"verdict": said}})[1]
    assert step.verdict == RETRY
    assert step.status is VERIFIED
    assert AgentState(verdict=said).verdict == RETRY  # type: ignore[arg-type]


def test_a_verdict_may_bring_its_reason_and_its_hint() -> None:
    said = {"verdict": "RETRY", "analysis": "too long", "hint": "one line"}
    ruling = Ruling(verdict=Verdict.RETRY, analysis="too long", suggestion="one line")
    assert merge_steps(by_id(DONE), {"1": {"verdict": said}})[1].verdict == ruling


@pytest.mark.parametrize(
    "said", ["maybe", "not PASS", 3, {"verdict": None}, {"hint": "x"}, ["PASS"]]
)
def test_any_other_word_is_refused(said: object) -> None:
    with pytest.raises(UserError, match="give PASS, RETRY or REPLAN"):
        merge_steps(by_id(DONE), {"1": {"verdict": said}})
    with pytest.raises(UserError, match="give PASS, RETRY or REPLAN"):
        AgentState(verdict=said)  # type: ignore[arg-type]


def test_nothing_passes_without_a_result() -> None:
    with pytest.raises(UserError, match="no result that could pass"):
        merge_steps(by_id(a_step(1)), {"1": {"verdict": "PASS"}})
    step = merge_steps(by_id(a_step(1)), {"1": {"verdict": "PASS", "result": "42"}})[1]
    assert step.verdict == Ruling(verdict=Verdict.PASS)


def test_a_changed_record_of_a_verdict_is_a_verdict() -> None:
    """Studio sends a step back whole; what somebody has changed in it counts, in both forms."""
    old = a_step(1, VERIFIED, tried(), source=VerdictSource.CRITIC)
    whole = old.model_dump(mode="json")
    assert merge_steps(by_id(old), {"1": whole})[1] == old
    changed = {**whole["verdicts"][-1], "verdict": "RETRY", "suggestion": "shorter"}
    for before in (old, DONE):
        step = merge_steps(by_id(before), {"1": {**whole, "verdicts": [changed]}})[1]
        assert step.verdict == Ruling(verdict=Verdict.RETRY, suggestion="shorter")
        assert (step.status, step.verdicts) == (before.status, before.verdicts)


def test_a_field_that_is_none_is_refused() -> None:
    with pytest.raises(UserError, match=r"no step field 'satus' \(did you mean 'status'\?\)"):
        merge_steps(by_id(DONE), {"1": {"satus": "failed"}})


# What it is about, and what comes next.

ABOUT: Mapping[str, tuple[AgentState, list[int]]] = {
    "a step": (AgentState(steps=by_id(RULED, BUSY), order=BOTH), [2]),
    "what waits": (AgentState(steps=by_id(DONE, BUSY), verdict=RETRY, order=BOTH), [2]),
    "what is under way": (AgentState(steps=by_id(BUSY), verdict=RETRY), []),
    "what was judged last": (
        AgentState(steps=by_id(a_step(1, VERIFIED)), reflections=LAST, verdict=RETRY),
        [],
    ),
    "the draft": (
        AgentState(
            answer_status=AnswerStatus.PENDING, answer_attempts=[AnswerAttempt()], verdict=RETRY
        ),
        [],
    ),
    "work on a run that is over": (
        AgentState(steps=by_id(a_step(1)), status=RunStatus.COMPLETE),
        [],
    ),
    "a draft that nobody has judged": (AgentState(answer_status=AnswerStatus.PENDING), []),
}


@pytest.mark.parametrize("name", ABOUT)
def test_the_reflector_comes_next(name: str) -> None:
    state, handed = ABOUT[name]
    after = after_edit(state, BASE)
    assert after.look_back
    assert [s.id for s in after.steps] == handed


def test_a_verdict_about_nothing_is_refused() -> None:
    with pytest.raises(UserError, match="Nothing was done there yet"):
        rulings(AgentState(verdict=RETRY))


def test_what_leans_on_a_step_that_is_done_again_is_done_again() -> None:
    leaning = a_step(2, VERIFIED, needs=[1], result="old")
    skipped = a_step(3, SKIPPED, needs=[1], reason="one failed")
    steps = by_id(RULED, leaning, skipped, a_step(4, VERIFIED))
    assert set(set_back(steps, {1: RETRY})) == {2, 3}
    assert set(set_back(steps, {1: Ruling(verdict=Verdict.PASS)})) == {3}
    assert set_back(steps, {1: RETRY})[2].result == ""
    assert set_back(steps, {1: RETRY})[2].status is StepStatus.PENDING


# On a run.

THREAD: RunnableConfig = {"configurable": {"thread_id": "1"}}


def look() -> str:
    """Look it up."""
    return "42"


def halted(
    model: ScriptedChatModel, *, before: str | None, settings: Settings | None = None
) -> Agent:
    """An agent whose run has stopped before a node, or has ended."""
    saver = InMemorySaver(serde=serializer())
    agent = create_plan_execute_agent(model, [made(look)], settings=settings, checkpointer=saver)
    stops = [before] if before else None
    agent.invoke(AgentInput(goal="Look it up"), THREAD, interrupt_before=stops)
    return agent


def gone_on(agent: Agent) -> AgentState:
    return AgentState.model_validate(agent.invoke(None, THREAD))


def looking() -> ScriptedChatModel:
    one = plan({"description": "look it up", "tool": "look"})
    return scripted(one, call_then_say("It is 42.", "look"))


@pytest.mark.parametrize("edit", [{"verdict": "pass"}, {"steps": {"1": {"verdict": "PASS"}}}])
@pytest.mark.parametrize("node", [None, "executor", "reflector"])
def test_a_human_passes_what_waits(edit: dict[str, object], node: str | None) -> None:
    model = looking()
    agent = halted(model, before="reflector")
    agent.update_state(THREAD, edit, as_node=node)
    assert agent.get_state(THREAD).next == ("reflector",)
    state = gone_on(agent)
    assert (state.status, state.verified) == (RunStatus.COMPLETE, True)
    assert state.steps[1].verdicts[-1].source is VerdictSource.HUMAN
    assert model.count("reflector") == 0
    assert (state.verdict, state.steps[1].verdict) == (None, None)


def test_a_humans_retry_is_granted_whatever_was_used_up() -> None:
    model = looking()
    agent = halted(model, before=None, settings=Settings(max_step_retries=0))
    first = AgentState.model_validate(agent.get_state(THREAD).values)
    edit = {"steps": {"1": {"verdict": {"verdict": "retry", "hint": "in one word"}}}}
    agent.update_state(THREAD, edit)
    state = gone_on(agent)
    assert (first.status, state.status) == (RunStatus.COMPLETE, RunStatus.COMPLETE)
    assert [a.hint for a in state.steps[1].attempts] == ["", "in one word"]
    assert [v.source for v in state.steps[1].verdicts] == [
        VerdictSource.CRITIC,
        VerdictSource.HUMAN,
        VerdictSource.CRITIC,
    ]
    assert state.run_id == first.run_id
    assert sum(u.calls for u in state.usage.values()) <= state.bound
    # The answer that was taken back is no part of the conversation.
    assert [m.text for m in state.messages if isinstance(m, AIMessage)] == [state.answer]


def test_a_humans_replan_is_made_also_without_replans() -> None:
    model = looking()
    again = {"id": 2, "description": "look elsewhere", "tool": "look", "stands_in_for": [1]}
    model.script("replanner", structured({"analysis": "", "steps": [again], "given_up": []}))
    agent = halted(model, before="reflector", settings=Settings(max_replans=0))
    agent.update_state(THREAD, {"verdict": {"verdict": "replan", "analysis": "the wrong place"}})
    state = gone_on(agent)
    assert model.count("replanner") == 1
    assert state.steps[1].reason == "the wrong place"
    assert state.replans == 1
    assert {i: s.status for i, s in state.steps.items()}[1] is not StepStatus.VERIFIED


@pytest.mark.parametrize("before", ["reflector", None])
def test_a_human_judges_the_answer(before: str | None) -> None:
    model = looking()
    agent = halted(model, before=None)
    if before:
        agent.invoke(AgentInput(goal="Look it up"), THREAD, interrupt_before=["synthesizer"])
        agent.invoke(None, THREAD, interrupt_before=["reflector"])
    agent.update_state(THREAD, {"verdict": {"verdict": "retry", "hint": "say it shortly"}})
    state = gone_on(agent)
    assert state.status is RunStatus.COMPLETE
    assert [a.verdict.source for a in state.answer_attempts if a.verdict] == [
        VerdictSource.HUMAN,
        VerdictSource.CRITIC,
    ]
    assert "say it shortly" in model.prompts("synthesizer")[-1]
    told = [str(m.text) for m in state.messages if isinstance(m, AIMessage)]
    assert told.count(state.answer) == (2 if before else 1)


def test_a_bad_edit_leaves_everything_as_it_was() -> None:
    agent = halted(looking(), before="reflector")
    before = agent.get_state(THREAD)
    edits: list[dict[str, object]] = [
        {"verdict": "maybe"},
        {"steps": {"9": {"verdict": "PASS"}}},
        {"steps": {"x": {}}},
    ]
    for bad in edits:
        with pytest.raises(UserError):
            agent.update_state(THREAD, bad)
    assert agent.get_state(THREAD) == before
    assert gone_on(agent).status is RunStatus.COMPLETE


def test_a_human_has_it_looked_up_again() -> None:
    looked: list[str] = []

    def look() -> str:
        looked.append("42")
        return "42"

    saver = InMemorySaver(serde=serializer())
    agent = create_plan_execute_agent(looking(), [made(look)], checkpointer=saver)
    agent.invoke(AgentInput(goal="Look it up"), THREAD)
    agent.update_state(THREAD, {"steps": {"1": {"verdict": "retry"}}})
    assert gone_on(agent).status is RunStatus.COMPLETE
    assert len(looked) == 2


@pytest.mark.parametrize("edit", [{"verdict": "pass"}, {"steps": {"1": {"description": "x"}}}])
def test_before_there_is_a_plan_there_is_nothing_to_judge(edit: dict[str, object]) -> None:
    agent = halted(looking(), before="planner")
    with pytest.raises(UserError, match="no plan at that point yet"):
        agent.update_state(THREAD, edit)
    assert gone_on(agent).status is RunStatus.COMPLETE


def test_a_run_that_goes_on_cannot_be_edited(tmp_path: Path) -> None:
    with open_checkpointer(tmp_path / "runs.db") as saver:
        agent = create_plan_execute_agent(looking(), [made(look)], checkpointer=saver)
        for _ in agent.stream(AgentInput(goal="Look it up"), THREAD):
            with pytest.raises(ThreadBusyError):
                agent.update_state(THREAD, {"brief": "another"})
        agent.update_state(THREAD, {"brief": "another"})


def test_a_step_set_back_on_a_run_that_is_over_is_done_again() -> None:
    model = looking()
    agent = halted(model, before=None)
    agent.update_state(THREAD, {"steps": {"1": {"status": "pending", "hint": "again"}}})
    state = gone_on(agent)
    assert (state.status, state.verified) == (RunStatus.COMPLETE, True)
    assert [a.hint for a in state.steps[1].attempts] == ["", "again"]
