"""Threads on the command line: their names, and what `show` and `why` tell about them."""

from __future__ import annotations

import sqlite3
from collections.abc import Iterator
from pathlib import Path
from typing import Any
from uuid import NAMESPACE_URL, uuid4, uuid5

import pytest
from cli_helpers import hansei, one_sentence, refused
from cli_scenes import all_failing, endpoint, partly_failing, report, run
from scripted_replies import error
from scripted_server import ScriptedServer, plan


@pytest.fixture
def server(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Iterator[ScriptedServer]:
    """See `endpoint`."""
    with endpoint(tmp_path, monkeypatch) as running:
        yield running


def asking_tool(folder: Path) -> None:
    """Writes a tools module whose one tool stops to ask."""
    (folder / "asking.py").write_text(
        "from langchain_core.tools import tool\n"
        "from langgraph.types import interrupt\n"
        "@tool\n"
        "def lookup(q: str) -> str:\n"
        '    """Look something up."""\n'
        '    return str(interrupt("May I?"))\n'
        'lookup.metadata = {"hansei": {"effect": "read"}}\n',
        encoding="utf-8",
    )


# threads


def test_a_name_becomes_a_uuid(server: ScriptedServer) -> None:
    run("--json", thread="my order, May")
    with sqlite3.connect("runs.db") as connection:
        rows = connection.execute("SELECT DISTINCT thread_id FROM checkpoints").fetchall()
    connection.close()
    assert rows == [(str(uuid5(NAMESPACE_URL, "hansei:my order, May")),)]
    assert hansei("show", "my order, May", "--db", "runs.db").code == 0
    assert hansei("show", rows[0][0], "--db", "runs.db").code == 0


@pytest.mark.parametrize("form", [str, lambda u: str(u).upper(), lambda u: u.hex])
def test_a_uuid_stays_itself(form: Any, server: ScriptedServer) -> None:
    thread = uuid4()
    run("--json", thread=form(thread))
    with sqlite3.connect("runs.db") as connection:
        rows = connection.execute("SELECT DISTINCT thread_id FROM checkpoints").fetchall()
    connection.close()
    assert rows == [(str(thread),)]


def test_a_thread_without_a_name_gets_one(server: ScriptedServer) -> None:
    done = hansei("run", "look it up", "--tools", "my_tools.py", "--db", "runs.db", "--json")
    thread = report(done)["thread"]
    assert report(hansei("show", thread, "--db", "runs.db", "--json"))["answer"] == "It is 42."


def test_the_second_run_of_a_thread_starts_clean(server: ScriptedServer) -> None:
    all_failing(server)
    report(run("--json"), 4)
    server.reset()
    server.script_defaults()
    data = report(run("--json", goal="look it up again"))
    assert (data["goal"], data["answer"]) == ("look it up again", "It is 42.")
    assert [s["id"] for s in data["steps"]] == [1]
    assert data["replans"] == 0
    assert data["usage"]["calls"] == server.count()


def test_without_db_the_runs_are_kept_where_the_system_keeps_such_things(
    server: ScriptedServer, tmp_path: Path
) -> None:
    done = hansei("run", "look it up", "--tools", "my_tools.py", "--thread", "mine", "--json")
    report(done)
    assert list(tmp_path.rglob("threads.db"))
    assert hansei("show", "mine").code == 0


def test_hansei_db_names_another_place_and_db_still_comes_first(
    server: ScriptedServer, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("HANSEI_DB", str(tmp_path / "elsewhere" / "mine.db"))
    report(hansei("run", "look it up", "--tools", "my_tools.py", "--thread", "mine", "--json"))
    assert (tmp_path / "elsewhere" / "mine.db").exists()
    assert not list(tmp_path.rglob("threads.db"))
    assert hansei("show", "mine").code == 0
    assert "There is no database" in refused(hansei("show", "mine", "--db", "other.db"), 2)


# show and why


def test_show_shows_the_last_run(server: ScriptedServer) -> None:
    partly_failing(server)
    before = report(run("--json"), 3)
    asked = server.count()
    shown = hansei("show", "mine", "--db", "runs.db")
    assert (shown.code, shown.stderr) == (0, "")
    for text in ("look it up", "Find the number", "verified", "failed", "exit code 3"):
        assert text in shown.stdout, text
    assert report(hansei("show", "mine", "--db", "runs.db", "--json")) == before
    assert server.count() == asked  # nobody is asked for it


def test_why_tells_what_led_to_a_status(server: ScriptedServer) -> None:
    partly_failing(server)
    run("--json")
    good = hansei("why", "mine", "1", "--db", "runs.db")
    assert (good.code, good.stderr) == (0, "")
    for text in ("1. Find the number", "status: verified", 'lookup({"q":"it"})', "42", "PASS"):
        assert text in good.stdout, text
    bad = hansei("why", "mine", "2", "--db", "runs.db")
    for text in ("2. Find the line", "status: failed", "no line", "REPLAN", "rule", "tool_status"):
        assert text in bad.stdout, text


def test_why_tells_a_step_as_json_too(server: ScriptedServer) -> None:
    partly_failing(server)
    steps = report(run("--json"), 3)["steps"]
    assert report(hansei("why", "mine", "2", "--db", "runs.db", "--json")) == steps[1]


def test_why_shows_a_reply_that_could_not_be_read(server: ScriptedServer) -> None:
    server.script("reflector", "Looks fine, I think.")
    report(run("--json"), 3)
    told = hansei("why", "mine", "1", "--db", "runs.db")
    assert "not_judged" in told.stdout
    assert "Looks fine, I think." in told.stdout


@pytest.mark.parametrize(
    ("arguments", "said"),
    [
        (("show", "nobody"), "There is no thread 'nobody' in runs.db"),
        (("why", "nobody", "1"), "There is no thread 'nobody' in runs.db"),
        (("why", "mine", "7"), "The run has no step 7; its steps are: 1"),
    ],
)
def test_what_is_not_there_is_wrong_use(
    arguments: tuple[str, ...], said: str, server: ScriptedServer
) -> None:
    run("--json")
    done = hansei(*arguments, "--db", "runs.db")
    assert (done.code, done.stdout) == (2, "")
    assert said in one_sentence(done.stderr)


def test_no_database_is_wrong_use_and_none_is_made(server: ScriptedServer, tmp_path: Path) -> None:
    done = hansei("show", "mine", "--db", "other.db")
    assert (done.code, done.stdout) == (2, "")
    assert "There is no database other.db" in one_sentence(done.stderr)
    assert not (tmp_path / "other.db").exists()


def test_a_tool_that_stops_to_ask_leaves_a_run_that_needs_a_human(
    server: ScriptedServer, tmp_path: Path
) -> None:
    asking_tool(tmp_path)
    arguments = ("run", "look it up", "--tools", "asking.py:lookup", "--db", "runs.db")
    data = report(hansei(*arguments, "--json"), 6)
    assert (data["status"], data["verified"]) == ("needs_human", False)
    assert data["reason"] == "The run waits for your answer: May I?"
    told = hansei(*arguments, "--thread", "asked")
    assert told.code == 6
    assert "May I?" in told.stdout
    resume = ("resume", "asked", "--tools", "asking.py:lookup", "--db", "runs.db")
    assert hansei(*resume).code == 6  # without an answer it asks again
    answered = report(hansei(*resume, "--answer", "yes, 42", "--json"))
    assert answered["steps"][0]["attempts"][0]["rounds"][0]["calls"][0]["output"] == "yes, 42"


def test_a_run_that_died_at_the_endpoint_says_so_later(server: ScriptedServer) -> None:
    server.script("planner", error(503))
    assert run("--json").code == 7
    data = report(hansei("show", "mine", "--db", "runs.db", "--json"))
    assert (data["status"], data["verified"]) == ("running", False)
    assert "HTTP 503" in data["reason"]
    told = hansei("show", "mine", "--db", "runs.db").stdout
    assert "HTTP 503" in told
    assert "exit code" not in told


def test_threads_are_listed_and_deleted(server: ScriptedServer) -> None:
    run("--json", thread="first")
    run("--json", thread="second", goal="look it up again")
    listed = report(hansei("threads", "--db", "runs.db", "--json"))["threads"]
    assert [(t["thread"], t["goal"], t["under_way"]) for t in listed] == [
        ("second", "look it up again", False),
        ("first", "look it up", False),
    ]
    assert "look it up again" in hansei("threads", "--db", "runs.db").stdout
    assert "Deleted 1 of 2" in hansei("threads", "--db", "runs.db", "--delete", "first").stdout
    refused_again = hansei("threads", "--db", "runs.db", "--delete", "first")
    assert refused_again.code == 2
    assert "no thread" in one_sentence(refused_again.stderr)
    assert hansei("show", "first", "--db", "runs.db").code == 2
    assert hansei("show", "second", "--db", "runs.db").code == 0
    assert "Deleted 0 of 1" in hansei("threads", "--db", "runs.db", "--prune", "1").stdout
    assert "Deleted 1 of 1" in hansei("threads", "--db", "runs.db", "--prune", "0").stdout
    with sqlite3.connect("runs.db") as connection:
        left = [
            connection.execute(f"SELECT COUNT(*) FROM {table}").fetchone()[0]
            for table in ("checkpoints", "writes", "store", "hansei_runs")
        ]
    connection.close()
    assert left == [0, 0, 0, 0]


def test_two_questions_are_answered_one_after_the_other(
    server: ScriptedServer, tmp_path: Path
) -> None:
    asking_tool(tmp_path)
    both = plan(
        {"description": "look one up", "tool": "lookup"},
        {"description": "look two up", "tool": "lookup"},
    )
    server.script("planner", both)
    more = ("--tools", "asking.py:lookup", "--db", "runs.db")
    assert hansei("run", "look up both", "--thread", "asked", *more).code == 6
    assert hansei("resume", "asked", *more, "--answer", "42").code == 6
    data = report(hansei("resume", "asked", *more, "--answer", "42", "--json"))
    assert (data["status"], len(data["steps"])) == ("complete", 2)
    assert "is over" in refused(hansei("resume", "asked", *more, "--answer", "42"), 2)


def test_an_answer_that_nobody_asked_for_is_refused(server: ScriptedServer) -> None:
    server.script("planner", error(503))
    assert run("--json").code == 7
    more = ("--tools", "my_tools.py", "--db", "runs.db")
    assert "not stopped to ask" in refused(hansei("resume", "mine", *more, "--answer", "x"), 2)


def test_a_new_goal_on_a_thread_that_was_stopped_is_warned_of(server: ScriptedServer) -> None:
    server.script("executor", error(503))
    run("--json")
    server.script("planner", error(503))
    assert run("--json").code == 7
    server.reset()
    server.script_defaults()
    done = run("--json")
    assert done.code == 0
    assert "hansei resume mine" in one_sentence(done.stderr)


def test_a_thread_of_a_program_is_found_by_its_own_id(server: ScriptedServer) -> None:
    run("--json", thread="mine")
    with sqlite3.connect("runs.db") as connection:
        for table in ("checkpoints", "writes", "hansei_runs"):
            connection.execute(f"UPDATE {table} SET thread_id = '1'")
    connection.close()
    assert hansei("show", "1", "--db", "runs.db").code == 0
    assert "Deleted 1 of 1" in hansei("threads", "--db", "runs.db", "--delete", "1").stdout


def test_threads_of_before_the_run_table_are_listed_and_deleted(server: ScriptedServer) -> None:
    run("--json", thread="old")
    run("--json", thread="new", goal="look it up again")
    old = str(uuid5(NAMESPACE_URL, "hansei:old"))
    with sqlite3.connect("runs.db") as connection:
        connection.execute("DELETE FROM hansei_runs WHERE thread_id = ?", (old,))
        # Another graph's thread in the same tables is nobody's business.
        connection.execute(
            "INSERT INTO checkpoints SELECT 'theirs', '', checkpoint_id, NULL, type, checkpoint, "
            "metadata FROM checkpoints ORDER BY checkpoint_id LIMIT 1"
        )
    connection.close()
    listed = report(hansei("threads", "--db", "runs.db", "--json"))["threads"]
    assert [(t["thread"], t["goal"]) for t in listed] == [
        ("new", "look it up again"),
        (old, "look it up"),
    ]
    assert listed[1]["accepted_at"] < listed[0]["accepted_at"]
    assert "another program's" in refused(hansei("show", "theirs", "--db", "runs.db"), 2)
    assert "no thread" in refused(hansei("threads", "--db", "runs.db", "--delete", "theirs"), 2)
    assert "Deleted 2 of 2" in hansei("threads", "--db", "runs.db", "--prune", "0").stdout
    with sqlite3.connect("runs.db") as connection:
        left = connection.execute("SELECT thread_id FROM checkpoints").fetchall()
    connection.close()
    assert left == [("theirs",)]
