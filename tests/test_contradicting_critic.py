"""A critic whose words and JSON disagree has not judged."""

from __future__ import annotations

import pytest
from broken_runs import made, ran, scripted
from scripted_replies import call_then_say, plan

from hansei.policies.critic_reply import ReflectorReply
from hansei.policies.reading import Unreadable, read_object
from hansei.policies.words import AcceptedReason, StepStatus


def look(q: str) -> str:
    return '{"value": 42}'


def judged_by(reply: str) -> tuple[StepStatus, str]:
    said = call_then_say("The value is 42.", "look", q="it")
    model = scripted(
        plan({"description": "Look up the value", "tool": "look"}),
        said,
        reflector=reply,
        answer="The value is 42.",
    )
    step = ran(model, [made(look)]).steps[1]
    return step.status, step.reason


@pytest.mark.parametrize(
    "reply",
    [
        'Format: {"verdict": "PASS"}. But my judgement: this is wrong, REPLAN.',
        'My verdict is RETRY. {"analysis": "x", "verdict": "PASS"}',
        '格式是 {"analysis": "x", "conditions": [{"id": 1}], "verdict": "PASS"}，我判 RETRY',
    ],
)
def test_another_verdict_in_the_prose_makes_it_unreadable(reply: str) -> None:
    assert isinstance(read_object(reply, ReflectorReply), Unreadable)
    assert judged_by(reply) == (StepStatus.ACCEPTED, AcceptedReason.NOT_JUDGED)


@pytest.mark.parametrize(
    "reply",
    [
        'I choose among PASS, RETRY or REPLAN: {"verdict": "PASS"}',
        'PASS: {"verdict": "PASS"}',
        '{"analysis": "no RETRY is needed", "verdict": "PASS"}',
    ],
)
def test_words_that_do_not_contradict_are_no_matter(reply: str) -> None:
    assert not isinstance(read_object(reply, ReflectorReply), Unreadable)


def test_an_unmet_condition_that_there_is_not_is_an_objection() -> None:
    status, reason = judged_by('{"verdict": "PASS", "conditions": [{"id": 1, "met": false}]}')
    assert (status, reason) == (StepStatus.ACCEPTED, AcceptedReason.RETRIES_USED_UP)
