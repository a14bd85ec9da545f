"""A text that was cut off, by its token limit or by a filter, is not passed off as whole."""

from __future__ import annotations

import pytest
from broken_runs import made, ran, scripted
from scripted_replies import Reply, call_then_say, messages_of, plan, tool_call

from hansei.policies.answers import answer_findings
from hansei.policies.words import FindingKind, RunStatus, StepStatus

REASONS = ["length", "content_filter"]
PLAN = plan({"description": "Look up the value", "tool": "look"})


def look(q: str) -> str:
    return '{"value": 42}'


@pytest.mark.parametrize("reason", REASONS)
def test_a_cut_answer_is_not_verified(reason: str) -> None:
    cut = Reply("The value is 42. Before you use it, you must kn", finish_reason=reason)
    model = scripted(PLAN, call_then_say("The value is 42.", "look", q="it"))
    model.script("synthesizer", cut)
    state = ran(model, [made(look)])
    assert len(state.answer_attempts) == 2
    assert state.status is RunStatus.PARTIAL
    assert not state.verified


@pytest.mark.parametrize("reason", REASONS)
def test_an_answer_that_is_whole_the_second_time_is_verified(reason: str) -> None:
    cut = Reply("The value is 42. Before you use it, you must kn", finish_reason=reason)
    model = scripted(PLAN, call_then_say("The value is 42.", "look", q="it"))
    model.script("synthesizer", cut, "The value is 42.")
    state = ran(model, [made(look)])
    assert state.answer == "The value is 42."
    assert state.verified


@pytest.mark.parametrize("reason", REASONS)
def test_a_cut_result_is_not_verified(reason: str) -> None:
    def executor(body: dict[str, object]) -> Reply | str:
        if messages_of(body)[-1].get("role") == "tool":
            return Reply("The value is 42, but it only ho", finish_reason=reason)
        return tool_call("look", q="it")

    state = ran(scripted(PLAN, executor, answer="The value is 42."), [made(look)])
    assert state.steps[1].status is StepStatus.ACCEPTED
    assert state.status is RunStatus.PARTIAL


def test_what_a_cut_answer_is_told() -> None:
    found = answer_findings(
        "It is 42, bu", [], goal="g", conditions=[], language="en", truncated=True
    )
    assert [f.kind for f in found] == [FindingKind.VETO_RETRY]
    assert "cut off" in found[0].reason
