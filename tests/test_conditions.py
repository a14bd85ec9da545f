"""Conditions of the goal: found by rule, merged with the planner's, checked by rule (row P17)."""

from collections.abc import Mapping

import pytest
from policy_records import a_step

from hansei.policies.conditions import (
    ConditionCheck,
    bind_conditions,
    check_condition,
    find_conditions,
    merge_conditions,
)
from hansei.policies.drafts import ConditionDraft
from hansei.policies.records import Condition

CATS = "我家养了两只长毛猫，帮我在 R1 和 R7 Pro 两款扫地机里挑一个"
FOUND: Mapping[str, list[tuple[str, bool, str]]] = {
    CATS: [("situation", False, "我家养了两只长毛猫")],
    "推荐一款扫地机，预算 2000 元以内": [("limit", True, "预算 2000 元以内")],
    "Find headphones under 300 dollars, not from Sony": [
        ("limit", True, "under 300 dollars"),
        ("exclusion", True, "not from Sony"),
    ],
    "推荐耳机，不要索尼的": [("exclusion", True, "不要索尼")],
    "帮我查一下订单 99999 到了没": [("identifier", True, "99999")],
    "查订单，预算不超过 99999 元": [("limit", True, "不超过 99999 元")],
    "推荐 R1，2000元以内": [("limit", True, "2000元以内")],
    "不超过2,000，要静音": [("limit", True, "不超过2,000")],
    'Is "The Blue Book" there?': [("quoted", True, "The Blue Book")],
    "I have a small flat. Please find a robot.": [("situation", False, "I have a small flat")],
    "I need a robot, can you find one?": [("situation", False, "I need a robot")],
    "Compare two robots": [],
}


@pytest.mark.parametrize("goal", FOUND)
def test_found_by_rule(goal: str) -> None:
    conditions = find_conditions(goal)
    assert [(c.kind, c.hard, c.quote) for c in conditions] == FOUND[goal]
    assert [c.id for c in conditions] == list(range(1, len(conditions) + 1))


def quotes(goal: str, *drafts: ConditionDraft, **ids: int) -> list[tuple[str, str, list[int]]]:
    """Kind, quote and steps of the merged conditions."""
    merged = merge_conditions(goal, drafts, ids)
    assert [c.id for c in merged] == list(range(1, len(merged) + 1))
    return [(c.kind, c.quote, c.steps) for c in merged]


def test_the_planners_words_count_only_when_they_are_the_goals() -> None:
    goal = "Find a quiet robot under 300 dollars"
    assert quotes(
        goal,
        ConditionDraft(quote="quiet robot", concerns=["a", "zz"]),
        ConditionDraft(quote="cheap"),
        ConditionDraft(quote=" "),
        ConditionDraft(quote=goal),
        a=3,
    ) == [("situation", "quiet robot", [3]), ("limit", "under 300 dollars", [])]


def test_rules_say_what_kind_it_is() -> None:
    goal = "推荐一款预算 2000 元以内的扫地机"
    draft = ConditionDraft(quote="2000 元以内", concerns=["1"])
    assert merge_conditions(goal, [draft], {"1": 1}) == [
        Condition(id=1, kind="limit", hard=True, quote="2000 元以内", steps=[1])
    ]


def test_one_condition_is_not_told_twice() -> None:
    goal = "Where is order A7712?"
    assert quotes(goal, ConditionDraft(quote="order A7712")) == [("identifier", "order A7712", [])]


def test_conditions_are_bound_to_the_steps_that_weigh() -> None:
    steps = [a_step(1, description="查询库存"), a_step(2, description="对比两款扫地机")]
    conditions = [
        Condition(id=1, kind="situation", quote="两只猫"),
        Condition(id=2, kind="limit", quote="2000 元", steps=[1]),
        Condition(id=3, kind="identifier", quote="A7712"),
        Condition(id=4, kind="quoted", quote="蓝皮书"),
    ]
    assert [c.steps for c in bind_conditions(conditions, steps)] == [[2], [1], [], []]


def condition(kind: str, quote: str) -> Condition:
    """A condition of the goal."""
    return Condition(id=1, kind=kind, quote=quote)


LIMIT = condition("limit", "2000 元以内")
DOLLARS = condition("limit", "under $300")
NO_SONY = condition("exclusion", "不要索尼")
NOT_SONY = condition("exclusion", "not from Sony")
HAIR = condition("situation", "我家养了两只长毛猫")
CHECKED: Mapping[str, tuple[Condition, str, ConditionCheck]] = {
    "below the limit": (LIMIT, "R1 卖 1999 元。", ConditionCheck("met")),
    "at the limit": (LIMIT, "R1 卖 2000 元。", ConditionCheck("met")),
    "above the limit": (LIMIT, "推荐 R9，2999 元。", ConditionCheck("broken", found="2999 元")),
    "a name and a price": (LIMIT, "推荐 R1，1999 元。", ConditionCheck("met")),
    "a price with a comma": (
        LIMIT,
        "推荐 R9：12,999 元。",
        ConditionCheck("broken", found="12,999 元"),
    ),
    "above it, to leave it out": (LIMIT, "R9 卖 2999 元，超出预算。", ConditionCheck("met")),
    "a number that is no price": (LIMIT, "R9 有 2999 条评价。", ConditionCheck("met")),
    "above it in dollars": (DOLLARS, "Take the $349 one.", ConditionCheck("broken", found="$349")),
    "a structured pick": (
        LIMIT,
        '{"picks": [{"name": "R9", "price": 2999.5}]}',
        ConditionCheck("broken", found="2999.5", structured=True),
    ),
    "a structured pick below": (LIMIT, '{"name": "R1", "价格": 1999}', ConditionCheck("met")),
    "a limit without a number": (condition("limit", "便宜"), "2999 元", ConditionCheck("open")),
    "what is excluded": (
        NO_SONY,
        "推荐索尼的耳机。",
        ConditionCheck("broken", found="推荐索尼的耳机。"),
    ),
    "what is excluded, left out": (NO_SONY, "按你说的排除了索尼。", ConditionCheck("met")),
    "nothing of it": (NO_SONY, "推荐 AirX。", ConditionCheck("met")),
    "excluded, in English": (
        NOT_SONY,
        "The Sony one is best.",
        ConditionCheck("broken", found="The Sony one is best."),
    ),
    "left out, in English": (NOT_SONY, "I left out Sony.", ConditionCheck("met")),
    "an exclusion without a name": (condition("exclusion", "别的"), "x", ConditionCheck("open")),
    "the situation": (HAIR, "R7 Pro 的刷头适合长毛猫。", ConditionCheck("met")),
    "not the situation": (HAIR, "R7 Pro 吸力更大。", ConditionCheck("missing")),
    "a situation without terms": (condition("situation", "我"), "x", ConditionCheck("open")),
    "an id": (condition("identifier", "A7712"), "x", ConditionCheck("open")),
}


@pytest.mark.parametrize("name", CHECKED)
def test_checked_by_rule(name: str) -> None:
    chosen, text, expected = CHECKED[name]
    assert check_condition(chosen, text) == expected


def test_deep_json_is_no_pick() -> None:
    assert check_condition(LIMIT, "[" * 100_000).state == "met"
