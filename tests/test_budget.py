"""Whether one more model call may be made."""

from collections.abc import Mapping

import pytest

from hansei import Settings
from hansei.policies.budget import Spent, budget_told, refusal
from hansei.policies.language import language_of
from hansei.policies.words import ROLES, Language, Role

CALLS = Settings(call_budget=5)
TOKENS = Settings(token_budget=100)
TIME = Settings(deadline=60)
SPENT: Mapping[str, tuple[Settings, Spent, float, Role, str]] = {
    "no limits": (Settings(), Spent(10**6, 10**9), 10**6, "executor", ""),
    "calls left": (CALLS, Spent(calls=3), 0, "executor", ""),
    "one call is kept for the answer": (CALLS, Spent(calls=4), 0, "executor", "call_budget 5"),
    "which the synthesizer has": (CALLS, Spent(calls=4), 0, "synthesizer", ""),
    "or the reviewer": (CALLS, Spent(calls=4), 0, "reviewer", ""),
    "no calls left": (CALLS, Spent(calls=5), 0, "synthesizer", "call_budget 5"),
    "none allowed": (Settings(call_budget=0), Spent(), 0, "planner", "call_budget 0"),
    "tokens left": (TOKENS, Spent(tokens=99), 0, "reflector", ""),
    "no tokens left": (TOKENS, Spent(tokens=100), 0, "reflector", "token_budget 100"),
    "time left": (TIME, Spent(), 59.9, "replanner", ""),
    "no time left": (TIME, Spent(), 60.0, "replanner", "deadline 60 s"),
}


@pytest.mark.parametrize("name", SPENT)
def test_refusals(name: str) -> None:
    settings, spent, seconds, role, reason = SPENT[name]
    assert refusal(spent, settings, role=role, seconds=seconds) == reason


@pytest.mark.parametrize("role", ROLES)
@pytest.mark.parametrize("budget", [1, 2, 10])
def test_no_role_goes_beyond_the_budget(role: Role, budget: int) -> None:
    settings = Settings(call_budget=budget)
    calls = 0
    while not refusal(Spent(calls=calls), settings, role=role, seconds=0):
        calls += 1
    assert calls == (budget if role in {"synthesizer", "reviewer"} else budget - 1)


@pytest.mark.parametrize("settings", [CALLS, TOKENS, TIME])
@pytest.mark.parametrize("language", ["zh", "en"])
def test_a_budget_is_told_in_words(settings: Settings, language: Language) -> None:
    refused = refusal(Spent(calls=9, tokens=999), settings, role="executor", seconds=99)
    told = budget_told(refused, language)
    assert refused in told
    assert language_of(told.replace(refused, "")) == language
    assert told != refused


def test_no_budget_is_told_where_none_is_used_up() -> None:
    assert budget_told("", "en") == ""
