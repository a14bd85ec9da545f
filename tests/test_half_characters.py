"""Half characters, which no request and no database could hold, are replaced where they come in."""

from __future__ import annotations

from pathlib import Path

import pytest
from broken_runs import made, ran, scripted
from langchain_core.messages import HumanMessage
from langchain_core.runnables import RunnableConfig
from scripted_replies import Entry, call_then_say, plan, tool_call, verdict
from scripted_server import ScriptedServer

from hansei import (
    RunContext,
    UserError,
    chat_model,
    create_plan_execute_agent,
    open_checkpointer,
)
from hansei.policies.fencing import sendable
from hansei.policies.goals import asked_for
from hansei.policies.state import AgentInput, AgentState
from hansei.policies.words import RunStatus

ONE = plan({"description": "Look up the value", "tool": "look"})
HALF = "\ud83d"


def look(q: str) -> str:
    return '{"value": 42}'


def test_only_halves_are_replaced() -> None:
    assert sendable(f"a{HALF}b\udc00") == "a?b?"
    assert sendable("an emoji 🔎, 汉字\n\u2028") == "an emoji 🔎, 汉字\n\u2028"


@pytest.mark.parametrize(
    "given",
    [
        AgentInput(goal=f"Look {HALF} it up"),
        AgentInput(messages=[HumanMessage(f"Look {HALF} it up")]),
    ],
    ids=["goal", "message"],
)
def test_a_goal_is_cleaned_before_its_thread_is_held(given: AgentInput, tmp_path: Path) -> None:
    assert asked_for(given) == asked_for(given.model_dump()) == "Look ? it up"
    model = scripted(ONE, call_then_say("The value is 42.", "look", q="it"))
    config: RunnableConfig = {"configurable": {"thread_id": "t"}}
    with open_checkpointer(tmp_path / "runs.db") as saver:
        agent = create_plan_execute_agent(model, [made(look)], checkpointer=saver)
        agent.invoke(given, config)
        state = AgentState.model_validate(agent.get_state(config).values)
    assert (state.status, state.goal) == (RunStatus.COMPLETE, "Look ? it up")


def test_a_prompt_is_cleaned_where_it_is_given() -> None:
    context = RunContext(reflector_prompt=f"Judge {HALF} it.")
    assert context.reflector_prompt == "Judge ? it."
    model = scripted(ONE, call_then_say("The value is 42.", "look", q="it"))
    agent = create_plan_execute_agent(model, [made(look)])
    state = AgentState.model_validate(agent.invoke(AgentInput(goal="Look it up"), context=context))
    assert state.verified
    assert "Judge ? it." in model.prompts("reflector")[0]
    with pytest.raises(UserError):
        RunContext(reflector_prompt="{{ " + HALF + " }}")


def test_the_name_of_a_called_tool_is_cleaned_in_the_record() -> None:
    asks: list[Entry] = [tool_call(f"look{HALF}", q="it"), tool_call("look", q="it")]
    state = ran(scripted(ONE, [*asks, "The value is 42."]), [made(look)])
    first, second = state.steps[1].attempts[0].calls
    assert (first.name, second.name) == ("look?", "look")
    assert state.verified


def test_no_prompt_of_a_user_reaches_an_endpoint_with_one() -> None:
    with ScriptedServer() as server:
        server.script("planner", ONE)
        server.script("executor", call_then_say("The value is 42.", "look", q="it"))
        server.script("reflector", verdict("PASS"))
        server.script("reviewer", verdict("PASS"))
        server.script("synthesizer", "It is 42.")
        model = chat_model("scripted", base_url=server.base_url, max_retries=0)
        agent = create_plan_execute_agent(model, [made(look)])
        context = RunContext(planner_prompt=f"Plan {HALF} it.", executor_prompt=f"Do {HALF} it.")
        goal = AgentInput(goal=f"Look {HALF} up")
        state = AgentState.model_validate(agent.invoke(goal, context=context))
    assert state.verified
