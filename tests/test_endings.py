"""How a run ends: every row of what the statuses mean."""

from collections.abc import Mapping
from itertools import product

import pytest
from hypothesis import given
from hypothesis import strategies as st
from policy_records import (
    ACCEPTED,
    FAILED,
    PENDING,
    RECOVERED,
    REPLACED,
    SKIPPED,
    VERIFIED,
    a_step,
)

from hansei.policies.endings import EXIT_CODES, Ending, counted, done, ending, undone, unvouched
from hansei.policies.records import Step
from hansei.policies.words import AnswerStatus, RunStatus, StepStatus

GOOD = a_step(1, VERIFIED)
UNREVIEWED = a_step(2, ACCEPTED, reason="not_reviewed")
DOUBTFUL = a_step(3, ACCEPTED, reason="retries_used_up")
UNJUDGED = a_step(4, ACCEPTED, reason="not_judged")
LOST = a_step(5, FAILED, reason="down")
LEFT = a_step(6, SKIPPED)
MADE_GOOD = a_step(7, RECOVERED)
SET_BACK = a_step(0, PENDING)
TAKEN_OUT = a_step(8, REPLACED)
EVERY = [GOOD, UNREVIEWED, DOUBTFUL, UNJUDGED, LOST, LEFT, SET_BACK, MADE_GOOD, TAKEN_OUT]


def test_who_counts() -> None:
    assert counted(EVERY) == EVERY[:7]
    assert undone(EVERY) == [LOST, LEFT, SET_BACK]
    assert done(EVERY) == [GOOD, UNREVIEWED, DOUBTFUL, UNJUDGED]
    assert unvouched(EVERY) == [DOUBTFUL, UNJUDGED]


COMPLETE, PARTIAL, FAIL = RunStatus.COMPLETE, RunStatus.PARTIAL, RunStatus.FAILED
ENDINGS: Mapping[str, tuple[list[Step], RunStatus, bool]] = {
    "all verified": ([GOOD], COMPLETE, True),
    "with one made good": ([GOOD, MADE_GOOD, TAKEN_OUT], COMPLETE, True),
    "not reviewed by choice": ([GOOD, UNREVIEWED], COMPLETE, False),
    "nobody vouches for one": ([GOOD, DOUBTFUL], PARTIAL, False),
    "one was not judged": ([UNJUDGED], PARTIAL, False),
    "one failed": ([GOOD, LOST], PARTIAL, False),
    "one was skipped": ([GOOD, LEFT], PARTIAL, False),
    "one was set back by hand": ([GOOD, SET_BACK], PARTIAL, False),
    "all failed": ([LOST, LEFT], FAIL, False),
    "only one that was taken out": ([TAKEN_OUT], COMPLETE, False),
    "no steps": ([], COMPLETE, False),
}


@pytest.mark.parametrize("name", ENDINGS)
def test_with_a_verified_answer(name: str) -> None:
    steps, status, verified = ENDINGS[name]
    result = ending(steps, answer_status=AnswerStatus.VERIFIED, answer_reason="")
    assert result == Ending(status, verified=verified)


@pytest.mark.parametrize(
    ("reason", "status"),
    [("not_reviewed", COMPLETE), ("not_judged", PARTIAL), ("retries_used_up", PARTIAL)],
)
def test_with_an_accepted_answer(reason: str, status: RunStatus) -> None:
    result = ending([GOOD], answer_status=AnswerStatus.ACCEPTED, answer_reason=reason)
    assert result == Ending(status, verified=False)


def test_which_status_comes_first() -> None:
    for steps, exhausted, needs_human in product(([GOOD], [LOST]), (False, True), (False, True)):
        result = ending(
            steps,
            answer_status=AnswerStatus.VERIFIED,
            answer_reason="",
            exhausted=exhausted,
            needs_human=needs_human,
        )
        if needs_human:
            assert result == Ending(RunStatus.NEEDS_HUMAN, verified=False)
        elif exhausted:
            assert result == Ending(RunStatus.EXHAUSTED, verified=False)
        else:
            assert result.status in {COMPLETE, FAIL}


@given(
    parts=st.lists(st.sampled_from(EVERY), max_size=6),
    status=st.sampled_from(list(AnswerStatus)),
    reason=st.sampled_from(["", "not_reviewed", "not_judged", "retries_used_up"]),
)
def test_verified_means_that_all_of_it_is(
    parts: list[Step], status: AnswerStatus, reason: str
) -> None:
    result = ending(parts, answer_status=status, answer_reason=reason)
    if result.verified:
        assert result.status is COMPLETE
        assert status is AnswerStatus.VERIFIED
        assert {s.status for s in counted(parts)} == {VERIFIED}
    if result.status is COMPLETE:
        assert not undone(parts)
        assert not unvouched(parts)


def test_exit_codes() -> None:
    assert set(EXIT_CODES) == set(RunStatus)
    assert {status.value: code for status, code in EXIT_CODES.items()} == {
        "complete": 0,
        "running": 1,
        "partial": 3,
        "failed": 4,
        "exhausted": 5,
        "needs_human": 6,
    }


def test_every_step_status_has_a_place() -> None:
    places = [
        {s.status for s in part}
        for part in (done(EVERY), undone(EVERY), [s for s in EVERY if s not in counted(EVERY)])
    ]
    assert set.union(*places) == set(StepStatus)
    assert sum(len(place) for place in places) == len(StepStatus)
