"""The agent inside somebody's own graph: as a node of it, and called in one of its nodes."""

from __future__ import annotations

import asyncio
from pathlib import Path
from typing import Any

import pytest
from broken_runs import made
from langchain_core.runnables import RunnableConfig
from langgraph.graph import START, StateGraph
from langgraph.types import Command, interrupt
from outer_graph import (
    THREAD,
    How,
    Place,
    Talk,
    agent_with,
    around,
    look,
    memory,
    question,
    told,
)
from pydantic import BaseModel

from hansei import AgentInput, RunStatus, Settings, open_checkpointer

NODES = ["begin", "planner", "executor", "tools", "executor", "reflector", "synthesizer"]


class Note(BaseModel):
    """A context of the outer graph's own."""

    text: str = ""


def ask(q: str) -> str:
    return f"{q}: {interrupt('May I?')}"


def said(result: dict[str, Any]) -> list[str]:
    return [f"{m.type}: {m.text}" for m in result["messages"]]


@pytest.mark.parametrize("how", ["invoke", "ainvoke"])
@pytest.mark.parametrize("place", ["node", "function"])
@pytest.mark.parametrize(
    ("own", "kept"),
    # True keeps the agent's state in the outer graph's saver, so there must be one.
    [(None, True), (True, True), (False, True), (None, False), (False, False)],
)
def test_two_questions_in_a_row_start_clean(
    place: Place, own: bool | None, kept: bool, how: How
) -> None:
    model, agent = agent_with(made(look), saver=own)
    outer = around(agent, place, saver=memory() if kept else None)
    first = told(outer, question("Look it up"), how)
    assert said(first) == ["human: Look it up", "ai: It is 42."]
    assert model.count() == 6
    second = told(outer, question("Look up the other"), how)
    before = said(first) if kept else []
    assert said(second) == [*before, "human: Look up the other", "ai: It is 42."]
    assert model.count() == 12
    assert "Goal: Look up the other" in model.prompts("planner")[-1]


@pytest.mark.parametrize("how", ["invoke", "ainvoke"])
@pytest.mark.parametrize("place", ["node", "function"])
@pytest.mark.parametrize("own", [None, True])
def test_a_tool_that_asks_is_heard_outside_and_answered_from_there(
    place: Place, own: bool | None, how: How
) -> None:
    model, agent = agent_with(made(ask, "once"), saver=own)
    outer = around(agent, place, saver=memory())
    stopped = told(outer, question("Look it up"), how)
    assert [each.value for each in stopped["__interrupt__"]] == ["May I?"]
    inner = outer.get_state(THREAD, subgraphs=True).tasks[0].state
    assert inner is not None
    assert not isinstance(inner, dict)
    assert inner.next == ("tools",)
    assert inner.values["steps"][1].last_attempt.number == 1
    done = told(outer, Command(resume="yes"), how)
    assert said(done) == ["human: Look it up", "ai: It is 42."]
    assert '"it: yes"' in model.prompts("reflector")[-1]
    assert model.count() == 6  # nothing was asked twice


def test_without_checkpoints_of_its_own_an_answer_begins_the_whole_agent_anew() -> None:
    model, agent = agent_with(made(ask, "read"), saver=False)
    outer = around(agent, "node", saver=memory())
    assert "__interrupt__" in told(outer, question("Look it up"), "invoke")
    done = told(outer, Command(resume="yes"), "invoke")
    assert said(done) == ["human: Look it up", "ai: It is 42."]
    assert model.count("planner") == 2


@pytest.mark.parametrize("place", ["node", "function"])
def test_a_stream_with_subgraphs_shows_our_nodes(place: Place) -> None:
    _, agent = agent_with(made(look))
    outer = around(agent, place, saver=memory())
    parts = list(outer.stream(question("Look it up"), THREAD, subgraphs=True))
    inner = [next(iter(part)) for ns, part in parts if ns]
    assert inner == [*NODES, "reflector"]
    assert {ns[0].split(":")[0] for ns, _ in parts if ns} == {"helper"}
    assert [next(iter(part)) for ns, part in parts if not ns] == ["helper"]


def test_a_stream_with_subgraphs_shows_our_nodes_to_those_who_await() -> None:
    _, agent = agent_with(made(look))

    async def nodes() -> list[str]:
        outer = around(agent, "node", saver=memory())
        parts = outer.astream(question("Look it up"), THREAD, subgraphs=True)
        return [next(iter(part)) async for ns, part in parts if ns]

    assert asyncio.run(nodes()) == [*NODES, "reflector"]


def test_it_is_drawn_with_the_graph_around_it() -> None:
    _, agent = agent_with(made(look))
    drawn = around(agent, "node").get_graph(xray=True)
    assert {"helper:planner", "helper:reflector"} <= set(drawn.nodes)


def test_the_context_of_the_graph_around_it_is_not_taken_for_settings() -> None:
    model, agent = agent_with(made(look))
    graph = StateGraph(Talk, context_schema=Note)
    graph.add_node("helper", agent)
    graph.add_edge(START, "helper")
    outer = graph.compile()
    assert said(outer.invoke(question("Look it up"), context=Note(text="x")))[-1] == "ai: It is 42."
    assert model.count("reflector") == 1


def test_settings_as_the_outer_context_are_taken() -> None:
    model, agent = agent_with(made(look))
    graph = StateGraph(Talk, context_schema=Settings)
    graph.add_node("helper", agent)
    graph.add_edge(START, "helper")
    graph.compile().invoke(question("Look it up"), context=Settings(reflection="never"))
    assert model.count("reflector") == 0


def test_a_failing_endpoint_ends_the_graph_around_it() -> None:
    model, agent = agent_with(made(look))
    model.book.break_endpoint("main")
    with pytest.raises(Exception, match="planner's model failed"):
        around(agent, "node").invoke(question("Look it up"))


def test_a_thread_of_its_own_inside_a_node_is_held_as_anywhere(tmp_path: Path) -> None:
    with open_checkpointer(tmp_path / "runs.db") as saver:
        _, agent = agent_with(made(look), saver=saver)

        def call(state: Talk) -> dict[str, object]:
            place: RunnableConfig = {"configurable": {"thread_id": "inner"}}
            result = agent.invoke(AgentInput(messages=state["messages"]), place)
            return {"messages": result["messages"]}

        graph = StateGraph(Talk)
        graph.add_node("helper", call)
        graph.add_edge(START, "helper")
        graph.compile(checkpointer=memory()).invoke(question("Look it up"), THREAD)
        row = saver.runs.row("inner")
        assert row is not None
        assert (row.goal, row.under_way) == ("Look it up", False)
        inner = agent.get_state({"configurable": {"thread_id": "inner"}})
        assert inner.values["status"] is RunStatus.COMPLETE
