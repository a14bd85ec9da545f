"""A process that was silent for longer than its lease: what it may do once another goes on."""

from __future__ import annotations

import asyncio
import sqlite3
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from pathlib import Path

import pytest
from broken_runs import made, scripted
from langchain_core.runnables import RunnableConfig
from langgraph.checkpoint.base import CheckpointMetadata, empty_checkpoint
from langgraph.store.memory import InMemoryStore
from langgraph.types import Durability
from scripted_replies import JsonObject, Reply, call_then_say, messages_of
from scripted_server import plan

from hansei import aopen_checkpointer, create_plan_execute_agent, open_checkpointer
from hansei.graphs.agent import Agent
from hansei.graphs.checkpoints import AsyncCheckpointer, Checkpointer
from hansei.graphs.fence import HOLD
from hansei.graphs.run_table import ThreadBusyError
from hansei.graphs.tables import SqliteTables, Tables
from hansei.policies.places import is_postgres
from hansei.policies.state import AgentInput

THREAD: RunnableConfig = {"configurable": {"thread_id": "1"}}
GOAL = AgentInput(goal="Refund order 1")
OTHER = "elsewhere 1 1 other"
"""A process of another machine."""


@pytest.fixture(params=["sqlite", "postgres"])
def place(request: pytest.FixtureRequest, tmp_path: Path) -> str:
    if request.param == "sqlite":
        return str(tmp_path / "runs.db")
    return str(request.getfixturevalue("postgres_url"))


@contextmanager
def tables_of(place: str) -> Iterator[Tables]:
    if is_postgres(place):
        from hansei.graphs.postgres_tables import PostgresTables, opened_pool

        with opened_pool(place, size=1) as pool:
            yield PostgresTables(pool)
    else:
        connection = sqlite3.connect(place)
        yield SqliteTables(connection)
        connection.close()


def taken_over(place: str) -> None:
    with tables_of(place) as tables:
        assert tables.change("UPDATE hansei_runs SET owner = :owner", owner=OTHER) == 1


KEPT = {
    "sqlite": ("checkpoints", "writes", "store"),
    "postgres": ("checkpoints", "checkpoint_blobs", "checkpoint_writes", "store"),
}


def everything(place: str) -> dict[str, list[str]]:
    """All that is kept, but for who has run it."""
    names = KEPT["postgres" if is_postgres(place) else "sqlite"]
    with tables_of(place) as tables:
        return {n: sorted(str(row) for row in tables.rows(f"SELECT * FROM {n}")) for n in names}


class World:
    """A run that is overtaken at some point, and what was there then."""

    def __init__(self, place: str, at: str) -> None:
        self.place, self.at = place, at
        self.kept: dict[str, list[str]] = {}
        self.refunds: list[str] = []
        self.asked: list[str] = []

    def reached(self, point: str) -> None:
        if self.at == point and not self.kept:
            taken_over(self.place)
            self.kept = everything(self.place)

    def refund(self, order: str) -> str:
        self.refunds.append(order)
        self.reached("tool")
        return "refunded"

    def executor(self, body: JsonObject) -> Reply:
        self.asked.append("executor")
        if messages_of(body)[-1].get("role") == "tool":
            return Reply("Order 1 is refunded.")
        self.reached("model")
        return Reply(None, [("refund", {"order": "1"})], finish_reason="tool_calls")

    def run(self, saver: Checkpointer, durability: Durability) -> None:
        self._agent(saver).invoke(GOAL, THREAD, durability=durability)

    async def arun(self, saver: AsyncCheckpointer, durability: Durability) -> None:
        agent = self._agent(saver)
        async for _ in agent.astream(GOAL, THREAD, stream_mode="updates", durability=durability):
            # In a thread: what is being written needs the loop to come to its end.
            await asyncio.to_thread(self.reached, "first node")

    def _agent(self, saver: Checkpointer | AsyncCheckpointer) -> Agent:
        step = plan({"description": "Refund order 1", "tool": "refund"})
        model = scripted(step, self.executor, answer="Order 1 is refunded.")
        tool = made(self.refund, effect="once")
        return create_plan_execute_agent(model, [tool], checkpointer=saver)


@pytest.mark.parametrize("durability", ["sync", "async", "exit"])
@pytest.mark.parametrize(
    ("at", "refunds", "awaited"),
    [("model", 0, False), ("tool", 1, False), ("first node", 0, True), ("tool", 1, True)],
)
def test_a_run_that_was_overtaken_stops_and_writes_nothing_more(
    place: str, at: str, refunds: int, awaited: bool, durability: Durability
) -> None:
    world = World(place, at)

    async def arun() -> None:
        async with aopen_checkpointer(place) as saver:
            await world.arun(saver, durability)

    def run() -> None:
        with open_checkpointer(place) as saver:
            world.run(saver, durability)

    with pytest.raises(ThreadBusyError, match="has taken over the thread 1"):
        asyncio.run(arun()) if awaited else run()
    assert len(world.refunds) == refunds
    assert len(world.asked) <= 1
    assert everything(place) == world.kept
    with open_checkpointer(place) as saver:
        (row,) = saver.runs.rows()
    assert (row.owner, row.note) == (OTHER, "")


@pytest.mark.parametrize("awaited", [False, True], ids=["invoke", "ainvoke"])
def test_a_run_that_writes_nothing_meanwhile_stops_at_the_next_beat(
    tmp_path: Path, awaited: bool
) -> None:
    place = str(tmp_path / "runs.db")
    beats: list[Callable[[], None]] = []

    def look() -> str:
        taken_over(place)
        for beat in beats:
            beat()
        return "42"

    asked: list[str] = []

    def executor(body: JsonObject) -> Reply:
        asked.append("executor")
        if messages_of(body)[-1].get("role") == "tool":
            return Reply("It is 42.")
        return Reply(None, [("look", {})], finish_reason="tool_calls")

    model = scripted(plan({"description": "look it up", "tool": "look"}), executor)
    memory = InMemoryStore()  # so that nothing is written to the database on the way

    async def arun() -> None:
        async with aopen_checkpointer(place) as saver:
            beats.append(saver.runs.beat)
            agent = create_plan_execute_agent(model, [made(look)], checkpointer=saver, store=memory)
            await agent.ainvoke(GOAL, THREAD, durability="exit")

    def run() -> None:
        with open_checkpointer(place) as saver:
            beats.append(saver.runs.beat)
            agent = create_plan_execute_agent(model, [made(look)], checkpointer=saver, store=memory)
            agent.invoke(GOAL, THREAD, durability="exit")

    with pytest.raises(ThreadBusyError, match="has taken over"):
        asyncio.run(arun()) if awaited else run()
    assert asked == ["executor"]


def test_a_run_that_was_overtaken_does_not_write_under_a_later_one_of_the_same_saver(
    place: str,
) -> None:
    with open_checkpointer(place) as saver:
        with saver.runs.held("1") as first:
            taken_over(place)
            with tables_of(place) as tables:
                tables.change("UPDATE hansei_runs SET expires_at = 0")
            with saver.runs.held("1") as second:
                checkpoint, nothing = empty_checkpoint(), CheckpointMetadata()
                here: RunnableConfig = {"configurable": {"thread_id": "1", "checkpoint_ns": ""}}
                kept = saver.put(second.of(here), checkpoint, nothing, {})
                with pytest.raises(ThreadBusyError):
                    saver.put(first.of(here), empty_checkpoint(), nothing, {})
                with pytest.raises(ThreadBusyError):
                    saver.put_writes(first.of(kept), [("goal", "x")], "task")
                saver.put(here, empty_checkpoint(), nothing, {})  # whoever has no run
        assert len(list(saver.list(THREAD))) == 2


def test_the_hold_is_shown_nowhere(tmp_path: Path) -> None:
    model = scripted(
        plan({"description": "look it up", "tool": "refund"}), call_then_say("It is 42.", "refund")
    )

    def refund() -> str:
        return "42"

    with open_checkpointer(tmp_path / "runs.db") as saver:
        agent = create_plan_execute_agent(model, [made(refund)], checkpointer=saver)
        said = list(agent.stream(GOAL, THREAD, stream_mode=["debug", "checkpoints", "tasks"]))
        told = agent.update_state(THREAD, {"verdict": None})
        assert said
        assert HOLD not in f"{said} {told} {list(saver.list(THREAD))} {agent.get_state(THREAD)}"
