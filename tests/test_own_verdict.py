"""A reply of the critic whose parts do not fit together is no PASS."""

from __future__ import annotations

import json

import pytest
from broken_runs import made, ran, scripted
from scripted_model import ScriptedChatModel
from scripted_replies import Reply, call_then_say, plan, structured, verdict

from hansei.policies.critic_reply import ReflectorReply, own_verdict, problems
from hansei.policies.reading import Unreadable, read_object
from hansei.policies.state import AgentState
from hansei.policies.words import AcceptedReason, AnswerStatus, StepStatus, Verdict

NAMES_ANOTHER = [
    "My verdict is REPLAN: the result is wrong.",
    "Verdict: RETRY",
    "verdict: retry",
    "**Verdict:** RETRY",
    'So the verdict is "RETRY".',
    "判定：RETRY",
    "结论是 REPLAN。",
    "判断为RETRY，缺少日期",
    "FAIL",
    "FAIL: no date",
    "RETRY",
    "REPLAN, as the order does not exist",
    "RETRY because the date is missing",
    "The date is missing, RETRY.",
    "The order does not exist → REPLAN",
    "The date is missing. So RETRY.",
    "日期没有写，所以 RETRY。",
    "The result does not match the evidence: RETRY.",
    "I choose RETRY, since the date is missing.",
    "This should be a RETRY.",
    "The step needs a RETRY, the date is missing.",
    "This is a REPLAN case: the tool reported an error.",
    "日期没有写，应该 RETRY 一次。",
    "我判 REPLAN，工具报错。",
    "At first I thought the verdict is PASS. But my verdict is RETRY.",
]

NAMES_NONE = [
    "ok",
    "the result is complete",
    "after the RETRY the result is complete",
    "After a RETRY the date is there.",
    "The RETRY added the date, so this is fine.",
    "no RETRY is needed",
    "This does not need a RETRY.",
    "There is no reason for RETRY or REPLAN.",
    "It is neither RETRY nor REPLAN.",
    "I see nothing that would be a RETRY.",
    "The earlier verdict was RETRY; the date has been added.",
    "Earlier verdict: RETRY. The date is there now.",
    "The last verdict is RETRY, and what it asked for is done.",
    "My first verdict was RETRY. My verdict is PASS now.",
    "Was RETRY; now the verdict: PASS",
    "Choosing among PASS, RETRY or REPLAN: the result is complete.",
    "Verdict: PASS, not RETRY.",
    "If the date were missing I would choose RETRY.",
    "Otherwise this should be REPLAN.",
    'The page says "Verdict: RETRY", which is no instruction to me.',
    "上一次判定：RETRY，现在日期已补上",
    "此前的结论是 RETRY，这次已经改好",
    "不需要 RETRY，也不需要 REPLAN",
    "RETRY 之后结果完整",
    "如果缺少日期就应该 RETRY，这里没有缺",
    "The tests that failed before pass now.",
    "The tool does not FAIL any more.",
    "The retry policy of the shop is told.",
    "The date is there now; the earlier reflection said: RETRY.",
    "The date is there now, the first time it was missing, RETRY.",
    "The step asks whether the orders FAILED; it says that they did.",
]


@pytest.mark.parametrize("analysis", NAMES_ANOTHER)
def test_an_analysis_that_gives_another_verdict(analysis: str) -> None:
    reply = ReflectorReply(verdict=Verdict.PASS, analysis=analysis)
    assert own_verdict(analysis) not in {"", "PASS"}
    assert problems(reply, step=1)


@pytest.mark.parametrize("analysis", NAMES_NONE)
def test_an_analysis_that_only_speaks_of_verdicts(analysis: str) -> None:
    reply = ReflectorReply(verdict=Verdict.PASS, analysis=analysis, suggestion="Add a date too.")
    assert problems(reply, step=1) == []


@pytest.mark.parametrize("sign", [" ", "* ", "verdict is ", ". ", "`", '"', "RETRY, ", "结论"])
def test_a_long_analysis_is_read_in_time(sign: str) -> None:
    own_verdict("My verdict is" + sign * 500_000)


@pytest.mark.parametrize("analysis", ["", " ", "...", "<...>", "why", "（为什么）", "\u200b"])
def test_a_pass_needs_an_analysis(analysis: str) -> None:
    assert problems(ReflectorReply(verdict=Verdict.PASS, analysis=analysis), step=1)
    assert problems(ReflectorReply(verdict=Verdict.RETRY, analysis=analysis), step=1) == []


def read(data: dict[str, object]) -> ReflectorReply | Unreadable:
    return read_object(json.dumps(data), ReflectorReply)


@pytest.mark.parametrize(
    ("told", "wrong"), [(9, True), ("9", True), (1, False), ("step 1", False), (None, False)]
)
def test_a_verdict_on_another_step_is_none(told: object, *, wrong: bool) -> None:
    reply = read({"step": told, "analysis": "fine", "verdict": "PASS"})
    assert isinstance(reply, ReflectorReply)
    assert bool(problems(reply, step=1)) is wrong


def test_the_answer_is_no_step() -> None:
    reply = read({"step": 9, "analysis": "fine", "verdict": "PASS"})
    assert isinstance(reply, ReflectorReply)
    assert problems(reply, step=None)


ECHO: dict[str, object] = {
    "type": "object",
    "properties": {"verdict": {"type": "string"}},
    "analysis": "fine",
    "verdict": "PASS",
}


def test_the_schema_with_a_verdict_in_it_is_no_reply() -> None:
    assert isinstance(read(ECHO), Unreadable)
    assert not isinstance(
        read({"analysis": "a", "properties": ["b"], "verdict": "PASS"}), Unreadable
    )


def look(q: str) -> str:
    return '{"value": 42}'


def judged(reflector: Reply | None = None, reviewer: Reply | None = None) -> AgentState:
    return ran(model_of(reflector, reviewer), [made(look)])


def model_of(reflector: Reply | None, reviewer: Reply | None) -> ScriptedChatModel:
    model = scripted(
        plan({"description": "Look up the value", "tool": "look"}),
        call_then_say("The value is 42.", "look", q="it"),
        reflector=reflector,
        answer="The value is 42.",
    )
    if reviewer is not None:
        model.script("reviewer", reviewer)
    return model


CONTRADICTIONS = [
    verdict("PASS", "My verdict is REPLAN: the result is wrong.", "Do it again"),
    verdict("PASS", "判定：RETRY"),
    structured({"verdict": "PASS"}),
    verdict("PASS", step=9),
    structured(ECHO),
]


@pytest.mark.parametrize("reply", CONTRADICTIONS)
def test_a_contradiction_verifies_neither_step_nor_answer(reply: Reply) -> None:
    step = judged(reflector=reply).steps[1]
    assert (step.status, step.reason) == (StepStatus.ACCEPTED, AcceptedReason.NOT_JUDGED)
    assert step.verdicts[-1].model_verdict is None
    state = judged(reviewer=reply)
    assert state.answer_status is AnswerStatus.ACCEPTED
    assert state.answer_reason == AcceptedReason.NOT_JUDGED
    assert not state.verified


def test_it_is_asked_again_once_and_told_why() -> None:
    model = model_of(None, None)
    model.script("reflector", CONTRADICTIONS[0], verdict("PASS"))
    state = ran(model, [made(look)])
    assert state.verified
    assert "REPLAN" in model.prompts("reflector")[-1].rpartition("user:")[2]
