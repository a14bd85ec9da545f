"""A tool that leaves by an exit of Python's own is a failed call, not the end of the run."""

from __future__ import annotations

import asyncio

import pytest
from broken_runs import made, scripted
from scripted_replies import call_then_say, plan

from hansei import create_plan_execute_agent
from hansei.policies.state import AgentInput, AgentState
from hansei.tools.outcome import OutcomeStatus


def leaves(q: str) -> str:
    raise GeneratorExit


@pytest.mark.parametrize("awaited", [False, True])
def test_a_generator_exit_is_a_failed_call(awaited: bool) -> None:
    model = scripted(
        plan({"description": "Look up the value", "tool": "leaves"}),
        call_then_say("The value is 42.", "leaves", q="it"),
    )
    agent = create_plan_execute_agent(model, [made(leaves)])
    start = AgentInput(goal="Look it up")
    output = asyncio.run(agent.ainvoke(start)) if awaited else agent.invoke(start)
    calls = AgentState.model_validate(output).steps[1].attempts[0].calls
    assert {call.outcome for call in calls} == {OutcomeStatus.ERROR}
