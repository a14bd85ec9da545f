"""The command line: one JSON object, the exit codes, the threads, and what the pages show."""

from __future__ import annotations

import json
import sqlite3
from collections.abc import Iterator
from pathlib import Path
from typing import Any
from uuid import NAMESPACE_URL, uuid4, uuid5

import pytest
from cli_helpers import CLI, Done, hansei, one_sentence, program
from scripted_server import Reply, ScriptedServer, call_then_say, plan, structured, verdict

from hansei import Settings, worst_case_calls

KEYS = {"status", "answer", "steps", "reflections", "usage", "bound"}
"""What every user of `--json` may rely on."""

STEP_KEYS = {
    "id",
    "description",
    "tool",
    "depends_on",
    "status",
    "reason",
    "attempts",
    "verdicts",
    "result",
}

TOOLS = """
from langchain_core.tools import tool

@tool
def lookup(q: str) -> str:
    "Looks something up."
    return "Error: no line" if q == "gone" else "42"

lookup.metadata = {"hansei": {"effect": "read"}}
"""

GIVE_UP = structured({"analysis": "no other way", "steps": [], "given_up": [1], "drop": []})


@pytest.fixture
def server(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Iterator[ScriptedServer]:
    """An endpoint that the command finds in the environment, in a folder of the test's own."""
    monkeypatch.chdir(tmp_path)
    monkeypatch.setenv("HOME", str(tmp_path))
    monkeypatch.setenv("XDG_STATE_HOME", str(tmp_path))
    (tmp_path / "my_tools.py").write_text(TOOLS)
    with ScriptedServer() as running:
        monkeypatch.setenv("OPENAI_BASE_URL", running.base_url)
        running.script_defaults()
        yield running


def run(*more: str, goal: str = "look it up", thread: str = "mine") -> Done:
    return hansei(
        "run", goal, "--tools", "my_tools.py", "--db", "runs.db", "--thread", thread, *more
    )


def report(done: Done, code: int = 0) -> dict[str, Any]:
    """The one object on standard output, which holds nothing else."""
    assert (done.code, done.stderr) == (code, "")
    data: dict[str, Any] = json.loads(done.stdout)
    return data


def partly_failing(server: ScriptedServer) -> None:
    """Scripts a run of two steps, of which the second fails."""
    server.script(
        "planner",
        plan(
            {"description": "Find the number", "tool": "lookup"},
            {"description": "Find the line", "tool": "lookup"},
        ),
    )

    def executor(body: dict[str, Any]) -> Reply:
        gone = "Find the line" in json.dumps(body["messages"])
        return call_then_say("Here it is.", "lookup", q="gone" if gone else "it")(body)

    server.script("executor", executor)
    server.script("replanner", GIVE_UP)
    server.script("synthesizer", "The number is 42. The line could not be found.")


def all_failing(server: ScriptedServer) -> None:
    """Scripts a run whose only step fails."""
    server.script("planner", plan({"description": "Find the line", "tool": "lookup"}))
    server.script("executor", call_then_say("Here it is.", "lookup", q="gone"))
    server.script("replanner", GIVE_UP)
    server.script("synthesizer", "The line could not be found.")


# run --json


def test_json_is_one_object_and_nothing_else(server: ScriptedServer) -> None:
    data = report(run("--json"))
    assert data.keys() >= KEYS
    assert data["status"] == "complete"
    assert data["verified"] is True
    assert data["answer"] == "It is 42."
    assert data["bound"] == worst_case_calls(Settings())
    assert data["thread"] == "mine"
    (step,) = data["steps"]
    assert step.keys() >= STEP_KEYS
    assert (step["id"], step["status"], step["result"]) == (1, "verified", "The result is 42.")
    (judged, reviewed) = data["reflections"]
    assert (judged["step"], judged["verdict"], judged["source"]) == (1, "PASS", "critic")
    assert (reviewed["step"], reviewed["verdict"]) == (0, "PASS")
    usage = data["usage"]
    assert usage["calls"] == server.count() == 6
    assert usage["input_tokens"] == 600
    assert usage["output_tokens"] == 120
    assert usage["estimated"] is False
    assert sum(role["calls"] for role in usage["roles"].values()) == 6


def test_json_is_one_object_of_a_real_program_too(server: ScriptedServer, tmp_path: Path) -> None:
    all_failing(server)
    arguments = ("run", "find it", "--tools", "my_tools.py", "--json", "--db", "runs.db")
    done = program(CLI, *arguments, home=tmp_path)
    data = report(Done(done.returncode, done.stdout, done.stderr), 4)
    assert data["status"] == "failed"


def test_chinese_is_readable_in_json(server: ScriptedServer) -> None:
    server.script("planner", plan("查一下"))
    server.script("executor", call_then_say("结果是四十二。", "lookup", q="it"))
    server.script("synthesizer", "结果是四十二。")
    done = run("--json", goal="帮我查一下")
    assert report(done)["answer"] == "结果是四十二。"
    assert "四十二" in done.stdout


def test_the_goal_may_come_from_standard_input(server: ScriptedServer) -> None:
    done = hansei(
        "run", "-", "--tools", "my_tools.py", "--db", "runs.db", "--json", stdin="look it up\n"
    )
    assert report(done)["goal"] == "look it up"


# exit codes


def test_a_part_that_fails_ends_with_3(server: ScriptedServer) -> None:
    partly_failing(server)
    data = report(run("--json"), 3)
    assert data["status"] == "partial"
    assert [s["status"] for s in data["steps"]] == ["verified", "failed"]
    assert data["answer"] == "The number is 42. The line could not be found."


def test_all_that_fails_ends_with_4(server: ScriptedServer) -> None:
    all_failing(server)
    data = report(run("--json"), 4)
    assert data["status"] == "failed"
    assert data["steps"][0]["reason"]
    assert data["answer"].strip()


def test_a_budget_that_ends_the_run_ends_with_5(server: ScriptedServer) -> None:
    data = report(run("--json", "--set", "call_budget=2"), 5)
    assert data["status"] == "exhausted"
    assert "call_budget 2" in data["answer"]
    assert server.count() <= 2
    assert data["bound"] == 2


@pytest.mark.parametrize("code", [0, 3, 4])
def test_the_exit_code_is_said_to_people(code: int, server: ScriptedServer) -> None:
    {0: lambda _: None, 3: partly_failing, 4: all_failing}[code](server)
    done = run()
    assert (done.code, done.stderr) == (code, "")
    assert f"exit code {code}" in done.stdout


# settings


def test_set_changes_a_setting(server: ScriptedServer) -> None:
    server.script("reflector", verdict("RETRY", "too short", "say more"))
    data = report(run("--json", "--set", "max_step_retries=3", "--set", "max_replans=0"), 3)
    (step,) = data["steps"]
    assert len(step["attempts"]) == 4
    assert (step["status"], step["reason"]) == ("accepted", "retries_used_up")
    assert data["bound"] == worst_case_calls(Settings(max_step_retries=3, max_replans=0))


def test_set_takes_text(server: ScriptedServer) -> None:
    assert report(run("--json", "--set", "language=zh"), 3)["language"] == "zh"


def test_reflection_never_asks_no_reflector(server: ScriptedServer) -> None:
    data = report(run("--json", "--reflection", "never"))
    assert server.count("reflector") == server.count("reviewer") == 0
    assert server.count() == 4
    assert (data["status"], data["verified"]) == ("complete", False)
    (step,) = data["steps"]
    assert (step["status"], step["reason"]) == ("accepted", "not_reviewed")
    assert data["answer"].startswith("It is 42.")
    assert "Not reviewed, by your settings" in data["answer"]
    assert data["bound"] == worst_case_calls(Settings(reflection="never"))


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


# what people see


def test_the_trace_tells_plan_calls_verdicts_and_cost(server: ScriptedServer) -> None:
    partly_failing(server)
    done = run()
    for text in (
        "1. Find the number  [lookup]",
        "2. Find the line  [lookup]",
        "PASS by critic",
        "REPLAN by rule",
        "no line",
        "The number is 42. The line could not be found.",
        "partial",
        "model calls of at most",
    ):
        assert text in done.stdout, text


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


def test_without_a_command_the_help_is_shown() -> None:
    done = hansei()
    for command in ("run", "show", "why", "model"):
        assert command in done.stdout + done.stderr
