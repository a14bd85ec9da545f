"""What comes next: after a plan, after verdicts, after a replan."""

from collections.abc import Mapping

import pytest
from policy_records import (
    FAILED,
    PENDING,
    RECOVERED,
    SKIPPED,
    VERIFIED,
    a_step,
    by_id,
    statuses,
    tried,
)

from hansei import Settings
from hansei.policies.progress import Next, Resumed, advance, after_edit, due, next_node
from hansei.policies.records import Step
from hansei.policies.state import AgentState
from hansei.policies.words import AnswerStatus, Progress, RunStatus

BASE = Settings(max_parallel=2)
BUSY = a_step(1, progress=Progress.RUNNING)


def test_ready_steps_begin() -> None:
    steps = by_id(a_step(1), a_step(2), a_step(3))
    move = advance(steps, [1, 2, 3], BASE)
    assert move.dispatch == [1, 2]
    assert {i: len(s.attempts) for i, s in move.steps.items()} == {1: 1, 2: 1}
    assert all(s.progress is Progress.RUNNING for s in move.steps.values())


def test_what_recovers_lets_others_begin() -> None:
    steps = by_id(a_step(1, FAILED), a_step(2, VERIFIED, instead_of=[1]), a_step(3, needs=[1]))
    move = advance(steps, [1, 2, 3], BASE)
    assert statuses(move.steps) == {1: RECOVERED, 3: PENDING}
    assert move.dispatch == [3]


def test_what_can_never_run_is_skipped() -> None:
    steps = by_id(a_step(1, FAILED), a_step(2, needs=[1]))
    move = advance(steps, [1, 2], BASE)
    assert statuses(move.steps) == {2: SKIPPED}
    assert move.dispatch == []


def test_nothing_new_begins_while_a_replan_is_due() -> None:
    again = a_step(4, PENDING, tried())
    steps = by_id(a_step(1, FAILED), a_step(2, needs=[1]), a_step(3), again)
    move = advance(steps, [1, 2, 3, 4], BASE, replan_due=[1])
    assert move.dispatch == [4]
    assert set(move.steps) == {4}


def test_when_a_budget_is_used_up_nothing_begins() -> None:
    steps = by_id(BUSY, a_step(2), a_step(3, VERIFIED))
    move = advance(steps, [1, 2, 3], BASE, stopped=True)
    assert statuses(move.steps) == {2: SKIPPED}
    assert move.dispatch == []


PENDING_ANSWER = AnswerStatus.PENDING
ROUTES: Mapping[str, tuple[AgentState, Next]] = {
    "a run that is over": (AgentState(status=RunStatus.COMPLETE, dispatch=[1]), "end"),
    "steps to start": (AgentState(steps=by_id(BUSY), dispatch=[1]), "executor"),
    "others are still at work": (AgentState(steps=by_id(BUSY), replan_due=[2]), "wait"),
    "a replan is due": (AgentState(steps=by_id(a_step(1, FAILED)), replan_due=[1]), "replanner"),
    "all is settled": (AgentState(steps=by_id(a_step(1, VERIFIED))), "synthesizer"),
    "a draft waits": (AgentState(answer_status=PENDING_ANSWER), "synthesizer"),
    "the answer is settled": (AgentState(answer_status=AnswerStatus.ACCEPTED), "end"),
}


@pytest.mark.parametrize("name", ROUTES)
def test_routes(name: str) -> None:
    state, expected = ROUTES[name]
    assert next_node(state) == expected


DONE = a_step(2, progress=Progress.FINISHED)
AGAIN = a_step(3, PENDING, tried())


@pytest.mark.parametrize(
    ("steps", "replan_due", "handed"),
    [
        ([BUSY, DONE], [], {1: 0, 2: 0}),  # what was begun goes on where it stood
        ([BUSY, a_step(2), a_step(3)], [], {1: 0, 2: 1}),  # and as much begins as may
        ([a_step(1, VERIFIED), a_step(2, needs=[1])], [], {2: 1}),
        ([a_step(1, FAILED), a_step(2), AGAIN], [1], {3: 2}),  # only retries before a replan
        ([a_step(1, VERIFIED), a_step(2)], [1], {2: 1}),  # which is due no more
        ([a_step(1, VERIFIED)], [], {}),
    ],
)
def test_what_an_edit_hands_to_the_executor(
    steps: list[Step], replan_due: list[int], handed: dict[int, int]
) -> None:
    state = AgentState(steps=by_id(*steps), order=[s.id for s in steps], replan_due=replan_due)
    assert {s.id: len(s.attempts) for s in after_edit(state, BASE).steps} == handed


def test_an_edit_begins_nothing_where_a_run_is_over_or_out_of_budget() -> None:
    state = AgentState(steps=by_id(BUSY, a_step(2)), order=[1, 2])
    over = AgentState(steps=by_id(a_step(1, VERIFIED)), order=[1], status=RunStatus.PARTIAL)
    spent = state.model_copy(update={"exhausted": "call_budget 3"})
    assert after_edit(over, BASE) == Resumed()
    assert [s.id for s in after_edit(spent, BASE).steps] == [1]


def test_only_a_step_that_is_still_failed_is_due() -> None:
    state = AgentState(steps=by_id(a_step(1, FAILED), a_step(2, VERIFIED)), replan_due=[1, 2, 9])
    assert due(state) == [1]
