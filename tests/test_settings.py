"""Settings: what is refused, what a run's context overrides, what follows from never reflecting.

The bound itself is held in test_bound.py.
"""

from collections.abc import Callable
from functools import partial

import pytest
from cli_helpers import one_sentence
from pydantic import ValidationError

from hansei import Settings, UserError

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
    "approve_plan": False,
    "approve_replans": False,
    "approve_effects": False,
    "approve_tools": None,
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
    (name,) = wrong
    build: Callable[..., Settings] = Settings
    for refuse in (partial(build, **wrong), partial(Settings.model_validate, wrong)):
        with pytest.raises(UserError) as caught:
            refuse()
        assert isinstance(caught.value, ValueError)
        assert repr(name) in one_sentence(str(caught.value))


@pytest.mark.parametrize(
    ("wrong", "said"),
    [
        (
            {"max_steps": 0},
            "The setting 'max_steps' cannot be 0: it must be a whole number, 1 or more.",
        ),
        (
            {"call_budget": True},
            "The setting 'call_budget' cannot be True: "
            "it must be a whole number, 0 or more, or None.",
        ),
        (
            {"deadline": 0},
            "The setting 'deadline' cannot be 0: it must be a number above 0, or None.",
        ),
        (
            {"goal_blind": "perhaps"},
            "The setting 'goal_blind' cannot be 'perhaps': it must be True or False.",
        ),
        (
            {"language": "fr"},
            "The setting 'language' cannot be 'fr': it must be one of auto, zh, en.",
        ),
        (
            {"max_step": 2},
            "There is no setting 'max_step' (did you mean 'max_steps'?); there are: "
            f"{', '.join(DEFAULTS)}.",
        ),
    ],
)
def test_what_is_allowed_is_said(wrong: dict[str, object], said: str) -> None:
    with pytest.raises(UserError) as caught:
        Settings.model_validate(wrong)
    assert str(caught.value) == said


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
