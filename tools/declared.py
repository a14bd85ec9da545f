"""What a tool says about itself, and what hansei asks of tools before it works with them.

A tool declares what a call does in its metadata, for instance
`metadata={"hansei": {"effect": "read", "volatile": True}}`.
"""

import re
from collections.abc import Iterable, Mapping
from typing import Literal, cast

from langchain_core.tools import BaseTool

from hansei.policies.errors import UserError

Effect = Literal["read", "idempotent", "once"]
"""What a call does to the world: nothing; the same however often; something each time."""

EFFECTS: tuple[Effect, ...] = ("read", "idempotent", "once")
"""All of them, the least careful first."""

METADATA_KEY = "hansei"
"""Where a tool's metadata says what hansei should know about it."""

_MCP_HINTS: tuple[tuple[str, Effect], ...] = (
    ("readOnlyHint", "read"),
    ("idempotentHint", "idempotent"),
)
"""What an MCP server says of its tool, as langchain-mcp-adapters puts it into the metadata, and
what that means; the first that holds counts."""

TOOL_NAME = re.compile(r"[A-Za-z0-9_-]{1,64}")
"""What OpenAI-compatible endpoints take as the name of a function."""


def check_tools(tools: Iterable[object]) -> None:
    """Refuse tools that cannot be called, told apart, or trusted to be what they say.

    Raises:
        UserError: Something is no tool, a name is not one that endpoints take, two tools
            have the same name, or a tool's metadata for hansei is wrong.
    """
    names: list[str] = []
    for each in tools:
        if not isinstance(each, BaseTool):
            raise UserError(
                f"{each!r:.80} is not a tool; make it one with @tool of langchain_core.tools."
            )
        if not TOOL_NAME.fullmatch(each.name):
            raise UserError(
                f"The tool name {each.name!r} cannot be called by a model; "
                "use 1 to 64 letters, digits, _ or -."
            )
        tool_effect(each)
        tool_is_volatile(each)
        names.append(each.name)
    twice = sorted({name for name in names if names.count(name) > 1})
    if twice:
        raise UserError(f"Two tools have the same name ({', '.join(twice)}); rename one of them.")


def tool_effect(tool: BaseTool) -> Effect:
    """Return what a call of the tool does, from its `metadata={"hansei": {"effect": …}}`.

    Where that says nothing, the hints of an MCP server count. A tool that does not say counts as
    `once`, the most careful reading.

    Raises:
        UserError: The metadata says something else than read, idempotent or once.
    """
    declared = _declared(tool).get("effect", _effect_by_hint(tool))
    for effect in EFFECTS:
        if declared == effect:
            return effect
    raise UserError(
        f"The tool {tool.name!r} declares the effect {declared!r}; "
        f"it must be one of {', '.join(EFFECTS)}."
    )


def is_declared(tool: BaseTool) -> bool:
    """Return whether the tool says what its calls do."""
    return "effect" in _declared(tool) or any(
        isinstance((tool.metadata or {}).get(hint), bool) for hint, _ in _MCP_HINTS
    )


def _effect_by_hint(tool: BaseTool) -> Effect:
    metadata = tool.metadata or {}
    for hint, effect in _MCP_HINTS:
        if metadata.get(hint) is True:
            return effect
    return "once"


def tool_is_volatile(tool: BaseTool) -> bool:
    """Return whether the same call may answer differently, so that a retry must ask again.

    From `metadata={"hansei": {"volatile": True}}`; a tool that does not say is not.

    Raises:
        UserError: The metadata says something else than true or false.
    """
    declared = _declared(tool).get("volatile", False)
    if not isinstance(declared, bool):
        raise UserError(
            f"The tool {tool.name!r} declares volatile as {declared!r}; it must be True or False."
        )
    return declared


def _declared(tool: BaseTool) -> Mapping[str, object]:
    declared: object = (tool.metadata or {}).get(METADATA_KEY, {})
    if not isinstance(declared, Mapping):
        raise UserError(
            f"The metadata {METADATA_KEY!r} of the tool {tool.name!r} is {declared!r}; "
            'it must be a mapping such as {"effect": "read"}.'
        )
    return cast("Mapping[str, object]", declared)
