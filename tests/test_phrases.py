"""Plain sentences in two languages."""

import pytest

from hansei.policies.language import language_of
from hansei.policies.phrases import phrase_keys, say
from hansei.policies.words import Language

KEYS = sorted(phrase_keys())


def values_of(key: str, language: Language) -> set[str]:
    """The values that a phrase takes, found by giving it what it asks for."""
    given: dict[str, str] = {}
    while True:
        try:
            say(key, language, **given)
        except KeyError as missing:
            given[str(missing.args[0])] = "x"
        else:
            return set(given)


@pytest.mark.parametrize("key", KEYS)
def test_both_languages_take_the_same_values(key: str) -> None:
    assert values_of(key, "zh") == values_of(key, "en")


@pytest.mark.parametrize("key", KEYS)
@pytest.mark.parametrize("language", ["zh", "en"])
def test_a_phrase_shows_its_values_in_its_language(key: str, language: Language) -> None:
    values = {name: f"<{name}>" for name in values_of(key, language)}
    text = say(key, language, **values)
    assert all(value in text for value in values.values())
    words = text
    for value in values.values():
        words = words.replace(value, "")
    if any(character.isalpha() for character in words):
        assert language_of(words) == language


def test_values_are_not_read_as_phrases() -> None:
    assert say("not_done_given_up", "en", step="find {tool} {0}") == "Not done: find {tool} {0}."


def test_an_unknown_phrase_is_a_bug() -> None:
    with pytest.raises(KeyError):
        say("nothing of the kind", "en")
