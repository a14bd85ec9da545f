"""One answer out of a model's text: tolerant about form, never a PASS by accident."""

import re
from typing import Literal

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from pydantic import BaseModel
from reading_corpus import GOOD, HOSTILE, OTHER, PASSES, Review, Word

from hansei.policies.json_scan import decode_run
from hansei.policies.reading import (
    Unreadable,
    json_values,
    read_object,
    read_verdict_word,
    strip_thinking,
)


class Task(BaseModel):
    id: str
    task: str


class Plan(BaseModel):
    steps: list[Task]


def verdict_of(text: str, *, truncated: bool = False) -> str | None:
    answer = read_object(text, Review, truncated=truncated)
    return None if isinstance(answer, Unreadable) else answer.verdict.value


@pytest.mark.parametrize("text", PASSES)
def test_a_clear_pass_is_read(text: str) -> None:
    assert verdict_of(text) == "PASS"


def test_the_corpus_is_large_and_without_repeats() -> None:
    assert len(set(HOSTILE)) == len(HOSTILE) >= 100


@pytest.mark.parametrize("text", HOSTILE, ids=lambda text: f"{text[:30]!a}-{len(text)}")
def test_nothing_else_is_a_pass(text: str) -> None:
    assert verdict_of(text) != "PASS"
    if text != "verdict: PASS":  # prose that is meant to be read by its label
        assert read_verdict_word(text) != "PASS"
    for value in json_values(text):
        assert isinstance(value, dict | list)


@pytest.mark.parametrize("text", PASSES)
def test_a_reply_that_was_cut_is_never_accepted(text: str) -> None:
    answer = read_object(text, Review, truncated=True)
    assert isinstance(answer, Unreadable)
    assert "cut off" in answer.reason


@given(end=st.integers(0, len(GOOD) - 1), lead=st.sampled_from(["", "```json\n", "Plan: ", "[1] "]))
@settings(deadline=None, max_examples=150)
def test_no_prefix_of_an_answer_is_an_answer(end: int, lead: str) -> None:
    assert verdict_of(lead + GOOD[:end]) is None


SCRAPS = ["{", "}", "[", "]", '"', "'", ":", ",", "\\", "\n", " ", "```", "verdict", "analysis"]
SCRAPS += ['{"verdict":"PASS",', '"analysis":"x"}', '"verdict":"RETRY"', "PASS", "RETRY", "\x00"]


@given(words=st.lists(st.sampled_from(SCRAPS), max_size=14))
@settings(deadline=None, max_examples=600)
def test_a_pass_out_of_scraps_names_no_other_verdict(words: list[str]) -> None:
    text = "".join(words)
    answer = read_object(text, Review)
    if isinstance(answer, Review) and answer.verdict is Word.PASS:
        assert re.search(r"""verdict["']?\s*:\s*["']?PASS["']?\s*[,}\n]""", text)
        outside = text.replace(answer.analysis, "") if answer.analysis else text
        assert '"verdict":"RETRY"' not in outside


@given(text=st.text(st.characters(exclude_categories=()), max_size=200))
@settings(deadline=None, max_examples=200)
def test_any_text_can_be_read(text: str) -> None:
    answer = read_object(text, Review)
    assert isinstance(answer, Unreadable)
    assert answer.reason
    assert read_verdict_word(text) is None


def test_the_analysis_keeps_its_line_breaks() -> None:
    answer = read_object(PASSES[13], Review)
    assert isinstance(answer, Review)
    assert answer.analysis == "Row count matches.\nSecond check also matches."


@pytest.mark.parametrize(
    ("text", "task"),
    [
        (
            'Here is the plan:\n{"steps":[{"id":"s1","task":"Render the template"}]}\n'
            "Note: swap {user} for {name} before use.",
            "Render the template",
        ),
        (
            'Plan: {"steps":[{"id":"s1","task":"Explain why line 3 complains about a lone } '
            'there"}]} Done!',
            "Explain why line 3 complains about a lone } there",
        ),
        (
            '{"steps":[{"id":"s1","task":"Say \\"it\'s {ok}\\" twice"}]} '
            '(this follows {"type":"object"})',
            'Say "it\'s {ok}" twice',
        ),
    ],
)
def test_braces_in_prose_and_strings_do_no_harm(text: str, task: str) -> None:
    assert read_object(text, Plan) == Plan(steps=[Task(id="s1", task=task)])


@pytest.mark.parametrize(
    "text",
    [
        '{"steps":[{"id":"s1","task":"Collect May"},{"id":"s2","task":"Collect Ju',
        '{"steps":[{"id":"s1","task":"Collect May"},',
        '{"steps":[{"id":"s1","task":"Collect May"}',
    ],
)
@pytest.mark.parametrize("truncated", [True, False])
def test_half_a_plan_is_no_plan(text: str, truncated: bool) -> None:
    answer = read_object(text, Plan, truncated=truncated)
    assert isinstance(answer, Unreadable)
    assert "cut off" in answer.reason or "not complete" in answer.reason


def test_a_plan_is_repaired_as_a_whole() -> None:
    text = "{'steps': [{'id': 's1', 'task': 'a',}, {'id': 's2', 'task': 'b'},]}"
    answer = read_object(text, Plan)
    assert isinstance(answer, Plan)
    assert [step.task for step in answer.steps] == ["a", "b"]


@pytest.mark.parametrize(
    ("text", "part"),
    [
        ("", "empty"),
        ("fine", "no JSON object"),
        ('{"analysis":"x"}', "verdict: Field required"),
        ('{"analysis":"x","verdict":"YES"}', "'PASS', 'RETRY' or 'REPLAN'"),
        ('{"a":1}', "none of the fields analysis, suggestion, verdict"),
        (GOOD + OTHER, "two answers"),
        ('{"analysis":"x","verdict":"PASS"', "not complete"),
        ('{"verdict":"PASS","verdict":"RETRY","analysis":"x"}', "twice"),
        ('{"analysis":"x","n":NaN}', "NaN"),
    ],
)
def test_the_reason_says_what_to_mend(text: str, part: str) -> None:
    answer = read_object(text, Review)
    assert isinstance(answer, Unreadable)
    assert part in answer.reason
    assert len(answer.reason) <= 200


class Condition(BaseModel):
    name: str
    met: Literal["yes", "no", "unknown"]


class Report(BaseModel):
    conditions: list[Condition]
    mood: Word | None = None


def test_enum_words_count_in_any_case_wherever_they_stand() -> None:
    text = '{"conditions":[{"name":"a","met":"YES"},{"name":"b","met":"No"}],"mood":"replan"}'
    answer = read_object(text, Report)
    assert isinstance(answer, Report)
    assert [item.met for item in answer.conditions] == ["yes", "no"]
    assert answer.mood is Word.REPLAN


def test_json_values_prefers_fences_and_keeps_the_order() -> None:
    assert json_values('{"a":1} and {"b":2} [3]') == [{"a": 1}, {"b": 2}, [3]]
    assert json_values('{"a":1}\n```json\n{"b":2}\n{"c":3}\n```\n{"d":4}') == [{"b": 2}, {"c": 3}]
    assert json_values("{'a':1}") == []
    assert json_values('{"a":1} {"b":') == []


def test_a_run_ends_where_something_else_begins() -> None:
    assert decode_run('{"a":1}; {"b":2},\n[3] x') == ([{"a": 1}, {"b": 2}, [3]], 22)
    assert decode_run("prose {}") == ([], 0)
    assert decode_run('{"a":1} {"b"') == ([{"a": 1}], 8)


@pytest.mark.parametrize(
    ("text", "rest"),
    [
        ("no tags, I think", "no tags, I think"),
        ("<think>a</think>b", "b"),
        ("a</think>b", "b"),
        ("a<think>b", "a"),
        ("<think>a</think>b<think>c</think>d", "bd"),
        ("<think>a<think>b</think>c</think>d", "d"),
        ("<think>", ""),
    ],
)
def test_thinking_is_removed(text: str, rest: str) -> None:
    assert strip_thinking(text) == rest
