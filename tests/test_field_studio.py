"""Reports from people who run such agents in LangGraph Studio and its server."""

from __future__ import annotations

import asyncio
import time
from collections.abc import Iterator
from pathlib import Path

import pytest
from blockbuster import BlockBuster, BlockingError
from langchain_core.runnables import RunnableConfig
from langchain_core.tools import tool
from order_scene import MISSING, order_script
from scripted_server import ScriptedServer

from hansei import aopen_checkpointer, chat_model, create_plan_execute_agent
from hansei.graphs.agent import Agent
from hansei.policies.state import AgentInput, AgentState
from hansei.tools.shop import shop_tools

GOAL = AgentInput(goal="帮我查一下订单 99999 到了没")
THREAD: RunnableConfig = {"configurable": {"thread_id": "1"}}


@tool
def query_order(order_id: str) -> str:
    """Look up an order."""
    time.sleep(0.01)
    return f'{{"order_id": "{order_id}", "status": "查询中", "items": []}}'


query_order.metadata = {"hansei": {"effect": "once"}}


@pytest.fixture
def agent() -> Iterator[Agent]:
    with ScriptedServer(strict_pairing=True) as server:
        order_script(server, MISSING)
        model = chat_model("scripted", base_url=server.base_url, api_key="none", max_retries=0)
        tools = [t for t in shop_tools() if t.name != query_order.name]
        yield create_plan_execute_agent(model, [query_order, *tools])


@pytest.fixture
def alert() -> Iterator[BlockBuster]:
    """What refuses blocking calls on the event loop; stricter than the development server's."""
    blockbuster = BlockBuster()
    yield blockbuster
    blockbuster.deactivate()


def test_h01_nothing_of_a_run_blocks_the_event_loop(
    agent: Agent, alert: BlockBuster, tmp_path: Path
) -> None:
    async def run() -> AgentState:
        with pytest.raises(BlockingError):
            time.sleep(0.01)  # noqa: ASYNC251 - the alert is on
        async with aopen_checkpointer(tmp_path / "new" / "runs.db") as saver:
            served = agent.copy({"checkpointer": saver, "store": saver.store})
            return AgentState.model_validate(await served.ainvoke(GOAL, THREAD))

    usual = AgentState.model_validate(agent.invoke(GOAL))
    alert.activate()
    state = asyncio.run(run())
    alert.deactivate()
    assert (state.status, state.answer) == (usual.status, usual.answer)
    assert [c.output for c in state.steps[1].last_attempt.calls] == [
        c.output for c in usual.steps[1].last_attempt.calls
    ]
