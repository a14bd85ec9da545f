"""What outlives a process where the agent stands inside somebody's own graph."""

from __future__ import annotations

import asyncio
from collections.abc import Callable, Iterator
from contextlib import AbstractContextManager, contextmanager, nullcontext
from dataclasses import dataclass, field
from pathlib import Path
from typing import Annotated, Any

import pytest
from broken_runs import made
from langchain_core.messages import AnyMessage
from langgraph.checkpoint.base import BaseCheckpointSaver
from langgraph.graph import START, StateGraph
from langgraph.graph.message import add_messages
from langgraph.store.base import BaseStore
from langgraph.store.memory import InMemoryStore
from outer_graph import THREAD, Place, agent_with, around, look, memory, question
from pydantic import BaseModel, Field

from hansei import aopen_checkpointer, open_checkpointer


class Note(BaseModel):
    """A type of the outer graph's own."""

    text: str = ""


class Desk(BaseModel):
    """A state of another make, which shares some names with the agent's."""

    messages: Annotated[list[AnyMessage], add_messages] = Field(default_factory=list[AnyMessage])
    answer: str = ""
    verified: bool = False
    note: Note = Field(default_factory=Note)


def test_a_state_of_another_make_keeps_what_is_its_own_and_takes_what_is_shared(
    tmp_path: Path,
) -> None:
    _, agent = agent_with(made(look))
    graph = StateGraph(Desk)
    graph.add_node(agent)
    graph.add_edge(START, "hansei")
    graph.add_node("after", lambda _: {"note": Note(text="seen")})
    graph.add_edge("hansei", "after")
    with open_checkpointer(tmp_path / "runs.db", types=[Note]) as saver:
        outer = graph.compile(checkpointer=saver)
        given: Any = {**question("Look it up"), "note": Note(text="mine")}
        outer.invoke(given, THREAD, interrupt_before=["after"], durability="sync")
        assert outer.get_state(THREAD).values["note"] == Note(text="mine")
        result = outer.invoke(None, THREAD, durability="sync")
    assert (result["answer"], result["verified"]) == ("It is 42.", True)
    assert result["note"] == Note(text="seen")
    assert [message.text for message in result["messages"]] == ["Look it up", "It is 42."]


def test_those_who_await_name_their_own_types_too(tmp_path: Path) -> None:
    async def kept() -> object:
        async with aopen_checkpointer(tmp_path / "runs.db", types=[Note]) as saver:
            graph = StateGraph(Desk)
            graph.add_node("note", lambda _: {"note": Note(text="seen")})
            graph.add_edge(START, "note")
            outer = graph.compile(checkpointer=saver)
            await outer.ainvoke(question("Look it up"), THREAD)
            return (await outer.aget_state(THREAD)).values["note"]

    assert asyncio.run(kept()) == Note(text="seen")


class KilledError(BaseException):
    """Stands in for a process that is killed: nothing of ours catches it."""


@dataclass
class World:
    """What was done outside."""

    done: list[str] = field(default_factory=list[str])

    def pay(self, q: str) -> str:
        self.done.append(q)
        raise KilledError


Kept = tuple[BaseCheckpointSaver[str], BaseStore | None]


@contextmanager
def our_file(folder: Path) -> Iterator[Kept]:
    with open_checkpointer(folder / "runs.db") as saver:
        yield saver, None


@pytest.fixture(params=["our file", "their store"])
def kept(
    request: pytest.FixtureRequest, tmp_path: Path
) -> Callable[[], AbstractContextManager[Kept]]:
    """What outlives a process: saver and store of the graph around the agent."""
    if request.param == "our file":
        return lambda: our_file(tmp_path)
    both: Kept = memory(), InMemoryStore()
    return lambda: nullcontext(both)


@pytest.mark.parametrize("place", ["node", "function"])
def test_a_change_is_not_made_again_after_a_crash(
    place: Place, kept: Callable[[], AbstractContextManager[Kept]]
) -> None:
    world = World()

    def go_on(given: object) -> Any:
        # A new agent each time, as in a new process: it remembers nothing itself.
        _, agent = agent_with(made(world.pay, "once"))
        with kept() as (saver, store):
            outer = around(agent, place, saver=saver, store=store)
            return outer.invoke(given, THREAD, durability="sync")

    with pytest.raises(KilledError):
        go_on(question("Pay it"))
    result = go_on(None)
    assert world.done == ["it"]
    assert "needs a human" in result["messages"][-1].text


@pytest.mark.parametrize("place", ["node", "function"])
def test_the_journal_of_those_who_await_stands_in_the_outer_file_too(
    place: Place, tmp_path: Path
) -> None:
    async def entries() -> int:
        _, agent = agent_with(made(look, "once"))
        async with aopen_checkpointer(tmp_path / "runs.db") as saver:
            await around(agent, place, saver=saver).ainvoke(question("Look it up"), THREAD)
            return len(await saver.store.asearch(("hansei", "journal")))

    assert asyncio.run(entries()) == 1
