"""What hansei costs beyond LangGraph: one function for each figure, each a ratio within one run."""

import asyncio
import json
import sqlite3
import subprocess
import sys
import time
from collections.abc import Callable, Iterator
from contextlib import ExitStack, contextmanager
from dataclasses import dataclass
from pathlib import Path
from statistics import median
from tempfile import TemporaryDirectory
from uuid import uuid4

from langchain_core.runnables import RunnableConfig
from langgraph.checkpoint.memory import InMemorySaver
from overhead_graphs import BareState, Saver, bare_graph, hansei_agent, recorded
from overhead_scene import GOAL, instant_model, stock_tool

from hansei import AgentInput, open_checkpointer
from hansei.graphs.checkpoints import serializer

WARM_UP = 2
"""Runs before the first that counts: imports on demand, compiled templates, a warm cache."""


@dataclass(frozen=True, slots=True)
class Pace:
    """Supersteps per second of hansei over those of the bare graph, and what they are made of."""

    by_cpu: float
    by_wall: float
    hansei_ms: float
    """Wall time of one superstep, in milliseconds."""
    bare_ms: float
    hansei_supersteps: int
    bare_supersteps: int


def memory_pace(*, steps: int, rounds: int) -> Pace:
    """Both graphs on LangGraph's saver in memory, with hansei's serializer."""
    savers = [InMemorySaver(serde=serializer()) for _ in range(2)]
    return _pace(savers[0], savers[1], steps=steps, rounds=rounds)


def sqlite_pace(*, steps: int, rounds: int) -> Pace:
    """Both graphs on `open_checkpointer`, each with a file of its own, written synchronously."""
    with TemporaryDirectory() as folder, ExitStack() as stack:
        savers = [
            stack.enter_context(open_checkpointer(Path(folder) / name))
            for name in ("hansei.db", "bare.db")
        ]
        return _pace(savers[0], savers[1], steps=steps, rounds=rounds)


def _pace(ours: Saver, theirs: Saver, *, steps: int, rounds: int) -> Pace:
    """Run both in turns and compare each pair, so that a busy machine slows both alike."""
    model, look = instant_model(steps=steps), stock_tool()
    requests = recorded(instant_model(steps=steps), look)
    agent = hansei_agent(model, look, ours)
    bare = bare_graph(model, look, requests, theirs)

    def ours_once() -> None:
        agent.invoke(AgentInput(goal=GOAL), _thread(), durability="sync")

    def theirs_once() -> None:
        bare.invoke(BareState(goal=GOAL), _thread(), durability="sync")

    for _ in range(WARM_UP):
        ours_once()
        theirs_once()
    thread = _thread()
    agent.invoke(AgentInput(goal=GOAL), thread, durability="sync")
    supersteps = _supersteps(agent.get_state(thread).metadata)
    thread = _thread()
    bare.invoke(BareState(goal=GOAL), thread, durability="sync")
    bare_supersteps = _supersteps(bare.get_state(thread).metadata)

    pairs: list[tuple[_Took, _Took]] = []
    for turn in range(rounds):
        if turn % 2:
            first = _took(ours_once)
            pairs.append((first, _took(theirs_once)))
        else:
            second = _took(theirs_once)
            pairs.append((_took(ours_once), second))
    more = supersteps / bare_supersteps
    return Pace(
        by_cpu=more * median(theirs.cpu / ours.cpu for ours, theirs in pairs),
        by_wall=more * median(theirs.wall / ours.wall for ours, theirs in pairs),
        hansei_ms=1000 * median(ours.wall for ours, _ in pairs) / supersteps,
        bare_ms=1000 * median(theirs.wall for _, theirs in pairs) / bare_supersteps,
        hansei_supersteps=supersteps,
        bare_supersteps=bare_supersteps,
    )


@dataclass(frozen=True, slots=True)
class _Took:
    wall: float
    cpu: float


def _took(work: Callable[[], object]) -> _Took:
    """Seconds by the clock, and of all threads of this process together."""
    wall, cpu = time.perf_counter(), time.process_time()
    work()
    return _Took(time.perf_counter() - wall, time.process_time() - cpu)


def _thread() -> RunnableConfig:
    return {"configurable": {"thread_id": str(uuid4())}, "recursion_limit": 500}


def _supersteps(metadata: object) -> int:
    """LangGraph numbers the supersteps in the metadata of their checkpoints."""
    return int(metadata["step"]) if isinstance(metadata, dict) else 0


CRITICAL_PATH = 7
"""Calls that must follow each other, however many steps there are: the plan, the tool call, the
tool, the result, the judgement, the answer, and its review."""


def parallel_ratio(*, steps: int, seconds: float) -> dict[str, float]:
    """Time of independent steps over that of the critical path, for `invoke` and `ainvoke`."""
    model = instant_model(steps=steps, chained=False, seconds=seconds)
    look = stock_tool(seconds=seconds)
    agent = hansei_agent(model, look, None)
    # What is loaded on demand is loaded by a run that waits for nothing.
    hansei_agent(instant_model(steps=steps), stock_tool(), None).invoke(AgentInput(goal=GOAL))

    async def awaited() -> None:
        await agent.ainvoke(AgentInput(goal=GOAL))

    blocking = _took(lambda: agent.invoke(AgentInput(goal=GOAL)))
    waiting = _took(lambda: asyncio.run(awaited()))
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
            agent = hansei_agent(instant_model(steps=steps), stock_tool(size=output_bytes), saver)
            agent.invoke(AgentInput(goal=GOAL), _thread(), durability="sync")
        with _reading(path) as connection:
            query = (
                "SELECT (SELECT sum(length(checkpoint) + length(metadata)) FROM checkpoints)"
                " + (SELECT sum(length(value)) FROM writes)"
            )
            checkpoints = int(connection.execute(query).fetchone()[0])
        return Size(checkpoints=checkpoints, file=path.stat().st_size)


@contextmanager
def _reading(path: Path) -> Iterator[sqlite3.Connection]:
    connection = sqlite3.connect(path)
    try:
        yield connection
    finally:
        connection.close()


_HANSEI = "import hansei"
_LANGGRAPH = "from langgraph.graph import StateGraph; from langchain_openai import ChatOpenAI"


def import_times(*, rounds: int) -> dict[str, float]:
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


def memory_mb(*, first: int, last: int) -> dict[str, float]:
    """Megabytes that a process holds after some runs and after more, on SQLite."""
    child = Path(__file__).with_name("overhead_child.py")
    found: dict[str, float] = json.loads(_python(str(child), str(first), str(last)))
    return found


def _python(*arguments: str) -> str:
    done = subprocess.run([sys.executable, *arguments], check=True, capture_output=True, text=True)
    return done.stdout
