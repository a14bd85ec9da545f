"""A run that was stopped half-way, kept in a database that a test looks into."""

from __future__ import annotations

import json
import re
import sqlite3
from contextlib import closing

import psycopg
from broken_runs import made, scripted
from langchain_core.runnables import RunnableConfig
from langgraph.checkpoint.base import BaseCheckpointSaver
from langgraph.checkpoint.memory import InMemorySaver
from scripted_replies import as_object, call_then_say
from scripted_server import plan

from hansei import AgentInput, RunStatus, create_plan_execute_agent, open_checkpointer
from hansei.graphs.agent import Agent
from hansei.graphs.checkpoints import serializer
from hansei.policies.state import AgentState

THREAD: RunnableConfig = {"configurable": {"thread_id": "1"}}
GOAL = AgentInput(goal="Look it up twice")

_CALL = re.compile(r"\bcall_\d+\b")


def ask(place: str, *statements: str) -> list[tuple[object, ...]]:
    """What the last statement finds."""
    if place.startswith("postgresql"):
        with psycopg.connect(place) as server:
            for statement in statements:
                cursor = server.execute(statement.encode())
            return cursor.fetchall() if cursor.description else []
    with closing(sqlite3.connect(place)) as file, file:
        for statement in statements:
            found = file.execute(statement).fetchall()
        return found


def everything(place: str) -> dict[str, list[tuple[object, ...]]]:
    """All rows of the database."""
    names = ["checkpoints", "store", "hansei_runs", "hansei_meta"]
    names += (
        ["checkpoint_blobs", "checkpoint_writes"] if place.startswith("postgresql") else ["writes"]
    )
    return {name: sorted(ask(place, f"SELECT * FROM {name}"), key=repr) for name in names}


def mark(place: str, version: int) -> None:
    ask(place, f"UPDATE hansei_meta SET state_version = {version}")


def look() -> str:
    return "42"


def agent_on(saver: BaseCheckpointSaver[str]) -> Agent:
    steps = plan(
        {"description": "look one up", "tool": "look"},
        {"description": "look two up", "tool": "look"},
        {"description": "look three up", "tool": "look", "depends_on": [1]},
    )
    model = scripted(steps, call_then_say("It is 42.", "look"))
    return create_plan_execute_agent(model, [made(look)], checkpointer=saver)


def stopped_half_way(place: str) -> None:
    """A run that was stopped with calls under way: sends and pending writes are kept too."""
    with open_checkpointer(place) as saver:
        agent_on(saver).invoke(GOAL, THREAD, interrupt_before=["tools"], durability="sync")


def finished(saver: BaseCheckpointSaver[str]) -> dict[str, object]:
    """How the run ends, without what is new in every run.

    Steps one and two ask the model at once, and it numbers calls as they come; so here they are
    numbered as they stand in the state.
    """
    state = AgentState.model_validate(agent_on(saver).invoke(None, THREAD, durability="sync"))
    assert state.status is RunStatus.COMPLETE
    text = state.model_dump_json(
        exclude={"run_id", "started_at", "asked", "state_version", "messages"}
    )
    numbers = {name: i for i, name in enumerate(dict.fromkeys(_CALL.findall(text)))}
    return as_object(json.loads(_CALL.sub(lambda found: f"call_{numbers[found[0]]}", text)))


def undisturbed() -> dict[str, object]:
    saver = InMemorySaver(serde=serializer())
    agent_on(saver).invoke(GOAL, THREAD, interrupt_before=["tools"])
    return finished(saver)
