"""Runs of one agent in forked processes that are killed, by themselves or from outside.

Started once; each line on standard input is one process as JSON: the folder of its files, where its
runs are kept, how it is called, and when it dies: at a named point, after some seconds, or never.
Each answer is one line: how the process ended. What it has seen it writes into its folder.
"""

from __future__ import annotations

import asyncio
import gc
import json
import os
import select
import signal
import sys
import tempfile
import time
from pathlib import Path
from typing import Any

from kill_points import Points
from kill_scene import GOAL, model, tools
from langchain_core.runnables import RunnableConfig

from hansei import (
    AgentInput,
    aopen_checkpointer,
    create_plan_execute_agent,
    open_checkpointer,
)
from hansei.graphs.agent import Agent
from hansei.graphs.checkpoints import AsyncCheckpointer, Checkpointer
from hansei.policies.state import AgentState


def live(trial: dict[str, Any]) -> dict[str, object]:
    """One process: it begins the run, or goes on with one that was begun."""
    points = Points(trial["fatal"])
    points.in_nodes()
    points.in_run_table()
    result = asyncio.run(_awaited(trial, points)) if trial["awaited"] else _blocking(trial, points)
    state = AgentState.model_validate(result)
    return {"state": state.model_dump(mode="json"), "reached": dict(points.reached)}


def _blocking(trial: dict[str, Any], points: Points) -> object:
    config, is_open = _config(trial), points.in_opening()
    with open_checkpointer(trial["place"]) as saver:
        is_open()
        agent = _agent(trial, points, saver)
        given = _given(saver.get_tuple(config) is not None)
        points.in_saver(saver)
        return agent.invoke(given, config, durability="sync")


async def _awaited(trial: dict[str, Any], points: Points) -> object:
    config, is_open = _config(trial), points.in_opening()
    async with aopen_checkpointer(trial["place"]) as saver:
        is_open()
        agent = _agent(trial, points, saver)
        given = _given(await saver.aget_tuple(config) is not None)
        await points.in_async_saver(saver)
        return await agent.ainvoke(given, config, durability="sync")


def _agent(trial: dict[str, Any], points: Points, saver: Checkpointer | AsyncCheckpointer) -> Agent:
    return create_plan_execute_agent(
        model(), tools(Path(trial["folder"]), points), checkpointer=saver
    )


def _given(begun: bool) -> AgentInput | None:
    return None if begun else AgentInput(goal=GOAL)


def _config(trial: dict[str, Any]) -> RunnableConfig:
    return {"configurable": {"thread_id": trial["thread"]}}


def warm_up() -> None:
    """Runs once in a process of its own kind, so that those that are forked are quick."""
    with tempfile.TemporaryDirectory() as folder:
        for awaited in (False, True):
            place = str(Path(folder) / f"{awaited}.db")
            trial = {"folder": folder, "place": place, "thread": "t", "fatal": ""}
            config = _config(trial)
            if awaited:
                asyncio.run(_plainly(trial, config))
            else:
                with open_checkpointer(place) as saver:
                    _agent(trial, Points(""), saver).invoke(AgentInput(goal=GOAL), config)


async def _plainly(trial: dict[str, Any], config: RunnableConfig) -> None:
    async with aopen_checkpointer(trial["place"]) as saver:
        await _agent(trial, Points(""), saver).ainvoke(AgentInput(goal=GOAL), config)


def _watched(child: int, delay: float | None) -> int:
    """The child's status, after it was killed where it has lived for so many seconds."""
    if delay is not None:
        ended = os.pidfd_open(child)
        alive = not select.select([ended], [], [], delay)[0]
        os.close(ended)
        if alive:
            os.kill(child, signal.SIGKILL)
    return os.waitpid(child, 0)[1]


def main() -> None:
    warm_up()
    # What stands in memory by now is shared with all that are forked, as long as nobody touches it.
    gc.collect()
    gc.freeze()
    for line in sys.stdin:
        trial = json.loads(line)
        began = time.monotonic()
        child = os.fork()
        if child == 0:
            told = live(trial)
            (Path(trial["folder"]) / "told.json").write_text(json.dumps(told), encoding="utf-8")
            os._exit(0)
        status = _watched(child, trial["delay"])
        killed = os.WIFSIGNALED(status) and os.WTERMSIG(status) == signal.SIGKILL
        code = None if killed else os.waitstatus_to_exitcode(status)
        seconds = time.monotonic() - began
        print(json.dumps({"killed": killed, "code": code, "seconds": seconds}), flush=True)


if __name__ == "__main__":
    main()
