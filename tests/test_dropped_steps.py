"""A part of the goal that a replan leaves out is told, not lost."""

from __future__ import annotations

from broken_runs import made, ran, scripted
from scripted_replies import Reply, messages_of, plan, structured, tool_call

from hansei.policies.words import RunStatus, StepStatus


def look(q: str) -> str:
    return '{"error": "down"}' if q == "a" else '{"value": 42}'


def refund(order_id: str) -> str:
    return '{"refund": "R-1"}'


def executor(body: dict[str, object]) -> Reply | str:
    if messages_of(body)[-1].get("role") == "tool":
        return "The result is 42."
    return tool_call("look", q="a" if "red lamp" in str(body["messages"]) else "b")


def test_a_dropped_part_of_the_goal_is_disclosed() -> None:
    detour = {
        "id": 3,
        "description": "Find out what the lamp costs elsewhere",
        "tool": "look",
        "depends_on": [],
        "stands_in_for": [1],
    }
    model = scripted(
        plan(
            {"description": "Find the price of the red lamp", "tool": "look"},
            {"description": "Refund order 10001", "tool": "refund", "depends_on": [1]},
        ),
        executor,
        replanner=structured({"analysis": "a", "steps": [detour], "given_up": [], "drop": [2]}),
        answer="The result is 42.",
    )
    state = ran(
        model,
        [made(look), made(refund, "once")],
        goal="Find the price of the red lamp, then refund order 10001",
    )
    assert state.steps[2].status is StepStatus.SKIPPED
    assert state.status is RunStatus.PARTIAL
    assert "Not done: Refund order 10001. Reason: A new plan left this step out." in state.answer
