"""A round of calls is sorted before any of it runs."""

from collections.abc import Mapping
from dataclasses import dataclass, field

import pytest
from hypothesis import given
from hypothesis import strategies as st

from hansei.policies.attempts import settled
from hansei.policies.records import Attempt, Round, Step, ToolCall
from hansei.policies.rounds import finished, sort_round
from hansei.policies.state import StepTask
from hansei.tools.outcome import OutcomeStatus


@dataclass(frozen=True)
class Kinds:
    tools: Mapping[str, object] = field(default_factory=lambda: {"look": 1, "send": 2})
    effects: frozenset[str] = frozenset({"send"})
    acts: frozenset[str] = frozenset({"send"})
    once: frozenset[str] = frozenset()
    volatile: frozenset[str] = frozenset()


def task_with(calls: list[ToolCall]) -> StepTask:
    attempt = Attempt(rounds=[Round(calls=calls)])
    return StepTask(step=Step(id=1, attempts=[attempt]))


def call(name: str, word: str, *, outcome: OutcomeStatus | None = None) -> ToolCall:
    return ToolCall(name=name, args=f'{{"q":"{word}"}}', outcome=outcome)


CALLS = st.lists(
    st.builds(
        call,
        st.sampled_from(["look", "send", "gone"]),
        st.sampled_from(["lamp", "desk"]),
        outcome=st.sampled_from([None, None, None, OutcomeStatus.OK]),
    ),
    max_size=6,
)


def same(one: ToolCall, other: ToolCall) -> bool:
    return (one.name, one.args) == (other.name, other.args)


@given(CALLS)
def test_each_call_has_one_place_and_none_runs_twice_in_a_round(calls: list[ToolCall]) -> None:
    found = sort_round(task_with(calls), Kinds(), None)
    places = [*found.done, *found.todo, *found.twins]
    assert sorted(places) == list(range(len(calls)))
    to_run = [(calls[i].name, calls[i].args) for i in found.todo]
    assert len(set(to_run)) == len(to_run)
    assert all(same(calls[i], calls[first]) for i, first in found.twins.items())
    assert set(found.twins.values()) <= set(found.todo)
    assert all(calls[i].name in Kinds().tools for i in found.todo)


@given(CALLS)
def test_a_finished_round_has_every_outcome_in_its_place(calls: list[ToolCall]) -> None:
    numbered = [one.model_copy(update={"id": str(i)}) for i, one in enumerate(calls)]
    found = sort_round(task_with(numbered), Kinds(), None)
    run = {i: settled(numbered[i], OutcomeStatus.OK, f"run {i}") for i in found.todo}
    ended = finished(numbered, found, run)
    # One that is answered from the record keeps the id that the model asked with.
    assert [one.id for one in ended] == [one.id for one in numbered]
    assert all(one.outcome is not None for one in ended)
    assert all(ended[i].output == f"run {first}" for i, first in found.twins.items())
    assert all(ended[i].from_record for i in found.twins)


def test_a_begun_call_whose_tool_is_gone_is_unknown_and_not_wrong() -> None:
    task = task_with([call("gone", "lamp"), call("gone", "desk")])
    found = sort_round(task, Kinds(), None, begun={0})
    assert found.done[0].outcome is OutcomeStatus.UNKNOWN
    assert found.done[1].outcome is OutcomeStatus.ERROR


@pytest.mark.parametrize(("sources", "runs"), [(None, True), (["order 4711"], True), ([], False)])
def test_a_made_up_id_is_refused_where_sources_are_asked(
    sources: list[str] | None, runs: bool
) -> None:
    asked = ToolCall(name="look", args='{"order_id":"4711"}')
    found = sort_round(task_with([asked]), Kinds(), sources)
    assert (found.todo == [0]) is runs
    if not runs:
        assert found.done[0].outcome is OutcomeStatus.REFUSED
