"""The language of a text, and whether an answer is in the one that was asked for (row X5)."""

import re
from typing import Final

from hansei.policies import text_words as words
from hansei.policies.text import IS_CJK, LINK, narrow
from hansei.policies.words import Language

_NAMES_AT_MOST: Final = 2
"""Plain English words that a name may hold ("Roborock S8 max"); three make a phrase."""


def language_of(text: str) -> Language:
    """Says in which language a text is written; one without words counts as English.

    What is quoted, code, ids and links says nothing. An English product name in a Chinese
    sentence, or a Chinese name in an English one, does not change the sentence.
    """
    plain = words.NO_LANGUAGE.sub(" ", LINK.sub(" ", narrow(text)))
    chinese = len(IS_CJK.findall(plain))
    if not chinese:
        return "en"
    latin = [word for word in _latin(plain) if len(word) > 1]
    # Names are capitalised; the words that make an English sentence mostly are not.
    plain_words = sum(word.islower() for word in latin)
    grammar = sum(word.lower() in words.ENGLISH_STOP for word in latin)
    chinese_grammar = len(words.CHINESE_GRAMMAR.findall(plain))
    lead = chinese / 2 + 2 * chinese_grammar - plain_words - 2 * grammar
    if lead and grammar:
        return "zh" if lead > 0 else "en"
    starts_chinese = IS_CJK.match(plain.lstrip(words.MARKS)) is not None
    return "zh" if starts_chinese or lead > 0 else "en"


def speaks(text: str) -> bool:
    """Whether a text has words, so that it says in which language it is."""
    plain = words.NO_LANGUAGE.sub(" ", LINK.sub(" ", narrow(text)))
    return bool(IS_CJK.search(plain) or _latin(plain))


def asked_language(goal: str) -> Language:
    """Says in which language a goal wants its answer: by its wish, else by its own language."""
    wishes = [
        found
        for found in words.WISH.finditer(goal)
        if not words.REFUSED_WISH.search(goal[max(0, found.start() - 12) : found.start()])
    ]
    if not wishes:
        return language_of(goal)
    named = words.WISHED_ENGLISH.search(wishes[-1].group())
    return "en" if named else "zh"


def fits_language(text: str, wanted: Language) -> bool:
    """Whether a text may stand as an answer in a language.

    One that is only a number, a price, a name, an id or code is in no language, and right in
    either.
    """
    if language_of(text) == wanted:
        return True
    plain = words.NO_LANGUAGE.sub(" ", LINK.sub(" ", narrow(text)))
    if wanted == "en" or IS_CJK.search(plain):
        return False
    latin = [word for word in _latin(plain) if len(word) > 1]
    grammar = any(word.lower() in words.ENGLISH_STOP for word in latin)
    return not grammar and sum(word.islower() for word in latin) <= _NAMES_AT_MOST


def _latin(text: str) -> list[str]:
    return re.findall(r"[A-Za-z][A-Za-z'’-]*", text)
