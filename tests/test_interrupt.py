"""Ctrl-C, SIGTERM and SIGHUP in the middle of a run: it stops, and what was done is kept."""

from __future__ import annotations

import json
import os
import signal
import subprocess
import sys
import time
from collections.abc import Iterator, Sequence
from dataclasses import replace
from pathlib import Path

import pytest
from cli_helpers import CLI, PATIENCE, Done, environment, hansei, one_sentence, refused
from cli_scenes import endpoint, report
from scripted_server import Reply, ScriptedServer, plan


@pytest.fixture
def server(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Iterator[ScriptedServer]:
    """See `endpoint`."""
    with endpoint(tmp_path, monkeypatch) as running:
        yield running


def interrupted(
    server: ScriptedServer,
    role: str,
    home: Path,
    *more: str,
    sent: Sequence[signal.Signals] = (signal.SIGINT, signal.SIGINT),
) -> Done:
    """Sends signals when the role has been asked and has not answered: Ctrl-C twice."""
    arguments = ["run", "look it up", "--db", "runs.db", "--thread", "mine", *more]
    with subprocess.Popen(
        [sys.executable, "-c", CLI, *arguments],
        cwd=home,
        env=environment(home),
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
        text=True,
    ) as process:
        until = time.monotonic() + PATIENCE
        while not server.count(role):
            assert process.poll() is None, process.communicate()
            assert time.monotonic() < until
            time.sleep(0.05)
        for number in sent:
            process.send_signal(number)
            time.sleep(0.5)  # two at once would be one
        stdout, stderr = process.communicate(timeout=PATIENCE)
    first, _, said = stderr.strip().partition("\n")
    assert first.startswith("Stopping as soon as"), stderr
    return Done(process.returncode, stdout, said)


SLOW = Reply("too late", delay=PATIENCE)


@pytest.mark.parametrize(
    ("number", "code"),
    [(signal.SIGINT, 130), (signal.SIGTERM, 143), (signal.SIGHUP, 129)],
    ids=["Ctrl-C", "SIGTERM", "SIGHUP"],
)
def test_one_signal_stops_at_the_next_border(
    server: ScriptedServer, tmp_path: Path, number: signal.Signals, code: int
) -> None:
    server.script("planner", replace(plan("Look it up in the book"), delay=3.0))
    tools = ("--tools", "my_tools.py")
    done = interrupted(server, "planner", tmp_path, *tools, "--json", sent=[number])
    assert done.code == code
    assert "`hansei resume mine --tools my_tools.py --db runs.db` goes on." in one_sentence(
        done.stderr
    )
    told = json.loads(done.stdout)
    assert (told["status"], told["verified"], told["answer"]) == ("running", False, "")
    assert told["reason"] == f"The run was stopped ({number.name})."
    assert report(hansei("show", "mine", "--db", "runs.db", "--json")) == told
    # What was under way has answered, and is kept.
    assert [step["description"] for step in told["steps"]] == ["Look it up in the book"]
    assert server.count("executor") == 0
    data = report(hansei("resume", "mine", *tools, "--db", "runs.db", "--json"))
    assert data["status"] == "complete"
    assert server.count("planner") == 1


HANGUP, TERM = signal.SIGHUP, signal.SIGTERM


@pytest.mark.parametrize(
    ("sent", "code", "waits"),
    [([HANGUP, HANGUP], 129, True), ([TERM, HANGUP], 143, True), ([HANGUP, TERM], 129, False)],
    ids=["twice", "as a service manager stops", "and then SIGTERM"],
)
def test_a_hang_up_that_is_said_once_more_does_not_stop_at_once(
    server: ScriptedServer, tmp_path: Path, sent: list[signal.Signals], code: int, waits: bool
) -> None:
    server.script("planner", replace(plan("Look it up in the book"), delay=4.0))
    assert interrupted(server, "planner", tmp_path, sent=sent).code == code
    shown = report(hansei("show", "mine", "--db", "runs.db", "--json"))
    assert [step["description"] for step in shown["steps"]] == (
        ["Look it up in the book"] if waits else []
    )


def test_a_terminal_that_is_closed_stops_a_run_softly(
    server: ScriptedServer, tmp_path: Path
) -> None:
    server.script("planner", replace(plan("Look it up in the book"), delay=3.0))
    ours, theirs = os.openpty()
    own_terminal = f"import fcntl, termios; fcntl.ioctl(0, termios.TIOCSCTTY, 0)\n{CLI}"
    arguments = ("run", "look it up", "--db", "runs.db", "--thread", "mine")
    with subprocess.Popen(
        [sys.executable, "-c", own_terminal, *arguments],
        cwd=tmp_path,
        env=environment(tmp_path),
        stdin=theirs,
        stdout=theirs,
        stderr=theirs,
        start_new_session=True,
    ) as process:
        os.close(theirs)
        until = time.monotonic() + PATIENCE
        while not server.count("planner"):
            assert process.poll() is None
            assert time.monotonic() < until
            time.sleep(0.05)
        os.close(ours)
        assert process.wait(PATIENCE) == 129
    shown = report(hansei("show", "mine", "--db", "runs.db", "--json"))
    assert [step["description"] for step in shown["steps"]] == ["Look it up in the book"]
    assert shown["reason"] == "The run was stopped (SIGHUP)."


def test_a_run_that_shall_outlive_its_terminal_does(server: ScriptedServer, tmp_path: Path) -> None:
    slow = plan({"description": "Look it up in the book", "tool": "lookup"})
    server.script("planner", replace(slow, delay=2.0))
    ignoring = f"import signal; signal.signal(signal.SIGHUP, signal.SIG_IGN)\n{CLI}"  # nohup
    arguments = ("run", "look it up", "--db", "runs.db", "--json", "--tools", "my_tools.py")
    with subprocess.Popen(
        [sys.executable, "-c", ignoring, *arguments],
        cwd=tmp_path,
        env=environment(tmp_path),
        stdout=subprocess.PIPE,
        text=True,
    ) as process:
        until = time.monotonic() + PATIENCE
        while not server.count("planner"):
            assert time.monotonic() < until
            time.sleep(0.05)
        process.send_signal(signal.SIGHUP)
        stdout, _ = process.communicate(timeout=PATIENCE)
    assert json.loads(stdout)["status"] == "complete"


def test_ctrl_c_keeps_what_was_done(server: ScriptedServer, tmp_path: Path) -> None:
    server.script("planner", plan("Look it up in the book"))
    server.script("executor", SLOW)
    said = refused(interrupted(server, "executor", tmp_path, "--json"), 130)
    assert said == (
        "Stopped; `hansei show mine --db runs.db` shows what was done, "
        "`hansei resume mine --tools shop --db runs.db` goes on."
    )
    shown = hansei("show", "mine", "--db", "runs.db")
    assert shown.code == 0
    assert "Look it up in the book" in shown.stdout
    assert "running" in shown.stdout
    assert shown.stderr == ""


def test_ctrl_c_before_there_is_a_plan(server: ScriptedServer, tmp_path: Path) -> None:
    server.script("planner", SLOW)
    done = interrupted(server, "planner", tmp_path)
    assert done.code == 130
    assert "Stopped;" in one_sentence(done.stderr)
    shown = hansei("show", "mine", "--db", "runs.db")
    assert shown.code == 0
    assert "look it up" in shown.stdout
    assert shown.stderr == ""


@pytest.mark.parametrize("role", ["planner", "executor", "reflector", "synthesizer", "reviewer"])
def test_a_run_that_was_stopped_goes_on(server: ScriptedServer, tmp_path: Path, role: str) -> None:
    server.script(role, SLOW)
    tools = ("--tools", "my_tools.py")
    assert interrupted(server, role, tmp_path, *tools).code == 130
    server.reset()
    server.script_defaults()
    data = report(hansei("resume", "mine", *tools, "--db", "runs.db", "--json"))
    assert (data["status"], data["verified"], data["answer"]) == ("complete", True, "It is 42.")
    assert data["usage"]["calls"] == 6
    over = refused(hansei("resume", "mine", *tools, "--db", "runs.db"), 2)
    assert "is over (complete)" in over


def test_what_was_never_begun_cannot_go_on(server: ScriptedServer) -> None:
    assert "no database" in refused(hansei("resume", "mine", "--db", "other.db"), 2)
