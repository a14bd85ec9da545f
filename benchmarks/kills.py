"""What a crash can and cannot do: runs that are killed at every point and at random moments.

A run retries a step, replans another, and calls a tool of each kind: one that only reads, one that
may be called once, one that is called again under the same key. Its process is killed with SIGKILL,
and another goes on with it. What really happened stands in a ledger that the tools write.

Usage: python benchmarks/kills.py [--json] [--random N] [--seed N] [--only NAME]

The exit code is 1 when something was lost, wrong or done twice, else 0.
"""

import argparse
import json
import os
import sys
from collections.abc import Generator
from contextlib import ExitStack, contextmanager
from dataclasses import asdict, dataclass
from pathlib import Path

# Tests and benchmark share the harness.
sys.path.insert(0, str(Path(__file__).resolve().parents[1] / "tests"))

import kill_runs
from kill_runs import SQLITE_ASYNC, SQLITE_SYNC, Processes, Saver, Trial
from postgres_server import CannotStart, postgres_server

RANDOM = 100
"""Kills at random moments for each saver."""

SEED = 20260101


@dataclass
class Row:
    """One saver's line of the table.

    Attributes:
        saver: Its name.
        points: Points at which a process was killed, one run for each.
        kills: Kills in all, those at random moments too.
        lost: Runs that did not end, left no trace, or miss an effect.
        wrong: Runs that ended otherwise than the undisturbed one.
        twice: Runs in which the call that may be made once was made twice, or a key changed.
        repeated: Effects of other calls that happened once more, which their kind allows.
        unknown: Runs that ended with a call of which nobody can know the outcome, and name it.
        broken: Databases that were damaged.
    """

    saver: str
    points: int = 0
    kills: int = 0
    lost: int = 0
    wrong: int = 0
    twice: int = 0
    repeated: int = 0
    unknown: int = 0
    broken: int = 0

    def add(self, trial: Trial, wrongs: list[str]) -> None:
        """Count one run."""
        self.kills += len(trial.kills)
        self.lost += _any(wrongs, "lost")
        self.wrong += _any(wrongs, "wrong") or _any(wrongs, "repeated")
        self.twice += _any(wrongs, "twice") or _any(wrongs, "two keys")
        self.broken += _any(wrongs, "broken")
        if trial.told is not None:
            self.repeated += trial.repeated
            self.unknown += trial.unknown

    @property
    def failed(self) -> bool:
        """Whether something happened that must not."""
        return bool(self.lost or self.wrong or self.twice or self.broken)


def main() -> int:
    """Measure, print, and return the exit code."""
    given = _arguments()
    # What a run is told must not depend on who measures.
    os.environ["LANGSMITH_TRACING"] = "false"
    skipped: dict[str, str] = {}
    rows: list[Row] = []
    with ExitStack() as stack:
        processes = stack.enter_context(kill_runs.processes())
        savers = [SQLITE_SYNC, SQLITE_ASYNC]
        try:
            url = stack.enter_context(_database())
        except CannotStart as exc:
            skipped["postgres"] = str(exc)
        else:
            savers += [
                Saver("postgres sync", url=url),
                Saver("postgres async", awaited=True, url=url),
            ]
        rows += [
            _row(processes, saver, random=given.random, seed=given.seed)
            for saver in savers
            if given.only in saver.name
        ]
    if given.json:
        settings = {"random": given.random, "seed": given.seed}
        table = [asdict(row) for row in rows]
        print(json.dumps({"rows": table, "skipped": skipped, "settings": settings}))
    else:
        _print(rows)
        for name, why in skipped.items():
            print(f"{name}: left out, {why}")
    return 1 if any(row.failed for row in rows) else 0


def _row(processes: Processes, saver: Saver, *, random: int, seed: int) -> Row:
    row = Row(saver.name)
    calm = processes.trial(saver)
    seconds = processes.live(calm)
    if wrongs := kill_runs.wrongs(calm, calm):
        sys.exit(f"the undisturbed run is not as it must be: {wrongs}")
    for trial, wrongs in kill_runs.at_every_point(processes, calm):
        row.points += 1
        _count(row, trial, wrongs)
    for trial, wrongs in kill_runs.at_random_moments(
        processes, calm, kills=random, seconds=seconds, seed=seed
    ):
        _count(row, trial, wrongs)
    return row


def _count(row: Row, trial: Trial, wrongs: list[str]) -> None:
    row.add(trial, wrongs)
    if wrongs:
        print(f"{row.saver}, killed at {', '.join(trial.kills)}: {wrongs}", file=sys.stderr)


@contextmanager
def _database() -> Generator[str]:
    with postgres_server() as server, server.database() as url:
        yield url


def _any(wrongs: list[str], kind: str) -> bool:
    return any(each.startswith(kind) for each in wrongs)


def _print(rows: list[Row]) -> None:
    names = [name for name in asdict(Row("")) if name != "saver"]
    print("| saver | " + " | ".join(names) + " |")
    print("| --- |" + " --- |" * len(names))
    for row in rows:
        print(f"| {row.saver} | " + " | ".join(str(getattr(row, name)) for name in names) + " |")
    print()
    print(
        "repeated: calls that only read, or that are made again under the same key. unknown: the "
        "process died\nwhile the call that may be made once was under way; the run ends "
        "needs_human, and its answer names the call."
    )


def _arguments() -> argparse.Namespace:
    parser = argparse.ArgumentParser(description=(__doc__ or "").partition("\n")[0])
    parser.add_argument("--json", action="store_true", help="print one object")
    parser.add_argument("--random", type=int, default=RANDOM, help="kills at random moments")
    parser.add_argument("--seed", type=int, default=SEED, help="of the moments")
    parser.add_argument("--only", default="", help="only savers with this in their name")
    return parser.parse_args()


if __name__ == "__main__":
    sys.exit(main())
