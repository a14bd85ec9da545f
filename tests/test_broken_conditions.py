"""Limits and exclusions of a goal: right answers pass, wrong ones are still seen."""

from __future__ import annotations

import pytest

from hansei.policies.checks import CheckInput, condition_findings
from hansei.policies.conditions import find_conditions
from hansei.policies.records import Step
from hansei.policies.words import FindingKind


def faults(goal: str, text: str) -> list[str]:
    data = CheckInput(goal=goal, step=Step(), result=text, conditions=find_conditions(goal))
    found = condition_findings(data, step=0)
    assert all(f.kind is FindingKind.SIGNAL for f in found)
    return [f.reason for f in found]


RIGHT = [
    ("推荐一款扫地机，预算2000以内", "R1 到手价1899元（市场价2399元），比 2599 元的 R2 便宜。"),
    ("find headphones under $50", "The A1 costs $45 (list price $80)."),
    ("find headphones under $50", "Was $80, now $45. You are saving $35 on the $100 retail price."),
    ("Find a hotel that I can reach within 2 hours, under $150", "Hotel Sea, $120 a night."),
    ("Recommend at most 3 phones", "Phone A costs $299."),
    ("不超过3天送到的扫地机", "R1 1299元，2天送到。"),
    ("低于10公斤的自行车", "B1 重 9 公斤，3000元。"),
    ("手机预算5000以内，耳机预算500以内", "手机 X 4500元，耳机 Y 450元。"),
    ("点一份面，不要香菜", "已点牛肉面，备注不放香菜。"),
    ("点一份面，不要香菜", "牛肉面，无香菜。"),
    ("推荐饮料，不要糖", "推荐无糖乌龙茶，0糖。"),
    ("a coffee without sugar", "One sugar-free latte, with zero sugar."),
    ("plan a trip without a car", "It is a fine day to take a train."),
    ("I don't want to pay more than $50", "It is good to buy A1 for $45."),
    ("How do I avoid jet lag?", "Jet lag is caused by time zones. Sleep early."),
    ("Which shops are open every day except Sunday?", "Shop A, closed on Sunday."),
    ("明天要不要带伞", "明天有雨，建议带伞。"),
    ("不要忘了带伞，查天气", "带伞出门，明天有雨。"),
    ("不要超过2000元的扫地机", "R1 售价2000元。"),
    ("如何排除打印机故障", "打印机故障多由卡纸引起。"),
    ("除了价格，我还想知道库存", "价格1299元，库存66台。"),
]
WRONG = [
    ("推荐一款扫地机，预算2000以内", "推荐 R2，价格2599元。"),
    ("预算两千以内的扫地机", "推荐 R2，价格2599元。"),
    ("find headphones under $50", "The A1 costs $80."),
    ("find headphones, budget of 50 for both", "The A1 costs $80."),
    ("不要超过2000元的扫地机", "R1 售价2599元。"),
    ("手机预算5000以内，耳机预算500以内", "手机 X 5500元，耳机 Y 450元。"),
    ("点一份面，不要香菜", "牛肉面，多放香菜。"),
    ("推荐饮料，不要糖", "推荐半糖奶茶。"),
    ("a coffee without sugar", "A latte with sugar."),
    ("plan a trip without a car", "Rent a car in Nice."),
    ("I avoid dairy, recommend a dessert", "The dairy ice cream is best."),
    ("推荐除了小米的扫地机", "推荐小米 X10。"),
]


@pytest.mark.parametrize(("goal", "text"), RIGHT)
def test_a_right_answer_passes(goal: str, text: str) -> None:
    assert faults(goal, text) == []


@pytest.mark.parametrize(("goal", "text"), WRONG)
def test_a_wrong_answer_is_seen(goal: str, text: str) -> None:
    assert faults(goal, text) != []
