"""Which thread has a run under way: one row for each thread, with an owner and an expiry.

LangGraph has no lock on a thread: two runs on one thread both write to it, and the thread forks
without a word. A row is written before anything else of a run, so that one that was accepted and
killed before its first checkpoint leaves a trace too.
"""

import os
import socket
import sqlite3
import threading
import time
from collections.abc import Generator
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path
from uuid import uuid4

from hansei.policies.errors import UserError

LEASE = 15.0
"""Seconds after which a run that says nothing counts as gone, where nobody can look whether its
process lives. It says so three times as often, so two signs may be late."""

_TABLE = """
CREATE TABLE IF NOT EXISTS hansei_runs (
    thread_id TEXT PRIMARY KEY,
    owner TEXT NOT NULL,
    goal TEXT NOT NULL,
    accepted_at REAL NOT NULL,
    expires_at REAL NOT NULL,
    note TEXT NOT NULL DEFAULT '',
    name TEXT NOT NULL DEFAULT ''
)
"""
_ADDED = frozenset({"note", "name"})
"""Columns that a table made by an earlier version may lack."""

_TAKE = """
INSERT INTO hansei_runs (thread_id, owner, goal, accepted_at, expires_at, name)
VALUES (:thread, :owner, :goal, :now, :until, :name)
ON CONFLICT (thread_id) DO UPDATE SET
    owner = excluded.owner,
    goal = CASE WHEN excluded.goal = '' THEN goal ELSE excluded.goal END,
    accepted_at = excluded.accepted_at,
    expires_at = excluded.expires_at,
    note = '',
    name = CASE WHEN excluded.name = '' THEN name ELSE excluded.name END
WHERE (expires_at <= :now AND owner <> :alive) OR expires_at = 0 OR owner = :dead
"""


class ThreadBusyError(UserError):
    """Another run is under way on the thread."""


@dataclass(frozen=True, slots=True)
class RunRow:
    """The last run of a thread, as far as it was accepted."""

    thread_id: str
    owner: str
    goal: str
    accepted_at: float
    """Seconds since the epoch."""
    expires_at: float
    """Seconds since the epoch; 0 when the run has let the thread go."""
    note: str = ""
    """What ended the run, where it broke off with an exception."""
    name: str = ""
    """What the user calls the thread, where it is not its UUID."""

    @property
    def under_way(self) -> bool:
        """Whether somebody is working on it."""
        if self.expires_at == 0 or _is_gone(self.owner):
            return False
        return self.expires_at > time.time() or _is_here(self.owner)


class RunTable:
    """The rows of one database. Its connection belongs to it alone."""

    def __init__(self, connection: sqlite3.Connection) -> None:
        """Take over a connection that may be used from any thread, and make the table."""
        self._connection = connection
        self._guard = threading.Lock()
        with self._guard, connection:
            connection.execute(_TABLE)
            there = {row[1] for row in connection.execute("PRAGMA table_info(hansei_runs)")}
            for column in sorted(_ADDED - there):
                connection.execute(
                    f"ALTER TABLE hansei_runs ADD COLUMN {column} TEXT NOT NULL DEFAULT ''"
                )

    @contextmanager
    def held(self, thread_id: str, *, goal: str = "", name: str = "") -> Generator[None]:
        """Hold a thread for one run, and let it go afterwards.

        Args:
            thread_id: The thread.
            goal: What was asked; empty where an earlier run goes on.
            name: What the user calls the thread.

        Raises:
            ThreadBusyError: Another run holds it.
        """
        owner = f"{socket.gethostname()} {os.getpid()} {process_start(os.getpid())} {uuid4()}"
        self._take(thread_id, owner, goal, name)
        over = threading.Event()
        beat = threading.Thread(
            target=self._keep, args=(thread_id, owner, over), daemon=True, name="hansei-lease"
        )
        beat.start()
        try:
            yield
        except Exception as exc:
            self._note(thread_id, owner, str(exc) or type(exc).__name__)
            raise
        finally:
            over.set()
            beat.join()
            self._until(thread_id, owner, 0.0)

    def row(self, thread_id: str) -> RunRow | None:
        """The row of a thread; `None` where no run was ever accepted on it."""
        return next((row for row in self.rows() if row.thread_id == thread_id), None)

    def rows(self) -> list[RunRow]:
        """All rows, the latest first."""
        with self._guard:
            found = self._connection.execute(
                "SELECT thread_id, owner, goal, accepted_at, expires_at, note, name "
                "FROM hansei_runs ORDER BY accepted_at DESC"
            ).fetchall()
        return [RunRow(*row) for row in found]

    def forget(self, thread_id: str) -> None:
        """Delete the row of a thread."""
        with self._guard, self._connection:
            self._connection.execute("DELETE FROM hansei_runs WHERE thread_id = ?", (thread_id,))

    def _take(self, thread_id: str, owner: str, goal: str, name: str) -> None:
        row = self.row(thread_id)
        now = time.time()
        values = {
            "thread": thread_id,
            "owner": owner,
            "goal": goal,
            "name": name,
            "now": now,
            "until": now + LEASE,
            "dead": row.owner if row and _is_gone(row.owner) else "",
            "alive": row.owner if row and _is_here(row.owner) else "",
        }
        with self._guard, self._connection:
            taken = self._connection.execute(_TAKE, values).rowcount == 1
        if not taken:
            since = time.strftime("%H:%M:%S", time.localtime(row.accepted_at if row else now))
            msg = (
                f"The thread {thread_id} has a run under way since {since}; "
                "wait until it ends, or take another thread."
            )
            raise ThreadBusyError(msg)

    def _keep(self, thread_id: str, owner: str, over: threading.Event) -> None:
        while not over.wait(LEASE / 3):
            self._until(thread_id, owner, time.time() + LEASE)

    def _note(self, thread_id: str, owner: str, note: str) -> None:
        with self._guard, self._connection:
            self._connection.execute(
                "UPDATE hansei_runs SET note = ? WHERE thread_id = ? AND owner = ?",
                (note, thread_id, owner),
            )

    def _until(self, thread_id: str, owner: str, moment: float) -> None:
        with self._guard, self._connection:
            self._connection.execute(
                "UPDATE hansei_runs SET expires_at = ? WHERE thread_id = ? AND owner = ?",
                (moment, thread_id, owner),
            )


def _is_gone(owner: str) -> bool:
    """Whether the owner's process ran on this machine and is there no more."""
    host, pid, started = _parts(owner)
    if host != socket.gethostname() or not pid.isdigit():
        return False
    try:
        os.kill(int(pid), 0)
    except ProcessLookupError:
        return True
    except PermissionError:
        return False
    # Another process may have got the number since.
    return started != process_start(int(pid))


def _is_here(owner: str) -> bool:
    """Whether the owner's process surely lives on this machine, however long it was silent."""
    host, _, started = _parts(owner)
    return host == socket.gethostname() and started != UNKNOWN_START and not _is_gone(owner)


UNKNOWN_START = "-"
"""Where the system does not tell when a process began."""


def process_start(pid: int) -> str:
    """When a process began, in ticks of the system: with its number it names one process."""
    try:
        text = Path(f"/proc/{pid}/stat").read_text(encoding="utf-8", errors="replace")
    except OSError:
        return UNKNOWN_START
    return text.rpartition(")")[2].split()[19]


def _parts(owner: str) -> tuple[str, str, str]:
    host, pid, started = (*owner.split(" "), "", "")[:3]
    return host, pid, started
