"""The command `run`: one JSON object, the exit codes, the settings, and what people see."""

from __future__ import annotations

import re
from collections.abc import Iterator
from importlib.metadata import version
from pathlib import Path

import pytest
from cli_helpers import CLI, Done, hansei, one_sentence, program, refused
from cli_scenes import all_failing, endpoint, partly_failing, report, run
from scripted_server import ScriptedServer, call_then_say, plan, verdict

from hansei import Settings, worst_case_calls
from hansei.guard import FOR_THE_OPERATOR, UNEXPECTED, WRONG_USE
from hansei.interrupt import INTERRUPTED
from hansei.policies.endings import EXIT_CODES

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


@pytest.fixture
def server(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Iterator[ScriptedServer]:
    """See `endpoint`."""
    with endpoint(tmp_path, monkeypatch) as running:
        yield running


# run --json


def test_json_is_one_object_and_nothing_else(server: ScriptedServer) -> None:
    data = report(run("--json"))
    assert data.keys() >= KEYS
    assert data["status"] == "complete"
    assert data["verified"] is True
    assert data["reason"] == ""
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
    assert data["reason"].startswith("Not done: Find the line. Reason: ")
    assert "no line" in data["reason"]


def test_all_that_fails_ends_with_4(server: ScriptedServer) -> None:
    all_failing(server)
    data = report(run("--json"), 4)
    assert data["status"] == "failed"
    assert data["steps"][0]["reason"] in data["reason"]
    assert data["answer"].strip()


def test_a_budget_that_ends_the_run_ends_with_5(server: ScriptedServer) -> None:
    data = report(run("--json", "--set", "call_budget=2"), 5)
    assert data["status"] == "exhausted"
    assert "the limit on model calls, call_budget 2, is used up" in data["answer"]
    assert "call_budget 2" in data["reason"]
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


# the log


@pytest.mark.parametrize("more", [(), ("--json",)])
def test_a_tool_that_declares_no_effect_is_named(
    more: tuple[str, ...], server: ScriptedServer, tmp_path: Path
) -> None:
    tools = (tmp_path / "my_tools.py").read_text()
    (tmp_path / "my_tools.py").write_text(tools.replace("lookup.metadata", "ignored"))
    done = run(*more)
    assert done.code == 0
    assert "No effect is declared for lookup" in one_sentence(done.stderr)


def test_a_level_of_the_log_that_is_none_is_refused(tmp_path: Path) -> None:
    done = program(CLI, "show", "mine", home=tmp_path, HANSEI_LOG="loud")
    said = refused(Done(done.returncode, done.stdout, done.stderr), 2)
    assert said.startswith("HANSEI_LOG is 'loud', which is no level: use DEBUG,")


@pytest.mark.parametrize("level", ["", "debug", "INFO"])
def test_a_level_of_the_log_is_taken(level: str, server: ScriptedServer, tmp_path: Path) -> None:
    done = program(CLI, "show", "mine", "--db", "no.db", home=tmp_path, HANSEI_LOG=level)
    assert done.returncode == 2
    assert "There is no database no.db" in done.stderr


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


def test_without_a_command_the_help_is_shown() -> None:
    done = hansei()
    for command in ("run", "show", "why", "model"):
        assert command in done.stdout + done.stderr


@pytest.fixture
def wide(monkeypatch: pytest.MonkeyPatch) -> None:
    """A terminal in which the help breaks no line."""
    monkeypatch.setenv("COLUMNS", "1000")


@pytest.mark.usefixtures("wide")
@pytest.mark.parametrize("arguments", [("--help",), ("run", "--help")])
def test_the_help_tells_every_exit_code(arguments: tuple[str, ...]) -> None:
    said = hansei(*arguments).stdout
    words = {*EXIT_CODES.values(), WRONG_USE, FOR_THE_OPERATOR, UNEXPECTED, INTERRUPTED}
    for code in words:
        assert re.search(rf"\b{code} \w", said[said.index("Exit codes:") :]), code


@pytest.mark.usefixtures("wide")
def test_the_help_tells_defaults_and_the_names_of_settings() -> None:
    said = hansei("run", "--help").stdout
    assert "threads.db" in said
    for name in Settings.model_fields:
        assert name in said, name


WITH_DATABASE = ("run", "resume", "fork", "migrate", "batch", "show", "why", "history", "threads")


@pytest.mark.usefixtures("wide")
@pytest.mark.parametrize("command", WITH_DATABASE)
def test_the_help_shows_the_place_where_the_runs_are(
    command: str, monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    monkeypatch.chdir(tmp_path)
    assert "threads.db)" in hansei(command, "--help").stdout
    (tmp_path / ".env").write_text("HANSEI_DB=from_a_file.db\n", encoding="utf-8")
    assert "from_a_file.db)" in hansei(command, "--help").stdout
    monkeypatch.setenv("HANSEI_DB", "/srv/runs.db")
    said = hansei(command, "--help").stdout
    assert "/srv/runs.db)" in said
    assert "threads.db" not in said
    monkeypatch.setenv("HANSEI_DB", "postgresql://me:secret@host/runs")
    said = hansei(command, "--help").stdout
    assert "@host/runs" in said
    assert "secret" not in said


def test_the_version_is_told() -> None:
    assert hansei("--version") == Done(0, f"hansei {version('hansei')}\n", "")
