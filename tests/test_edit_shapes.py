"""Edits of a state that cannot be: a sentence, and nothing changes. And those that may be."""

from collections.abc import Mapping
from typing import Any

import pytest
from broken_runs import made, scripted
from cli_helpers import one_sentence
from langchain_core.messages import AIMessage, HumanMessage
from langchain_core.runnables import RunnableConfig
from langgraph.checkpoint.memory import InMemorySaver
from langgraph.types import Overwrite
from scripted_replies import call_then_say, plan

from hansei import AgentInput, AgentState, RunStatus, UserError, create_plan_execute_agent
from hansei.graphs.agent import Agent
from hansei.graphs.checkpoints import serializer

THREAD: RunnableConfig = {"configurable": {"thread_id": "1"}}

ANY: list[Any] = [
    *(None, 5, "x", True, [], [5], ["x"], [{"a": 1}], {}, {"1": 5}, {"x": 1}),
    *({"1": {"status": 5}}, {"1": {"attempts": 5}}, {"1": {"attempts": [{"rounds": [5]}]}}),
]
"""Values of any form that JSON has."""


@pytest.fixture
def stopped() -> Agent:
    """An agent whose run waits for its reflector."""

    def look() -> str:
        return "42"

    one = plan({"description": "look it up", "tool": "look"})
    model = scripted(one, call_then_say("It is 42.", "look"))
    saver = InMemorySaver(serde=serializer())
    agent = create_plan_execute_agent(model, [made(look)], checkpointer=saver)
    agent.invoke(AgentInput(goal="Look it up"), THREAD, interrupt_before=["reflector"])
    return agent


def points(agent: Agent) -> list[object]:
    return [(p.config, p.values, p.next) for p in agent.get_state_history(THREAD)]


@pytest.mark.parametrize("field", AgentState.model_fields)
def test_any_value_in_any_field_is_taken_or_refused_in_a_sentence(
    stopped: Agent, field: str
) -> None:
    for value in ANY:
        before = points(stopped)
        try:
            stopped.update_state(THREAD, {field: value})
        except UserError as error:
            one_sentence(str(error))
            assert points(stopped) == before


@pytest.mark.parametrize(
    ("edit", "said"),
    [
        ({"stepz": {}}, "There is no state field 'stepz' (did you mean 'steps'?); there are: "),
        ({"steps": 3}, "The state field 'steps' cannot be 3: it must be an object with the num"),
        ({"steps": {"1": 3}}, "The state field 'steps' cannot be {'1': 3}: it must be an object"),
        ({"usage": {"planner": {"calls": "x"}}}, "The state field 'usage' cannot be "),
        ({"reflections": [3]}, "The state field 'reflections' cannot be [3]: it must be a list"),
        ({"messages": 3}, "The state field 'messages' cannot be 3: it must be a message such as"),
        (["steps"], "An edit is an object of state fields, and ['steps'] was given."),
    ],
)
def test_what_is_wrong_is_said(stopped: Agent, edit: Any, said: str) -> None:
    before = points(stopped)
    with pytest.raises(UserError) as refused:
        stopped.update_state(THREAD, edit)
    assert one_sentence(str(refused.value)).startswith(said)
    assert points(stopped) == before
    assert stopped.invoke(None, THREAD)["status"] is RunStatus.COMPLETE


def test_a_state_that_is_sent_back_whole_counts_for_what_was_changed_in_it(stopped: Agent) -> None:
    before = AgentState.model_validate(stopped.get_state(THREAD).values)
    whole: dict[str, Any] = before.model_dump(mode="json")
    whole["brief"] = "the number alone"
    stopped.update_state(THREAD, whole)
    after = AgentState.model_validate(stopped.get_state(THREAD).values)
    assert after.brief == "the number alone"
    assert after.usage == before.usage
    assert after.steps == before.steps
    assert stopped.invoke(None, THREAD)["status"] is RunStatus.COMPLETE


@pytest.mark.parametrize(
    "edit",
    [
        {"messages": [HumanMessage("And the date?")]},
        {"messages": {"role": "user", "content": "And the date?"}},
        {"messages": "And the date?"},
        {"messages": Overwrite([AIMessage("…"), HumanMessage("And the date?")])},
        {"reflections": Overwrite([])},
        {"usage": {"__overwrite__": {}}},
        {"brief": ""},
    ],
)
def test_what_langgraph_takes_is_taken(stopped: Agent, edit: Mapping[str, Any]) -> None:
    stopped.update_state(THREAD, dict(edit))
    assert stopped.invoke(None, THREAD)["status"] is RunStatus.COMPLETE
