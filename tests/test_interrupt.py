"""Ctrl-C in the middle of a run: it stops at once, and what was done is kept."""

from __future__ import annotations

import signal
import subprocess
import sys
import time
from collections.abc import Iterator
from pathlib import Path

import pytest
from cli_helpers import CLI, PATIENCE, Done, environment, hansei, one_sentence, refused
from cli_scenes import endpoint
from scripted_server import Reply, ScriptedServer, plan


@pytest.fixture
def server(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Iterator[ScriptedServer]:
    """See `endpoint`."""
    with endpoint(tmp_path, monkeypatch) as running:
        yield running


def interrupted(server: ScriptedServer, role: str, home: Path, *more: str) -> Done:
    """Presses Ctrl-C when the role has been asked and has not answered."""
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
        process.send_signal(signal.SIGINT)
        stdout, stderr = process.communicate(timeout=PATIENCE)
    return Done(process.returncode, stdout, stderr)


SLOW = Reply("too late", delay=PATIENCE)


def test_ctrl_c_keeps_what_was_done(server: ScriptedServer, tmp_path: Path) -> None:
    server.script("planner", plan("Look it up in the book"))
    server.script("executor", SLOW)
    said = refused(interrupted(server, "executor", tmp_path, "--json"), 130)
    assert said == "Stopped; `hansei show mine --db runs.db` shows what was done."
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
