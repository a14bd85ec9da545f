"""Reports from people who run such agents in LangGraph Studio and its server."""

from __future__ import annotations

import asyncio
import json
import time
from collections.abc import Iterator
from pathlib import Path

import pytest
from blockbuster import BlockBuster, BlockingError
from cli_helpers import WITHOUT_EXTRA
from langchain_core.runnables import RunnableConfig
from langchain_core.tools import tool
from langgraph_sdk import get_sync_client
from order_scene import MISSING, order_script
from scripted_server import ScriptedServer
from studio_server import served
from tree import ROOT

from hansei import (
    RunStatus,
    Verdict,
    VerdictSource,
    aopen_checkpointer,
    chat_model,
    create_plan_execute_agent,
    open_checkpointer,
)
from hansei.graphs.agent import Agent
from hansei.policies.state import AgentInput, AgentState
from hansei.tools.shop import shop_tools

GOAL = AgentInput(goal="帮我查一下订单 99999 到了没")
NO_MODEL = (
    "No model is set: set OPENAI_API_KEY, or OPENAI_BASE_URL for an endpoint of your own, "
    'or run `pip install "hansei[local]"` for the embedded model.'
)
THREAD: RunnableConfig = {"configurable": {"thread_id": "1"}}


@tool
def query_order(order_id: str) -> str:
    """Look up an order."""
    time.sleep(0.01)
    return f'{{"order_id": "{order_id}", "status": "查询中", "items": []}}'


query_order.metadata = {"hansei": {"effect": "once"}}


@pytest.fixture
def server() -> Iterator[ScriptedServer]:
    with ScriptedServer(strict_pairing=True) as running:
        order_script(running, MISSING)
        yield running


@pytest.fixture
def agent(server: ScriptedServer) -> Agent:
    model = chat_model("scripted", base_url=server.base_url, api_key="none", max_retries=0)
    tools = [t for t in shop_tools() if t.name != query_order.name]
    return create_plan_execute_agent(model, [query_order, *tools])


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


@pytest.mark.xdist_group("studio")
def test_h03_the_server_starts_anywhere_without_a_key_and_says_what_to_set(tmp_path: Path) -> None:
    # Read by Python when it starts: no network, and whether the extra `local` is there is hidden.
    (tmp_path / "sitecustomize.py").write_text(WITHOUT_EXTRA, "utf-8")
    values = {"HANSEI_DB": str(tmp_path / "runs.db"), "PYTHONPATH": str(tmp_path)}
    with (
        served(tmp_path, ROOT / "langgraph.json", **values) as (url, _),
        get_sync_client(url=url) as client,
    ):
        thread = client.threads.create(graph_id="hansei")["thread_id"]
        goal = {"goal": "Look it up"}
        parts = list(client.runs.stream(thread, "hansei", input=goal))
        (error,) = [part.data for part in parts if part.event == "error"]
        assert error == {"error": "OperatorError", "message": NO_MODEL}
        assert client.threads.get_history(thread) == []


def edited(agent: Agent, edit: dict[str, object]) -> None:
    """Edit the state as Studio does: what arrives is plain JSON."""
    agent.update_state(THREAD, json.loads(json.dumps(edit)))


@pytest.mark.parametrize("word", ["replan", "REPLAN", " Replan"])
def test_h04_a_what_was_edited_runs_and_the_verdict_is_understood(
    agent: Agent, server: ScriptedServer, tmp_path: Path, word: str
) -> None:
    with open_checkpointer(tmp_path / "runs.db") as saver:
        kept = agent.copy({"checkpointer": saver, "store": saver.store})
        kept.invoke(GOAL, THREAD, interrupt_after=["planner"])
        edited(kept, {"steps": {"1": {"description": "edited by hand: 99999"}}})
        kept.invoke(None, THREAD, interrupt_before=["reflector"])
        assert "edited by hand" in server.prompts("executor")[0]
        edited(kept, {"verdict": word})
        state = AgentState.model_validate(kept.invoke(None, THREAD))
    (verdict,) = state.steps[1].verdicts
    assert (verdict.verdict, verdict.source) == (Verdict.REPLAN, VerdictSource.HUMAN)
    assert state.replans == server.count("replanner") == 1


def test_h04_b_the_state_is_plain_json(agent: Agent, tmp_path: Path) -> None:
    with open_checkpointer(tmp_path / "runs.db") as saver:
        kept = agent.copy({"checkpointer": saver, "store": saver.store})
        kept.invoke(GOAL, THREAD)
        for point in kept.get_state_history(THREAD):
            state = AgentState.model_validate(point.values)
            told = json.loads(json.dumps(state.model_dump(mode="json")))
            assert AgentState.model_validate(told) == state
            assert "not_implemented" not in json.dumps(told)


@pytest.mark.parametrize("waiting", [False, True])
def test_h04_c_an_object_in_the_config_does_no_harm(
    agent: Agent, tmp_path: Path, waiting: bool
) -> None:
    config: RunnableConfig = {"configurable": {"thread_id": "1", "client": object()}}

    async def run() -> object:
        async with aopen_checkpointer(tmp_path / "runs.db") as saver:
            kept = agent.copy({"checkpointer": saver, "store": saver.store})
            return await kept.ainvoke(GOAL, config)

    with open_checkpointer(tmp_path / "runs.db") as saver:
        kept = agent.copy({"checkpointer": saver, "store": saver.store})
        values = asyncio.run(run()) if waiting else kept.invoke(GOAL, config)
        assert AgentState.model_validate(values).status is RunStatus.FAILED
        assert kept.get_state(THREAD).values["status"] is RunStatus.FAILED
