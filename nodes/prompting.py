"""Prompts: files beside this module, rendered strictly, with a version in every record."""

import secrets
from collections.abc import Mapping, Sequence
from dataclasses import replace
from functools import cache

from jinja2 import Environment, PackageLoader, StrictUndefined, Template
from langchain_core.messages import BaseMessage, HumanMessage, SystemMessage

from hansei.policies.fencing import fenced
from hansei.policies.follow_up import Turn
from hansei.policies.words import Language

PROMPT_VERSION = "2"
"""Raise it when a prompt changes what it asks for, so that records stay comparable."""

TEMPLATES = (
    "planner",
    "executor",
    "reflector",
    "replanner",
    "synthesizer",
    "synthesizer_failed",
    "reviewer",
    "repair",
)
"""Every prompt; each has a Chinese and an English file."""

LANGUAGE_NAMES: Mapping[Language, Mapping[Language, str]] = {
    "zh": {"zh": "中文", "en": "英文"},
    "en": {"zh": "Chinese", "en": "English"},
}
"""The answer's language, named in the prompt's language."""

Value = object


@cache
def _environment() -> Environment:
    return Environment(
        loader=PackageLoader("hansei.nodes", "prompts"),
        undefined=StrictUndefined,
        trim_blocks=True,
        lstrip_blocks=True,
        autoescape=False,  # noqa: S701 - prompts are plain text, not HTML
    )


@cache
def template(name: str, language: Language) -> Template:
    """One prompt file, parsed."""
    return _environment().get_template(f"{name}.{language}.j2")


def load_all() -> None:
    """Read every prompt file now, so that nothing is read from disk inside a run."""
    for name in TEMPLATES:
        for language in ("zh", "en"):
            template(name, language)


def block(name: str, part: str, language: Language, **values: Value) -> str:
    """One block of a prompt.

    Raises:
        jinja2.UndefinedError: A variable of the prompt was not given.
    """
    source = template(name, language)
    values.setdefault("answer_language", LANGUAGE_NAMES[language][language])
    return "".join(source.blocks[part](source.new_context(dict(values)))).strip()


def render(name: str, language: Language, **values: Value) -> list[BaseMessage]:
    """A prompt as its system and its user message."""
    return [
        SystemMessage(block(name, "system", language, **values)),
        HumanMessage(block(name, "user", language, **values)),
    ]


def shown_turns(turns: Sequence[Turn]) -> list[Turn]:
    """The conversation as a prompt shows it: each turn on one line, what was answered fenced."""
    nonce = new_nonce()
    return [
        replace(
            turn,
            text=" ".join(turn.text.split())
            if turn.speaker == "user"
            else fenced(turn.text, nonce=nonce, label="assistant"),
        )
        for turn in turns
    ]


def new_nonce() -> str:
    """A fresh mark for the fence around data: 8 hexadecimal digits cannot be guessed in a run."""
    return secrets.token_hex(4)
