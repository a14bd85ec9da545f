"""A store that fails while calls that change something are under way."""

from __future__ import annotations

import asyncio
import sqlite3
from pathlib import Path
from typing import Any

import pytest
from langgraph.checkpoint.memory import InMemorySaver
from langgraph.store.base import BaseStore
from refund_runs import GOAL, THREAD, FailingStore, Shop, ran, refunder, refunds

from hansei import (
    OperatorError,
    RunStatus,
    aopen_checkpointer,
    create_plan_execute_agent,
    open_checkpointer,
)
from hansei.nodes.shelves import Unsynced
from hansei.policies.state import AgentState
from hansei.tools.outcome import OutcomeStatus


@pytest.mark.parametrize("awaited", [False, True])
def test_a_store_that_fails_after_a_call_ends_the_run_and_the_call_is_not_made_again(
    awaited: bool,
) -> None:
    shop, store = Shop(), FailingStore("done")
    agent = create_plan_execute_agent(
        refunder(), [refunds(shop, "once")], store=store, checkpointer=InMemorySaver()
    )
    with pytest.raises(OperatorError, match=r'disk full.*refund \{"order":"1"\} was called'):
        ran(agent, GOAL, awaited)
    store.word = None
    state = ran(agent, None, awaited)
    assert (shop.done, state.status, state.verified) == (["1"], RunStatus.NEEDS_HUMAN, False)
    assert 'refund {"order":"1"}' in state.answer
    assert [call.outcome for call in state.steps[1].last_attempt.calls] == [OutcomeStatus.UNKNOWN]
    assert state.steps[1].last_attempt.calls[0].changes


@pytest.mark.parametrize("awaited", [False, True])
def test_a_call_that_may_be_repeated_is_made_again_under_its_key(awaited: bool) -> None:
    shop, store = Shop(), FailingStore("done")
    agent = create_plan_execute_agent(
        refunder(), [refunds(shop, "idempotent")], store=store, checkpointer=InMemorySaver()
    )
    with pytest.raises(OperatorError):
        ran(agent, GOAL, awaited)
    store.word = None
    state = ran(agent, None, awaited)
    assert (shop.done, state.status, state.verified) == (["1", "1"], RunStatus.COMPLETE, True)
    assert len(store.search(("hansei", "journal"))) == 1


@pytest.mark.parametrize("effect", ["once", "idempotent"])
@pytest.mark.parametrize("awaited", [False, True])
def test_a_call_whose_beginning_cannot_be_written_is_not_made(effect: str, awaited: bool) -> None:
    shop, store = Shop(), FailingStore("begun")
    agent = create_plan_execute_agent(
        refunder(), [refunds(shop, effect)], store=store, checkpointer=InMemorySaver()
    )
    with pytest.raises(OperatorError):
        ran(agent, GOAL, awaited)
    assert shop.done == []
    store.word = None
    state = ran(agent, None, awaited)
    assert (shop.done, state.status, state.verified) == (["1"], RunStatus.COMPLETE, True)


def test_a_store_that_fails_ends_a_run_without_a_saver_too() -> None:
    shop = Shop()
    agent = create_plan_execute_agent(
        refunder(), [refunds(shop, "once")], store=FailingStore("done")
    )
    with pytest.raises(OperatorError, match="may have gone through"):
        agent.invoke(GOAL)
    assert shop.done == ["1"]


def test_a_store_that_fails_on_and_on_does_not_make_the_run_forget_the_call() -> None:
    shop, store = Shop(), FailingStore("done")
    agent = create_plan_execute_agent(
        refunder(), [refunds(shop, "idempotent")], store=store, checkpointer=InMemorySaver()
    )
    for given in (GOAL, None, None, None, None):
        with pytest.raises(OperatorError):
            ran(agent, given, awaited=False)
    store.word = None
    assert ran(agent, None, awaited=False).status is RunStatus.COMPLETE
    assert len(store.search(("hansei", "journal"))) == 1


class Lock:
    """Another process that writes to a file, and lets go of it when the journal has given up."""

    def __init__(self, path: Path) -> None:
        self.path = path
        self.held: sqlite3.Connection | None = None

    def take(self) -> None:
        self.held = sqlite3.connect(self.path, isolation_level=None, check_same_thread=False)
        self.held.execute("BEGIN IMMEDIATE")

    def give_back(self) -> None:
        if self.held is not None:
            self.held.close()

    def watch(self, store: BaseStore, patch: pytest.MonkeyPatch) -> None:
        put, aput = store.put, store.aput

        def watched(*given: Any, **more: Any) -> None:
            try:
                put(*given, **more)
            except sqlite3.Error:
                self.give_back()
                raise

        async def awatched(*given: Any, **more: Any) -> None:
            try:
                await aput(*given, **more)
            except sqlite3.Error:
                self.give_back()
                raise

        patch.setattr(store, "put", watched)
        patch.setattr(store, "aput", awatched)


@pytest.mark.parametrize("effect", ["once", "idempotent"])
def test_a_file_that_is_locked_after_the_call(
    effect: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("hansei.graphs.sqlite_saver.BUSY_TIMEOUT", 0.1)
    lock = Lock(tmp_path / "runs.db")
    shop = Shop(during=lock.take)
    with open_checkpointer(lock.path) as saver:
        lock.watch(saver.store, monkeypatch)
        agent = create_plan_execute_agent(refunder(), [refunds(shop, effect)], checkpointer=saver)
        with pytest.raises(OperatorError):
            agent.invoke(GOAL, THREAD, durability="sync")
        shop.during = Shop().during
        state = AgentState.model_validate(agent.invoke(None, THREAD, durability="sync"))
    ended = {"once": (RunStatus.NEEDS_HUMAN, 1), "idempotent": (RunStatus.COMPLETE, 2)}
    assert (state.status, len(shop.done)) == ended[effect]


def test_a_file_that_is_locked_after_an_awaited_call(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("hansei.graphs.sqlite_saver.BUSY_TIMEOUT", 0.1)
    lock = Lock(tmp_path / "runs.db")
    shop = Shop(during=lock.take)

    async def play() -> AgentState:
        async with aopen_checkpointer(lock.path) as saver:
            lock.watch(saver.store, monkeypatch)
            agent = create_plan_execute_agent(
                refunder(), [refunds(shop, "once")], checkpointer=saver
            )
            with pytest.raises(OperatorError):
                await agent.ainvoke(GOAL, THREAD, durability="sync")
            return AgentState.model_validate(await agent.ainvoke(None, THREAD, durability="sync"))

    state = asyncio.run(play())
    assert (state.status, shop.done) == (RunStatus.NEEDS_HUMAN, ["1"])


def test_a_table_that_is_gone_ends_the_run(tmp_path: Path) -> None:
    path = tmp_path / "runs.db"

    def drop() -> None:
        with sqlite3.connect(path) as connection:
            connection.execute("DROP TABLE store")

    shop = Shop(during=drop)
    with open_checkpointer(path) as saver:
        agent = create_plan_execute_agent(refunder(), [refunds(shop, "once")], checkpointer=saver)
        with pytest.raises(OperatorError, match="no such table"):
            agent.invoke(GOAL, THREAD, durability="sync")
        with pytest.raises(OperatorError, match="The store failed"):
            agent.invoke(None, THREAD, durability="sync")
    assert shop.done == ["1"]


def test_a_round_that_is_given_up_keeps_the_call_that_was_begun(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    shop = Shop()
    with open_checkpointer(tmp_path / "runs.db") as saver:
        store = saver.store
        assert isinstance(store, Unsynced)
        put = store.put

        def breaks(*given: object, **_: object) -> None:
            raise OSError("disk full")

        def no_end(place: tuple[str, ...], key: str, value: dict[str, str], index: Any) -> None:
            put(place, key, value, index) if "done" not in value["text"] else breaks()

        monkeypatch.setattr(store, "put", no_end)
        monkeypatch.setattr(store.unsynced, "delete", breaks)
        agent = create_plan_execute_agent(refunder(), [refunds(shop, "once")], checkpointer=saver)
        for given in (GOAL, None, None):
            with pytest.raises(OperatorError):
                agent.invoke(given, THREAD, durability="sync")
        state = AgentState.model_validate(agent.invoke(None, THREAD, durability="sync"))
    assert (shop.done, state.status) == (["1"], RunStatus.NEEDS_HUMAN)
    assert 'refund {"order":"1"}' in state.answer
