"""Prompts: both languages take the same values, and what they render is known."""

import re
from typing import get_args

import pytest
from jinja2 import UndefinedError, meta
from jinja2.sandbox import SandboxedEnvironment
from syrupy.assertion import SnapshotAssertion
from tree import ROOT

from hansei import Settings
from hansei.nodes.prompting import TEMPLATES, block, new_nonce, render, template
from hansei.policies.follow_up import Turn
from hansei.policies.words import Language

LANGUAGES: tuple[Language, ...] = get_args(Language)

STEP = {
    "id": 1,
    "description": "look up order 42001",
    "tool": "query_order",
    "result": "order 42001 has arrived",
    "reason": "no such order",
}
VALUES: dict[str, object] = {
    "tools": [{"tool": "query_order", "name": "query_order(order_id)", "description": "an order"}],
    "goal": "has order 42001 arrived?",
    "max_steps": 7,
    "history": [Turn("user", "hello"), Turn("assistant", "<data-1>…</data-1>")],
    "earlier": ["has order 42000 arrived?"],
    "answer_language": "English",
    "description": "look up order 42001",
    "tool": "query_order",
    "inputs": [{"description": "find the number", "result": "it is 42001"}],
    "hint": "name the date",
    "failed_text": "it arrived",
    "finished_calls": ["query_order({})"],
    "conditions": [{"id": 1, "quote": "42001"}],
    "chain": ["step: PASS fine"],
    "signals": ["something is missing"],
    "evidence": ["<data-1>…</data-1>"],
    "result": "<data-1>…</data-1>",
    "first_id": 4,
    "done": [STEP],
    "failed": [STEP],
    "waiting": [STEP],
    "undone": [STEP],
    "brief": "whether it arrived",
    "answer": "<data-1>…</data-1>",
    "problems": ["no JSON"],
    "fields": "analysis, verdict",
    "must_call": False,
}


def _variables(name: str, language: Language) -> set[str]:
    source = (ROOT / "nodes" / "prompts" / f"{name}.{language}.j2").read_text(encoding="utf-8")
    return meta.find_undeclared_variables(SandboxedEnvironment().parse(source))


@pytest.mark.parametrize("name", TEMPLATES)
def test_both_languages_take_the_same_values_and_have_the_same_parts(name: str) -> None:
    assert _variables(name, "zh") == _variables(name, "en")
    assert set(template(name, "zh").blocks) == set(template(name, "en").blocks)
    assert _variables(name, "zh") <= set(VALUES)


@pytest.mark.parametrize("language", LANGUAGES)
@pytest.mark.parametrize("name", TEMPLATES)
def test_rendered_prompts_are_as_known(
    name: str, language: Language, snapshot: SnapshotAssertion
) -> None:
    parts = {
        part: block(name, part, language, **VALUES) for part in template(name, language).blocks
    }
    assert parts == snapshot


@pytest.mark.parametrize("language", LANGUAGES)
@pytest.mark.parametrize("name", [n for n in TEMPLATES if n != "repair"])
def test_optional_values_may_be_empty(name: str, language: Language) -> None:
    empty = {k: type(v)() if isinstance(v, str | list) else v for k, v in VALUES.items()}
    for message in render(name, language, settings=Settings(), **empty):
        assert message.text.strip()


@pytest.mark.parametrize("name", [n for n in TEMPLATES if n != "repair"])
def test_a_value_that_is_not_given_is_an_error(name: str) -> None:
    with pytest.raises(UndefinedError):
        render(name, "en", settings=Settings())


@pytest.mark.parametrize("language", LANGUAGES)
@pytest.mark.parametrize("name", [n for n in TEMPLATES if n != "repair"])
def test_prompts_begin_with_who_asks(name: str, language: Language) -> None:
    first = block(name, "system", language, **VALUES).splitlines()[0]
    assert re.fullmatch(rf"\[hansei:(\w+) {language}\]", first)


def test_nonces_differ() -> None:
    assert len({new_nonce() for _ in range(100)}) == 100
