"""One run at a time on a thread, and what a run leaves behind that never got to a checkpoint."""

import asyncio
import os
import sqlite3
import subprocess
import sys
import threading
from collections.abc import Iterator
from pathlib import Path

import pytest
from broken_runs import made, scripted
from langchain_core.messages import HumanMessage
from langchain_core.runnables import RunnableConfig
from scripted_replies import Reply, call_then_say, error
from scripted_server import plan

from hansei import (
    OperatorError,
    RunStatus,
    aopen_checkpointer,
    create_plan_execute_agent,
    open_checkpointer,
)
from hansei.graphs.agent import Agent
from hansei.graphs.run_owner import UNKNOWN_START, machine, process_start
from hansei.graphs.run_table import RunTable, ThreadBusyError
from hansei.graphs.tables import SqliteTables
from hansei.policies.errors import EndpointError
from hansei.policies.state import AgentInput, AgentState

THREAD: RunnableConfig = {"configurable": {"thread_id": "1"}}
OTHER: RunnableConfig = {"configurable": {"thread_id": "2"}}
GOAL = AgentInput(goal="Look it up")


@pytest.fixture
def file(tmp_path: Path) -> Path:
    return tmp_path / "runs.db"


@pytest.fixture
def table(file: Path) -> Iterator[RunTable]:
    connection = sqlite3.connect(file, check_same_thread=False)
    yield RunTable(SqliteTables(connection))
    connection.close()


def test_a_thread_is_held_once_and_let_go(table: RunTable) -> None:
    with table.held("t", goal="first"):
        row = table.row("t")
        assert row is not None
        assert (row.goal, row.under_way) == ("first", True)
        with pytest.raises(ThreadBusyError, match="under way since"), table.held("t"):
            pass
        with table.held("u", goal="another"):
            assert len(table.rows()) == 2
    with table.held("t"):  # an earlier run goes on: its goal stands
        assert [row.goal for row in table.rows()] == ["first", "another"]
    row = table.row("t")
    assert row is not None
    assert not row.under_way
    table.forget("t")
    assert table.row("t") is None


@pytest.mark.parametrize(
    ("holder", "other", "told"),
    [
        ("", "", "The thread 62a4 has a run"),
        ("62a4", "62a4", "The thread 62a4 has a run"),
        ("code", "code", r"The thread code \(62a4\) has a run"),
        ("code", "", r"The thread code \(62a4\) has a run"),
        ("", "code", r"The thread code \(62a4\) has a run"),
    ],
)
def test_a_busy_thread_is_named_as_the_user_calls_it(
    table: RunTable, holder: str, other: str, told: str
) -> None:
    with (
        table.held("62a4", name=holder),
        pytest.raises(ThreadBusyError, match=f"^{told} under way since"),
        table.held("62a4", name=other),
    ):
        pass


HERE = f"{machine()} {os.getpid()}"
SINCE = process_start(os.getpid())


@pytest.mark.parametrize(
    ("owner", "until", "free"),
    [
        (f"{machine()} 2147483646 1 x", 9e9, True),
        (f"{HERE} {SINCE} x", 9e9, False),
        (f"{HERE} {SINCE} x", 1.0, SINCE == UNKNOWN_START),  # it lives, however silent it was
        (f"{HERE} 1 x", 9e9, True),  # another process had this number
        (f"{HERE} {SINCE} x", 0, True),
        ("elsewhere 1 1 x", 9e9, False),
        ("elsewhere 1 1 x", 1.0, True),
    ],
    ids=["gone", "here", "here, silent", "number used again", "let go", "elsewhere", "silent"],
)
def test_who_may_take_over(
    table: RunTable, file: Path, owner: str, until: float, free: bool
) -> None:
    row_of = "INSERT INTO hansei_runs VALUES ('t', ?, 'goal', 1.0, ?, '', '')"
    with sqlite3.connect(file) as connection:
        connection.execute(row_of, (owner, until))
    connection.close()
    row = table.row("t")
    assert row is not None
    assert row.under_way is not free
    if free:
        with table.held("t"):
            pass
    else:
        with pytest.raises(ThreadBusyError), table.held("t"):
            pass


def slow_agent(saver: object, begun: threading.Event, go_on: threading.Event) -> Agent:
    def look() -> str:
        begun.set()
        assert go_on.wait(20)
        return "42"

    model = scripted(
        plan({"description": "look it up", "tool": "look"}), call_then_say("It is 42.", "look")
    )
    return create_plan_execute_agent(model, [made(look)], checkpointer=saver)  # type: ignore[arg-type]


@pytest.mark.parametrize("again", [GOAL, AgentInput(messages=[HumanMessage("Again")]), None])
def test_a_second_run_on_a_running_thread_is_refused_and_leaves_nothing(
    file: Path, again: AgentInput | None
) -> None:
    begun, go_on = threading.Event(), threading.Event()
    with open_checkpointer(file) as saver, open_checkpointer(file) as second:
        agent = slow_agent(saver, begun, go_on)
        ended: list[object] = []
        running = threading.Thread(
            target=lambda: ended.append(agent.invoke(GOAL, THREAD, durability="sync"))
        )
        running.start()
        assert begun.wait(20)
        before = len(list(saver.list(THREAD)))
        for other in (agent, slow_agent(second, begun, go_on)):
            with pytest.raises(ThreadBusyError):
                other.invoke(again, THREAD)
        assert len(list(saver.list(THREAD))) == before
        go_on.set()
        assert agent.invoke(GOAL, OTHER)["status"] is RunStatus.COMPLETE
        running.join()
        state = AgentState.model_validate(ended[0])
        assert (state.status, state.verified) == (RunStatus.COMPLETE, True)
        assert agent.invoke(GOAL, THREAD)["status"] is RunStatus.COMPLETE


def test_an_async_run_holds_its_thread_too(file: Path) -> None:
    async def both() -> tuple[object, object]:
        begun, go_on = threading.Event(), threading.Event()
        async with aopen_checkpointer(file) as saver:
            agent = slow_agent(saver, begun, go_on)
            first = asyncio.create_task(agent.ainvoke(GOAL, THREAD))
            await asyncio.to_thread(begun.wait, 20)
            with pytest.raises(ThreadBusyError):
                await agent.ainvoke(GOAL, THREAD)
            go_on.set()
            return await first, await agent.ainvoke(None, THREAD)

    first, again = asyncio.run(both())
    assert AgentState.model_validate(first).status is RunStatus.COMPLETE
    assert AgentState.model_validate(again).status is RunStatus.COMPLETE


@pytest.mark.parametrize("awaited", [False, True])
def test_what_breaks_off_a_run_is_noted(file: Path, awaited: bool) -> None:
    model = scripted(error(503), Reply("never asked"))

    async def arun() -> None:
        async with aopen_checkpointer(file) as saver:
            await create_plan_execute_agent(model, checkpointer=saver).ainvoke(GOAL, THREAD)

    def run() -> None:
        with open_checkpointer(file) as saver:
            create_plan_execute_agent(model, checkpointer=saver).invoke(GOAL, THREAD)

    with pytest.raises(EndpointError):
        asyncio.run(arun()) if awaited else run()
    with open_checkpointer(file) as saver:
        (row,) = saver.runs.rows()
    assert not row.under_way
    assert "HTTP 503" in row.note


@pytest.mark.parametrize("awaited", [False, True])
def test_a_database_that_fails_during_a_run_is_told_in_a_sentence(
    file: Path, awaited: bool
) -> None:
    def look() -> str:
        with sqlite3.connect(file) as connection:
            connection.execute("DROP TABLE checkpoints")
        connection.close()
        return "42"

    one = plan({"description": "look it up", "tool": "look"})
    model = scripted(one, call_then_say("It is 42.", "look"))

    async def arun() -> None:
        async with aopen_checkpointer(file) as saver:
            agent = create_plan_execute_agent(model, [made(look)], checkpointer=saver)
            await agent.ainvoke(GOAL, THREAD, durability="sync")

    def run() -> None:
        with open_checkpointer(file) as saver:
            agent = create_plan_execute_agent(model, [made(look)], checkpointer=saver)
            agent.invoke(GOAL, THREAD, durability="sync")

    with pytest.raises(OperatorError, match="no such table: checkpoints"):
        asyncio.run(arun()) if awaited else run()
    with open_checkpointer(file) as saver:
        (row,) = saver.runs.rows()
    assert not row.under_way
    assert "no such table" in row.note


def test_a_run_that_is_killed_before_its_first_checkpoint_leaves_a_trace(file: Path) -> None:
    code = (
        "import os, sys, sqlite3; from hansei.graphs.run_table import RunTable; "
        "from hansei.graphs.tables import SqliteTables; "
        "t = RunTable(SqliteTables(sqlite3.connect(sys.argv[1], check_same_thread=False))); "
        "h = t.held('t', goal='Refund A1'); h.__enter__(); os.kill(os.getpid(), 9)"
    )
    killed = subprocess.run([sys.executable, "-c", code, str(file)], check=False)
    assert killed.returncode == -9
    with open_checkpointer(file) as saver:
        (row,) = saver.runs.rows()
        assert (row.thread_id, row.goal, row.under_way) == ("t", "Refund A1", False)


def test_a_database_of_another_version_is_refused(file: Path) -> None:
    with open_checkpointer(file):
        pass
    with sqlite3.connect(file) as connection:
        connection.execute("UPDATE hansei_meta SET state_version = 99")
    connection.close()
    with pytest.raises(OperatorError, match="version 99"), open_checkpointer(file):
        pass


def test_what_tools_returned_is_kept_beside_the_checkpoints(file: Path) -> None:
    long = "long " * 1000

    def look() -> str:
        return long

    one = plan({"description": "look it up", "tool": "look"})
    with open_checkpointer(file) as saver:
        model = scripted(one, call_then_say("It is long.", "look"), answer="It is long.")
        agent = create_plan_execute_agent(model, [made(look)], checkpointer=saver)
        state = AgentState.model_validate(agent.invoke(GOAL, THREAD))
    (call,) = state.steps[1].last_attempt.calls
    with open_checkpointer(file) as saver:
        kept = saver.store.get(("hansei", "outputs", state.run_id), call.ref)
    assert kept is not None
    assert kept.value["text"] == long


def test_a_table_of_an_earlier_version_gets_the_columns_it_lacks(file: Path) -> None:
    with sqlite3.connect(file) as connection:
        connection.execute(
            "CREATE TABLE hansei_runs (thread_id TEXT PRIMARY KEY, owner TEXT NOT NULL, "
            "goal TEXT NOT NULL, accepted_at REAL NOT NULL, expires_at REAL NOT NULL)"
        )
        connection.execute("INSERT INTO hansei_runs VALUES ('t', 'x 1 1 y', 'old', 1.0, 0)")
    connection.close()
    with open_checkpointer(file) as saver:
        (row,) = saver.runs.rows()
        assert (row.goal, row.note, row.name) == ("old", "", "")
        with saver.runs.held("t", goal="new", name="mine"):
            pass
        assert saver.runs.rows()[0].name == "mine"
