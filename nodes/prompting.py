"""Prompts: files beside this module, rendered strictly, with a version in every record."""

import re
import secrets
from collections.abc import Mapping, Sequence
from dataclasses import replace
from functools import cache
from typing import TYPE_CHECKING

from langchain_core.messages import BaseMessage, HumanMessage, SystemMessage

from hansei.policies.answers import told_reason
from hansei.policies.fencing import fenced, one_line
from hansei.policies.follow_up import Turn
from hansei.policies.prompt_edits import edit_mark, fill_in
from hansei.policies.records import Condition, Step
from hansei.policies.run_context import PROMPTS, edited_prompt
from hansei.policies.settings import Settings
from hansei.policies.words import Language

if TYPE_CHECKING:
    from jinja2 import Environment, Template

PROMPT_VERSION = "3"
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

_MARK = re.compile(r"\A\s*\[hansei:\w+ \w+\]\s*")
"""The first line of every prompt: who asks, for logs and for servers that keep prefixes."""


@cache
def _environment() -> "Environment":
    from jinja2 import Environment, PackageLoader, StrictUndefined

    return Environment(
        loader=PackageLoader("hansei.nodes", "prompts"),
        undefined=StrictUndefined,
        trim_blocks=True,
        lstrip_blocks=True,
        autoescape=False,  # noqa: S701 - prompts are plain text, not HTML
    )


@cache
def template(name: str, language: Language) -> "Template":
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
    (text,) = _blocks(name, (part,), language, values)
    return text


def render(
    name: str, language: Language, *, settings: Settings, **values: Value
) -> list[BaseMessage]:
    """A prompt as its system and its user message.

    The instructions in the first may be the run's own. What a retry must do differently and the
    data of the call are not part of them.
    """
    retries = "retry" in template(name, language).blocks
    parts = ("system", "user", "retry") if retries else ("system", "user")
    system, user, *retry = _blocks(name, parts, language, values)
    edited = edited_prompt(settings, name)
    if edited is not None:
        mark = system.partition("\n")[0]
        told = fill_in(_without_mark(edited), {key: values[key] for key in PROMPTS[name]})
        system = f"{mark}\n{told}"
    system = "\n".join([system, *retry]).strip()
    return [SystemMessage(system), HumanMessage(user)]


def _blocks(
    name: str, parts: Sequence[str], language: Language, values: Mapping[str, Value]
) -> list[str]:
    source = template(name, language)
    context = source.new_context({"answer_language": LANGUAGE_NAMES[language][language], **values})
    return ["".join(source.blocks[part](context)).strip() for part in parts]


def prompt_version(settings: Settings, name: str) -> str:
    """The version of a prompt for the record, which also says whether a user has edited it."""
    edited = edited_prompt(settings, name)
    return PROMPT_VERSION if edited is None else f"{PROMPT_VERSION} {edit_mark(edited)}"


def _without_mark(text: str) -> str:
    """The text without the first line of the prompt that it was copied from."""
    return _MARK.sub("", text, count=1)


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


def shown_conditions(conditions: Sequence[Condition]) -> list[dict[str, object]]:
    """The goal's conditions as a judge is shown them, each on one line."""
    return [{"id": item.id, "quote": one_line(item.quote)} for item in conditions]


def shown_failure(step: Step, language: Language) -> dict[str, str]:
    """A step that was not done, and why, as a prompt's list shows it."""
    return {
        "description": one_line(step.description),
        "reason": one_line(told_reason(step, language)),
    }


def new_nonce() -> str:
    """A fresh mark for the fence around data: 8 hexadecimal digits cannot be guessed in a run."""
    return secrets.token_hex(4)
