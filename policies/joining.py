"""How several things stand side by side in one sentence, in Chinese and in English."""

from collections.abc import Iterable

from hansei.policies.words import Language


def listed(items: Iterable[str], language: Language, *, between: str = ", ") -> str:
    """Things in a list.

    Args:
        items: What is listed.
        language: The language of the sentence.
        between: What stands between two of them in English: a semicolon where commas are in them.
    """
    return ("、" if language == "zh" else between).join(items)


def clauses(items: Iterable[str], language: Language) -> str:
    """Parts of a sentence, one after the other."""
    return ("；" if language == "zh" else "; ").join(items)
