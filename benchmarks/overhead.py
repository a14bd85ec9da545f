"""What hansei costs beyond LangGraph: speed, width, bytes, import time and memory.

Every figure is a ratio within one run, or bytes, so that it can be compared between machines.
`overhead_graphs.py` says what the bare graph is that hansei is held against. Both wait for the disk
about as often, so where there is a wait their paces by the clock are nearer to each other than
those by CPU time, which have the goals: a busy machine disturbs them less.

Usage: python benchmarks/overhead.py [--json] [--quick]

Timings depend on what else the machine does, so a goal that is missed is printed and no error.
"""

import argparse
import json
import logging
import os
from collections.abc import Mapping, Sequence
from dataclasses import asdict, dataclass

from overhead_measures import (
    Size,
    import_times,
    memory_mb,
    paces,
    parallel_ratio,
    size,
)
from overhead_pace import Figures, Variant


@dataclass(frozen=True, slots=True)
class Setup:
    """How much is measured."""

    steps: int = 5
    """Steps of the plan whose supersteps are timed; one tool call each, all judged and passed."""
    rounds: int = 20
    """Pairs of runs that are timed in one process."""
    processes: int = 3
    parallel_steps: int = 4
    seconds: float = 0.5
    """How long a call takes where steps run side by side."""
    output_bytes: int = 50_000
    """Bytes of a tool output where checkpoints are weighed."""
    imports: int = 7
    """Processes that import each side."""
    first_runs: int = 10
    last_runs: int = 100


QUICK = Setup(
    steps=2,
    rounds=1,
    processes=1,
    parallel_steps=2,
    seconds=0.01,
    output_bytes=1000,
    imports=1,
    first_runs=1,
    last_runs=2,
)
"""Only to see that it works."""


VARIANTS: Mapping[str, Variant] = {
    "memory": {"saver": "memory", "client": True, "parsed": True},
    "sqlite": {"saver": "sqlite", "client": True, "parsed": True},
    "memory, replies read by json.loads": {"saver": "memory", "client": True, "parsed": False},
    "sqlite, replies read by json.loads": {"saver": "sqlite", "client": True, "parsed": False},
    "memory, and no client": {"saver": "memory", "client": False, "parsed": False},
    "sqlite, and no client": {"saver": "sqlite", "client": False, "parsed": False},
}
"""The first two have the goals. The others leave out more and more of what any real graph does."""


@dataclass(frozen=True, slots=True)
class Goal:
    """What a figure should reach."""

    figure: str
    limit: float
    at_least: bool = False

    def met(self, value: float) -> bool:
        """Whether a value reaches it."""
        return value >= self.limit if self.at_least else value <= self.limit

    def __str__(self) -> str:
        return f"{'at least' if self.at_least else 'at most'} {self.limit:,g}"


GOALS = (
    Goal("memory_ratio", 0.8, at_least=True),
    Goal("sqlite_ratio", 0.8, at_least=True),
    Goal("parallel_ratio", 1.15),
    Goal("bytes_growth", 3.0),
    Goal("bytes_per_step", 60_000),
    Goal("import_ratio", 1.1),
    Goal("memory_growth_mb", 10.0),
)

MEANINGS: Mapping[str, str] = {
    "memory_ratio": "supersteps a CPU second over the bare graph's, saver in memory",
    "sqlite_ratio": "the same on SQLite, durability sync",
    "parallel_ratio": "independent steps over their critical path (the slower of sync and async)",
    "bytes_growth": "bytes of checkpoints for twice the steps",
    "bytes_per_step": "bytes of checkpoints a step, for the longer plan",
    "import_ratio": "import of hansei over that of langgraph and langchain-openai (CPU time)",
    "memory_growth_mb": "megabytes more after 100 runs than after 10 (SQLite, or without saver)",
}


@dataclass(frozen=True, slots=True)
class Measured:
    """Everything that was measured."""

    pace: Mapping[str, Figures]
    parallel: Figures
    short: Size
    """A plan of five steps."""
    long: Size
    """A plan of ten."""
    imports: Figures
    memory: Figures

    def figures(self) -> Figures:
        """Those that have a goal."""
        return {
            "memory_ratio": self.pace["memory"]["by_cpu"],
            "sqlite_ratio": self.pace["sqlite"]["by_cpu"],
            "parallel_ratio": max(self.parallel.values()),
            "bytes_growth": self.long.checkpoints / self.short.checkpoints,
            "bytes_per_step": self.long.checkpoints / 10,
            "import_ratio": self.imports["hansei"] / self.imports["langgraph"],
            "memory_growth_mb": max(
                self.memory[f"{name}, last"] - self.memory[f"{name}, first"]
                for name in ("sqlite", "no saver")
            ),
        }

    def details(self) -> dict[str, object]:
        """What they are made of."""
        return {
            "pace": self.pace,
            "parallel": self.parallel,
            "bytes": {"5 steps": asdict(self.short), "10 steps": asdict(self.long)},
            "import_seconds": self.imports,
            "memory_mb": self.memory,
        }


def measure(setup: Setup) -> Measured:
    """Measure everything, one after the other."""
    return Measured(
        pace=paces(VARIANTS, steps=setup.steps, rounds=setup.rounds, processes=setup.processes),
        parallel=parallel_ratio(steps=setup.parallel_steps, seconds=setup.seconds),
        short=size(steps=5, output_bytes=setup.output_bytes),
        long=size(steps=10, output_bytes=setup.output_bytes),
        imports=import_times(rounds=setup.imports),
        memory=memory_mb(first=setup.first_runs, last=setup.last_runs),
    )


def table(rows: Sequence[Sequence[str]]) -> str:
    """Rows under the first of them, in columns as wide as they need to be."""
    widths = [max(len(row[i]) for row in rows) for i in range(len(rows[0]))]
    lines = ["  ".join(f"{c:<{w}}" for c, w in zip(r, widths, strict=True)).rstrip() for r in rows]
    return "\n".join([lines[0], "-" * max(map(len, lines)), *lines[1:]])


def print_goals(figures: Figures) -> None:
    """Print the figures beside their goals."""
    rows = [("figure", "reached", "goal", "", "what it is")]
    for goal in GOALS:
        value = figures[goal.figure]
        shown = f"{value:,.0f}" if goal.limit > 1000 else f"{value:.2f}"
        verdict = "met" if goal.met(value) else "MISSED"
        rows.append((goal.figure, shown, str(goal), verdict, MEANINGS[goal.figure]))
    print(table(rows))


def print_details(measured: Measured) -> None:
    """Print what the figures are made of."""
    rows: list[tuple[str, ...]] = [
        ("pace", "by CPU time", "by the clock", "ms a superstep", "of the bare graph")
    ]
    rows += [
        (name, *(f"{pace[key]:.2f}" for key in ("by_cpu", "by_wall", "hansei_ms", "bare_ms")))
        for name, pace in measured.pace.items()
    ]
    print(f"\n{table(rows)}\n")
    for steps, size_ in (("5", measured.short), ("10", measured.long)):
        print(
            f"{steps} steps leave {size_.checkpoints:,} bytes of checkpoints in a file of "
            f"{size_.file:,}, which holds the outputs of the tools too."
        )
    for name, figures in (
        ("Steps side by side over their critical path", measured.parallel),
        ("CPU seconds of an import", measured.imports),
        ("Megabytes of the process", measured.memory),
    ):
        print(f"{name}: {', '.join(f'{key} {value:.2f}' for key, value in figures.items())}.")


def main(arguments: Sequence[str] | None = None) -> int:
    """Measure and print."""
    parser = argparse.ArgumentParser(description="What hansei costs beyond LangGraph.")
    parser.add_argument("--json", action="store_true", help="print one JSON object")
    parser.add_argument("--quick", action="store_true", help="only see that it works")
    options = parser.parse_args(arguments)
    logging.disable(logging.WARNING)
    # What the developer has set for real endpoints does not belong here.
    os.environ.update(LANGSMITH_TRACING="false", HANSEI_TOOL_STYLE="native")
    setup = QUICK if options.quick else Setup()
    measured = measure(setup)
    if options.json:
        goals = {goal.figure: str(goal) for goal in GOALS}
        details = {"goals": goals, "settings": asdict(setup), "details": measured.details()}
        print(json.dumps({**measured.figures(), **details}, indent=2))
    else:
        print_goals(measured.figures())
        print_details(measured)
    return 0


if __name__ == "__main__":
    raise SystemExit(main())
