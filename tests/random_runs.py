"""Runs a scenario to its end, and keeps what really happened beside the state."""

import asyncio
import logging
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass

from langchain_core.runnables import RunnableConfig
from langgraph.checkpoint.base import BaseCheckpointSaver
from langgraph.checkpoint.memory import InMemorySaver
from random_scenarios import Scenario
from random_world import World
from scripted_replies import as_object

from hansei.graphs.agent import Agent
from hansei.graphs.checkpoints import serializer
from hansei.policies.errors import EndpointError
from hansei.policies.state import AgentInput, AgentState


@dataclass
class Played:
    """A run that is over."""

    world: World
    agent: Agent
    state: AgentState
    updates: list[tuple[str, dict[str, object]]]
    """Node and update, in the order of the stream."""
    error: EndpointError | None = None


THREAD: RunnableConfig = {"configurable": {"thread_id": "t"}}
"""The thread of every random run; each has a saver of its own."""


def play(
    scenario: Scenario,
    *,
    asynchronous: bool = False,
    saver: BaseCheckpointSaver[str] | None = None,
) -> Played:
    """Run a scenario from the start to its end."""
    world = World(scenario)
    agent = world.agent(saver or InMemorySaver(serde=serializer()))
    return ask(world, agent, AgentInput(goal=scenario.goal), asynchronous=asynchronous)


def ask(
    world: World,
    agent: Agent,
    question: AgentInput | None,
    *,
    config: RunnableConfig = THREAD,
    asynchronous: bool = False,
) -> Played:
    """Run to the end. Only the planner's endpoint may end a run with an exception."""
    updates: list[tuple[str, dict[str, object]]] = []
    failure: EndpointError | None = None

    def note(chunk: object) -> None:
        updates.extend((node, as_object(update)) for node, update in as_object(chunk).items())

    async def arun() -> None:
        async for chunk in agent.astream(
            question, config, stream_mode="updates", durability="sync"
        ):
            note(chunk)

    try:
        if asynchronous:
            asyncio.run(arun())
        else:
            for chunk in agent.stream(question, config, stream_mode="updates", durability="sync"):
                note(chunk)
    except EndpointError as exc:
        failure = exc
    world.model.book.check()
    state = AgentState.model_validate(agent.get_state(THREAD).values)
    return Played(world, agent, state, updates, failure)


@contextmanager
def no_complaints(logger: str = "langgraph") -> Iterator[None]:
    """Fail when a library logs a warning, which is how the serializer tells of unknown types."""
    records: list[logging.LogRecord] = []

    class Keeper(logging.Handler):
        def emit(self, record: logging.LogRecord) -> None:
            records.append(record)

    keeper = Keeper(level=logging.WARNING)
    logging.getLogger(logger).addHandler(keeper)
    try:
        yield
    finally:
        logging.getLogger(logger).removeHandler(keeper)
    assert not records, [record.getMessage() for record in records]
