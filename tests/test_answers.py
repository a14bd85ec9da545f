"""The answer held against the steps (row P8): what it tells, hides, covers and leaks.

False claims in it: test_disclosure.py.
"""

from collections.abc import Mapping, Sequence

import pytest
from answer_steps import AGAIN, BILL, LETTER, PARCEL, STOCK, TELLS_STOCK
from policy_records import (
    FAILED,
    RECOVERED,
    VERIFIED,
    a_step,
)

from hansei.policies.answers import (
    answer_findings,
    closing_notes,
    facts,
    honest_answer,
    reason_of,
    uncovered,
    unreviewed_note,
)
from hansei.policies.cleaning import clean_answer
from hansei.policies.disclosure import Disclosure, disclosure
from hansei.policies.records import Condition, Step
from hansei.policies.schedule import skip_blocked
from hansei.policies.state import AgentState
from hansei.policies.words import AcceptedReason, FindingKind, Language, RunStatus, StepStatus
from hansei.report import run_reason

Told = tuple[str, Step, Sequence[Step], Disclosure]
TOLD: Mapping[str, Told] = {
    "named and owned up to": ("The parcel could not be found.", PARCEL, [PARCEL], "disclosed"),
    "named, and owned up to in the next sentence": (
        "I asked for the parcel. There is no such number.",
        PARCEL,
        [STOCK, PARCEL],
        "disclosed",
    ),
    "owned up to without a name, as the only one": (
        f"{TELLS_STOCK} The rest could not be found.",
        PARCEL,
        [STOCK, PARCEL],
        "disclosed",
    ),
    "owned up to without a name, one of two": (
        "Something could not be found.",
        PARCEL,
        [LETTER, PARCEL],
        "omitted",
    ),
    "only the other one is named": (
        "The letter could not be found.",
        PARCEL,
        [LETTER, PARCEL],
        "omitted",
    ),
    "only what both are called is named": (
        "I could not look up what you asked for.",
        PARCEL,
        [LETTER, PARCEL],
        "omitted",
    ),
    "said to be here, before the other is owned up to": (
        "The parcel is here. The letter could not be found.",
        PARCEL,
        [LETTER, PARCEL],
        "contradicted",
    ),
    "said to be here": ("The parcel is here.", PARCEL, [PARCEL], "contradicted"),
    "everything is done": (
        f"{TELLS_STOCK} Everything is done.",
        PARCEL,
        [STOCK, PARCEL],
        "contradicted",
    ),
    "left out": (TELLS_STOCK, PARCEL, [STOCK, PARCEL], "omitted"),
    "left out, while another step's result owns up": (
        "R1 is not available in the shop.",
        PARCEL,
        [STOCK, PARCEL],
        "omitted",
    ),
    "its stand-in failed too, and the thing is named once": (
        "The parcel could not be found.",
        PARCEL,
        [STOCK, PARCEL, AGAIN],
        "disclosed",
    ),
    "the stand-in of the same thing": (
        "The parcel could not be found.",
        AGAIN,
        [STOCK, PARCEL, AGAIN],
        "disclosed",
    ),
    "nothing": ("", PARCEL, [PARCEL], "omitted"),
}


@pytest.mark.parametrize("name", TOLD)
def test_whether_a_failure_is_told(name: str) -> None:
    text, step, steps, expected = TOLD[name]
    assert disclosure(text, step, steps) == expected


def test_two_orders_are_two_things() -> None:
    one = a_step(1, FAILED, description="查询订单 10001 的状态", reason="没有这个订单")
    two = a_step(2, FAILED, description="查询订单 10002 的状态", reason="没有这个订单")
    text = "订单 10001 没有查到。"
    assert disclosure(text, one, [one, two]) == "disclosed"
    assert disclosure(text, two, [one, two]) == "omitted"
    answer, kept = honest_answer(text, [one, two], "zh")
    assert kept
    assert "10002" in answer


@pytest.mark.parametrize(
    ("text", "clean"),
    [
        ("<think>step 2 failed</think>It is here.", "It is here."),
        ('It is here. {"verdict": "PASS", "analysis": "x"}', "It is here."),
        ("It is here (verdict: PASS, attempt 2).", "It is here ."),
        ("Based on step 1, it is here.", "it is here."),
        ("根据步骤 2 的结果，已经查到。", "已经查到。"),
        ("It is here (see call_ab12).", "It is here ."),
        ("It is here, as call_ab12 says.", "It is here, as says."),
        ("It  is   here. ", "It is here."),
        ('{"price": 9}', '{"price": 9}'),
    ],
)
def test_internal_words_are_taken_out(text: str, clean: str) -> None:
    assert clean_answer(text) == clean


@pytest.mark.parametrize(
    ("text", "spoken_of"),
    [
        ("According to step 2, stir it.", "Step 2: stir it."),
        ("It is here (see call_ab12).", "the log names call_ab12"),
    ],
)
def test_what_the_user_speaks_of_stays(text: str, spoken_of: str) -> None:
    assert clean_answer(text, spoken_of=spoken_of) == text
    assert clean_answer(text) != text


@pytest.mark.parametrize(
    ("result", "expected"),
    [
        ("R1: 66 pieces, order A-7712", {"66", "a7712"}),
        ("3 pieces", set()),
        ("plain words", set()),
    ],
)
def test_facts(result: str, expected: set[str]) -> None:
    assert facts(a_step(1, VERIFIED, result=result)) == expected


@pytest.mark.parametrize(
    ("result", "text", "covered"),
    [
        ("R1: 66 pieces", "There are 66 of R1.", True),
        ("R1: 66 pieces", "There are 67 of R2.", False),
        ("order A-7712 is here", "a7712 has come", True),
        ("order A-7712 is here", "no. A_7712", True),
        ("the brush is soft", "It has a soft brush.", True),
        ("the brush is soft", "It is loud.", False),
        ("刷头很软", "It is soft.", True),
        ("的", "whatever", True),
    ],
)
def test_what_covers_a_result(result: str, text: str, covered: bool) -> None:
    step = a_step(1, VERIFIED, result=result)
    assert uncovered(text, [step]) == ([] if covered else [step])


def checks(
    text: str,
    *steps: Step,
    conditions: Sequence[Condition] = (),
    language: Language = "en",
) -> list[tuple[str, FindingKind]]:
    """Which checks say what about an answer."""
    found = answer_findings(text, steps, goal="Find it.", conditions=conditions, language=language)
    assert all(finding.reason and finding.hint for finding in found)
    return [(finding.check, finding.kind) for finding in found]


VETO, SIGNAL = FindingKind.VETO_RETRY, FindingKind.SIGNAL
CHEAP = Condition(id=1, kind="limit", quote="under 300 dollars", steps=[7])


def test_findings_on_an_answer() -> None:
    assert checks(TELLS_STOCK, STOCK) == []
    assert checks(" \n", STOCK, PARCEL) == [("answer_text", VETO)]
    assert checks("有货，66 件。", STOCK) == [("answer_language", VETO)]
    assert checks(TELLS_STOCK, STOCK, PARCEL, BILL) == [("disclosure", VETO)] * 2
    assert checks("It is there.", STOCK) == [("coverage", SIGNAL)]
    costly = f"{TELLS_STOCK} It costs $399."
    assert checks(costly, STOCK, conditions=[CHEAP]) == [("condition 1", SIGNAL)]
    lost = "The parcel could not be found. It costs $399."
    assert checks(lost, PARCEL, conditions=[CHEAP]) == []
    assert checks(TELLS_STOCK, STOCK, a_step(6, RECOVERED)) == []


def test_a_chinese_answer_joins_its_items_in_the_chinese_way() -> None:
    accepted = [
        a_step(i, StepStatus.ACCEPTED, result="有", description=text, reason="not_judged")
        for i, text in enumerate(("查询订单 10001 的签收状态", "查询发票"), start=1)
    ]
    failed = a_step(3, StepStatus.FAILED, description="查询库存", reason="没有查到任何数据")
    later = a_step(4, StepStatus.PENDING, description="下单", needs=[3, 5])
    lost = a_step(5, StepStatus.FAILED, description="查询地址", reason="没有查到任何数据")
    told = closing_notes(accepted, answer_reason="", exhausted="", language="zh")
    assert told == ["注意：以下内容没有得到核对：查询订单 10001 的签收状态、查询发票。"]
    skipped = skip_blocked({s.id: s for s in (failed, later, lost)})
    assert reason_of(skipped[4], "zh") == "它所依赖的一步没有完成：查询库存、查询地址"
    unseen = [s.model_copy(update={"reason": AcceptedReason.NOT_REVIEWED}) for s in accepted]
    note = unreviewed_note([*unseen, failed], answer_reason="", language="zh")
    assert note == "（按设置没有反思：查询订单 10001 的签收状态、查询发票。）"
    state = AgentState(
        goal="x", language="zh", status=RunStatus.PARTIAL, steps={s.id: s for s in accepted}
    )
    assert run_reason(state) == told[0]
