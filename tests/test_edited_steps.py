"""Edits by hand: what was done for one thing is not passed off as done for another."""

from collections.abc import Sequence
from typing import Any

import pytest
from broken_runs import made, scripted
from langchain_core.runnables import RunnableConfig
from langgraph.checkpoint.memory import InMemorySaver
from policy_records import PENDING, a_step, by_id, tried
from scripted_server import call_then_say, plan

from hansei import UserError, create_plan_execute_agent
from hansei.graphs.agent import Agent
from hansei.graphs.checkpoints import serializer
from hansei.policies.edits import merge_steps
from hansei.policies.records import Attempt, Round, Step, ToolCall
from hansei.policies.state import AgentInput, AgentState
from hansei.policies.words import Progress, RunStatus, StepStatus, Verdict, VerdictSource
from hansei.tools.outcome import OutcomeStatus

THREAD: RunnableConfig = {"configurable": {"thread_id": "1"}}
GOAL = AgentInput(goal="Look it up")
DONE = a_step(1, PENDING, tried(), progress=Progress.FINISHED)


def looking_agent() -> Agent:
    def look() -> str:
        return "42"

    one = plan({"description": "look it up", "tool": "look"})
    model = scripted(one, call_then_say("It is 42.", "look"))
    model.script("synthesizer", "It is 42.", "It is 43.")
    saver = InMemorySaver(serde=serializer())
    return create_plan_execute_agent(model, [made(look)], checkpointer=saver)


def looked_up(status: StepStatus = StepStatus.VERIFIED, *, changes: bool = False) -> Step:
    call = ToolCall(name="look", outcome=OutcomeStatus.OK, output="42", changes=changes)
    attempt = Attempt(rounds=[Round(calls=[call])], result="42")
    done = status is not StepStatus.PENDING
    return Step(
        id=1,
        description="Look up order 10001",
        status=status,
        progress=Progress.FINISHED,
        attempts=[attempt],
        result="42" if done else "",
    )


OTHER = {"description": "Look up order 10002"}


def test_a_step_that_waits_to_be_judged_is_begun_anew_for_another_task() -> None:
    step = merge_steps(by_id(looked_up(StepStatus.PENDING)), {"1": OTHER})[1]
    assert (step.status, step.progress) == (StepStatus.PENDING, Progress.WAITING)
    assert (step.attempts, step.result) == ([], "")
    assert step.verdicts[-1].source is VerdictSource.HUMAN
    assert "Look up order 10001" in step.verdicts[-1].analysis


def test_a_settled_step_is_begun_anew_only_where_that_is_said() -> None:
    with pytest.raises(UserError, match='"status": "pending"'):
        merge_steps(by_id(looked_up()), {"1": OTHER})
    step = merge_steps(by_id(looked_up()), {"1": {**OTHER, "status": "pending"}})[1]
    assert (step.progress, step.attempts, step.result) == (Progress.WAITING, [], "")


def test_what_has_changed_something_stays_on_record() -> None:
    for status in (StepStatus.PENDING, StepStatus.VERIFIED):
        with pytest.raises(UserError, match="has changed something already"):
            merge_steps(by_id(looked_up(status, changes=True)), {"1": OTHER})


def test_other_spaces_are_no_other_task() -> None:
    step = looked_up()
    spaced = {"description": "Look up  order 10001 "}
    assert merge_steps(by_id(step), {"1": spaced})[1].attempts == step.attempts


@pytest.mark.parametrize("status", ["verified", "accepted"])
def test_no_status_vouches_for_nothing(status: str) -> None:
    with pytest.raises(UserError, match="no result that could pass"):
        merge_steps(by_id(a_step(1)), {"1": {"status": status}})
    waiting = looked_up(StepStatus.PENDING)
    assert merge_steps(by_id(waiting), {"1": {"status": status}})[1].result == "42"


@pytest.mark.parametrize("status", [StepStatus.PENDING, StepStatus.FAILED])
def test_a_result_set_by_hand_is_vouched_for_by_the_human(status: StepStatus) -> None:
    step = merge_steps(by_id(looked_up(status)), {"1": {"result": "lost"}})[1]
    assert step.result == "lost"
    assert step.verdict is not None
    assert step.verdict.verdict is Verdict.PASS


@pytest.mark.parametrize("key", [1.5, True, 0, -1, 10**30, "1.5", "", "x"])
def test_a_step_has_a_number(key: Any) -> None:
    with pytest.raises(UserError, match="named by their numbers"):
        merge_steps(by_id(DONE), {key: {"hint": "x"}})


FINISHED_EDITS: Sequence[tuple[dict[str, object], RunStatus, str]] = (
    ({"steps": {"1": {"status": "failed"}}}, RunStatus.FAILED, "could not be done"),
    ({"steps": {"1": {"result": "It is 43."}}}, RunStatus.COMPLETE, "43"),
)


@pytest.mark.parametrize(("edit", "status", "said"), FINISHED_EDITS)
def test_an_edit_after_the_end_is_answered_anew(
    edit: dict[str, object], status: RunStatus, said: str
) -> None:
    agent = looking_agent()
    assert agent.invoke(GOAL, THREAD)["verified"] is True
    agent.update_state(THREAD, edit)
    assert agent.get_state(THREAD).next
    state = AgentState.model_validate(agent.invoke(None, THREAD))
    assert state.status is status
    assert state.verified is (status is RunStatus.COMPLETE)
    assert said in state.answer
    assert [r.source for r in state.reflections].count(VerdictSource.HUMAN) == 1
    again = agent.get_state(THREAD)
    agent.update_state(THREAD, {"brief": "the gist"})
    assert agent.get_state(THREAD).next == again.next == ()


@pytest.mark.parametrize(
    "edit",
    [
        *({"status": "running"}, {"verified": True}, {"answer": "All is well."}),
        *({"goal": "Something else"}, {"replan_due": [1, 9]}, {"bound": 3}),
        *({"kept": None}, {"steps": {"__overwrite__": {}}}),
    ],
)
def test_what_follows_from_the_steps_is_not_set_by_hand(edit: dict[str, object]) -> None:
    agent = looking_agent()
    agent.invoke(GOAL, THREAD)
    before = agent.get_state(THREAD)
    if edit == {"kept": None}:
        edit = {"kept": {"agent": {"max_replans": 9}}}
    if edit == {"verified": True}:
        edit = {"verified": False}
    with pytest.raises(UserError):
        agent.update_state(THREAD, edit)
    assert agent.get_state(THREAD) == before


def test_a_step_needs_a_tool_that_is_there() -> None:
    agent = looking_agent()
    agent.invoke(GOAL, THREAD, interrupt_after=["planner"])
    with pytest.raises(UserError, match=r"no tool 'lok' \(did you mean 'look'\?\)"):
        agent.update_state(THREAD, {"steps": {"2": {"description": "look", "tool": "lok"}}})
