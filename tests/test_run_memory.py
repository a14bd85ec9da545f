"""What runs keep in memory: as long as somebody can come back to them, and no longer."""

from __future__ import annotations

import asyncio
from typing import Literal

import pytest
from broken_runs import made, scripted
from langchain_core.runnables import RunnableConfig
from langgraph.checkpoint.base import BaseCheckpointSaver
from langgraph.checkpoint.memory import InMemorySaver
from langgraph.store.base import BaseStore
from langgraph.store.memory import InMemoryStore
from scripted_replies import call_then_say, plan

from hansei import AgentInput, RunStatus, create_plan_execute_agent
from hansei.graphs.checkpoints import serializer
from hansei.nodes.run_memory import RunMemory


def pay(q: str) -> str:
    return f"{q}: paid, " + "and told at length " * 100


def namespaces(
    monkeypatch: pytest.MonkeyPatch,
    *,
    saver: BaseCheckpointSaver[str] | None = None,
    store: BaseStore | None = None,
    how: Literal["invoke", "ainvoke"] = "invoke",
) -> list[tuple[str, ...]]:
    """What stands in the agent's own memory after a run."""
    kept: list[RunMemory] = []
    make = RunMemory.__init__

    def noted(self: RunMemory) -> None:
        make(self)
        kept.append(self)

    monkeypatch.setattr(RunMemory, "__init__", noted)
    model = scripted(
        plan({"description": "Pay", "tool": "pay"}), call_then_say("Paid.", "pay", q="it")
    )
    agent = create_plan_execute_agent(model, [made(pay, "once")], checkpointer=saver, store=store)
    thread: RunnableConfig = {"configurable": {"thread_id": "1"}}
    start = AgentInput(goal="Pay")
    state = (
        agent.invoke(start, thread)
        if how == "invoke"
        else asyncio.run(agent.ainvoke(start, thread))
    )
    assert state["status"] is not RunStatus.RUNNING
    return [
        place
        for memory in kept
        for run in (memory.for_tools, *memory.runs.values())
        for place in run.list_namespaces()
    ]


@pytest.mark.parametrize("how", ["invoke", "ainvoke"])
def test_without_a_saver_nothing_is_left_of_a_run(
    how: Literal["invoke", "ainvoke"], monkeypatch: pytest.MonkeyPatch
) -> None:
    assert namespaces(monkeypatch, how=how) == []


def test_with_a_saver_it_can_be_looked_at_and_forked(monkeypatch: pytest.MonkeyPatch) -> None:
    left = namespaces(monkeypatch, saver=InMemorySaver(serde=serializer()))
    assert sorted(place[1] for place in left) == ["journal", "outputs"]


def test_a_store_of_ones_own_is_ones_own(monkeypatch: pytest.MonkeyPatch) -> None:
    store = InMemoryStore()
    assert namespaces(monkeypatch, store=store) == []
    assert sorted(place[1] for place in store.list_namespaces()) == ["journal", "outputs"]


def test_dropping_takes_one_run_and_all_of_it() -> None:
    memory = RunMemory()
    for run in ("1", "2"):
        memory.of(run).put(("hansei", run), "a", {"text": run})
    memory.drop("1")
    memory.drop("3")
    assert list(memory.runs) == ["2"]
    assert memory.of("1").get(("hansei", "1"), "a") is None
