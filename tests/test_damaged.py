"""Rows that cannot be read: one thread's damage is its own, and each is told in one sentence."""

from __future__ import annotations

import asyncio
import json
import sqlite3
from pathlib import Path

import psycopg
import pytest
from broken_runs import made, scripted
from cli_helpers import hansei, one_sentence
from langchain_core.runnables import RunnableConfig
from scripted_replies import call_then_say, error
from scripted_server import plan

from hansei import (
    OperatorError,
    aopen_checkpointer,
    create_plan_execute_agent,
    open_checkpointer,
)
from hansei.graphs.agent import THREAD_NAME
from hansei.graphs.damage import DamagedThreadError
from hansei.policies.errors import UserError
from hansei.policies.state import AgentInput
from hansei.threads import standings, thread_id

GOAL = AgentInput(goal="Look it up")
DB = ("--db", "runs.db")


def config(name: str) -> RunnableConfig:
    return {"configurable": {"thread_id": thread_id(name)}, "metadata": {THREAD_NAME: name}}


@pytest.fixture(autouse=True)
def folder(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """Two threads with a run each, in a file of this folder."""
    monkeypatch.chdir(tmp_path)

    def refund() -> str:
        return "42 " * 2000

    one = plan({"description": "look it up", "tool": "refund"})
    with open_checkpointer("runs.db") as saver:
        for name in ("good", "bad"):
            model = scripted(one, call_then_say("It is 42.", "refund"), answer="It is 42.")
            agent = create_plan_execute_agent(model, [made(refund, "once")], checkpointer=saver)
            agent.invoke(GOAL, config(name))


def change(statement: str, *values: object) -> None:
    with sqlite3.connect("runs.db") as connection:
        connection.execute(statement, values)
    connection.close()


DAMAGE = {
    "cut": "UPDATE checkpoints SET checkpoint = x'00ff' WHERE thread_id = ?",
    "newest cut": "UPDATE checkpoints SET checkpoint = x'00ff' WHERE thread_id = ? AND "
    "checkpoint_id = (SELECT max(c.checkpoint_id) FROM checkpoints c "
    "WHERE c.thread_id = checkpoints.thread_id)",
    "no msgpack": "UPDATE checkpoints SET checkpoint = x'c1', type = 'msgpack' WHERE thread_id = ?",
    "a number": "UPDATE checkpoints SET checkpoint = x'05', type = 'msgpack' WHERE thread_id = ?",
    "unknown type": "UPDATE checkpoints SET type = 'bogus' WHERE thread_id = ?",
    "no type": "UPDATE checkpoints SET type = NULL WHERE thread_id = ?",
    "nothing": "UPDATE checkpoints SET checkpoint = NULL WHERE thread_id = ?",
    "a text": "UPDATE checkpoints SET checkpoint = 'text' WHERE thread_id = ?",
    "metadata is a number": "UPDATE checkpoints SET metadata = '5' WHERE thread_id = ?",
    "metadata": "UPDATE checkpoints SET metadata = '{' WHERE thread_id = ?",
    "writes": "INSERT INTO writes SELECT thread_id, checkpoint_ns, checkpoint_id, 't', '', 0, "
    "'goal', 'bogus', x'00' FROM checkpoints WHERE thread_id = ?",
}


@pytest.mark.parametrize("kind", DAMAGE)
def test_a_damaged_thread_is_listed_as_such_and_can_be_deleted(kind: str) -> None:
    change(DAMAGE[kind], thread_id("bad"))
    listed = hansei("threads", *DB, "--json")
    assert listed.code == 0
    now = {t["thread"]: t["now"] for t in json.loads(listed.stdout)["threads"]}
    assert now == {"bad": "damaged", "good": "complete"}
    assert "damaged" in hansei("threads", *DB).stdout
    for command in (("show", "bad"), ("why", "bad", "1"), ("history", "bad"), ("resume", "bad")):
        done = hansei(*command, *DB)
        assert done.code == 7, command
        assert "The thread 'bad' is damaged in the database (" in one_sentence(done.stderr)
    assert hansei("threads", *DB, "--delete", "bad").code == 0
    left = json.loads(hansei("threads", *DB, "--json").stdout)["threads"]
    assert [thread["thread"] for thread in left] == ["good"]
    assert hansei("show", "good", *DB).code == 0


def test_a_damaged_thread_can_be_pruned() -> None:
    change(DAMAGE["cut"], thread_id("bad"))
    done = hansei("threads", *DB, "--prune", "0")
    assert (done.code, done.stdout.strip()) == (0, "Deleted 2 of 2 threads.")


def test_a_thread_whose_own_id_is_damaged_is_found_by_it() -> None:
    change("UPDATE checkpoints SET thread_id = 'mine'")
    change("UPDATE hansei_runs SET thread_id = 'mine', name = '' WHERE name = 'bad'")
    change(DAMAGE["cut"], "mine")
    done = hansei("show", "mine", *DB)
    assert done.code == 7
    assert "The thread 'mine' is damaged" in one_sentence(done.stderr)
    assert hansei("threads", *DB, "--delete", "mine").code == 0


@pytest.mark.parametrize("awaited", [False, True])
def test_deleting_forgets_what_the_readable_part_of_a_thread_has_kept(awaited: bool) -> None:
    change(DAMAGE["newest cut"], thread_id("bad"))

    async def aforget() -> None:
        async with aopen_checkpointer("runs.db") as saver:
            with pytest.raises(DamagedThreadError, match=thread_id("bad")):
                await saver.aget_tuple(config("bad"))
            await saver.aforget(thread_id("bad"))

    def forget() -> None:
        with open_checkpointer("runs.db") as saver:
            with pytest.raises(DamagedThreadError, match=thread_id("bad")):
                saver.get_tuple(config("bad"))
            saver.forget(thread_id("bad"))

    with open_checkpointer("runs.db") as saver:
        before = len(saver.store.search(("hansei",)))
    asyncio.run(aforget()) if awaited else forget()
    with open_checkpointer("runs.db") as saver:
        assert before == 2 * len(saver.store.search(("hansei",))) > 0


def test_a_run_on_a_damaged_thread_is_told_so() -> None:
    change(DAMAGE["cut"], thread_id("bad"))
    with open_checkpointer("runs.db") as saver:
        agent = create_plan_execute_agent(scripted(plan("x"), error(400)), checkpointer=saver)
        with pytest.raises(DamagedThreadError):
            agent.invoke(GOAL, config("bad"))


@pytest.mark.parametrize(
    ("statement", "told"),
    [
        ("UPDATE hansei_runs SET expires_at = 'soon'", "expires_at is 'soon'"),
        ("UPDATE hansei_runs SET accepted_at = 1e300", "accepted_at is 1e+300"),
        ("UPDATE hansei_runs SET accepted_at = -5", "accepted_at is -5"),
        ("UPDATE hansei_meta SET state_version = 'x'", "mark of the database runs.db is damaged"),
        ("UPDATE hansei_meta SET state_version = NULL", "mark of the database runs.db is damaged"),
        ("UPDATE hansei_meta SET state_version = -3", "mark of the database runs.db is damaged"),
    ],
)
def test_damage_of_our_own_tables_is_for_the_operator(statement: str, told: str) -> None:
    change(statement)
    for command in (("threads",), ("show", "good"), ("threads", "--prune", "0")):
        done = hansei(*command, *DB)
        assert done.code == 7, done
        assert told in one_sentence(done.stderr)
    done = hansei("migrate", *DB)
    assert done.code == 7 if "meta" in statement else done.code in {0, 7}
    assert "hansei migrate" not in done.stderr


def test_a_damaged_thread_on_postgres_can_be_listed_and_deleted(postgres_url: str) -> None:
    with open_checkpointer(postgres_url) as saver:
        agent = create_plan_execute_agent(scripted(plan("x"), error(400)), checkpointer=saver)
        agent.invoke(GOAL, config("bad"))
    with psycopg.connect(postgres_url) as connection:
        connection.execute("UPDATE checkpoint_blobs SET type = 'bogus'")
    with open_checkpointer(postgres_url) as saver:
        assert standings(saver, saver.threads()) == {thread_id("bad"): "damaged"}
        with pytest.raises(DamagedThreadError):
            saver.get_tuple(config("bad"))
        saver.forget(thread_id("bad"))
        assert saver.threads() == []


@pytest.mark.parametrize("name", ["hansei_runs", "hansei_meta"])
def test_a_stranger_s_table_with_a_name_of_ours_is_left_alone(name: str, tmp_path: Path) -> None:
    file = tmp_path / "other.db"
    with sqlite3.connect(file) as connection:
        connection.execute(f"CREATE TABLE {name} (a)")
    connection.close()
    with pytest.raises(OperatorError, match=f"its table {name} belongs to another program"):
        open_checkpointer(file).__enter__()
    assert hansei("threads", "--db", str(file)).code == 7
    with sqlite3.connect(file) as connection:
        found = connection.execute("SELECT name, sql FROM sqlite_master").fetchall()
    connection.close()
    assert found == [(name, f"CREATE TABLE {name} (a)")]


def test_a_database_that_fails_while_it_is_read_is_for_the_operator() -> None:
    change("DROP TABLE checkpoints")
    change("CREATE VIEW checkpoints AS SELECT no_such_function() AS thread_id")
    done = hansei("threads", *DB)
    assert done.code == 7
    one_sentence(done.stderr)
    assert not issubclass(DamagedThreadError, UserError)
