"""A reader that goes away: the run is finished, and its exit code is that of its status."""

from __future__ import annotations

import subprocess
import sys
from collections.abc import Callable, Iterator
from pathlib import Path

import pytest
from cli_helpers import CLI, PATIENCE, environment, hansei
from cli_scenes import all_failing, endpoint, partly_failing, report
from scripted_server import ScriptedServer


@pytest.fixture
def server(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Iterator[ScriptedServer]:
    """See `endpoint`."""
    with endpoint(tmp_path, monkeypatch) as running:
        yield running


def unread(home: Path, *more: str, lines: int = 0) -> tuple[int, str]:
    """Exit code and standard error of a run whose output is read for some lines only."""
    arguments = ["--tools", "my_tools.py", "--db", "runs.db", "--thread", "mine", *more]
    with subprocess.Popen(
        [sys.executable, "-c", CLI, "run", "look it up", *arguments],
        cwd=home,
        env=environment(home),
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
        text=True,
    ) as process:
        assert process.stdout is not None
        assert process.stderr is not None
        for _ in range(lines):
            process.stdout.readline()
        process.stdout.close()
        said = process.stderr.read()
        code = process.wait(PATIENCE)
    return code, said


@pytest.mark.parametrize(
    ("scene", "code"), [(lambda _: None, 0), (partly_failing, 3), (all_failing, 4)]
)
@pytest.mark.parametrize("more", [(), ("--json",)])
def test_a_closed_pipe_changes_nothing_about_the_run(
    scene: Callable[[ScriptedServer], None],
    code: int,
    more: tuple[str, ...],
    server: ScriptedServer,
    tmp_path: Path,
) -> None:
    scene(server)
    assert unread(tmp_path, *more) == (code, "")
    kept = report(hansei("show", "mine", "--db", "runs.db", "--json"))
    assert kept["status"] == {0: "complete", 3: "partial", 4: "failed"}[code]


def test_a_pipe_that_is_closed_after_a_line_changes_nothing(
    server: ScriptedServer, tmp_path: Path
) -> None:
    partly_failing(server)
    assert unread(tmp_path, lines=1) == (3, "")
