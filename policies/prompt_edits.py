"""A prompt that a user has written: what it may hold, and its text for one call of a model."""

import hashlib
from collections.abc import Mapping
from functools import cache, lru_cache
from typing import TYPE_CHECKING

from hansei.policies.errors import UserError
from hansei.policies.fencing import sendable

if TYPE_CHECKING:
    from jinja2 import Template
    from jinja2.sandbox import ImmutableSandboxedEnvironment

PROMPT_LENGTH = 20_000
"""Most characters of a prompt: with more, a window of 8,000 tokens has no room for data."""

_DIGITS = 8
"""Hexadecimal digits that tell one edit from another in a record."""

_PARTS = frozenset({"Template", "Output", "TemplateData", "Name", "If", "Not", "And", "Or"})
"""What a template may be made of. Loops, filters, calls and includes are not among it: a prompt
needs none, and each is a way to make a run hang or to read what is not a prompt's."""

_MAY_HOLD = "it may hold text, {{ variable }} and {% if variable %} … {% endif %}"


@cache
def _sandbox() -> "ImmutableSandboxedEnvironment":
    from jinja2 import StrictUndefined
    from jinja2.sandbox import ImmutableSandboxedEnvironment

    return ImmutableSandboxedEnvironment(
        undefined=StrictUndefined,
        trim_blocks=True,
        lstrip_blocks=True,
        autoescape=False,
    )


def checked_prompt(name: str, text: str, samples: Mapping[str, object]) -> str:
    """The prompt without half characters, if it can be rendered.

    Args:
        name: What the user calls it.
        text: The prompt.
        samples: A value of every variable that it may name.

    Raises:
        UserError: It is too long or empty, is no template, or asks for more than there is.
    """
    from jinja2 import TemplateSyntaxError, nodes

    text = sendable(text)
    if len(text) > PROMPT_LENGTH:
        msg = f"The prompt {name} is longer than {PROMPT_LENGTH:,} characters; shorten it."
        raise UserError(msg)
    try:
        tree = _sandbox().parse(text)
    except TemplateSyntaxError as exc:
        msg = f"The prompt {name} cannot be read in line {exc.lineno}; {_MAY_HOLD}."
        raise UserError(msg) from None
    if any(type(part).__name__ not in _PARTS for part in (tree, *tree.find_all(nodes.Node))):
        msg = f"The prompt {name} holds more than it may; {_MAY_HOLD}."
        raise UserError(msg)
    unknown = {part.name for part in tree.find_all(nodes.Name)} - set(samples)
    if unknown:
        msg = (
            f"The prompt {name} names {', '.join(sorted(unknown))}, which it does not have; "
            f"it may name: {', '.join(samples)}."
        )
        raise UserError(msg)
    if not fill_in(text, samples):
        msg = f"The prompt {name} says nothing; leave it out for the one that comes with hansei."
        raise UserError(msg)
    return text


def fill_in(text: str, values: Mapping[str, object]) -> str:
    """The text of a prompt that was checked, with its variables filled in."""
    return _template(text).render(values).strip()


@lru_cache(maxsize=64)  # as many prompts as a process uses at a time
def _template(text: str) -> "Template":
    return _sandbox().from_string(text)


def edit_mark(text: str) -> str:
    """What tells this edit of a prompt from another one in a record."""
    return f"edited {hashlib.sha256(text.encode('utf-8')).hexdigest()[:_DIGITS]}"
