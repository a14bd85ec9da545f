"""Which steps may run now, and what becomes of those that never will."""

from collections.abc import Mapping

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
    by_id,
    statuses,
    tried,
)

from hansei.policies.records import Step
from hansei.policies.schedule import (
    choose,
    dependents,
    finished,
    in_flight,
    ready,
    recover,
    running,
    skip_blocked,
    start,
)
from hansei.policies.words import Progress, StepStatus

RUNNING = a_step(1, progress=Progress.RUNNING)
DONE = a_step(2, progress=Progress.FINISHED)
WAITING = a_step(3)
SETTLED = a_step(4, VERIFIED)
ALL = by_id(RUNNING, DONE, WAITING, SETTLED)


def test_who_is_where() -> None:
    assert in_flight(ALL) == [1, 2]
    assert running(ALL) == [1]
    assert finished(ALL, [4, 3, 2, 1]) == [2]
    assert ready(ALL, [1, 2, 3, 4]) == [3]


def test_finished_steps_are_judged_in_the_order_of_the_plan() -> None:
    steps = by_id(*(a_step(i, progress=Progress.FINISHED) for i in (1, 2, 3)))
    assert finished(steps, [3, 1, 2]) == [3, 1, 2]


@pytest.mark.parametrize(
    ("status", "able"),
    [
        (VERIFIED, True),
        (ACCEPTED, True),
        (RECOVERED, True),
        (PENDING, False),
        (FAILED, False),
        (SKIPPED, False),
        (REPLACED, False),
    ],
)
def test_a_dependency_must_be_usable(status: StepStatus, able: bool) -> None:
    steps = by_id(a_step(1, status, progress=Progress.FINISHED), a_step(2, needs=[1]))
    assert (2 in ready(steps, [1, 2])) is able


def test_a_dependency_that_does_not_exist_holds_a_step_back() -> None:
    assert ready(by_id(a_step(2, needs=[9])), [2]) == []


@pytest.mark.parametrize(("width", "chosen"), [(1, []), (2, [3]), (3, [3, 5])])
def test_no_more_steps_than_allowed(width: int, chosen: list[int]) -> None:
    steps = {**ALL, 5: a_step(5)}
    assert choose(steps, [1, 2, 3, 4, 5], max_parallel=width) == chosen


def test_only_retries_while_a_replan_is_due() -> None:
    again = a_step(2, PENDING, tried())
    steps = by_id(a_step(1), again)
    assert choose(steps, [1, 2], max_parallel=4, only_retries=True) == [2]


def test_a_start_writes_the_attempt_down() -> None:
    step = a_step(1, PENDING, tried()).model_copy(update={"hint": "be careful"})
    begun = start(step)
    assert [a.number for a in begun.attempts] == [1, 2]
    assert begun.last_attempt.hint == "be careful"
    assert begun.progress is Progress.RUNNING
    assert len(step.attempts) == 1


def test_dependents_are_found_through_others() -> None:
    steps = by_id(a_step(1), a_step(2, needs=[1]), a_step(3, needs=[2]), a_step(4))
    assert dependents(steps, [1]) == {2, 3}
    assert dependents(steps, []) == set()


@pytest.mark.parametrize("status", [FAILED, SKIPPED, REPLACED])
def test_what_can_never_run_is_skipped_with_the_reason(status: StepStatus) -> None:
    steps = by_id(
        a_step(1, status, description="find it"), a_step(2, needs=[1]), a_step(3, needs=[2])
    )
    skipped = skip_blocked(steps)
    assert statuses(skipped) == {2: SKIPPED, 3: SKIPPED}
    assert skipped[2].reason == "find it"
    assert skipped[3].reason == steps[2].description


def test_what_a_replan_may_still_save_waits() -> None:
    steps = by_id(a_step(1, FAILED), a_step(2, needs=[1]), a_step(3, FAILED), a_step(4, needs=[3]))
    assert statuses(skip_blocked(steps, spare=[1])) == {4: SKIPPED}


def test_a_step_under_way_is_not_skipped() -> None:
    steps = by_id(a_step(1, FAILED), a_step(2, needs=[1], progress=Progress.RUNNING))
    assert skip_blocked(steps) == {}


RECOVERIES: Mapping[str, tuple[list[Step], list[int]]] = {
    "one stand-in went well": ([a_step(2, VERIFIED, instead_of=[1])], [1]),
    "an accepted one counts": ([a_step(2, ACCEPTED, instead_of=[1])], [1]),
    "none": ([a_step(2, VERIFIED)], []),
    "one of two failed": (
        [a_step(2, VERIFIED, instead_of=[1]), a_step(3, FAILED, instead_of=[1])],
        [],
    ),
    "one of two was taken out": (
        [a_step(2, VERIFIED, instead_of=[1]), a_step(3, REPLACED, instead_of=[1])],
        [1],
    ),
    "all were taken out": ([a_step(2, REPLACED, instead_of=[1])], []),
    "not yet": ([a_step(2, PENDING, instead_of=[1])], []),
    "made good through another": (
        [a_step(2, FAILED, instead_of=[1]), a_step(3, VERIFIED, instead_of=[2])],
        [1, 2],
    ),
}


@pytest.mark.parametrize("name", RECOVERIES)
def test_recovery(name: str) -> None:
    others, expected = RECOVERIES[name]
    changed = recover(by_id(a_step(1, FAILED), *others))
    assert sorted(changed) == expected
    assert set(statuses(changed).values()) <= {RECOVERED}


@given(
    data=st.lists(
        st.tuples(
            st.sampled_from(list(StepStatus)),
            st.sampled_from(list(Progress)),
            st.sets(st.integers(1, 8), max_size=3),
        ),
        max_size=8,
    ),
    width=st.integers(1, 5),
)
def test_never_too_many_and_never_too_early(
    data: list[tuple[StepStatus, Progress, set[int]]], width: int
) -> None:
    steps = by_id(
        *(
            a_step(i, status, progress=progress, needs=sorted(needs))
            for i, (status, progress, needs) in enumerate(data, start=1)
        )
    )
    chosen = choose(steps, sorted(steps), max_parallel=width)
    if chosen:
        assert len(running(steps)) + len(chosen) <= width
    for i in chosen:
        assert steps[i].status is PENDING
        assert all(steps[d].status in {VERIFIED, ACCEPTED, RECOVERED} for d in steps[i].depends_on)
    assert not set(chosen) & set(skip_blocked(steps))
