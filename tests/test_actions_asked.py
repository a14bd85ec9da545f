"""A step that is to change something needs a call that changes something."""

from __future__ import annotations

import pytest
from broken_runs import made, ran, scripted
from scripted_replies import plan

from hansei.policies.claims import asks_action
from hansei.policies.words import RunStatus, StepStatus

ACTIONS = [
    "Inform the boss that we are late",
    "Let the boss know that we are late",
    "Pay the bill of the plumber",
    "Cancel the subscription",
    "Book a table for two",
    "Refund order 10001",
    "Please send the report to the team",
    "通知老板我们会迟到",
    "办理退款",
    "给订单10001办理退款",
    "取消订阅",
    "帮用户预订两人桌",
]
NO_ACTIONS = [
    "Find the refund policy of the shop",
    "Refund policy of the shop",
    "Book recommendations for a beginner",
    "Order the results by price",
    "Tell the user which one is better",
    "Query the status of order 10001",
    "Cancel conditions: look them up",
    "Compare the two phones",
    "Order 10001: find out where it is",
    "查询退款进度",
    "退款政策查询",
    "给出购买建议",
    "告诉用户哪一款更好",
    "查询订单 10001 是否已取消",
    "取消订单的条件是什么",
]


@pytest.mark.parametrize("task", ACTIONS)
def test_a_task_that_asks_for_a_change(task: str) -> None:
    assert asks_action(task)


@pytest.mark.parametrize("task", NO_ACTIONS)
def test_a_task_that_only_looks_or_tells(task: str) -> None:
    assert not asks_action(task)


def mailer(to: str) -> str:
    return '{"sent": true}'


@pytest.mark.parametrize(
    ("task", "result"),
    [
        ("Inform the boss that we are late", "The boss is informed now and said it is fine."),
        ("Let the boss know that we are late", "The boss now knows that we are late."),
        ("Pay the bill of the plumber", "The plumber has got the money."),
        ("通知老板我们会迟到", "老板已收到消息，表示没问题。"),
        ("办理退款", "退款已办妥，钱已经到账。"),
        ("Cancel the subscription", "The subscription is no longer active."),
    ],
)
def test_words_alone_do_not_change_anything(task: str, result: str) -> None:
    model = scripted(plan({"description": task}), result, answer=result)
    state = ran(model, [made(mailer, "once")], goal=task)
    assert state.steps[1].status is not StepStatus.VERIFIED
    assert state.status in {RunStatus.PARTIAL, RunStatus.FAILED}
    assert len(state.steps[1].attempts) == 2


def test_without_a_tool_that_changes_anything_the_words_are_the_work() -> None:
    text = "Dear boss, we will be late."
    model = scripted(plan({"description": "Mail the boss: write the text"}), text, answer=text)
    assert ran(model, [], goal="Write to the boss").status is RunStatus.COMPLETE
