"""The state's reducers, and edits by hand in the form in which Studio sends them."""

import json

import pytest
from hypothesis import given
from hypothesis import strategies as st
from policy_records import ACCEPTED, FAILED, PENDING, SKIPPED, VERIFIED, a_step, by_id, tried
from pydantic import ValidationError

from hansei.graphs.checkpoints import serializer
from hansei.policies.edits import merge_steps
from hansei.policies.errors import UserError
from hansei.policies.records import RoleUsage, Step, VerdictRecord
from hansei.policies.state import AgentState, StepTask, add_usage
from hansei.policies.words import Progress, StepStatus, Verdict, VerdictSource

RICH = a_step(
    1,
    VERIFIED,
    tried(result="all of it"),
    description="find it",
    tool="fetch",
    result="all of it",
    source=VerdictSource.CRITIC,
)


def test_a_whole_step_replaces_the_one_that_is_there() -> None:
    merged = merge_steps(by_id(RICH, a_step(2)), {1: a_step(1, FAILED)})
    assert merged == by_id(a_step(1, FAILED), a_step(2))


def test_neither_side_is_changed() -> None:
    left = by_id(RICH)
    right: dict[int | str, Step | dict[str, object]] = {"1": {"status": "failed"}, 2: a_step(2)}
    merge_steps(left, right)
    assert left == by_id(RICH)
    assert right == {"1": {"status": "failed"}, 2: a_step(2)}


@pytest.mark.parametrize("key", ["1", 1])
def test_an_edit_of_one_field_keeps_the_rest(key: str | int) -> None:
    edit = json.loads('{"status": "failed", "reason": "it is wrong"}')
    step = merge_steps(by_id(RICH), {key: edit})[1]
    assert step.status is FAILED
    assert step.reason == "it is wrong"
    assert step.attempts == RICH.attempts
    assert step.description == RICH.description
    assert step.verdicts[:-1] == RICH.verdicts


@pytest.mark.parametrize(
    ("old", "new", "verdict", "progress"),
    [
        (PENDING, "failed", Verdict.REPLAN, Progress.FINISHED),
        (FAILED, "verified", Verdict.PASS, Progress.FINISHED),
        (VERIFIED, "accepted", None, Progress.FINISHED),
        (VERIFIED, "pending", None, Progress.WAITING),
    ],
)
def test_a_status_set_by_hand_says_so(
    old: StepStatus, new: str, verdict: Verdict | None, progress: Progress
) -> None:
    step = merge_steps(by_id(a_step(1, old, tried(), tried(number=2))), {"1": {"status": new}})[1]
    record = step.verdicts[-1]
    assert (record.source, record.verdict, record.attempt) == (VerdictSource.HUMAN, verdict, 2)
    assert step.status == new
    assert step.progress is progress


@pytest.mark.parametrize("edit", [{"status": "verified"}, {"hint": "find it twice"}])
def test_an_edit_that_leaves_the_status_leaves_the_verdicts(edit: dict[str, object]) -> None:
    step = merge_steps(by_id(RICH), {"1": edit})[1]
    assert step.verdicts == RICH.verdicts
    assert step.progress is RICH.progress


def test_an_edit_may_add_a_step() -> None:
    merged = merge_steps(by_id(RICH), {"2": {"description": "find more", "id": 7}})
    assert merged[2] == Step(id=2, description="find more")
    skipped: dict[str, object] = {"description": "find more", "status": "skipped"}
    assert merge_steps({}, {"1": skipped})[1].verdicts[-1].attempt == 1


@pytest.mark.parametrize("edit", [{"status": "skipped"}, {"verdict": "RETRY"}, {}])
def test_a_step_that_is_not_there_needs_a_description(edit: dict[str, object]) -> None:
    with pytest.raises(UserError, match="There is no step 2; to add it"):
        merge_steps(by_id(RICH), {"2": edit})


@pytest.mark.parametrize(
    "edit",
    [
        {"one": {"status": "failed"}},
        {"1": {"status": "fine"}},
        {"1": {"depends_on": "2"}},
        {"1": {"attempts": [{"rounds": "none"}]}},
    ],
)
def test_a_bad_edit_is_refused(edit: dict[int | str, Step | dict[str, object]]) -> None:
    with pytest.raises(UserError, match=r"is none|of step 1 cannot be"):
        merge_steps(by_id(RICH), edit)


@given(
    ids=st.lists(st.integers(1, 8), max_size=6),
    more=st.dictionaries(st.integers(1, 8), st.sampled_from([VERIFIED, ACCEPTED, SKIPPED])),
)
def test_merging_is_last_one_wins(ids: list[int], more: dict[int, StepStatus]) -> None:
    left = by_id(*(a_step(i) for i in ids))
    right = {i: a_step(i, status) for i, status in more.items()}
    merged = merge_steps(left, right)
    assert merged == {**left, **right}
    assert merge_steps(merged, right) == merged
    assert merge_steps(left, {}) == left


usages = st.dictionaries(
    st.sampled_from(["planner", "executor", "reviewer"]),
    st.builds(
        RoleUsage,
        calls=st.integers(0, 50),
        input_tokens=st.integers(0, 5000),
        output_tokens=st.integers(0, 5000),
        estimated=st.booleans(),
    ),
)


@given(one=usages, two=usages, three=usages)
def test_usage_adds_up_in_any_order(
    one: dict[str, RoleUsage], two: dict[str, RoleUsage], three: dict[str, RoleUsage]
) -> None:
    total = add_usage(add_usage(one, two), three)
    assert total == add_usage(one, add_usage(three, two))
    for field in ("calls", "input_tokens", "output_tokens"):
        whole = sum(getattr(cost, field) for part in (one, two, three) for cost in part.values())
        assert sum(getattr(cost, field) for cost in total.values()) == whole
    for role, cost in total.items():
        assert cost.estimated is any(p[role].estimated for p in (one, two, three) if role in p)


def test_records_cannot_be_changed() -> None:
    with pytest.raises(ValidationError):
        RICH.status = FAILED


def test_every_field_has_a_default() -> None:
    assert AgentState() == AgentState.model_validate({})
    assert StepTask() == StepTask.model_validate({})


def test_a_rich_state_survives_a_checkpoint_and_json() -> None:
    state = AgentState(goal="find it", steps=by_id(RICH, a_step(2)), order=[1, 2])
    data = {name: getattr(state, name) for name in AgentState.model_fields}
    serde = serializer()
    assert serde.loads_typed(serde.dumps_typed(data)) == data
    assert AgentState.model_validate_json(state.model_dump_json()) == state


def test_a_checkpoint_names_only_the_record_itself() -> None:
    serde = serializer()
    task = StepTask(step=RICH)
    _, packed = serde.dumps_typed(task)
    assert packed.count(b"hansei.policies") == 1
    assert serde.loads_typed(("msgpack", packed)) == task


def test_a_result_edited_by_hand_is_vouched_for_by_a_human() -> None:
    critic = VerdictRecord(verdict=Verdict.PASS, source=VerdictSource.CRITIC)
    old = {1: Step(id=1, status=StepStatus.VERIFIED, result="42", verdicts=[critic])}
    edited = merge_steps(old, {"1": {"result": "43"}})[1]
    assert [v.source for v in edited.verdicts] == [VerdictSource.CRITIC, VerdictSource.HUMAN]
    assert merge_steps(old, {"1": {"hint": "be careful"}})[1].verdicts == [critic]
    waiting = {1: Step(id=1)}
    assert merge_steps(waiting, {"1": {"result": "43"}})[1].verdicts == []


def test_a_step_that_an_edit_has_added_comes_last() -> None:
    steps = {i: Step(id=i) for i in (1, 2, 9)}
    assert AgentState(steps=steps, order=[2, 1, 7]).in_order == [2, 1, 9]
