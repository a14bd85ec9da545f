"""The ready-made hint fits what the condition is."""

import pytest

from hansei.policies.condition_hints import condition_hint
from hansei.policies.conditions import find_conditions
from hansei.policies.critic_reply import ConditionReply, ReflectorReply
from hansei.policies.records import Condition
from hansei.policies.verdicts import Judgement, Subject, derive
from hansei.policies.words import Verdict

LOOKUP = "How many lamps are in stock?\nLook up the stock of lamps"
CHOICES = [
    "Pick one of the two robots for me",
    "Which one should I buy?",
    "推荐一款扫地机",
    "R1 和 R7 哪个好",
    "Look at both\nCompare R1 and R7",
]


@pytest.mark.parametrize("task", CHOICES)
@pytest.mark.parametrize(("language", "asked"), [("zh", "明确的建议"), ("en", "recommendation")])
def test_a_choice_asks_for_a_recommendation(task: str, language: str, asked: str) -> None:
    condition = Condition(id=1, kind="situation", quote="two cats")
    hint = condition_hint(condition, "zh" if language == "zh" else "en", task=task)
    assert asked in hint
    assert "two cats" in hint


@pytest.mark.parametrize("kind", ["limit", "exclusion", "identifier", "quoted", "situation"])
def test_a_lookup_asks_for_none(kind: str) -> None:
    condition = Condition(id=1, kind=kind, quote="lamps")
    for hint in (
        condition_hint(condition, "en", task=LOOKUP),
        condition_hint(condition, "zh", task="灯还有多少库存\n查询灯的库存"),
    ):
        assert "recommend" not in hint
        assert "建议" not in hint
        assert "lamps" in hint


@pytest.mark.parametrize(
    "goal", ["推荐一款 2000 元以内的扫地机", "recommend headphones, not from Sony"]
)
def test_a_hard_condition_is_no_situation_even_where_a_choice_is_due(goal: str) -> None:
    (condition,) = find_conditions(goal)
    hint = condition_hint(condition, "en", task=goal)
    assert "recommendation" not in hint
    assert condition.quote in hint


def test_what_the_reflector_misses_in_a_lookup_is_asked_for_as_a_lookup() -> None:
    reply = ReflectorReply(
        analysis="the lamps are not there",
        conditions=[ConditionReply(id=1, met=False)],
        verdict=Verdict.PASS,
    )
    lamps = Condition(id=1, kind="situation", quote="lamps", steps=[1])
    record = derive(
        Judgement(reply=reply), Subject(result="30 in stock", conditions=[lamps], task=LOOKUP)
    )
    assert record.verdict is Verdict.RETRY
    assert "lamps" in record.suggestion
    assert "recommend" not in record.suggestion
