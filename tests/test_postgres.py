"""Runs that are kept in a Postgres database: the same features, by one URL."""

from __future__ import annotations

import asyncio
import logging
import sys
from collections.abc import Iterator
from pathlib import Path

import psycopg
import pytest
from broken_runs import made, scripted
from cli_helpers import hansei, one_sentence, refused
from cli_scenes import endpoint, report
from langchain_core.runnables import RunnableConfig
from postgres_server import Postgres
from scripted_replies import call_then_say, error
from scripted_server import ScriptedServer, plan

from hansei import (
    AgentInput,
    OperatorError,
    RunStatus,
    ThreadBusyError,
    UserError,
    aopen_checkpointer,
    create_plan_execute_agent,
    open_checkpointer,
)
from hansei.graphs.agent import Agent
from hansei.graphs.checkpoints import AsyncCheckpointer, Checkpointer
from hansei.policies.state import AgentState

THREAD: RunnableConfig = {"configurable": {"thread_id": "1"}}
GOAL = AgentInput(goal="Look it up")
LONG = "long " * 1000


def look() -> str:
    return LONG


def agent_on(saver: Checkpointer | AsyncCheckpointer) -> Agent:
    model = scripted(
        plan({"description": "look it up", "tool": "look"}),
        call_then_say("It is long.", "look"),
        answer="It is long.",
    )
    return create_plan_execute_agent(model, [made(look)], checkpointer=saver)


def counts(url: str) -> list[int]:
    """Rows of every table that a run writes to."""
    tables = ("checkpoints", "checkpoint_blobs", "checkpoint_writes", "store", "hansei_runs")
    with psycopg.connect(url) as connection:
        found = [connection.execute(f"SELECT COUNT(*) FROM {t}".encode()) for t in tables]
        return [row[0] for cursor in found for row in cursor]


def test_a_run_is_kept_with_its_long_outputs_and_comes_back_as_it_was(
    postgres_url: str, caplog: pytest.LogCaptureFixture
) -> None:
    with open_checkpointer(postgres_url) as saver, caplog.at_level(logging.WARNING):
        state = AgentState.model_validate(agent_on(saver).invoke(GOAL, THREAD, durability="sync"))
    assert (state.status, state.verified) == (RunStatus.COMPLETE, True)
    with open_checkpointer(postgres_url) as saver, caplog.at_level(logging.WARNING):
        found = agent_on(saver).get_state(THREAD).values
        (call,) = state.steps[1].last_attempt.calls
        kept = saver.store.get(("hansei", "outputs", state.run_id), call.ref)
        assert AgentState.model_validate(found) == state
        assert {type(v) for v in found.values()} == {type(v) for v in dict(state).values()}
        assert kept is not None
        assert kept.value["text"] == LONG
        (row,) = saver.runs.rows()
        assert (row.thread_id, row.goal, row.under_way) == ("1", GOAL.goal, False)
        saver.forget("1")
        assert saver.threads() == []
    assert counts(postgres_url) == [0] * 5
    assert caplog.records == []


def test_an_async_run_is_kept_on_the_same_database(postgres_url: str) -> None:
    async def run() -> AgentState:
        async with aopen_checkpointer(postgres_url) as saver:
            result = await agent_on(saver).ainvoke(GOAL, THREAD, durability="sync")
            with pytest.raises(ThreadBusyError), saver.runs.held("1"):
                await saver.aforget("1")
        return AgentState.model_validate(result)

    state = asyncio.run(run())
    with open_checkpointer(postgres_url) as saver:
        assert AgentState.model_validate(agent_on(saver).get_state(THREAD).values) == state

    async def forget() -> None:
        async with aopen_checkpointer(postgres_url) as saver:
            await saver.aforget("1")

    asyncio.run(forget())
    assert counts(postgres_url) == [0] * 5


def test_a_thread_has_one_run_at_a_time_and_a_dead_owner_holds_nothing(postgres_url: str) -> None:
    with open_checkpointer(postgres_url) as first, open_checkpointer(postgres_url) as second:
        with first.runs.held("t", goal="first"):
            with pytest.raises(ThreadBusyError, match="under way since"), second.runs.held("t"):
                pass
            with second.runs.held("u"):
                assert [row.under_way for row in second.runs.rows()] == [True, True]
        for owner, until in (("elsewhere 1 1 x", 1.0), ("", 0.0)):
            with psycopg.connect(postgres_url) as connection:
                connection.execute(
                    "UPDATE hansei_runs SET owner = %s, expires_at = %s", (owner, until)
                )
            with second.runs.held("t", name="mine"):
                pass
        with psycopg.connect(postgres_url) as connection:
            connection.execute("UPDATE hansei_runs SET owner = 'elsewhere 1', expires_at = 9e9")
        with pytest.raises(ThreadBusyError), second.runs.held("t"):
            pass
        assert {row.name for row in second.runs.rows()} == {"", "mine"}


def test_a_database_of_another_version_is_refused(postgres_url: str) -> None:
    with open_checkpointer(postgres_url):
        pass
    with psycopg.connect(postgres_url) as connection:
        connection.execute("UPDATE hansei_meta SET state_version = 99")
    with pytest.raises(OperatorError, match="newer hansei"), open_checkpointer(postgres_url):
        pass


def test_a_table_that_only_has_the_same_name_is_left_alone(postgres_url: str) -> None:
    with psycopg.connect(postgres_url) as connection:
        connection.execute("CREATE TABLE store (id INTEGER, town TEXT)")
    with (
        pytest.raises(OperatorError, match="table store belongs"),
        open_checkpointer(postgres_url),
    ):
        pass
    with psycopg.connect(postgres_url) as connection:
        found = connection.execute("SELECT tablename FROM pg_tables WHERE schemaname = 'public'")
        assert found.fetchall() == [("store",)]


def test_many_who_open_an_empty_database_at_once_do_not_get_into_each_others_way(
    postgres_url: str,
) -> None:
    async def one(number: int) -> object:
        async with aopen_checkpointer(postgres_url) as saver:
            config: RunnableConfig = {"configurable": {"thread_id": str(number)}}
            return (await agent_on(saver).ainvoke(GOAL, config))["status"]

    async def all_of_them() -> list[object]:
        return await asyncio.gather(*(one(number) for number in range(6)))

    assert set(asyncio.run(all_of_them())) == {RunStatus.COMPLETE}


def test_a_run_survives_that_its_connections_are_cut(postgres_url: str, postgres: Postgres) -> None:
    with open_checkpointer(postgres_url) as saver:
        agent = agent_on(saver)
        assert agent.invoke(GOAL, THREAD)["status"] is RunStatus.COMPLETE
        with psycopg.connect(postgres.url(), autocommit=True) as connection:
            connection.execute(
                "SELECT pg_terminate_backend(pid) FROM pg_stat_activity "
                "WHERE datname = %s AND pid <> pg_backend_pid()",
                (postgres_url.partition("@/")[2].partition("?")[0],),
            )
        assert agent.invoke(GOAL, THREAD)["status"] is RunStatus.COMPLETE


# What is said, and what is never said.

SECRET = "hunter%2F2b%40d"
PLAIN = "hunter/2 b@d"


@pytest.mark.parametrize(
    "url",
    [
        f"postgresql://me:{SECRET}@localhost:1/db",
        f"postgresql://me:{PLAIN}@localhost:1/db",
        f"postgres://me@localhost:1/db?password={SECRET}",
        f"postgresql://me:{SECRET}@localhost:1/db?connect_timeout=soon",
        f"postgresql://me:{SECRET}%zz@localhost:1/db",
        f"postgresql://me:{SECRET}@localhost:port/db",
        f"postgresql://me:{SECRET}@localhost:1/db?no_such=1",
    ],
)
@pytest.mark.parametrize("asynchronous", [False, True])
def test_a_password_is_in_no_message_and_no_log(
    url: str, asynchronous: bool, caplog: pytest.LogCaptureFixture
) -> None:
    async def aopen() -> None:
        async with aopen_checkpointer(url):
            pass

    def open_it() -> None:
        with open_checkpointer(url):
            pass

    with caplog.at_level(logging.DEBUG), pytest.raises(OperatorError) as told:
        asyncio.run(aopen()) if asynchronous else open_it()
    assert "me" in one_sentence(str(told.value))
    shown = "".join((str(told.value), repr(told.value), caplog.text))
    assert told.value.__cause__ is None
    assert not [part for part in ("hunter", "b@d", "b%40d") if part in shown]


def test_an_open_saver_does_not_show_its_password(postgres_url: str) -> None:
    with open_checkpointer(postgres_url.replace("postgres@", f"postgres:{SECRET}@")) as saver:
        parts = (saver, saver.runs, saver.store, saver.runs.rows(), agent_on(saver))
        shown = " ".join(f"{part!r} {part}" for part in parts)
    assert "hunter" not in shown


@pytest.mark.parametrize("place", ["mysql://me:hunter2@host/db", Path("postgres://me:hunter2@h/d")])
def test_another_kind_of_url_is_wrong_use(place: str | Path) -> None:
    with pytest.raises(UserError, match=r"\*\*\*") as told, open_checkpointer(place):
        pass
    assert "hunter" not in str(told.value)


def test_without_the_extra_one_sentence_names_it(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.setitem(sys.modules, "langgraph.checkpoint.postgres", None)
    url = "postgresql://me@localhost/db"
    with pytest.raises(OperatorError, match=r"hansei\[postgres\]"), open_checkpointer(url):
        pass
    assert "hansei[postgres]" in refused(hansei("threads", "--db", url), 7)


# The command line.


@pytest.fixture
def server(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Iterator[ScriptedServer]:
    """See `endpoint`."""
    with endpoint(tmp_path, monkeypatch) as running:
        yield running


def test_the_command_line_takes_the_url_too(server: ScriptedServer, postgres_url: str) -> None:
    url = postgres_url.replace("postgres@", "postgres:hunter2@")
    more = ("--tools", "my_tools.py", "--db", url)
    data = report(hansei("run", "look it up", "--thread", "mine", *more, "--json"))
    assert report(hansei("show", "mine", "--db", url, "--json")) == data
    assert hansei("why", "mine", "1", "--db", url).code == 0
    server.script("planner", error(503))
    failed = hansei("run", "look it up", "--thread", "second", *more)
    assert failed.code == 7
    server.reset()
    server.script_defaults()
    again = hansei("run", "look it up", "--thread", "second", *more)
    assert "hansei resume second --db" in again.stderr
    listed = report(hansei("threads", "--db", url, "--json"))["threads"]
    assert [t["thread"] for t in listed] == ["second", "mine"]
    assert "is over" in refused(hansei("resume", "mine", *more), 2)
    assert "no thread 'nobody' in postgres" in refused(hansei("show", "nobody", "--db", url), 2)
    assert "Deleted 1 of 2" in hansei("threads", "--db", url, "--delete", "mine").stdout
    told = [failed, again, hansei("show", "nobody", "--db", url)]
    assert not [each for each in told if "hunter2" in each.stdout + each.stderr]
