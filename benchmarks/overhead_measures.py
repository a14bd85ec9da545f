"""What hansei costs beyond LangGraph: one function for each figure, each a ratio within one run."""

import asyncio
import json
import sqlite3
import subprocess
import sys
from collections.abc import Generator, Mapping
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path
from statistics import median
from tempfile import TemporaryDirectory
from typing import cast

from overhead_graphs import hansei_agent
from overhead_pace import Figures, Variant, new_thread, took
from overhead_scene import GOAL, Script, instant_model, stock_tool

from hansei import AgentInput, open_checkpointer


def paces(
    variants: Mapping[str, Variant], *, steps: int, rounds: int, processes: int
) -> dict[str, Figures]:
    """The medians of several processes: where its code lies in memory makes one slower for good."""
    given = {"variants": variants, "steps": steps, "rounds": rounds}
    found = [cast("dict[str, Figures]", _child("paces", given)) for _ in range(processes)]
    return {
        name: {key: median(each[name][key] for each in found) for key in found[0][name]}
        for name in variants
    }


CRITICAL_PATH = 7
"""Calls that must follow each other, however many steps there are: the plan, the tool call, the
tool, the result, the judgement, the answer, and its review."""


def parallel_ratio(*, steps: int, seconds: float) -> Figures:
    """Time of independent steps over that of the critical path, for `invoke` and `ainvoke`."""
    model = instant_model(Script(steps=steps, chained=False), seconds=seconds)
    agent = hansei_agent(model, stock_tool(seconds=seconds), None, steps=steps)
    # What is loaded on demand is loaded by a run that waits for nothing.
    hansei_agent(instant_model(Script()), stock_tool(), None, steps=5).invoke(AgentInput(goal=GOAL))

    async def awaited() -> None:
        await agent.ainvoke(AgentInput(goal=GOAL))

    blocking = took(lambda: agent.invoke(AgentInput(goal=GOAL)))
    waiting = took(lambda: asyncio.run(awaited()))
    path = CRITICAL_PATH * seconds
    return {"invoke": blocking.wall / path, "ainvoke": waiting.wall / path}


@dataclass(frozen=True, slots=True)
class Size:
    """Bytes that one run leaves behind."""

    checkpoints: int
    """Checkpoints with their metadata and pending writes."""
    file: int
    """The whole database, with the outputs of the tools."""


def size(*, steps: int, output_bytes: int) -> Size:
    """What a plan of some steps leaves in a new database, each step with a long tool output."""
    with TemporaryDirectory() as folder:
        path = Path(folder) / "runs.db"
        with open_checkpointer(path) as saver:
            model, look = instant_model(Script(steps=steps)), stock_tool(size=output_bytes)
            agent = hansei_agent(model, look, saver, steps=steps)
            agent.invoke(AgentInput(goal=GOAL), new_thread(), durability="sync")
        with _reading(path) as connection:
            query = (
                "SELECT (SELECT sum(length(checkpoint) + length(metadata)) FROM checkpoints)"
                " + (SELECT sum(length(value)) FROM writes)"
            )
            checkpoints = int(connection.execute(query).fetchone()[0])
        return Size(checkpoints=checkpoints, file=path.stat().st_size)


@contextmanager
def _reading(path: Path) -> Generator[sqlite3.Connection]:
    connection = sqlite3.connect(path)
    try:
        yield connection
    finally:
        connection.close()


_HANSEI = "import hansei"
_LANGGRAPH = "from langgraph.graph import StateGraph; from langchain_openai import ChatOpenAI"


def import_times(*, rounds: int) -> Figures:
    """Seconds to import hansei, and LangGraph with langchain-openai, each in new processes.

    The compiled files are there: this process has imported both.
    """
    found: dict[str, list[float]] = {"hansei": [], "langgraph": []}
    for _ in range(rounds):
        for name, statement in (("hansei", _HANSEI), ("langgraph", _LANGGRAPH)):
            found[name].append(_import_time(statement))
    return {name: median(times) for name, times in found.items()}


def _import_time(statement: str) -> float:
    code = f"import time; t = time.process_time(); {statement}; print(time.process_time() - t)"
    return float(_python("-c", code))


def memory_mb(*, first: int, last: int) -> Figures:
    """Megabytes of a process after some runs and after more, on SQLite and without a saver."""
    found: Figures = {}
    for name, kept in (("sqlite", True), ("no saver", False)):
        given = {"first": first, "last": last, "kept": kept}
        figures = cast("Figures", _child("memory", given))
        found |= {f"{name}, {when}": figures[when] for when in ("first", "last")}
    return found


def _child(kind: str, given: Mapping[str, object]) -> object:
    place = Path(__file__).with_name("overhead_child.py")
    found: object = json.loads(_python(str(place), kind, json.dumps(given)))
    return found


def _python(*arguments: str) -> str:
    done = subprocess.run([sys.executable, *arguments], check=True, capture_output=True, text=True)
    return done.stdout
