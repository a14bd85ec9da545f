"""What a goal must be before anything is spent on it."""

from collections.abc import Mapping
from typing import cast

from langchain_core.messages import HumanMessage

from hansei.policies.errors import UserError
from hansei.policies.fencing import sendable
from hansei.policies.narrow import as_mapping
from hansei.policies.state import AgentInput, AgentState
from hansei.policies.text import is_blank

MAX_GOAL = 20_000
"""Characters of a goal. Longer than any question; what is longer is material, not a goal."""


_EMPTY = "The goal is empty; say in a sentence what is to be done"

_KEYLESS = (
    f'{_EMPTY}, as {{"goal": "…"}} or {{"messages": […]}} with a human message '
    "(other keys are not read)."
)
"""LangGraph drops the keys that a graph does not know, so a misspelt one shows only here."""


def checked_goal(text: str) -> str:
    """The goal without blanks around it.

    Raises:
        UserError: There is no goal, or it is too long.
    """
    # Bytes of a command line that are no text come as half characters, which nothing can send.
    goal = sendable(text).strip()
    if is_blank(goal):
        msg = f"{_EMPTY}."
        raise UserError(msg)
    if len(goal) > MAX_GOAL:
        msg = (
            f"The goal has {len(goal)} characters and at most {MAX_GOAL} are allowed; "
            "give long material to a tool and keep the goal to what is to be done."
        )
        raise UserError(msg)
    return goal


def check_input(given: object) -> None:
    """Refuse an input that asks nothing: on a thread, an earlier question would be asked again.

    Raises:
        UserError: It is a mapping without a goal and messages.
    """
    values = cast("Mapping[object, object]", given) if isinstance(given, Mapping) else None
    if values is not None and not {"goal", "messages"} & set(values):
        raise UserError(_KEYLESS)


def asked_for(given: object) -> str:
    """What an input asks, before it is checked, for whoever looks for a run that left nothing else.

    Args:
        given: What the graph is invoked with; anything but an input asks nothing.
    """
    if isinstance(given, AgentInput):
        return sendable(given.goal or _last_text(given.messages))
    values = as_mapping(given)
    return sendable(str(values.get("goal") or "") or _last_text(values.get("messages")))


def _last_text(messages: object) -> str:
    if not isinstance(messages, list) or not messages:
        return ""
    last: object = cast("list[object]", messages)[-1]
    content: object = getattr(last, "content", as_mapping(last).get("content", last))
    return content if isinstance(content, str) else ""


def choose_goal(state: AgentState) -> tuple[str, str]:
    """The goal of this run, and the id of the message it was taken from.

    A new human message on the thread is the goal, unless a new `goal` was given beside it.

    Raises:
        UserError: There is no goal, or it is too long.
    """
    humans = [m for m in state.messages if isinstance(m, HumanMessage)]
    last = humans[-1] if humans else None
    new_message = last is not None and (last.id or "") != state.asked
    goal, asked = state.goal, state.asked
    if last is not None and new_message and (not goal.strip() or goal == state.asked_goal):
        goal, asked = last.text, last.id or ""
    if not goal.strip() and not humans:
        raise UserError(_KEYLESS)
    return checked_goal(goal), asked
