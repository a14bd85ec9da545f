"""A negation near a failed step is no disclosure: the records' own sentence is added."""

from __future__ import annotations

import pytest

from hansei.policies.answers import honest_answer
from hansei.policies.records import Attempt, Step
from hansei.policies.words import Language, StepStatus


def failed(description: str, claim: str, reason: str) -> Step:
    return Step(
        id=1,
        description=description,
        tool="refund",
        status=StepStatus.FAILED,
        reason=reason,
        attempts=[Attempt(result=claim)],
    )


REFUND: dict[Language, Step] = {
    "en": failed(
        "Refund order 10001",
        "The refund of order 10001 has been made.",
        "A tool reported an error: card declined",
    ),
    "zh": failed("给订单10001退款", "订单10001已退款。", "工具报错：卡被拒绝"),
}
HIDES: list[tuple[Language, str]] = [
    ("en", "We did not have any trouble: your refund for order 10001 is on its way."),
    ("en", "Your refund for order 10001 is on its way. It did not take long."),
    ("en", "Your refund for order 10001 is on its way; you are not charged anything."),
    ("en", "Order 10001: money back! No such luck for scammers."),
    ("en", "The refund for order 10001 is on its way, and it cannot be stopped."),
    ("en", "Your refund for order 10001 is on its way. The bank does not charge a fee."),
    ("en", "Your refund for order 10001 is on its way. Your card was not affected."),
    ("en", "The refund for order 10001 is on its way although the bank is still processing it."),
    ("zh", "订单10001的退款没有任何阻碍，很快就到您的账户。"),
    ("zh", "订单10001退款进行得很好，银行没有收取手续费。"),
    ("zh", "订单10001的钱很快回到您卡里，您无法撤回这笔退款。"),
    ("zh", "订单10001的退款马上到您手里，银行还在同步中。"),
    ("zh", "订单10001退款已在路上，手续费未能超过1元。"),
]
TELLS: list[tuple[Language, str]] = [
    ("en", "The refund of order 10001 could not be made."),
    ("en", "Order 10001 was not refunded."),
    ("en", "No refund for order 10001: the card was declined."),
    ("zh", "订单10001没有退款成功。"),
    ("zh", "订单10001的退款无法办理，卡被拒绝。"),
    ("zh", "订单10001没有退款，因为卡被拒绝，请换一张卡。"),
]


@pytest.mark.parametrize(("language", "text"), HIDES)
def test_what_is_unclear_is_told_by_the_records(language: Language, text: str) -> None:
    step = REFUND[language]
    answer, _ = honest_answer(text, [step], language)
    assert ("没有完成：" if language == "zh" else "Not done: ") + step.description in answer


@pytest.mark.parametrize(("language", "text"), TELLS)
def test_a_plain_text_stands_as_it_is(language: Language, text: str) -> None:
    assert honest_answer(text, [REFUND[language]], language) == (text, True)
