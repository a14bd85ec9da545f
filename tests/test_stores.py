"""Where an agent keeps long outputs: its own store, that of whoever runs it, or memory."""

import asyncio
from typing import Annotated

import pytest
from broken_runs import made, scripted
from langchain_core.tools import BaseTool, tool
from langgraph.prebuilt import InjectedStore
from langgraph.store.base import BaseStore
from langgraph.store.memory import InMemoryStore
from scripted_replies import call_then_say, plan

from hansei import AgentInput, AgentState, create_plan_execute_agent
from hansei.graphs.agent import Agent
from hansei.policies.records import ToolCall

LONG = "long " * 1000
GOAL = AgentInput(goal="Look it up")
SHELF = ("hansei", "outputs")


def look() -> str:
    return LONG


def agent_with(found: BaseTool, store: BaseStore | None = None) -> Agent:
    one = plan({"description": "look it up", "tool": "look"})
    model = scripted(one, call_then_say("It is long.", "look"), answer="It is long.")
    return create_plan_execute_agent(model, [found], store=store)


def call_of(values: object) -> ToolCall:
    (call,) = AgentState.model_validate(values).steps[1].last_attempt.calls
    return call


def test_an_agent_without_a_store_uses_that_of_the_server_which_runs_it() -> None:
    bare = agent_with(made(look))
    assert (bare.store, bare.checkpointer) == (None, None)  # or no server would load it
    kept = InMemoryStore()
    call = call_of(bare.copy({"store": kept}).invoke(GOAL))
    assert [item.key for item in kept.search(SHELF)] == [call.ref]


def test_a_store_of_its_own_comes_first() -> None:
    mine, theirs = InMemoryStore(), InMemoryStore()
    call = call_of(agent_with(made(look), mine).copy({"store": theirs}).invoke(GOAL))
    assert [item.key for item in mine.search(SHELF)] == [call.ref]
    assert theirs.search(SHELF) == []


@pytest.mark.parametrize("waiting", [False, True])
def test_without_any_the_whole_output_is_in_memory_and_a_tool_gets_a_store(waiting: bool) -> None:
    @tool("look")
    def remembers(store: Annotated[BaseStore, InjectedStore()]) -> str:
        """Look it up."""
        store.put(("mine",), "seen", {"text": LONG})
        found = store.get(("mine",), "seen")
        return "" if found is None else str(found.value["text"])

    agent = agent_with(remembers)
    values = asyncio.run(agent.ainvoke(GOAL)) if waiting else agent.invoke(GOAL)
    call = call_of(values)
    assert call.ref
    assert (call.size, call.raised) == (len(LONG), False)


@pytest.mark.parametrize("waiting", [False, True])
def test_what_a_tool_keeps_without_any_is_there_in_the_next_run(waiting: bool) -> None:
    @tool("look")
    def counts(store: Annotated[BaseStore, InjectedStore()]) -> str:
        """Look it up."""
        found = store.get(("mine",), "seen")
        times = 1 if found is None else int(found.value["times"]) + 1
        store.put(("mine",), "seen", {"times": times})
        return f"seen {times}"

    agent = agent_with(counts)

    def seen() -> str:
        values = asyncio.run(agent.ainvoke(GOAL)) if waiting else agent.invoke(GOAL)
        return call_of(values).output

    assert [seen(), seen()] == ["seen 1", "seen 2"]
