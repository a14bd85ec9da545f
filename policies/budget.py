"""Budgets of a run: whether one more model call may be made."""

from dataclasses import dataclass

from hansei.policies.phrases import say
from hansei.policies.settings import Settings
from hansei.policies.words import Language, Role

RESERVE = 1
"""Calls kept for the synthesizer, so that a run that is out of budget can still tell."""


@dataclass(frozen=True, slots=True)
class Spent:
    """What a run has cost so far."""

    calls: int = 0
    tokens: int = 0


def refusal(spent: Spent, settings: Settings, *, role: Role, seconds: float) -> str:
    """Which budget forbids one more call, by its name and limit; empty when none does.

    Args:
        spent: Calls and tokens so far, in this run.
        settings: The limits.
        role: Who asks. All but the synthesizer leave it its reserve.
        seconds: How long the run has taken.
    """
    if settings.call_budget is not None:
        reserve = 0 if role in {"synthesizer", "reviewer"} else RESERVE
        if spent.calls + reserve >= settings.call_budget:
            return f"call_budget {settings.call_budget}"
    if settings.token_budget is not None and spent.tokens >= settings.token_budget:
        return f"token_budget {settings.token_budget}"
    return overdue(settings, seconds=seconds)


def overdue(settings: Settings, *, seconds: float) -> str:
    """The deadline in plain words once it is over; then no tool is started any more either.

    Args:
        settings: The limits.
        seconds: How long the run has taken.
    """
    if settings.deadline is not None and seconds >= settings.deadline:
        return f"deadline {settings.deadline:g} s"
    return ""


def budget_told(refused: str, language: Language) -> str:
    """What `refusal` has said, as words for people; empty when it forbade nothing."""
    if not refused:
        return ""
    return say(f"budget_{refused.partition(' ')[0]}", language, limit=refused)
