"""Runs that are killed and taken up again, and what is wrong with the end of one.

The tests and `benchmarks/kills.py` share this. The oracle is a ledger that the tools write, outside
of anything that hansei keeps.
"""

from __future__ import annotations

import json
import random
import shutil
import sqlite3
import subprocess
import sys
import tempfile
from collections import Counter
from collections.abc import Generator, Iterator
from contextlib import closing, contextmanager
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from kill_scene import EFFECTS, GOAL

from hansei import open_checkpointer

JUNK = ("before put_writes", "after put_writes", "after put", "after store", "after lease")
"""Places that are left out of the enumeration: nothing is written between them and another one
that is in it."""


@dataclass(frozen=True)
class Saver:
    """One way to keep runs.

    Attributes:
        name: As in the table.
        awaited: The run is awaited.
        url: The Postgres database; `None`: a SQLite file for each run.
    """

    name: str
    awaited: bool = False
    url: str | None = None


SQLITE_SYNC = Saver("sqlite sync")
SQLITE_ASYNC = Saver("sqlite async", awaited=True)


@dataclass
class Trial:
    """One run with its crashes, and how it ended."""

    saver: Saver
    folder: Path
    kills: list[str] = field(default_factory=list[str])
    told: dict[str, Any] | None = None

    @property
    def place(self) -> str:
        return self.saver.url or str(self.folder / "runs.db")

    @property
    def ledger(self) -> list[tuple[str, str]]:
        """Every effect that really happened, with its key."""
        path = self.folder / "ledger"
        lines = path.read_text(encoding="utf-8").splitlines() if path.exists() else []
        return [(name, key) for name, _, key in (line.partition(" ") for line in lines)]

    @property
    def state(self) -> dict[str, Any]:
        """The last state, as JSON."""
        assert self.told is not None, self.kills
        state: dict[str, Any] = self.told["state"]
        return state

    @property
    def unknown(self) -> bool:
        """Whether the run has ended with a call of which nobody knows the outcome."""
        return bool(self.state["status"] == "needs_human")

    @property
    def repeated(self) -> int:
        """Effects that have happened more than once, which a read and a keyed call may."""
        return sum(count - 1 for count in Counter(self.ledger).values())


class Processes:
    """Processes that are forked, one after the other."""

    def __init__(self, helper: subprocess.Popen[str], folder: Path) -> None:
        self._helper = helper
        self._folder = folder
        self._count = 0

    def trial(self, saver: Saver) -> Trial:
        """A run that has not begun."""
        self._count += 1
        folder = self._folder / str(self._count)
        folder.mkdir()
        return Trial(saver, folder)

    def live(self, trial: Trial, *, fatal: str = "", delay: float | None = None) -> float:
        """One process of a run, until it ends or is killed; returns the seconds it has lived."""
        asked = {
            "folder": str(trial.folder),
            "place": trial.place,
            "thread": trial.folder.name,
            "awaited": trial.saver.awaited,
            "fatal": fatal,
            "delay": delay,
        }
        assert self._helper.stdin is not None
        assert self._helper.stdout is not None
        self._helper.stdin.write(json.dumps(asked) + "\n")
        self._helper.stdin.flush()
        ended = json.loads(self._helper.stdout.readline())
        if ended["killed"]:
            trial.kills.append(fatal or f"{delay:.3f} s")
        else:
            assert ended["code"] == 0, (trial.kills, fatal)
            told = (trial.folder / "told.json").read_text(encoding="utf-8")
            trial.told = json.loads(told)
        return float(ended["seconds"])

    def done_with(self, trial: Trial) -> None:
        """Its files take memory."""
        shutil.rmtree(trial.folder)


@contextmanager
def processes() -> Generator[Processes]:
    """The process that forks, with a folder for its files."""
    child = Path(__file__).with_name("kill_child.py")
    # In memory where there is such a place: a kill spares what the system holds, on any disk.
    memory = Path("/dev/shm")
    with (
        tempfile.TemporaryDirectory(
            prefix="kills-", dir=memory if memory.is_dir() else None
        ) as folder,
        subprocess.Popen(
            [sys.executable, str(child)], stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True
        ) as helper,
    ):
        yield Processes(helper, Path(folder))
        helper.communicate()


def points_of(calm: Trial) -> list[str]:
    """Every point at which a process of this run can be killed."""
    assert calm.told is not None
    reached = calm.told["reached"].items()
    return [f"{place} {i}" for place, n in reached if place not in JUNK for i in range(1, n + 1)]


def at_every_point(
    processes: Processes, calm: Trial, *, every: int = 1, first: int = 0
) -> Iterator[tuple[Trial, list[str]]]:
    """Runs that are killed once, each at another point, with what is wrong with each.

    Args:
        processes: Where they live.
        calm: The undisturbed run.
        every: Take only each so-manieth point.
        first: The first one that is taken.
    """
    for fatal in points_of(calm)[first::every]:
        trial = processes.trial(calm.saver)
        processes.live(trial, fatal=fatal)
        wrong = [] if trial.kills else [f"{fatal} was not reached"]
        wrong += _trace(trial)
        processes.live(trial)
        yield trial, wrong + wrongs(trial, calm)
        processes.done_with(trial)


def at_random_moments(
    processes: Processes, calm: Trial, *, kills: int, seconds: float, seed: int
) -> Iterator[tuple[Trial, list[str]]]:
    """Runs that are killed from outside, up to twice each, until there were so many kills.

    Args:
        processes: Where they live.
        calm: The undisturbed run.
        kills: How many kills there must be.
        seconds: How long a process of it lives.
        seed: Of the moments.
    """
    moments = random.Random(seed)
    done = 0
    while done < kills:
        trial = processes.trial(calm.saver)
        for _ in range(min(2, kills - done)):
            if trial.told is None:
                processes.live(trial, delay=moments.uniform(0, seconds))
        if trial.told is None:
            processes.live(trial)
        done += len(trial.kills)
        yield trial, wrongs(trial, calm)
        processes.done_with(trial)


def wrongs(trial: Trial, calm: Trial) -> list[str]:
    """What is wrong with the end of a run; empty where nothing is."""
    if trial.told is None:
        return ["lost: it did not end"]
    times = Counter(name for name, _ in trial.ledger)
    keys = {name: {key for each, key in trial.ledger if each == name} for name in EFFECTS}
    found: list[str] = []
    if times["pay"] > 1:
        found.append(f"twice: pay {times['pay']} times")
    found += [f"two keys: {name}" for name in ("pay", "mail") if len(keys[name]) > 1]
    if trial.repeated > len(trial.kills):
        found.append(f"repeated: {trial.repeated} effects in {len(trial.kills)} crashes")
    found += _integrity(trial)
    if trial.unknown:
        said = "pay {}" in trial.state["answer"]
        return found + ([] if said and times["pay"] <= 1 else ["wrong: pay is not named"])
    missing = sorted(EFFECTS.keys() - times.keys())
    found += [f"lost: {', '.join(missing)}"] if missing else []
    return found + _differences(trial.state, calm.state, crashes=len(trial.kills))


def _differences(state: dict[str, Any], calm: dict[str, Any], *, crashes: int) -> list[str]:
    """Where the state is not the undisturbed run's; counters may be higher by the crashes."""
    found = [
        f"wrong: {name} is {state[name]!r}"
        for name in ("status", "verified", "answer", "order", "needs_human", "exhausted")
        if state[name] != calm[name]
    ]
    for number, step in calm["steps"].items():
        other = state["steps"].get(number, {})
        found += [
            f"wrong: {name} of step {number} is {other.get(name)!r}"
            for name in ("status", "result", "reason")
            if other.get(name) != step[name]
        ]
        attempts = len(other.get("attempts", []))
        if not len(step["attempts"]) <= attempts <= len(step["attempts"]) + crashes:
            found.append(f"wrong: step {number} has {attempts} attempts")
    if not calm["replans"] <= state["replans"] <= calm["replans"] + crashes:
        found.append(f"wrong: {state['replans']} replans")
    return found


def _trace(trial: Trial) -> list[str]:
    """A run that was accepted is not forgotten, however early it was killed."""
    if trial.saver.awaited or trial.kills != ["before put 1"]:
        return []
    with open_checkpointer(trial.place) as saver:
        row = saver.runs.row(trial.folder.name)
    if row is None or row.goal != GOAL or row.under_way:
        return ["lost: no trace of an accepted run"]
    return []


def _integrity(trial: Trial) -> list[str]:
    if trial.saver.url is not None:
        return []
    with closing(sqlite3.connect(trial.place)) as file:
        (said,) = file.execute("PRAGMA integrity_check").fetchone()
    return [] if said == "ok" else [f"broken: {said}"]
