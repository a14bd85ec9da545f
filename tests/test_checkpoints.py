"""What a saver keeps comes back as it was, and without a warning."""

from __future__ import annotations

import logging
import sqlite3
from pathlib import Path

import pytest
from langchain_core.runnables import RunnableConfig
from langgraph.checkpoint.base import BaseCheckpointSaver
from langgraph.checkpoint.memory import InMemorySaver
from scripted_model import ScriptedChatModel
from scripted_replies import call_then_say, plan, structured

from hansei import AgentInput, create_plan_execute_agent, open_checkpointer
from hansei.graphs.checkpoints import serializer
from hansei.tools.shop import shop_tools

THREAD: RunnableConfig = {"configurable": {"thread_id": "1"}}


def warnings_of(saver: BaseCheckpointSaver[str], caplog: pytest.LogCaptureFixture) -> list[str]:
    """What reading back a whole run has warned about."""
    model = ScriptedChatModel()
    model.script("planner", plan({"description": "Look up order 99999", "tool": "query_order"}))
    model.script("executor", call_then_say("It is on its way.", "query_order", order_id="99999"))
    model.script("replanner", structured({"analysis": "", "steps": [], "given_up": ["1"]}))
    model.script("synthesizer", "Order 99999 could not be looked up.")
    agent = create_plan_execute_agent(model, shop_tools(), checkpointer=saver)
    with caplog.at_level(logging.WARNING):
        agent.invoke(AgentInput(goal="Look up order 99999"), THREAD)
        assert len(list(agent.get_state_history(THREAD))) > 3
    return [record.getMessage() for record in caplog.records]


def test_the_database_knows_the_types_of_a_run(
    tmp_path: Path, caplog: pytest.LogCaptureFixture
) -> None:
    with open_checkpointer(tmp_path / "runs.db") as saver:
        assert warnings_of(saver, caplog) == []


def test_another_saver_does_with_the_serializer(caplog: pytest.LogCaptureFixture) -> None:
    assert warnings_of(InMemorySaver(serde=serializer()), caplog) == []


def test_a_store_that_an_earlier_version_left_half_made_is_mended(tmp_path: Path) -> None:
    file = tmp_path / "runs.db"
    with open_checkpointer(file):
        pass
    for left in (1, 2, 3):
        with sqlite3.connect(file) as connection:
            connection.execute("DELETE FROM store_migrations WHERE v > ?", (left,))
        connection.close()
        with open_checkpointer(file) as saver:
            saver.store.put(("a",), "b", {"c": 1})
