"""One thread from Python and from the server: edited, resumed, held and kept in one file."""

from __future__ import annotations

import json
import threading
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from typing import Any
from uuid import uuid4

import pytest
from langchain_core.runnables import RunnableConfig
from langgraph.types import StateSnapshot
from langgraph_sdk import get_sync_client
from langgraph_sdk.client import SyncLangGraphClient
from order_scene import MISSING, order_script
from scripted_replies import JsonObject, Reply, call_then_say, plan
from studio_server import PATIENCE, Studio

from hansei import (
    AgentInput,
    AgentState,
    RunStatus,
    StepStatus,
    ThreadBusyError,
    VerdictSource,
    chat_model,
    create_plan_execute_agent,
    open_checkpointer,
)
from hansei.graphs.agent import Agent
from hansei.nodes.shelves import SHELVES
from hansei.tools.shop import shop_tools

pytestmark = pytest.mark.xdist_group("studio")

GOAL = "帮我查一下订单 99999 到了没"


@pytest.fixture
def honest(studio_server: Studio) -> Studio:
    studio_server.model.reset()
    order_script(studio_server.model, MISSING)
    return studio_server


@pytest.fixture
def client(honest: Studio) -> Iterator[SyncLangGraphClient]:
    with get_sync_client(url=honest.url) as found:
        yield found


@contextmanager
def own_agent(studio: Studio) -> Iterator[Agent]:
    """An agent of this process on the server's file, with the server's model and tools."""
    model = chat_model("scripted", base_url=studio.model.base_url, api_key="none", max_retries=0)
    with open_checkpointer(studio.database) as saver:
        yield create_plan_execute_agent(model, shop_tools(), checkpointer=saver)


def table(points: Sequence[StateSnapshot], *, python: int) -> str:
    """The history of a thread, the oldest checkpoint first; Python made the first `python`."""
    lines = [f"{'':>2} {'by':<7} {'source':<7} {'next':<12} {'status':<8} verdicts of step 1"]
    for i, point in enumerate(reversed(points)):
        state = AgentState.model_validate(point.values)
        by = "server" if i == python else "Python"
        source = (point.metadata or {}).get("source", "")
        verdicts = state.steps[1].verdicts if 1 in state.steps else []
        told = ", ".join(f"{v.verdict} by {v.source}" for v in verdicts)
        waits = state.steps[1].verdict if 1 in state.steps else None
        told += f" (waits: {waits.verdict} by hand)" if waits else ""
        following = ", ".join(point.next)
        lines.append(f"{i:>2} {by:<7} {source:<7} {following:<12} {state.status:<8} {told}")
    return "\n".join(line.rstrip() for line in lines)


def test_a_thread_of_python_is_edited_in_the_server_and_goes_on_in_python(
    honest: Studio, client: SyncLangGraphClient
) -> None:
    thread = str(uuid4())
    config: RunnableConfig = {"configurable": {"thread_id": thread}}
    with own_agent(honest) as agent:
        agent.invoke(
            AgentInput(goal=GOAL), config, interrupt_before=["reflector"], durability="sync"
        )
        here = list(agent.get_state_history(config))
    there = client.threads.get_history(thread, limit=100)
    assert [p["checkpoint"]["checkpoint_id"] for p in there] == [
        p.config["configurable"]["checkpoint_id"] for p in here
    ]
    told = {"steps": {"1": {"verdict": "PASS", "result": "订单 99999 已签收"}}}
    client.threads.update_state(thread, told)
    with own_agent(honest) as agent:
        ended = agent.invoke(None, config, durability="sync")
        whole = list(agent.get_state_history(config))
    step = ended["steps"][1]
    assert (step.status, step.verdicts[-1].source) == (StepStatus.VERIFIED, VerdictSource.HUMAN)
    assert ended["status"] is not RunStatus.RUNNING
    print(f"\nthread {thread}\n{table(whole, python=len(here))}")  # pytest -s shows it
    # All that was there, then the edit, then what came after it, on one line.
    assert [p.config for p in whole][-len(here) :] == [p.config for p in here]
    sources = [(p.metadata or {})["source"] for p in reversed(whole)]
    assert sources[len(here)] == "update"
    assert set(sources[len(here) + 1 :]) == {"loop"}
    parents = [p.parent_config for p in whole[:-1]]
    assert parents == [p.config for p in whole[1:]]


def test_a_thread_of_the_server_goes_on_in_python(
    honest: Studio, client: SyncLangGraphClient
) -> None:
    thread = client.threads.create()["thread_id"]
    goal = {"goal": GOAL}
    client.runs.wait(thread, "hansei", input=goal, interrupt_before=["reflector"])
    config: RunnableConfig = {"configurable": {"thread_id": thread}}
    with own_agent(honest) as agent:
        assert agent.get_state(config).next == ("reflector",)
        ended = agent.invoke(None, config)
    assert ended["status"] is RunStatus.FAILED
    found = client.threads.get_state(thread)["values"]
    assert isinstance(found, dict)
    assert found["answer"] == ended["answer"]


def test_threads_of_python_stand_in_the_servers_list(
    honest: Studio, client: SyncLangGraphClient
) -> None:
    first, second = str(uuid4()), str(uuid4())
    with own_agent(honest) as agent:
        for thread in (first, second, "a name"):
            config: RunnableConfig = {"configurable": {"thread_id": thread}}
            agent.invoke(AgentInput(goal=GOAL), config)
            found = client.threads.search(limit=100, metadata={"goal": GOAL})
            listed = [t["thread_id"] for t in found]
            assert (thread in listed) is (thread != "a name")  # it takes nothing but UUIDs
    assert dict(client.threads.get(second)["metadata"] or {})["graph_id"] == "hansei"
    client.threads.delete(first)
    assert first not in [t["thread_id"] for t in client.threads.search(limit=100)]
    with own_agent(honest) as agent:
        agent.invoke(AgentInput(goal=GOAL), {"configurable": {"thread_id": first}})
    assert client.threads.get(first)["thread_id"] == first


@pytest.fixture
def waiting(honest: Studio) -> Iterator[tuple[threading.Event, threading.Event]]:
    """A planner that has been asked (first event) and answers when it may (second)."""
    asked, go_on = threading.Event(), threading.Event()

    def planner(body: JsonObject) -> Reply:
        asked.set()
        assert go_on.wait(PATIENCE)
        return plan({"description": "查询订单 99999 的状态", "tool": "query_order"})

    honest.model.reset()
    order_script(honest.model, MISSING)
    honest.model.script("planner", planner)
    yield asked, go_on
    go_on.set()


def test_a_run_of_the_server_holds_its_thread_against_python(
    honest: Studio,
    client: SyncLangGraphClient,
    waiting: tuple[threading.Event, threading.Event],
) -> None:
    thread = client.threads.create()["thread_id"]
    config: RunnableConfig = {"configurable": {"thread_id": thread}}
    goal = {"goal": GOAL}
    run = client.runs.create(thread, "hansei", input=goal)
    asked, go_on = waiting
    assert asked.wait(PATIENCE)
    with own_agent(honest) as agent:
        with pytest.raises(ThreadBusyError):
            agent.invoke(AgentInput(goal=GOAL), config)
        go_on.set()
        client.runs.join(thread, run["run_id"])
        assert agent.get_state(config).values["status"] is RunStatus.FAILED
        assert honest.model.count("planner") == 1


def test_a_run_of_python_holds_its_thread_against_the_server(
    honest: Studio,
    client: SyncLangGraphClient,
    waiting: tuple[threading.Event, threading.Event],
) -> None:
    thread = client.threads.create(graph_id="hansei")["thread_id"]
    config: RunnableConfig = {"configurable": {"thread_id": thread}}
    asked, go_on = waiting
    ended: list[Any] = []

    def work() -> None:
        with own_agent(honest) as agent:
            ended.append(agent.invoke(AgentInput(goal=GOAL), config, durability="sync"))

    running = threading.Thread(target=work)
    running.start()
    assert asked.wait(PATIENCE)
    before = client.threads.get_history(thread)
    goal = {"goal": GOAL}
    parts = list(client.runs.stream(thread, "hansei", input=goal))
    (error,) = [part.data for part in parts if part.event == "error"]
    assert error["error"] == "ThreadBusyError"
    assert "has a run under way since" in error["message"]
    assert client.threads.get_history(thread) == before
    go_on.set()
    running.join()
    assert ended[0]["status"] is RunStatus.FAILED


def test_a_run_that_is_cancelled_in_the_server_lets_its_thread_go(
    honest: Studio,
    client: SyncLangGraphClient,
    waiting: tuple[threading.Event, threading.Event],
) -> None:
    thread = client.threads.create()["thread_id"]
    config: RunnableConfig = {"configurable": {"thread_id": thread}}
    run = client.runs.create(thread, "hansei", input={"goal": GOAL})
    asked, go_on = waiting
    assert asked.wait(PATIENCE)
    client.runs.cancel(thread, run["run_id"], wait=True)
    go_on.set()
    with own_agent(honest) as agent:
        assert agent.invoke(None, config)["status"] is RunStatus.FAILED


def test_a_tool_that_sleeps_blocks_nobody_and_leaves_its_traces_in_the_file(
    honest: Studio, client: SyncLangGraphClient
) -> None:
    honest.model.reset()
    honest.model.script_defaults()
    honest.model.script("planner", plan({"description": "look it up", "tool": "lookup"}))
    honest.model.script("executor", call_then_say("It is 42.", "lookup", q="tides"))
    honest.model.script("synthesizer", "It is 42.")
    thread = client.threads.create()["thread_id"]
    goal = {"goal": "Look up the tides"}
    state = client.runs.wait(thread, "slow", input=goal)
    assert isinstance(state, dict)
    assert (state["status"], state["verified"]) == ("complete", True)
    (call,) = state["steps"]["1"]["attempts"][0]["rounds"][0]["calls"]
    assert (call["outcome"], call["changes"]) == ("ok", True)
    assert "Blocking" not in honest.log.read_text("utf-8")
    with open_checkpointer(honest.database) as saver:
        kept = saver.store.get((*SHELVES["outputs"], state["run_id"]), call["ref"])
        (entry,) = saver.store.search((*SHELVES["journal"], state["run_id"]))
        row = saver.runs.row(thread)
    assert kept is not None
    assert len(kept.value["text"]) == call["size"]
    assert json.loads(entry.value["text"])["stage"] == "done"
    assert row is not None
    assert (row.goal, row.under_way) == ("Look up the tides", False)
    client.threads.delete(thread)
    with open_checkpointer(honest.database) as saver:
        assert saver.get_tuple({"configurable": {"thread_id": thread}}) is None
        assert saver.runs.row(thread) is None
        assert not any(saver.store.search((*shelf, state["run_id"])) for shelf in SHELVES.values())
