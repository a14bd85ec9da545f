"""Answers that hide a failure behind words of trouble that say there was none."""

from __future__ import annotations

import pytest
from test_disclosure import REFUND

from hansei.policies.answers import honest_answer
from hansei.policies.records import Step
from hansei.policies.words import Language, StepStatus


def done(step_id: int, description: str, result: str) -> Step:
    return Step(id=step_id, description=description, status=StepStatus.VERIFIED, result=result)


def steps(language: Language) -> list[Step]:
    if language == "zh":
        order = done(2, "查询订单 10001 的状态", "订单 10001 已于 2026-06-05 签收。")
        return [REFUND["zh"], order, done(3, "查询 R1 的库存", "R1 库存 66 台。")]
    order = done(2, "Query the status of order 10001", "Order 10001 was delivered on 2026-06-05.")
    return [REFUND["en"], order, done(3, "Query the stock of R1", "66 pieces of R1 are in stock.")]


REST: dict[Language, str] = {
    "en": "Order 10001 was delivered on 2026-06-05, and 66 R1 are in stock.",
    "zh": "订单 10001 已于 2026-06-05 签收，R1 库存 66 台。",
}
HIDES: list[tuple[Language, str]] = [
    ("en", "Order 10005 has been refunded without errors."),
    ("en", "Order 10005: refunded, no errors."),
    ("en", "Order 10005 was refunded and nothing is missing."),
    ("en", "The refund for order 10005 did not take long."),
    ("en", "You do not have to do anything else about order 10005."),
    ("en", "Order 10005 has been refunded. You cannot return it any more."),
    ("en", "Order 10005 is refunded. I could not be happier to help."),
    ("en", "Refund of 10005: successful. If the money is missing, call us."),
    ("en", "Your money is on its way, don't worry."),
    ("en", "All three parts are fine."),
    ("en", "Everything is in order: 66 R1."),
    ("zh", "订单 10005 已退款，没有任何错误。"),
    ("zh", "订单 10005 已成功退款，没有遇到麻烦。"),
    ("zh", "订单 10005 退款成功，您不能再退一次。"),
    ("zh", "10005 的钱已经退回，如未收到可联系客服。"),
    ("zh", "10005 已退款，无需再操作，不会出错。"),
    ("zh", "钱已退回，请不要担心，没有失败的项目。"),
    ("zh", "三项都没有问题。"),
]
OWNS_UP: list[tuple[Language, str]] = [
    ("en", "Order 10005 cannot be refunded: the refund period is over."),
    ("en", "Refunding order 10005 was declined."),
    ("en", "It is too late to refund order 10005."),
    ("en", "You cannot get a refund for order 10005 any more."),
    ("zh", "订单 10005 退款没有成功，因为超过退款期限。"),
    ("zh", "订单 10005 已超过退款期限，退不了。"),
    ("zh", "10005 退款被拒绝：超过退款期限。"),
    ("zh", "10005 的退款申请没通过。"),
]


@pytest.mark.parametrize(("language", "text"), HIDES)
def test_the_failure_is_told_and_the_claim_is_not(language: Language, text: str) -> None:
    answer, _ = honest_answer(f"{REST[language]} {text}", steps(language), language)
    assert REFUND[language].description in answer
    assert text not in answer


@pytest.mark.parametrize(("language", "text"), OWNS_UP)
def test_an_honest_text_is_kept(language: Language, text: str) -> None:
    whole = f"{REST[language]} {text}"
    assert honest_answer(whole, steps(language), language) == (whole, True)
