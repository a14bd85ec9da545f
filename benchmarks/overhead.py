"""What hansei costs beyond LangGraph: speed, width, bytes, import time and memory.

Every figure is a ratio within one run, or bytes, so that it can be compared between machines.
`overhead_graphs.py` says what the bare graph is that hansei is held against.

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
    import_times,
    memory_mb,
    memory_pace,
    parallel_ratio,
    size,
    sqlite_pace,
)


@dataclass(frozen=True, slots=True)
class Setup:
    """How much is measured."""

    steps: int = 5
    """Steps of the plan whose supersteps are timed; one tool call each, all judged and passed."""
    rounds: int = 40
    """Pairs of runs that are timed."""
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
    parallel_steps=2,
    seconds=0.01,
    output_bytes=1000,
    imports=1,
    first_runs=1,
    last_runs=2,
)
"""Only to see that it works."""


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
    "memory_ratio": "supersteps a second over the bare graph's, saver in memory (CPU time)",
    "sqlite_ratio": "the same on SQLite, durability sync (wall time)",
    "parallel_ratio": "independent steps over their critical path (the slower of sync and async)",
    "bytes_growth": "bytes of checkpoints for twice the steps",
    "bytes_per_step": "bytes of checkpoints a step, for the longer plan",
    "import_ratio": "import of hansei over that of langgraph and langchain-openai (CPU time)",
    "memory_growth_mb": "megabytes more after the last run than after the first ones",
}


def measure(setup: Setup) -> tuple[dict[str, float], dict[str, object]]:
    """All figures that have a goal, and the details behind them."""
    memory = memory_pace(steps=setup.steps, rounds=setup.rounds)
    sqlite = sqlite_pace(steps=setup.steps, rounds=setup.rounds)
    parallel = parallel_ratio(steps=setup.parallel_steps, seconds=setup.seconds)
    short = size(steps=5, output_bytes=setup.output_bytes)
    long = size(steps=10, output_bytes=setup.output_bytes)
    imports = import_times(rounds=setup.imports)
    held = memory_mb(first=setup.first_runs, last=setup.last_runs)
    figures = {
        "memory_ratio": memory.by_cpu,
        "sqlite_ratio": sqlite.by_wall,
        "parallel_ratio": max(parallel.values()),
        "bytes_growth": long.checkpoints / short.checkpoints,
        "bytes_per_step": long.checkpoints / 10,
        "import_ratio": imports["hansei"] / imports["langgraph"],
        "memory_growth_mb": held["last"] - held["first"],
    }
    details: dict[str, object] = {
        "memory": asdict(memory),
        "sqlite": asdict(sqlite),
        "parallel": parallel,
        "bytes": {
            "5 steps": asdict(short),
            "10 steps": asdict(long),
            "file_growth": long.file / short.file,
            "file_per_step": long.file / 10,
        },
        "import_seconds": imports,
        "memory_mb": held,
    }
    return figures, details


def table(figures: Mapping[str, float]) -> str:
    """The figures beside their goals."""
    rows = [("figure", "reached", "goal", "", "what it is")]
    for goal in GOALS:
        value = figures[goal.figure]
        shown = f"{value:,.0f}" if goal.limit > 1000 else f"{value:.2f}"
        verdict = "met" if goal.met(value) else "MISSED"
        rows.append((goal.figure, shown, str(goal), verdict, MEANINGS[goal.figure]))
    widths = [max(len(row[i]) for row in rows) for i in range(5)]
    lines = ["  ".join(f"{c:<{w}}" for c, w in zip(r, widths, strict=True)).rstrip() for r in rows]
    return "\n".join([lines[0], "-" * max(map(len, lines)), *lines[1:]])


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
    figures, details = measure(setup)
    if options.json:
        goals = {goal.figure: str(goal) for goal in GOALS}
        report = {**figures, "goals": goals, "settings": asdict(setup), "details": details}
        print(json.dumps(report, indent=2))
    else:
        print(table(figures))
        print("\nWhat they are made of\n")
        print(json.dumps(details, indent=2))
    return 0


if __name__ == "__main__":
    raise SystemExit(main())
