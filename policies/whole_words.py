"""Words and ids found as a whole in a text, without a pattern that is compiled for each of them.

The rules ask for other words in every run, and compiling takes ten times as long as finding.
"""

import re
from collections.abc import Iterable
from typing import Final

_ALNUM: Final = frozenset("abcdefghijklmnopqrstuvwxyz0123456789")

_GAP: Final = r"[\s\-_#,，]"
"""What may stand between the characters of an id."""

_GAPS = re.compile(f"{_GAP}+")


def stands_whole(plain: str, word: str, endings: Iterable[str] = ("",)) -> bool:
    """Whether a word, with one of the endings, stands in a text with no letter or digit beside it.

    Args:
        plain: The text, in lower case.
        word: What is looked for, likewise; it may hold spaces and signs.
        endings: What may follow it.
    """
    place = plain.find(word)
    while place >= 0:
        if plain[place - 1 : place] not in _ALNUM:
            end = place + len(word)
            for ending in endings:
                after = end + len(ending)
                if plain.startswith(ending, end) and plain[after : after + 1] not in _ALNUM:
                    return True
        place = plain.find(word, place + 1)
    return False


def spells(plain: str, code: str) -> bool:
    """Whether an id stands in a text as a whole, be it with spaces, dashes or commas in it.

    Args:
        plain: The text, in lower case.
        code: The id, likewise, without any of them.
    """
    if stands_whole(plain, code):
        return True
    if code not in _GAPS.sub("", plain):
        return False
    spelled = f"{_GAP}*".join(re.escape(character) for character in code)
    return re.search(rf"(?<![a-z0-9]){spelled}(?![a-z0-9])", plain) is not None
