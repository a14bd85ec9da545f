"""Settings: what is refused, what a run's context overrides, what follows from never reflecting.

The bound itself is held in test_bound.py.
"""

import pytest
from pydantic import ValidationError

from hansei import Settings

DEFAULTS = {
    "reflection": "always",
    "max_step_retries": 1,
    "max_replans": 2,
    "max_steps": 7,
    "max_tool_rounds": 3,
    "max_parallel": 4,
    "max_repairs": 1,
    "goal_blind": True,
    "review_answer": True,
    "share_reflections": True,
    "conditions": True,
    "provenance": True,
    "retry_mode": "fresh",
    "token_budget": None,
    "call_budget": None,
    "deadline": None,
    "language": "auto",
}


def test_defaults() -> None:
    assert Settings().model_dump() == DEFAULTS


@pytest.mark.parametrize(
    "wrong",
    [
        {"reflection": "sometimes"},
        {"max_step_retries": -1},
        {"max_step_retries": 1.5},
        {"max_step_retries": True},
        {"max_replans": "2"},
        {"max_steps": 0},
        {"max_parallel": 0},
        {"max_parallel": None},
        {"max_tool_rounds": -1},
        {"max_repairs": -1},
        {"retry_mode": "blind"},
        {"token_budget": 0},
        {"call_budget": -1},
        {"deadline": 0},
        {"language": "fr"},
        {"max_retries": 2},
    ],
)
def test_nonsense_is_refused(wrong: dict[str, object]) -> None:
    with pytest.raises(ValidationError):
        Settings.model_validate(wrong)


def test_zero_means_none_allowed() -> None:
    chosen = Settings(
        max_step_retries=0, max_replans=0, max_tool_rounds=0, max_repairs=0, call_budget=0
    )
    assert (chosen.retries, chosen.replans, chosen.call_budget) == (0, 0, 0)


def test_settings_cannot_be_changed() -> None:
    with pytest.raises(ValidationError):
        Settings().max_steps = 3


def test_a_context_overrides_what_it_sets() -> None:
    base = Settings(max_steps=3, max_replans=0)
    context = Settings(max_replans=2, language="zh")
    both = base.overridden_by(context)
    assert (both.max_steps, both.max_replans, both.language) == (3, 2, "zh")
    assert base.overridden_by(None) is base


@pytest.mark.parametrize("reflection", ["always", "flagged", "on_signal", "auto"])
def test_where_something_reflects(reflection: str) -> None:
    chosen = Settings.model_validate({"reflection": reflection})
    assert (chosen.retries, chosen.replans, chosen.syntheses) == (1, 2, 2)
    assert chosen.reviews_answer
    assert not chosen.model_copy(update={"review_answer": False}).reviews_answer


def test_where_nothing_reflects() -> None:
    chosen = Settings(reflection="never")
    assert (chosen.retries, chosen.replans, chosen.syntheses) == (0, 0, 1)
    assert not chosen.reviews_answer
