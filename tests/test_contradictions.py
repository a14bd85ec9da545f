"""Answers against the records: a success that is denied, an action or an id that is invented."""

from __future__ import annotations

import pytest
from broken_runs import made, ran, scripted
from scripted_replies import call_then_say, plan

from hansei.policies.answers import honest_answer
from hansei.policies.contradictions import contradictions
from hansei.policies.language import language_of
from hansei.policies.records import Attempt, Round, Step, ToolCall
from hansei.policies.state import AgentState
from hansei.policies.words import RunStatus, StepStatus
from hansei.tools.outcome import OutcomeStatus

DONE = "The refund R-77 of order 10001 has been made."


def step(description: str, result: str, *, tool: str, output: str, changes: bool = False) -> Step:
    call = ToolCall(name=tool, outcome=OutcomeStatus.OK, output=output, changes=changes)
    attempt = Attempt(rounds=[Round(calls=[call])], result=result)
    return Step(
        id=1,
        description=description,
        tool=tool,
        status=StepStatus.VERIFIED,
        result=result,
        attempts=[attempt],
    )


REFUND = {
    "en": step(
        "Refund order 10001", DONE, tool="refund", output='{"refund": "R-77"}', changes=True
    ),
    "zh": step(
        "给订单 10001 退款",
        "订单 10001 已退款，退款号 R-77。",
        tool="refund",
        output='{"refund": "R-77"}',
        changes=True,
    ),
}
LOOK = {
    "en": step(
        "Query the status of order 10001",
        "Order 10001 has been delivered.",
        tool="query_order",
        output='{"status": "delivered"}',
    ),
    "zh": step(
        "查询订单 10001 的状态",
        "订单 10001 已签收。",
        tool="query_order",
        output='{"status": "已签收"}',
    ),
}
MAIL = step(
    "Mail the report to the boss",
    "The report was sent to the boss.",
    tool="send_mail",
    output='{"sent": true}',
    changes=True,
)

DENIES = [
    (REFUND["en"], "The refund R-77 of order 10001 could not be made. Please try again."),
    (REFUND["en"], "Order 10001 was not refunded; R-77 was declined."),
    (REFUND["en"], "Unfortunately the refund of order 10001 failed."),
    (REFUND["en"], "Sorry, your request could not be completed."),
    (REFUND["zh"], "很抱歉，订单 10001 的退款没有成功，请再试一次。"),
    (REFUND["zh"], "订单 10001 无法退款。"),
    (REFUND["zh"], "很抱歉，这件事没有办成。"),
    (LOOK["en"], "I could not find the status of order 10001."),
    (LOOK["zh"], "订单 10001 的状态查不到。"),
]
INVENTS = [
    (REFUND["en"], f"{DONE} I have also cancelled order 20002 and mailed you a voucher."),
    (REFUND["en"], f"{DONE} The subscription has been cancelled."),
    (REFUND["en"], f"{DONE} I have mailed you the receipt without any problem."),
    (REFUND["zh"], "订单 10001 已退款，退款号 R-77。我已取消订单 10001 的发货。"),
    (REFUND["zh"], "订单 10001 已退款，退款号 R-77，并已发送邮件给您。我已给您发送邮件。"),
    (LOOK["en"], "Order 10001 has been delivered. I have refunded it."),
    (LOOK["en"], "Order 10001 has been delivered, and order 20002 as well."),
    (LOOK["zh"], "订单 10001 已签收，订单 20002 也已签收。"),
]
HONEST = [
    (REFUND["en"], DONE),
    (REFUND["en"], "I have refunded order 10001; the refund R-77 cannot be taken back."),
    (REFUND["en"], "Order 10001 was refunded (R-77). We did not charge a fee."),
    (REFUND["en"], "The refund R-77 was made. The money is not there at once: it takes 3 days."),
    (REFUND["zh"], "订单 10001 已成功退款（退款号 R-77），退款后无法撤销。"),
    (REFUND["zh"], "我已为您办理订单 10001 的退款，退款号 R-77，没有收取手续费。"),
    (LOOK["en"], "Order 10001 has been delivered, so it cannot be cancelled any more."),
    (LOOK["en"], "Order 10001 has been delivered. It was sent by the shop and signed for."),
    (LOOK["zh"], "订单 10001 已签收，不能再修改地址。"),
    (MAIL, "I have e-mailed the report to the boss."),
    (MAIL, "I've informed the boss: the report has been sent."),
]


@pytest.mark.parametrize(("one", "text"), DENIES)
def test_a_denied_success_is_replaced_by_the_records(one: Step, text: str) -> None:
    found = contradictions(text, [one], goal=one.description)
    assert "denied" in {said.kind for said in found}
    answer, kept = honest_answer(text, [one], language_of(text), goal=one.description)
    assert not kept
    assert one.result in answer
    assert text not in answer


@pytest.mark.parametrize(("one", "text"), INVENTS)
def test_what_no_record_knows_is_marked(one: Step, text: str) -> None:
    assert contradictions(text, [one], goal=one.description)
    answer, kept = honest_answer(text, [one], language_of(text), goal=one.description)
    assert not kept
    assert ("没有任何记录" if language_of(text) == "zh" else "nothing on record") in answer


@pytest.mark.parametrize(("one", "text"), HONEST)
def test_an_honest_text_stands(one: Step, text: str) -> None:
    assert contradictions(text, [one], goal=one.description) == []


def test_a_failure_beside_a_success_may_be_told() -> None:
    failed = Step(id=2, description="Refund order 20002", status=StepStatus.FAILED, reason="late")
    text = f"{DONE} The refund of order 20002 was declined."
    assert contradictions(text, [REFUND["en"], failed], goal="Refund both") == []


def refund(order_id: str) -> str:
    return '{"refund": "R-77", "amount": 50}'


def told(*answers: str) -> AgentState:
    said = call_then_say(DONE, "refund", order_id="10001")
    model = scripted(plan({"description": "Refund order 10001", "tool": "refund"}), said)
    model.script("synthesizer", *answers)
    return ran(model, [made(refund, "once")], goal="Refund order 10001")


@pytest.mark.parametrize("text", [t for one, t in [*DENIES, *INVENTS] if one is REFUND["en"]])
def test_a_reviewer_that_passes_it_does_not_make_it_verified(text: str) -> None:
    state = told(text)
    assert state.status is RunStatus.PARTIAL
    assert not state.verified
    assert "R-77" in state.answer


def test_the_second_text_may_be_right() -> None:
    state = told("The refund R-77 of order 10001 could not be made.", DONE)
    assert state.answer == DONE
    assert state.verified
