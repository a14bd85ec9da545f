"""What an agent may be made of: each argument that cannot be is refused in one sentence.

Typed code never gets here with a wrong type. Notebooks and scripts do, and would meet an error
from somewhere inside.
"""

from collections.abc import Iterable, Mapping
from contextlib import AbstractContextManager
from typing import cast

from langchain_core.language_models import BaseChatModel
from langchain_core.tools import BaseTool
from langgraph.checkpoint.base import BaseCheckpointSaver
from langgraph.store.base import BaseStore

from hansei.policies.errors import UserError
from hansei.policies.plain_model import did_you_mean
from hansei.policies.settings import Settings
from hansei.policies.words import ROLES
from hansei.tools.declared import METADATA_KEY, check_tools, is_declared

DECLARED_KEYS = ("effect", "volatile")
"""What a tool's metadata for hansei may say: all that `tools.declared` reads."""


def check_models(model: object, critic: object) -> None:
    """Refuse what is no chat model, and roles that do not exist.

    Raises:
        UserError: As said.
    """
    if critic is not None:
        _check_model("critic", critic)
    if not isinstance(model, Mapping):
        _check_model("model", model)
        return
    for role, each in cast("Mapping[object, object]", model).items():
        if role not in ROLES:
            near = did_you_mean(str(role), list(ROLES))
            msg = f"There is no role {role!r}{near}; there are: {', '.join(ROLES)}."
            raise UserError(msg)
        _check_model(f"the model of the {role}", each)


def _check_model(name: str, value: object) -> None:
    if isinstance(value, BaseChatModel):
        return
    how = "use chat_model() or any chat model of LangChain"
    if isinstance(value, str):
        how = f"use chat_model({value!r:.80}) for a model by its name"
    elif isinstance(value, type):
        how = "make one of the class and give that"
    msg = f"{name} must be a chat model, and {_given(value)} was given; {how}."
    raise UserError(msg)


def check_settings(settings: object) -> None:
    """Refuse settings that are none.

    Raises:
        UserError: As said.
    """
    if settings is None or isinstance(settings, Settings):
        return
    given = _given(settings)
    how = "Settings(**…)" if isinstance(settings, Mapping) else "Settings(…)"
    msg = f"settings must be a Settings, and {given} was given; write {how}."
    raise UserError(msg)


def checked_tools(tools: object) -> list[BaseTool]:
    """The tools as a list.

    Raises:
        UserError: They are no list, something in it is no tool, two share a name, or what a tool
            declares about itself cannot be.
    """
    if isinstance(tools, BaseTool):
        msg = f"tools must be a list, and one tool was given; write tools=[{tools.name}]."
        raise UserError(msg)
    if isinstance(tools, str | bytes) or not isinstance(tools, Iterable):
        how = "leave it out for an agent without tools"
        if isinstance(tools, str):
            how = f"hansei.tools.loading.load_tools({tools!r:.80}) finds tools by their name"
        elif callable(tools):
            how = "make it a tool with @tool of langchain_core.tools, and put that into a list"
        msg = f"tools must be a list of tools, and {_given(tools)} was given; {how}."
        raise UserError(msg)
    found = list(cast("Iterable[BaseTool]", tools))
    check_tools(found)
    for tool in found:
        _check_declared(tool)
    return found


def _check_declared(tool: BaseTool) -> None:
    declared = cast("Mapping[object, object]", (tool.metadata or {}).get(METADATA_KEY, {}))
    for key in declared:
        if key not in DECLARED_KEYS:
            near = did_you_mean(str(key), list(DECLARED_KEYS))
            msg = (
                f"The tool {tool.name!r} declares {key!r}, which means nothing{near}; "
                f"a tool may declare: {', '.join(DECLARED_KEYS)}."
            )
            raise UserError(msg)


def undeclared_effects(tools: Iterable[BaseTool]) -> str:
    """A sentence that names the tools which do not say what their calls do; empty if all do."""
    names = [tool.name for tool in tools if not is_declared(tool)]
    if not names:
        return ""
    return (
        f"No effect is declared for {', '.join(names)}, so each call counts as changing something; "
        'say so with metadata={"hansei": {"effect": "once"}}, or "read" where it only reads, or '
        '"idempotent" where a second call does no harm.'
    )


def check_checks(checks: object) -> None:
    """Refuse checks that are no list of functions.

    Raises:
        UserError: As said.
    """
    given = _given(checks)
    if callable(checks) and not isinstance(checks, Iterable):
        name = getattr(checks, "__name__", "my_check")
        msg = f"checks must be a list, and one function was given; write checks=[{name}]."
        raise UserError(msg)
    if isinstance(checks, str | bytes | Mapping) or not isinstance(checks, Iterable):
        msg = (
            f"checks must be a list of functions, and {given} was given; "
            "leave it out for an agent without rules of your own."
        )
        raise UserError(msg)
    for each in cast("Iterable[object]", checks):
        if not callable(each):
            msg = (
                f"A check must be a function from CheckInput to a Finding or None, "
                f"and {_given(each)} was given; take it out of checks."
            )
            raise UserError(msg)


def check_stores(checkpointer: object, store: object) -> None:
    """Refuse what is no saver or no store of LangGraph's.

    Raises:
        UserError: As said.
    """
    given = _given(checkpointer)
    # LangGraph takes a truth value for a graph inside another one: the outer one's saver, or none.
    if not isinstance(checkpointer, BaseCheckpointSaver | bool | None):
        how = 'use open_checkpointer("runs.db")'
        if isinstance(checkpointer, AbstractContextManager):
            how = "open it first: with open_checkpointer(…) as saver"
        msg = f"checkpointer must be a saver of LangGraph, and {given} was given; {how}."
        raise UserError(msg)
    if not isinstance(store, BaseStore | None):
        msg = (
            f"store must be a store of LangGraph, and {_given(store)} was given; "
            "leave it out to keep long outputs in memory."
        )
        raise UserError(msg)


def _given(value: object) -> str:
    """What was given, in a few words."""
    if value is None:
        return "None"
    if isinstance(value, type):
        return f"the class {value.__name__}"
    if isinstance(value, str | bytes | int | float):
        return f"{value!r:.80}"
    return f"a {type(value).__name__}"
