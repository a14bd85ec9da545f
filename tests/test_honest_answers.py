"""The honest form of an answer, and the notes that end it (row P8)."""

from collections.abc import Mapping, Sequence

import pytest
from answer_steps import BILL, LETTER, PARCEL, STOCK, TELLS_STOCK
from hypothesis import given
from hypothesis import strategies as st
from policy_records import (
    ACCEPTED,
    FAILED,
    PENDING,
    SKIPPED,
    VERIFIED,
    a_step,
)

from hansei.policies.answers import (
    closing_notes,
    honest_answer,
    reason_of,
    rule_answer,
)
from hansei.policies.disclosure import disclosure
from hansei.policies.records import Step, VerdictRecord
from hansei.policies.words import VerdictSource


@pytest.mark.parametrize(
    ("step", "reason"),
    [
        (PARCEL, "the system is syncing"),
        (BILL, "A step it depends on was not done: Look up the parcel"),
        (a_step(6, SKIPPED, reason="too long a plan"), "too long a plan"),
        (a_step(6, SKIPPED, needs=[3]), ""),
    ],
)
def test_why_a_step_was_not_done(step: Step, reason: str) -> None:
    assert reason_of(step, "en") == reason


def test_an_answer_from_the_records() -> None:
    assert rule_answer([STOCK], "en") == STOCK.result
    assert rule_answer([STOCK, PARCEL, BILL], "en").splitlines() == [
        STOCK.result,
        "Not done: Look up the parcel. Reason: the system is syncing.",
        "Not done: Pay the bill. Reason: A step it depends on was not done: Look up the parcel.",
        "Please check the details you gave, or try again later.",
    ]
    nothing = rule_answer([a_step(1, FAILED, description="找包裹。")], "zh").splitlines()
    assert nothing[:2] == ["很抱歉，这件事没有办成。", "没有完成：找包裹。"]
    assert rule_answer([], "en") == "Sorry, this could not be done."


def test_a_critics_reason_in_another_language_is_left_out() -> None:
    critic = VerdictRecord(source=VerdictSource.CRITIC)
    step = PARCEL.model_copy(update={"reason": "包裹找不到", "verdicts": [critic]})
    assert "包裹" not in rule_answer([step], "en")
    assert "syncing" in rule_answer([PARCEL.model_copy(update={"verdicts": [critic]})], "en")


HONEST: Mapping[str, tuple[str, Sequence[Step], str, bool]] = {
    "nothing to add": (TELLS_STOCK, [STOCK], TELLS_STOCK, True),
    "a failure is left out": (
        TELLS_STOCK,
        [STOCK, PARCEL],
        f"{TELLS_STOCK}\nNot done: Look up the parcel. Reason: the system is syncing.",
        True,
    ),
    "a result is left out": (
        "The parcel could not be found.",
        [STOCK, PARCEL],
        f"The parcel could not be found.\n{STOCK.result}",
        True,
    ),
    "blank": (" ", [STOCK], STOCK.result, False),
    "in the wrong language": ("有货，66 件。", [STOCK], STOCK.result, False),
}


@pytest.mark.parametrize("name", HONEST)
def test_an_honest_form(name: str) -> None:
    text, steps, expected, kept = HONEST[name]
    assert honest_answer(text, steps, "en") == (expected, kept)


texts = st.lists(
    st.sampled_from(
        [
            TELLS_STOCK,
            "The parcel is here.",
            "The parcel could not be found.",
            "The letter is missing.",
            "Everything is done.",
            "Sorry for the wait!",
            "Your thing has come.",
            "有货。",
            "",
        ]
    ),
    max_size=4,
).map(" ".join)


@given(text=texts, ids=st.sets(st.sampled_from([1, 2, 3, 4])))
def test_an_honest_answer_tells_every_failure(text: str, ids: set[int]) -> None:
    steps = [step for step in (STOCK, LETTER, PARCEL, BILL) if step.id in ids]
    answer, kept = honest_answer(text, steps, "en")
    assert answer.strip()
    for step in steps:
        if step.status is not VERIFIED:
            assert disclosure(answer, step, steps) == "disclosed"
    if not kept:
        assert answer == rule_answer(steps, "en")


DOUBTFUL = a_step(6, ACCEPTED, description="Weigh it.", result="x", reason="retries_used_up")
BY_CHOICE = a_step(7, ACCEPTED, description="Ask it", result="x", reason="not_reviewed")
UNVERIFIED = "Note: nobody has verified this part: Weigh it."
NOTES: Mapping[str, tuple[Sequence[Step], str, str, list[str]]] = {
    "all verified": ([STOCK], "", "", []),
    "a part that nobody vouches for": ([STOCK, DOUBTFUL], "", "", [UNVERIFIED]),
    "that says more than an unverified answer": (
        [DOUBTFUL],
        "not_judged",
        "",
        [UNVERIFIED],
    ),
    "an unverified answer": ([STOCK], "not_judged", "", ["Note: this answer was not verified."]),
    "an answer to nothing done": ([PARCEL], "not_judged", "", []),
    "not reviewed by choice": (
        [BY_CHOICE],
        "not_reviewed",
        "",
        ["(Not reviewed, by your settings: nothing above was confirmed by a look back.)"],
    ),
    "a part not reviewed by choice": (
        [STOCK, BY_CHOICE],
        "",
        "",
        ["(By your settings nobody looked back at: Ask it.)"],
    ),
    "a part and the answer not reviewed by choice": (
        [STOCK, BY_CHOICE],
        "not_reviewed",
        "",
        ["(By your settings nobody looked back at: Ask it; the answer itself.)"],
    ),
    "only the answer not reviewed by choice": (
        [STOCK],
        "not_reviewed",
        "",
        ["(By your settings nobody looked back at: the answer itself.)"],
    ),
    "steps not reviewed, but the answer was": (
        [BY_CHOICE],
        "",
        "",
        ["(By your settings nobody looked back at: Ask it.)"],
    ),
    "nothing done, nothing reviewed": ([PARCEL], "not_reviewed", "", []),
    "an answer without any step": (
        [],
        "not_reviewed",
        "",
        [],
    ),
    "out of budget": (
        [STOCK],
        "",
        "call_budget 3",
        ["The run ended early because its budget was used up (call_budget 3)."],
    ),
}


@pytest.mark.parametrize("name", NOTES)
def test_closing_notes(name: str) -> None:
    steps, reason, exhausted, expected = NOTES[name]
    notes = closing_notes(steps, answer_reason=reason, exhausted=exhausted, language="en")
    assert notes == expected


def test_a_step_set_back_by_hand_is_told() -> None:
    answer, _ = honest_answer(TELLS_STOCK, [STOCK, a_step(8, PENDING, description="Buy it")], "en")
    assert "Not done: Buy it." in answer
