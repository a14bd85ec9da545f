"""What planner and replanner may say, and how tolerantly it is read; goals before all that."""

import pytest
from pydantic import ValidationError

from hansei.policies.drafts import ConditionDraft, PlanDraft, ReplanDraft, StepDraft
from hansei.policies.errors import UserError
from hansei.policies.goals import MAX_GOAL, checked_goal


def test_a_step_as_small_models_write_it() -> None:
    step = StepDraft.model_validate(
        {
            "id": 2,
            "task": "look it up",
            "tool": " None ",
            "depends_on": 1,
            "needs_reflection": False,
            "stands_in_for": None,
            "colour": "blue",
        }
    )
    assert step == StepDraft(
        id="2", description="look it up", depends_on=["1"], needs_reflection=False
    )


@pytest.mark.parametrize("word", ["", "none", "NULL", "n/a", "无", None])
def test_no_tool_in_every_spelling(word: str | None) -> None:
    assert StepDraft.model_validate({"tool": word}).tool is None


@pytest.mark.parametrize(
    ("given", "keys"),
    [
        ([1, " s2 ", "3"], ["1", "s2", "3"]),
        ("2", ["2"]),
        (2, ["2"]),
        (None, []),
        ([], []),
    ],
)
def test_keys_are_text(given: object, keys: list[str]) -> None:
    assert StepDraft.model_validate({"depends_on": given}).depends_on == keys


@pytest.mark.parametrize("given", [{"a": 1}, [[1]], [None], [1.5]])
def test_other_keys_are_refused(given: object) -> None:
    with pytest.raises(ValidationError):
        StepDraft.model_validate({"depends_on": given})


def test_nothing_is_an_empty_text() -> None:
    plan = PlanDraft.model_validate(
        {"analysis": None, "steps": [], "brief": None, "answer": None, "conditions": None}
    )
    assert plan == PlanDraft(steps=[])
    assert StepDraft.model_validate({"description": None}).description == ""


def test_steps_may_be_nothing_but_must_be_said() -> None:
    assert PlanDraft.model_validate({"steps": None}).steps == []
    assert ReplanDraft.model_validate({"steps": None}).steps == []
    for kind in (PlanDraft, ReplanDraft):
        with pytest.raises(ValidationError):
            kind.model_validate({"analysis": "x"})


@pytest.mark.parametrize("name", ["concerns", "steps"])
def test_a_condition_names_its_steps_in_either_word(name: str) -> None:
    condition = ConditionDraft.model_validate({"quote": "two cats", name: [1]})
    assert condition.concerns == ["1"]


def test_a_replan_names_what_it_gives_up_and_drops() -> None:
    draft = ReplanDraft.model_validate({"steps": [], "given_up": [1], "drop": "3"})
    assert (draft.given_up, draft.drop) == (["1"], ["3"])


def test_a_goal_is_trimmed() -> None:
    assert checked_goal(" find it \n") == "find it"
    assert checked_goal("x" * MAX_GOAL) == "x" * MAX_GOAL


@pytest.mark.parametrize(("goal", "said"), [(" \n", "empty"), ("x" * (MAX_GOAL + 1), "20001")])
def test_a_goal_that_cannot_be_worked_on(goal: str, said: str) -> None:
    with pytest.raises(UserError, match=said):
        checked_goal(goal)
