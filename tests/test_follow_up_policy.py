"""The parts of a follow-up: which turns count, which steps lean on them, what rules make of it."""

from __future__ import annotations

import pytest
from langchain_core.messages import AIMessage, AnyMessage, HumanMessage, SystemMessage

from hansei.policies.conditions import merge_conditions
from hansei.policies.drafts import ConditionDraft, PlanDraft, StepDraft
from hansei.policies.follow_up import TURN_CHARS, TURNS, Turn, earlier_turns, leans, with_question
from hansei.policies.lint import LintContext, correct, lint


def messages(*texts: str) -> list[AnyMessage]:
    kinds = (HumanMessage, AIMessage)
    return [kinds[i % 2](text, id=str(i)) for i, text in enumerate(texts)]


def test_only_the_latest_turns_count_each_with_its_two_ends() -> None:
    talk = messages(*(f"{i} " + "x" * 2000 + f" end {i}" for i in range(20)))
    turns = earlier_turns(talk, asked="", goal="next")
    assert len(turns) == TURNS
    assert [turn.text[:2] for turn in turns] == ["14", "15", "16", "17", "18", "19"]
    for number, turn in enumerate(turns, start=14):
        assert turn.text.endswith(f"end {number}")
        assert len(turn.text) < TURN_CHARS + 60


def test_what_is_no_part_of_the_conversation_is_left_out() -> None:
    talk: list[AnyMessage] = [
        SystemMessage("be brief"),
        HumanMessage("one", id="a"),
        AIMessage("", id="b"),
        AIMessage("two", id="c"),
        HumanMessage("three", id="d"),
        AIMessage("four", id="e"),
    ]
    assert earlier_turns(talk, asked="d", goal="three") == [
        Turn("user", "one"),
        Turn("assistant", "two"),
    ]
    assert earlier_turns(talk[:5], asked="", goal="three") == earlier_turns(
        talk, asked="d", goal="three"
    )
    assert [turn.text for turn in earlier_turns(talk, asked="", goal="five")][-1] == "four"


BEFORE = [
    Turn("user", "订单 10001 和 10002 到了没，先看 10001"),
    Turn("assistant", "订单 10001 已退款。"),
]


@pytest.mark.parametrize(
    ("description", "expected"),
    [
        ("查询另一个订单的状态", True),
        ("查询那一单的物流", True),
        ("Look up the other one", True),
        ("Look up the second one", True),
        ("查询订单 10002 的状态", False),
        ("Look up the other order 10002", False),
        ("查询这个月的天气", False),
        ("Compare shop A and shop B", False),
    ],
)
def test_a_step_that_leans_is_known(description: str, expected: bool) -> None:
    assert leans(description) is expected


def test_a_step_that_leans_is_sent_back_and_then_told_what_was_asked() -> None:
    draft = PlanDraft(steps=[StepDraft(id="1", description="查询另一个订单的状态")])
    context = LintContext(goal="那另一个呢？", language="zh", earlier=BEFORE)
    assert len(lint(draft, context)) == 1
    assert lint(draft, LintContext(goal="那另一个呢？", language="zh")) == []
    linted = correct(draft, context)
    assert not isinstance(linted, str)
    assert "10002" in linted.steps[0].description


def test_a_goal_that_becomes_the_step_brings_the_last_question() -> None:
    draft = PlanDraft(steps=[])
    linted = correct(draft, LintContext(goal="那另一个呢？", earlier=BEFORE))
    assert not isinstance(linted, str)
    assert linted.steps[0].description == with_question("那另一个呢？", BEFORE)


def test_an_answer_may_say_again_what_was_answered_before_and_nothing_more() -> None:
    context = LintContext(goal="刚才说了什么？", tools=frozenset({"refund"}), earlier=BEFORE)
    again = PlanDraft(steps=[], answer="订单 10001 已退款。")
    assert lint(again, context) == []
    more = PlanDraft(steps=[], answer="订单 10002 已退款。")
    assert len(lint(more, context)) == 1


def test_a_condition_said_before_counts_where_the_planner_says_that_it_still_holds() -> None:
    before = ["推荐一款手机，预算 3000 元以内，我对花生过敏"]
    drafts = [
        ConditionDraft(quote="预算 3000 元以内", concerns=["1"]),
        ConditionDraft(quote="我对花生过敏"),
        ConditionDraft(quote="必须是红色"),
    ]
    found = merge_conditions("换一款呢？", drafts, {"1": 1}, earlier=before)
    assert [(c.kind, c.hard, c.quote, c.steps) for c in found] == [
        ("limit", True, "预算 3000 元以内", [1]),
        ("situation", False, "我对花生过敏", []),
    ]
    assert merge_conditions("换一款呢？", [], {}, earlier=before) == []
