"""A human's leave: for the plan, for replans, and for single calls before they are made."""

from collections.abc import Callable, Sequence
from pathlib import Path

import pytest
from broken_runs import calls, made, scripted
from langchain_core.runnables import RunnableConfig
from langgraph.checkpoint.memory import InMemorySaver
from langgraph.types import Command
from scripted_model import ScriptedChatModel
from scripted_server import call_then_say, plan, structured

from hansei import Settings, create_plan_execute_agent
from hansei.graphs.agent import Agent
from hansei.graphs.checkpoints import open_checkpointer, serializer
from hansei.policies.errors import UserError
from hansei.policies.state import AgentInput, AgentState
from hansei.policies.words import RunStatus, StepStatus
from hansei.tools.outcome import OutcomeStatus

THREAD: RunnableConfig = {"configurable": {"thread_id": "1"}}
SENT: list[str] = []


def send(to: str) -> str:
    """Send it."""
    SENT.append(to)
    return f"sent to {to}"


def look() -> str:
    """Look it up."""
    return "42"


def lost() -> str:
    """Look for what is not there."""
    return '{"error": "there is none"}'


@pytest.fixture(autouse=True)
def _nothing_sent() -> None:
    SENT.clear()


def built(model: ScriptedChatModel, **approvals: object) -> Agent:
    settings = Settings.model_validate(approvals)
    tools = [made(send, "once"), made(look), made(lost)]
    saver = InMemorySaver(serde=serializer())
    return create_plan_execute_agent(model, tools, settings=settings, checkpointer=saver)


def asked(agent: Agent) -> list[dict[str, object]]:
    """What the run waits for."""
    return [item.value for item in agent.get_state(THREAD).interrupts]


def begun(agent: Agent, goal: str = "Send it to Ann") -> list[dict[str, object]]:
    agent.invoke(AgentInput(goal=goal), THREAD)
    return asked(agent)


def answered(agent: Agent, answer: object) -> AgentState:
    (waiting, *_) = agent.get_state(THREAD).interrupts
    return AgentState.model_validate(agent.invoke(Command(resume={waiting.id: answer}), THREAD))


def sending() -> ScriptedChatModel:
    step = plan({"description": "Send it to Ann", "tool": "send"})
    return scripted(
        step, call_then_say("It was sent to Ann.", "send", to="Ann"), answer="It was sent to Ann."
    )


def test_a_plan_waits_for_leave() -> None:
    model = sending()
    agent = built(model, approve_plan=True)
    (question,) = begun(agent)
    assert question["kind"] == "plan"
    assert "1. Send it to Ann  [send]" in str(question["question"])
    assert model.count() == 1
    assert agent.get_state(THREAD).next == ("approval",)
    state = answered(agent, "approve")
    assert (state.status, state.waiting) == (RunStatus.COMPLETE, None)
    assert SENT == ["Ann"]
    assert model.count("planner") == 1


def test_a_plan_that_is_refused_is_not_done_and_the_answer_says_so() -> None:
    agent = built(sending(), approve_plan=True)
    begun(agent)
    state = answered(agent, "reject: wait until May")
    assert state.status is RunStatus.FAILED
    assert SENT == []
    assert state.steps[1].status is StepStatus.FAILED
    assert "wait until May" in state.answer


def test_a_wrong_answer_is_asked_again() -> None:
    agent = built(sending(), approve_plan=True)
    begun(agent)
    for wrong in (
        "maybe",
        {"type": "edit", "args": {"q": 1}},
        {"type": "edit", "steps": [{"tool": "x"}]},
    ):
        assert answered(agent, wrong).status is RunStatus.RUNNING
        (question,) = asked(agent)
        assert "The last answer cannot be used" in str(question["question"])
        assert SENT == []
    assert answered(agent, "yes").status is RunStatus.COMPLETE
    assert SENT == ["Ann"]


def test_an_edited_plan_is_the_plan() -> None:
    model = sending()
    model.script("executor", call_then_say("It is 42.", "look"))
    model.script("synthesizer", "It is 42.")
    agent = built(model, approve_plan=True)
    begun(agent)
    steps = [{"description": "Look it up", "tool": "look"}]
    state = answered(agent, {"type": "edit", "steps": steps})
    assert {i: (s.status, s.tool) for i, s in state.steps.items()} == {
        1: (StepStatus.REPLACED, "send"),
        2: (StepStatus.VERIFIED, "look"),
    }
    assert (state.status, SENT) == (RunStatus.COMPLETE, [])


def test_a_plan_may_be_edited_in_the_state_while_it_waits() -> None:
    agent = built(sending(), approve_plan=True)
    begun(agent)
    agent.update_state(THREAD, {"steps": {"1": {"description": "Send it to Bob"}}})
    assert agent.get_state(THREAD).next == ("approval",)
    agent.invoke(None, THREAD)
    (question,) = asked(agent)
    assert "1. Send it to Bob  [send]" in str(question["question"])


def losing() -> ScriptedChatModel:
    again = {"description": "Look it up", "tool": "look", "stands_in_for": [1]}
    first, second = call_then_say("There is none.", "lost"), call_then_say("It is 42.", "look")
    return scripted(
        plan({"description": "Look for it in the cellar", "tool": "lost"}),
        [first, first, second, second],
        replanner=structured({"analysis": "", "steps": [again], "given_up": []}),
    )


@pytest.mark.parametrize(
    ("answer", "status"), [("approve", RunStatus.COMPLETE), ("no", RunStatus.FAILED)]
)
def test_a_replan_waits_for_leave(answer: str, status: RunStatus) -> None:
    model = losing()
    agent = built(model, approve_replans=True)
    (question,) = begun(agent, "Look for it")
    assert question["kind"] == "replan"
    assert "2. Look it up  [look]" in str(question["question"])
    state = answered(agent, answer)
    assert state.status is status
    assert model.count("replanner") == 1
    assert state.steps[1].status is (
        StepStatus.RECOVERED if status is RunStatus.COMPLETE else StepStatus.FAILED
    )


GATES: Sequence[dict[str, object]] = (
    {"approve_effects": True},
    {"approve_tools": ["send"]},
    {"approve_tools": "send, look"},
    {"approve_tools": "*"},
)


@pytest.mark.parametrize("gate", GATES)
def test_a_call_waits_for_leave(gate: dict[str, object]) -> None:
    agent = built(sending(), **gate)
    (question,) = begun(agent)
    assert question["kind"] == "tools"
    assert question["action_requests"] == [
        {"name": "send", "args": {"to": "Ann"}, "description": 'send({"to":"Ann"})'}
    ]
    assert SENT == []
    state = answered(agent, {"decisions": [{"type": "approve"}]})
    assert (state.status, SENT) == (RunStatus.COMPLETE, ["Ann"])
    assert state.steps[1].last_attempt.calls[0].decision == "approve"


def test_a_call_that_is_refused_is_not_made() -> None:
    agent = built(sending(), approve_effects=True, max_replans=0)
    begun(agent)
    state = answered(agent, "reject: she has left")
    call = state.steps[1].last_attempt.calls[0]
    assert (SENT, call.outcome, call.decision) == ([], OutcomeStatus.DECLINED, "reject")
    assert (state.status, state.steps[1].status) == (RunStatus.FAILED, StepStatus.FAILED)
    assert "she has left" in state.answer
    assert state.answer.startswith("Sorry, this could not be done")
    assert "sent to Ann" not in state.answer


def test_a_call_may_be_edited() -> None:
    model = sending()
    agent = built(model, approve_effects=True)
    begun(agent)
    wrong = answered(agent, {"type": "edit", "args": {"whom": "Bob"}})
    assert (wrong.status, SENT) == (RunStatus.RUNNING, [])
    assert "does not take these arguments" in str(asked(agent)[0]["question"])
    state = answered(agent, {"type": "edit", "args": {"to": "Bob"}})
    assert SENT == ["Bob"]
    assert state.steps[1].last_attempt.calls[0].args == '{"to":"Bob"}'


def test_of_several_calls_each_has_its_answer() -> None:
    model = sending()
    model.script(
        "executor",
        calls(("send", {"to": "Ann"}), ("look", {}), ("send", {"to": "Bob"})),
        "It was sent to Bob.",
    )
    agent = built(model, approve_effects=True, max_replans=0, provenance=False)
    (question,) = begun(agent)
    assert len(question["action_requests"]) == 2  # type: ignore[arg-type]
    state = answered(agent, ["no", "yes"])
    assert SENT == ["Bob"]
    outcomes = [c.outcome for c in state.steps[1].attempts[0].calls]
    assert outcomes == [OutcomeStatus.DECLINED, OutcomeStatus.OK, OutcomeStatus.OK]
    assert state.status is not RunStatus.COMPLETE


def test_what_needs_leave_is_kept_with_the_run(tmp_path: Path) -> None:
    """Whoever goes on without the setting, in another process too, is bound by it all the same."""

    def opened(settings: Settings, then: Callable[[Agent], object]) -> None:
        with open_checkpointer(tmp_path / "runs.db") as saver:
            then(create_plan_execute_agent(model, tools, settings=settings, checkpointer=saver))

    def ask(agent: Agent) -> None:
        assert len(begun(agent)) == 1

    def go_on(agent: Agent) -> None:
        assert len(asked(agent)) == 1
        assert answered(agent, "no").status is RunStatus.FAILED

    model, tools = sending(), [made(send, "once")]
    opened(
        Settings(approve_effects=True),
        lambda agent: agent.invoke(AgentInput(goal="Send it"), THREAD),
    )
    opened(Settings(max_replans=0), go_on)
    assert SENT == []


async def test_leave_is_asked_for_in_async_runs_too() -> None:
    agent = built(sending(), approve_plan=True, approve_effects=True)
    await agent.ainvoke(AgentInput(goal="Send it to Ann"), THREAD)
    kinds: list[object] = []
    while waiting := (await agent.aget_state(THREAD)).interrupts:
        kinds.append(waiting[0].value["kind"])
        await agent.ainvoke(Command(resume="approve"), THREAD)
    assert kinds == ["plan", "tools"]
    assert SENT == ["Ann"]


def test_a_tool_that_is_not_there_cannot_be_waited_for() -> None:
    said = "approve_tools names sned, and the tools are: look, lost, send"
    with pytest.raises(UserError, match=said):
        built(sending(), approve_tools=["sned"])
    agent = built(sending())
    with pytest.raises(UserError, match=said):
        agent.invoke(AgentInput(goal="Send it"), THREAD, context=Settings(approve_tools=("sned",)))
