"""Leave, verdicts by hand, and calls that have begun: nothing is done twice or kept quiet about."""

from collections.abc import Sequence
from pathlib import Path

import pytest
from broken_runs import calls, made, scripted
from langchain_core.runnables import RunnableConfig
from langgraph.checkpoint.memory import InMemorySaver
from langgraph.types import Command
from scripted_model import ScriptedChatModel
from scripted_server import call_then_say, plan

from hansei import Settings, create_plan_execute_agent
from hansei.graphs.agent import Agent
from hansei.graphs.checkpoints import open_checkpointer, serializer
from hansei.policies.errors import UserError
from hansei.policies.state import AgentInput, AgentState
from hansei.policies.words import RunStatus, StepStatus

THREAD: RunnableConfig = {"configurable": {"thread_id": "1"}}
SENT: list[str] = []
DIES: list[bool] = []


class Killed(BaseException):
    """The end of the process, as far as one test can play it."""


def send(to: str) -> str:
    """Send it."""
    SENT.append(to)
    if DIES:
        DIES.clear()
        raise Killed
    return f"sent to {to}"


def look() -> str:
    """Look it up."""
    return "42"


@pytest.fixture(autouse=True)
def _nothing_sent() -> None:
    SENT.clear()
    DIES.clear()


def sending() -> ScriptedChatModel:
    step, said = plan({"description": "Send it to Ann", "tool": "send"}), "It was sent to Ann."
    return scripted(step, call_then_say(said, "send", to="Ann"), answer=said)


def built(model: ScriptedChatModel, **settings: object) -> Agent:
    return create_plan_execute_agent(
        model,
        [made(send, "once"), made(look)],
        settings=Settings.model_validate(settings),
        checkpointer=InMemorySaver(serde=serializer()),
    )


def answered(agent: Agent, answer: object) -> AgentState:
    (waiting, *_) = agent.get_state(THREAD).interrupts
    return AgentState.model_validate(agent.invoke(Command(resume={waiting.id: answer}), THREAD))


RULINGS: Sequence[dict[str, object]] = (
    {"steps": {"1": {"verdict": "PASS", "result": "42"}}},
    {"steps": {"1": {"verdict": "RETRY"}}},
    {"steps": {"1": {"verdict": "REPLAN"}}},
)


@pytest.mark.parametrize("edit", RULINGS)
def test_nothing_is_ruled_while_the_plan_waits(edit: dict[str, object]) -> None:
    agent = built(sending(), approve_plan=True)
    agent.invoke(AgentInput(goal="Send it to Ann"), THREAD)
    with pytest.raises(UserError, match="The plan waits for your leave"):
        agent.update_state(THREAD, edit)
    assert SENT == []
    assert answered(agent, "approve").status is RunStatus.COMPLETE
    assert SENT == ["Ann"]


def test_what_has_begun_is_not_asked_for_again(tmp_path: Path) -> None:
    with open_checkpointer(tmp_path / "runs.db") as saver:
        agent = create_plan_execute_agent(
            sending(),
            [made(send, "once")],
            settings=Settings(approve_effects=True, max_replans=0),
            checkpointer=saver,
        )
        agent.invoke(AgentInput(goal="Send it to Ann"), THREAD, durability="sync")
        DIES.append(True)
        (waiting,) = agent.get_state(THREAD).interrupts
        edit = {"type": "edit", "args": {"to": "Bob"}}
        with pytest.raises(Killed):
            agent.invoke(Command(resume={waiting.id: edit}), THREAD, durability="sync")
        state = AgentState.model_validate(agent.invoke(None, THREAD, durability="sync"))
    assert (state.status, SENT) == (RunStatus.NEEDS_HUMAN, ["Bob"])
    assert 'send {"to":"Bob"}' in state.answer


@pytest.mark.parametrize("verdict", ["RETRY", "REPLAN"])
def test_a_verdict_by_hand_does_not_forget_what_has_begun(tmp_path: Path, verdict: str) -> None:
    with open_checkpointer(tmp_path / "runs.db") as saver:
        agent = create_plan_execute_agent(sending(), [made(send, "once")], checkpointer=saver)
        DIES.append(True)
        with pytest.raises(Killed):
            agent.invoke(AgentInput(goal="Send it to Ann"), THREAD, durability="sync")
        agent.update_state(THREAD, {"verdict": verdict})
        state = AgentState.model_validate(agent.invoke(None, THREAD, durability="sync"))
    assert SENT == ["Ann"]
    assert state.status is not RunStatus.COMPLETE
    assert 'send {"to":"Ann"}' in state.answer


def test_a_replan_by_hand_tells_the_call_that_is_unknown(tmp_path: Path) -> None:
    with open_checkpointer(tmp_path / "runs.db") as saver:
        agent = create_plan_execute_agent(sending(), [made(send, "once")], checkpointer=saver)
        DIES.append(True)
        with pytest.raises(Killed):
            agent.invoke(AgentInput(goal="Send it to Ann"), THREAD, durability="sync")
        agent.invoke(None, THREAD, durability="sync")
        agent.update_state(THREAD, {"steps": {"1": {"verdict": "REPLAN"}}})
        state = AgentState.model_validate(agent.invoke(None, THREAD, durability="sync"))
    assert state.status is RunStatus.FAILED
    assert 'send {"to":"Ann"}' in state.answer


def test_an_edit_of_a_call_that_was_asked_for_twice_is_for_both() -> None:
    model = sending()
    twice = calls(("send", {"to": "Ann"}), ("send", {"to": "Ann"}))
    model.script("executor", twice, "It was sent to Bob.")
    model.script("synthesizer", "It was sent to Bob.")
    agent = built(model, approve_effects=True)
    agent.invoke(AgentInput(goal="Send it to Ann or Bob"), THREAD)
    state = answered(agent, {"type": "edit", "args": {"to": "Bob"}})
    assert SENT == ["Bob"]
    assert [c.output for c in state.steps[1].last_attempt.calls] == ["sent to Bob"] * 2
    assert state.steps[1].status is not StepStatus.FAILED


def test_an_edited_call_cannot_become_another_tool() -> None:
    agent = built(sending(), approve_effects=True)
    agent.invoke(AgentInput(goal="Send it to Ann"), THREAD)
    other = {"name": "look", "args": {"to": "zz"}}
    assert answered(agent, {"type": "edit", "edited_action": other}).status is RunStatus.RUNNING
    assert SENT == []
    assert answered(agent, "yes").status is RunStatus.COMPLETE


def test_an_edited_plan_needs_no_numbers() -> None:
    model = sending()
    model.script("executor", call_then_say("It is 42.", "look"))
    model.script("synthesizer", "It is 42.")
    agent = built(model, approve_plan=True)
    agent.invoke(AgentInput(goal="Send it to Ann"), THREAD)
    steps = [{"description": f"Look it up in {place}"} for place in ("the book", "the cellar")]
    state = answered(agent, {"type": "edit", "steps": steps})
    assert [s.description for s in state.ordered_steps[1:]] == [s["description"] for s in steps]
