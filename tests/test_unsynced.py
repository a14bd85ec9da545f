"""How often a round has ended the process is counted without waiting for the disk."""

from __future__ import annotations

import asyncio
from pathlib import Path

import pytest
from broken_runs import made, scripted
from langchain_core.runnables import RunnableConfig
from langgraph.checkpoint.memory import InMemorySaver
from langgraph.store.base import BaseStore
from langgraph.store.memory import InMemoryStore
from langgraph.store.sqlite import SqliteStore
from langgraph.store.sqlite.aio import AsyncSqliteStore
from scripted_model import ScriptedChatModel
from scripted_replies import call_then_say, plan

from hansei import AgentInput, aopen_checkpointer, create_plan_execute_agent, open_checkpointer
from hansei.graphs.fenced_stores import FencedAsyncStore
from hansei.nodes.shelves import Unsynced

THREAD: RunnableConfig = {"configurable": {"thread_id": "1"}}
GOAL = AgentInput(goal="Look it up")


def refund(q: str) -> str:
    return f"{q}: refunded"


def model() -> ScriptedChatModel:
    one = plan({"description": "Refund it", "tool": "refund"})
    return scripted(one, call_then_say("It is refunded.", "refund", q="it"))


def shelves(
    monkeypatch: pytest.MonkeyPatch, kind: type[object], name: str
) -> list[tuple[object, str]]:
    """Where each text was put: the store, and the shelf."""
    found: list[tuple[object, str]] = []
    put = getattr(kind, name)

    def noted(
        store: BaseStore, namespace: tuple[str, ...], *given: object, **more: object
    ) -> object:
        found.append((store, namespace[1]))
        return put(store, namespace, *given, **more)

    monkeypatch.setattr(kind, name, noted)
    return found


def test_the_journal_waits_for_the_disk_and_the_count_does_not(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    found = shelves(monkeypatch, SqliteStore, "put")
    with open_checkpointer(tmp_path / "runs.db") as saver:
        store = saver.store
        assert isinstance(store, SqliteStore)
        assert isinstance(store, Unsynced)
        quick = store.unsynced
        assert isinstance(quick, SqliteStore)
        waits = [s.conn.execute("PRAGMA synchronous").fetchone()[0] for s in (store, quick)]
        assert waits == [2, 1]  # FULL and NORMAL
        agent = create_plan_execute_agent(model(), [made(refund, "once")], checkpointer=saver)
        agent.invoke(GOAL, THREAD, durability="sync")
        assert {(where is quick, shelf) for where, shelf in found} == {
            (False, "journal"),
            (True, "entries"),
        }
        assert [item.key for item in store.search(("hansei", "entries"))] == []


def test_so_it_is_with_awaits(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    found = shelves(monkeypatch, FencedAsyncStore, "aput")

    async def play() -> None:
        async with aopen_checkpointer(tmp_path / "runs.db") as saver:
            store = saver.store
            assert isinstance(store, Unsynced)
            quick = store.unsynced
            assert isinstance(quick, AsyncSqliteStore)
            async with quick.conn.execute("PRAGMA synchronous") as cursor:
                assert await cursor.fetchone() == (1,)
            agent = create_plan_execute_agent(model(), [made(refund, "once")], checkpointer=saver)
            await agent.ainvoke(GOAL, THREAD, durability="sync")
            assert {(where is quick, shelf) for where, shelf in found} == {
                (False, "journal"),
                (True, "entries"),
            }

    asyncio.run(play())


@pytest.mark.parametrize("path", [":memory:", None])
def test_what_ends_with_the_process_has_one_way_in(
    path: str | None, monkeypatch: pytest.MonkeyPatch
) -> None:
    if path is None:
        found = shelves(monkeypatch, InMemoryStore, "put")
        agent = create_plan_execute_agent(
            model(), [made(refund, "once")], checkpointer=InMemorySaver()
        )
        agent.invoke(GOAL, THREAD)
        assert {shelf for _, shelf in found} == {"journal"}
        return
    with open_checkpointer(path) as saver:
        assert isinstance(saver.store, Unsynced)
        assert saver.store.unsynced is saver.store
