"""A deadline and tools that take their time."""

import asyncio
import time
from typing import Literal

import pytest
from langchain_core.tools import BaseTool, tool
from scripted_model import ScriptedChatModel
from scripted_replies import Reply, plan

from hansei import AgentInput, AgentState, RunStatus, Settings, create_plan_execute_agent
from hansei.tools.outcome import OutcomeStatus


@pytest.mark.parametrize("how", ["invoke", "ainvoke"])
def test_nothing_is_started_after_the_deadline_and_what_runs_is_waited_for(
    how: Literal["invoke", "ainvoke"], monkeypatch: pytest.MonkeyPatch
) -> None:
    ran: list[str] = []
    clock = [1000.0]
    monkeypatch.setattr(time, "time", lambda: clock[0])

    @tool
    def pay(bill: str) -> str:
        """Pays a bill."""
        ran.append(bill)
        clock[0] += 60
        return f"the bill {bill} is paid"

    tools: list[BaseTool] = [pay]
    both = Reply(None, [("pay", {"bill": "rent"}), ("pay", {"bill": "power"})])
    model = ScriptedChatModel()
    model.script("planner", plan({"description": "Pay rent and power", "tool": "pay"}))
    model.script("executor", both, "Both are paid.")
    agent = create_plan_execute_agent(model, tools, settings=Settings(deadline=30))
    question = AgentInput(goal="Pay the rent and the power bill.")
    raw = agent.invoke(question) if how == "invoke" else asyncio.run(agent.ainvoke(question))
    state = AgentState.model_validate(raw)
    assert ran == ["rent"]
    (step,) = state.steps.values()
    assert [(c.outcome, c.output) for c in step.attempts[0].calls] == [
        (OutcomeStatus.OK, "the bill rent is paid"),
        (OutcomeStatus.REFUSED, "not run: deadline 30 s"),
    ]
    assert state.status is RunStatus.EXHAUSTED
    assert "deadline 30 s" in state.answer
