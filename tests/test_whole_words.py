"""Words and ids are found where the patterns that say what is meant find them."""

from __future__ import annotations

import re

from hypothesis import example, given
from hypothesis import strategies as st

from hansei.policies.recital import recital
from hansei.policies.whole_words import spells, stands_whole

TEXTS = st.text(alphabet="ab19 -_#,，.se灯", max_size=24)
WORDS = st.text(alphabet="ab19灯.se", min_size=1, max_size=4)


@given(TEXTS, WORDS)
@example("a-b", "ab")
@example("aab ab", "ab")
@example("ab", "ab")
def test_an_id_is_found_with_gaps_and_only_as_a_whole(text: str, code: str) -> None:
    spelled = r"[\s\-_#,，]*".join(re.escape(character) for character in code)
    meant = re.search(rf"(?<![a-z0-9]){spelled}(?![a-z0-9])", text)
    assert spells(text, code) is (meant is not None)


@given(TEXTS, WORDS)
@example("abses", "ab")
@example("as ases", "as")
@example("abab", "ab")
def test_a_word_is_found_with_its_endings(text: str, word: str) -> None:
    meant = re.search(rf"(?<![a-z0-9]){re.escape(word)}(?:s|es)?(?![a-z0-9])", text)
    assert stands_whole(text, word, ("", "s", "es")) is (meant is not None)


@given(
    st.sampled_from(["", "- ", "“", "> * "]),
    st.sampled_from(["Task:", "overall GOAL ：", "任务:", "A task:", "Task"]),
    st.sampled_from(["Look up a.b", "look UP a.b", "Look up axb", "Look up", "Task: Look up a.b"]),
    st.sampled_from(["", ".", " 。”\n", " and more"]),
)
def test_a_text_that_only_names_the_task_again(lead: str, head: str, task: str, end: str) -> None:
    text = f"{lead}{head} {task}{end}"
    for wanted in ("Look up a.b", "Task: Look up a.b"):
        named = r"[\s>*#\-\"“]*(?:Task|Overall goal|任务|总目标)\s*[:：]\s*"
        meant = re.fullmatch(rf"{named}{re.escape(wanted)}[\s.。\"”]*", text, re.IGNORECASE)
        assert recital(text, task=wanted) == (text.strip() if meant else "")
