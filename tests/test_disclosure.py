"""False claims in answers, by rule: what a text may not affirm, and what it may well say."""

from __future__ import annotations

import pytest

from hansei.policies.answers import honest_answer
from hansei.policies.disclosure import backed, claimed_terms, disclosure
from hansei.policies.records import Attempt, Round, Step, ToolCall
from hansei.policies.words import Language, StepStatus
from hansei.tools.outcome import OutcomeStatus


def failed(description: str, claim: str, output: str, reason: str, step_id: int = 1) -> Step:
    call = ToolCall(name="tool", outcome=OutcomeStatus.ERROR, output=output)
    attempt = Attempt(rounds=[Round(calls=[call])], result=claim)
    return Step(
        id=step_id,
        description=description,
        status=StepStatus.FAILED,
        reason=reason,
        attempts=[attempt],
    )


def completed(description: str, result: str, step_id: int) -> Step:
    return Step(id=step_id, description=description, status=StepStatus.VERIFIED, result=result)


ORDER = {
    "zh": failed(
        "查询订单 99999 的状态",
        "订单 99999 已送达，由本人签收。",
        '{"order_id": "99999", "status": "查询中", "remark": "订单信息同步中"}',
        "工具 query_order 只返回了“查询中”，还没有真正的数据",
    ),
    "en": failed(
        "Query the status of order 99999",
        "Order 99999 has been delivered and signed for.",
        '{"order_id": "99999", "status": "querying", "remark": "data is syncing"}',
        'The tool query_order only answered "querying"; the data itself is not there yet',
    ),
}
REFUND = {
    "zh": failed(
        "为订单 10005 办理退款",
        "订单 10005 的退款已办妥，款项三天内到账。",
        '{"error": "该订单超过退款期限"}',
        "工具 refund_order 报错：该订单超过退款期限",
    ),
    "en": failed(
        "Refund order 10005",
        "The refund of order 10005 is done; the money arrives within three days.",
        '{"error": "the refund period is over"}',
        "The tool refund_order reported an error: the refund period is over",
    ),
}
STOCK = {
    "zh": completed("查询扫地机 R1 的库存", "扫地机 R1 有货，库存 66 台。", 2),
    "en": completed(
        "Query the stock of the robot vacuum R1", "The robot vacuum R1 is in stock, 66 pieces.", 2
    ),
}

FALSE: list[tuple[Language, str]] = [
    ("zh", "抱歉让您久等了，订单 99999 已送达。"),
    ("zh", "不用担心，已送达。"),
    ("zh", "订单 99999 暂时存放在驿站，已送达，没有问题。"),
    ("zh", "订单 99999 没有丢，早就签收了。"),
    ("en", "Sorry for the wait: order 99999 has been delivered."),
    ("en", "It was delivered, no problem."),
    ("en", "The order was not late: it has been delivered."),
    ("en", "Unfortunately it took a while - order 99999 has been delivered."),
]
TRUE: list[tuple[Language, str]] = [
    ("zh", "很抱歉，订单 99999 的状态暂时查不到，系统还在同步，请稍后再查。"),
    ("zh", "暂时无法确认订单 99999 是否送达，建议联系客服。"),
    ("zh", "订单 99999 目前显示“查询中”。如果三天后仍未送达，请联系客服。"),
    ("en", "I could not get the status of order 99999: the data is still syncing. Try later."),
    ("en", "Order 99999 is still being synced, so I cannot tell whether it has been delivered."),
    ("en", "The status of order 99999 is unavailable. Once it is delivered you get a message."),
]


@pytest.mark.parametrize(("language", "text"), FALSE)
def test_a_text_that_affirms_the_claim_contradicts_the_failure(
    language: Language, text: str
) -> None:
    step = ORDER[language]
    assert disclosure(text, step, [step]) == "contradicted"
    answer, kept = honest_answer(text, [step], language)
    assert not kept
    assert step.description in answer
    assert text not in answer


@pytest.mark.parametrize(("language", "text"), TRUE)
def test_a_text_that_owns_up_is_left_alone(language: Language, text: str) -> None:
    step = ORDER[language]
    assert disclosure(text, step, [step]) == "disclosed"
    assert honest_answer(text, [step], language) == (text, True)


def test_to_be_sorry_is_no_disclosure() -> None:
    step = ORDER["en"].model_copy(update={"attempts": []})
    assert disclosure("Sorry about order 99999!", step, [step]) == "contradicted"
    assert disclosure("Sorry! Have a nice day.", step, [step]) == "omitted"


def test_what_a_claim_is_made_of() -> None:
    step = ORDER["zh"]
    terms = claimed_terms(step, [step])
    assert "送达" in terms
    assert terms.isdisjoint({"订单", "状态", "99999", "查询"})


def test_what_another_step_found_may_be_told() -> None:
    step = ORDER["zh"]
    other = completed("查询订单 10001 的状态", "订单 10001 已送达，由本人签收。", 2)
    text = "订单 10001 已送达，由本人签收。订单 99999 没有查到。"
    assert disclosure(text, step, [step, other]) == "disclosed"
    assert honest_answer(text, [step, other], "zh") == (text, True)


@pytest.mark.parametrize(
    "result",
    [
        "没有查到订单 99999 的物流。",
        "根据系统显示，订单 99999 的状态为“查询中”，备注里写着信息同步中。",
        "很抱歉，订单 99999 不存在。",
    ],
)
def test_a_result_that_owned_up_is_no_claim(result: str) -> None:
    step = failed("查询订单 99999 的状态", result, "{}", "空结果")
    assert claimed_terms(step, [step]) == frozenset()


def test_to_be_polite_affirms_nothing() -> None:
    step = failed("查询订单 99999 的状态", "抱歉久等，订单 99999 已送达，感谢！", "{}", "空结果")
    text = "很抱歉，订单 99999 没有查到。感谢您的耐心。"
    assert honest_answer(text, [step], "zh") == (text, True)


@pytest.mark.parametrize(
    ("language", "text"),
    [
        ("zh", "包裹已经到了，祝您生活愉快！"),
        ("zh", "您要的东西送到家啦。"),
        ("en", "Your parcel is here, enjoy!"),
    ],
)
def test_where_nothing_was_done_a_text_that_hides_it_is_replaced(
    language: Language, text: str
) -> None:
    step = ORDER[language]
    assert disclosure(text, step, [step]) == "omitted"
    answer, kept = honest_answer(text, [step], language)
    assert not kept
    assert text not in answer


def test_of_a_text_that_hides_a_failure_only_what_is_backed_is_kept() -> None:
    steps = [REFUND["zh"], STOCK["zh"]]
    answer, kept = honest_answer("两件事都妥了。\nR1 有货，库存 66 台。钱会回来。", steps, "zh")
    assert kept
    assert answer.splitlines() == [
        "R1 有货，库存 66 台。",
        "没有完成：为订单 10005 办理退款。原因：工具 refund_order 报错：该订单超过退款期限。",
    ]


def test_backed_keeps_the_lines_of_a_text() -> None:
    text = "All good!\n- R1: 66 pieces are in stock. Enjoy!\n- the robot vacuum is a fine one\nBye"
    kept = backed(text, [STOCK["en"]])
    assert kept == "- R1: 66 pieces are in stock.\n- the robot vacuum is a fine one"


def test_a_failed_stand_in_does_not_speak_for_the_id_it_stood_in_for() -> None:
    whole = failed(
        "Fetch the ledger of order QX77120 and the blue book",
        "",
        "503",
        "The tool reported an error: service unavailable",
    )
    part = failed("Fetch the ledger of the blue book", "", "", "The result is empty", 3)
    part = part.model_copy(update={"stands_in_for": [1]})
    told = "The ledger of the blue book could not be fetched."
    assert disclosure(told, part, [whole, part]) == "disclosed"
    assert disclosure(told, whole, [whole, part]) != "disclosed"
    assert disclosure(f"{told} QX77120 was not found either.", whole, [whole, part]) == "disclosed"
    answer, _ = honest_answer(told, [whole, part], "en")
    assert "QX77120" in answer


def not_done(step_id: int, description: str, tool: str = "fetch", instead_of: int = 0) -> Step:
    return Step(
        id=step_id,
        description=description,
        tool=tool,
        status=StepStatus.FAILED,
        reason="the counter is closed",
        stands_in_for=[instead_of] if instead_of else [],
    )


def test_what_has_an_id_is_not_passed_off_under_another_name() -> None:
    steps = [
        not_done(1, "Fetch the ledger of Ansgar (QX77120)"),
        completed("Fetch the ledger of Berit", "The ledger of Berit is full.", 2),
        not_done(3, "Fetch the ledger of Corvin"),
    ]
    lie = "The ledger of Berit is full. The ledger of Ansgar looks fine. Corvin's was not found."
    assert disclosure(lie, steps[0], steps) == "contradicted"
    answer, kept = honest_answer(lie, steps, "en")
    assert not kept
    assert "looks fine" not in answer
    honest = "The ledger of Berit is full. The ledger of Corvin was not found."
    assert disclosure(honest, steps[0], steps) == "omitted"


def test_the_same_tool_once_more_is_for_another_thing() -> None:
    steps = [
        not_done(1, "Fetch the ledger of Ansgar"),
        not_done(2, "Fetch the ledger of Berit", instead_of=1),
    ]
    told = "The ledger of Ansgar could not be fetched."
    assert disclosure(told, steps[0], steps) == "disclosed"
    assert disclosure(told, steps[1], steps) != "disclosed"
    assert "Berit" in honest_answer(told, steps, "en")[0]
    other_way = [steps[0], not_done(2, "Ask for the ledger by phone", "phone", instead_of=1)]
    assert disclosure(told, other_way[1], other_way) == "disclosed"


def test_done_with_success_is_a_claim() -> None:
    step = not_done(1, "Fetch the ledger of Ansgar")
    lie = "The ledger of Ansgar was fetched with success. There was an error."
    assert disclosure(lie, step, [step]) == "contradicted"
