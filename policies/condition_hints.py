"""What a result must do about a condition of the goal, said so that it fits the condition."""

import re

from hansei.policies.conditions import CHOOSING
from hansei.policies.phrases import say
from hansei.policies.records import Condition
from hansei.policies.words import Language

_WHICH = re.compile(
    r"哪(?:一)?(?:个|款|家|种|台|部|本)|买哪|\bwhich (?:one|of)\b"
    r"|\bshould (?:i|we) (?:buy|get|take)\b",
    re.IGNORECASE,
)
"""Questions whose answer is a choice, beside the words for choosing."""

_OF_KIND = {
    "limit": "hint_limit",
    "exclusion": "hint_exclusion",
    "identifier": "hint_named",
    "quoted": "hint_named",
}


def condition_hint(condition: Condition, language: Language, *, task: str) -> str:
    """The ready-made hint for a condition that a result does not deal with.

    Args:
        condition: The condition; its quote stands in the hint.
        language: The language of the hint.
        task: The goal, and the step's task if it is about a step. Only where it asks for a
            choice does the hint ask for a recommendation.
    """
    key = _OF_KIND.get(condition.kind)
    if key is None:
        chooses = CHOOSING.search(task) or _WHICH.search(task)
        key = "hint_condition" if chooses else "hint_situation"
    return say(key, language, quote=condition.quote)
