"""Many at once: processes on one file, and awaited runs on one saver."""

from __future__ import annotations

import asyncio
import sqlite3
import sys
from collections import Counter
from contextlib import closing
from pathlib import Path

import pytest
from broken_runs import scripted
from langchain_core.runnables import RunnableConfig
from load_runs import statuses
from scripted_server import Reply, plan

from hansei import AgentInput, RunStatus, aopen_checkpointer, create_plan_execute_agent

MANY = 500


@pytest.mark.skipif(sys.platform == "win32", reason="there is no fork")
def test_eight_processes_with_ten_runs_each_share_one_file(tmp_path: Path) -> None:
    file = tmp_path / "runs.db"
    assert statuses(file, processes=8, runs=10) == [["complete"] * 10] * 8
    with closing(sqlite3.connect(file)) as connection:
        (threads,) = connection.execute(
            "SELECT COUNT(DISTINCT thread_id) FROM checkpoints"
        ).fetchone()
        (said,) = connection.execute("PRAGMA integrity_check").fetchone()
    assert (threads, said) == (80, "ok")


async def test_five_hundred_awaited_runs_share_one_saver(tmp_path: Path) -> None:
    model = scripted(plan("say it"), Reply("It is 42."))
    async with aopen_checkpointer(tmp_path / "runs.db") as saver:
        agent = create_plan_execute_agent(model, checkpointer=saver)

        async def one(number: int) -> object:
            config: RunnableConfig = {"configurable": {"thread_id": str(number)}}
            return (await agent.ainvoke(AgentInput(goal="Say it"), config))["status"]

        ended = await asyncio.gather(*(one(number) for number in range(MANY)))
        rows = saver.runs.rows()
    assert Counter(ended) == {RunStatus.COMPLETE: MANY}
    assert len(rows) == MANY
    assert not any(row.under_way for row in rows)
