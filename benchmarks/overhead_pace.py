"""Supersteps per second of hansei over those of the bare graph, run in turns."""

import time
from collections.abc import Callable, Generator, Mapping
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path
from statistics import median
from tempfile import TemporaryDirectory
from typing import Literal
from uuid import uuid4

from langchain_core.runnables import RunnableConfig
from langgraph.checkpoint.memory import InMemorySaver
from overhead_graphs import BareState, Saver, bare_graph, hansei_agent, recorded
from overhead_scene import GOAL, Script, clientless_model, instant_model, stock_tool
from typing_extensions import TypedDict

from hansei import AgentInput, open_checkpointer
from hansei.graphs.checkpoints import serializer

Figures = dict[str, float]

WARM_UP = 2
"""Runs before the first that counts: imports on demand, compiled templates, a warm cache."""

SaverKind = Literal["memory", "sqlite"]


class Variant(TypedDict):
    """What is compared.

    Attributes:
        saver: Where both graphs keep their checkpoints; written synchronously.
        client: The model has its client; else it is the model without one.
        parsed: The bare graph reads structured replies as LangChain does; else by `json.loads`.
    """

    saver: SaverKind
    client: bool
    parsed: bool


@dataclass(frozen=True, slots=True)
class Took:
    """Seconds of some work by the clock, and of all threads of this process together."""

    wall: float
    cpu: float


def took(work: Callable[[], object]) -> Took:
    """Do some work and time it."""
    wall, cpu = time.perf_counter(), time.process_time()
    work()
    return Took(time.perf_counter() - wall, time.process_time() - cpu)


def new_thread() -> RunnableConfig:
    """A thread that nothing has run on."""
    return {"configurable": {"thread_id": str(uuid4())}, "recursion_limit": 500}


@contextmanager
def _savers(kind: SaverKind) -> Generator[tuple[Saver, Saver]]:
    """Two savers alike, with hansei's serializer."""
    if kind == "memory":
        yield InMemorySaver(serde=serializer()), InMemorySaver(serde=serializer())
        return
    with (
        TemporaryDirectory() as folder,
        open_checkpointer(Path(folder) / "hansei.db") as ours,
        open_checkpointer(Path(folder) / "bare.db") as theirs,
    ):
        yield ours, theirs


def paces(*, variants: Mapping[str, Variant], steps: int, rounds: int) -> dict[str, Figures]:
    """The pace of each variant; see `pace`."""
    return {name: pace(each, steps=steps, rounds=rounds) for name, each in variants.items()}


def pace(variant: Variant, *, steps: int, rounds: int) -> Figures:
    """Run both graphs in turns and compare each pair, so that a busy machine slows both alike.

    Args:
        variant: What is compared.
        steps: Steps of the plan.
        rounds: Pairs of runs.
    """
    script, look = Script(steps=steps), stock_tool()
    model = instant_model(script) if variant["client"] else clientless_model(script)
    requests = recorded(look, steps=steps)
    with _savers(variant["saver"]) as (ours, theirs):
        agent = hansei_agent(model, look, ours, steps=steps)
        bare = bare_graph(model, look, requests, theirs, parsed=variant["parsed"])

        def play() -> int:
            thread = new_thread()
            state = agent.invoke(AgentInput(goal=GOAL), thread, durability="sync")
            if not state["verified"]:
                raise RuntimeError(state["answer"])
            return _supersteps(agent.get_state(thread).metadata)

        def play_bare() -> int:
            thread = new_thread()
            bare.invoke(BareState(goal=GOAL), thread, durability="sync")
            return _supersteps(bare.get_state(thread).metadata)

        def timed() -> Took:
            thread = new_thread()
            return took(lambda: agent.invoke(AgentInput(goal=GOAL), thread, durability="sync"))

        def timed_bare() -> Took:
            thread = new_thread()
            return took(lambda: bare.invoke(BareState(goal=GOAL), thread, durability="sync"))

        supersteps, bare_supersteps = [(play(), play_bare()) for _ in range(WARM_UP)][-1]
        pairs: list[tuple[Took, Took]] = []
        for turn in range(rounds):
            if turn % 2:
                first = timed()
                pairs.append((first, timed_bare()))
            else:
                second = timed_bare()
                pairs.append((timed(), second))
    more = supersteps / bare_supersteps
    return {
        "by_cpu": more * median(bare.cpu / ours.cpu for ours, bare in pairs),
        "by_wall": more * median(bare.wall / ours.wall for ours, bare in pairs),
        "hansei_ms": 1000 * median(ours.wall for ours, _ in pairs) / supersteps,
        "bare_ms": 1000 * median(bare.wall for _, bare in pairs) / bare_supersteps,
        "hansei_supersteps": supersteps,
        "bare_supersteps": bare_supersteps,
    }


def _supersteps(metadata: object) -> int:
    """LangGraph numbers the supersteps in the metadata of their checkpoints."""
    return int(metadata["step"]) if isinstance(metadata, dict) else 0
