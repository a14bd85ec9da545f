"""Every stream mode of LangGraph's, and our own progress as `custom` events."""

from collections.abc import Sequence
from typing import cast, get_args

import pytest
from broken_runs import GIVES_UP, made, scripted
from langchain_core.runnables import RunnableConfig
from langgraph.checkpoint.memory import InMemorySaver
from langgraph.types import StreamMode
from scripted_model import ScriptedChatModel
from scripted_server import call_then_say, plan, structured, verdict

from hansei import Settings, create_plan_execute_agent
from hansei.graphs.agent import Agent
from hansei.graphs.checkpoints import serializer
from hansei.policies.events import ProgressEvent
from hansei.policies.state import AgentInput, AgentState
from hansei.policies.words import RunStatus

MODES: Sequence[StreamMode] = get_args(StreamMode)
GOAL = AgentInput(goal="Look it up")
THREAD: RunnableConfig = {"configurable": {"thread_id": "1"}}


def look() -> str:
    """Look it up."""
    return "42"


def lost() -> str:
    """Look for what is not there."""
    return '{"error": "there is none"}'


def looking() -> ScriptedChatModel:
    one = plan({"description": "look it up", "tool": "look"})
    return scripted(one, call_then_say("It is 42.", "look"))


def built(model: ScriptedChatModel, settings: Settings | None = None) -> Agent:
    saver = InMemorySaver(serde=serializer())
    tools = [made(look), made(lost)]
    return create_plan_execute_agent(model, tools, settings=settings, checkpointer=saver)


def told(model: ScriptedChatModel, settings: Settings | None = None) -> list[ProgressEvent]:
    events = built(model, settings).stream(GOAL, THREAD, stream_mode="custom")
    return [cast("ProgressEvent", event) for event in events]


@pytest.mark.parametrize("mode", MODES)
def test_every_mode_streams(mode: StreamMode) -> None:
    agent = built(looking())
    parts = list(agent.stream(GOAL, THREAD, stream_mode=mode))
    assert parts
    assert AgentState.model_validate(agent.get_state(THREAD).values).status is RunStatus.COMPLETE


async def test_every_mode_streams_in_async_runs_and_together() -> None:
    agent = built(looking())
    seen = set()
    async for mode, _ in agent.astream(GOAL, THREAD, stream_mode=list(MODES)):
        seen.add(mode)
    # A mode that debug holds already is not given twice.
    assert seen >= {"values", "updates", "custom", "messages", "debug"}
    state = AgentState.model_validate((await agent.aget_state(THREAD)).values)
    assert state.status is RunStatus.COMPLETE


def test_progress_is_told_in_order() -> None:
    events = told(looking())
    assert [e["event"] for e in events] == [
        "plan",
        "begin",
        "call",
        "output",
        "result",
        "verdict",
        "settled",
        "verdict",
        "end",
    ]
    assert events[0]["steps"][0]["description"] == "look it up"
    assert events[2] == {"event": "call", "step": 1, "tool": "look", "args": "{}"}
    assert (events[3]["outcome"], events[3]["text"]) == ("ok", "42")
    assert (events[6]["status"], events[7]["step"]) == ("verified", 0)
    assert events[-1] == {
        "event": "end",
        "status": "complete",
        "verified": True,
        "text": "It is 42.",
    }


async def test_async_runs_tell_the_same() -> None:
    agent = built(looking())
    events = [e async for e in agent.astream(GOAL, THREAD, stream_mode="custom")]
    assert events == told(looking())


def test_retries_and_replans_are_told() -> None:
    model = looking()
    model.script("reflector", verdict("RETRY", "too long", suggestion="shorter"), verdict("PASS"))
    events = told(model)
    assert [(e["step"], e["attempt"]) for e in events if e["event"] == "begin"] == [(1, 1), (1, 2)]
    assert next(e["hint"] for e in events if e["event"] == "verdict") == "shorter"

    again = {"description": "Look elsewhere", "tool": "look", "stands_in_for": [1]}
    first = call_then_say("There is none.", "lost")
    second = call_then_say("It is 42.", "look")
    model = scripted(
        plan({"description": "Look in the cellar", "tool": "lost"}),
        [first, first, second, second],
        replanner=structured({"analysis": "", "steps": [again], "given_up": []}),
    )
    events = told(model)
    (replan,) = [e for e in events if e["event"] == "replan"]
    assert replan["steps"][0]["in_place_of"] == [1]
    assert [e["status"] for e in events if e["event"] == "settled"] == [
        "failed",
        "verified",
        "recovered",
    ]


def test_what_breaks_and_what_waits_is_told() -> None:
    model = scripted(plan({"description": "Look it up", "tool": "look"}), "", replanner=GIVES_UP)
    events = told(model)
    assert "broken" in [e["event"] for e in events]
    assert events[-1]["status"] == "failed"
    events = told(looking(), Settings(approve_plan=True))
    assert [e["event"] for e in events] == ["plan", "leave"]
