"""What an edit of the state may look like, and as whose it is made, before it is merged.

Edits come as JSON, from Studio or from a client, and so may hold anything. What is merged into the
state by a rule of its own is checked here; for the rest the state's own types are enough.
"""

from collections.abc import Mapping, Sequence
from typing import cast

from langgraph.graph.message import Messages, add_messages
from langgraph.types import Overwrite, StateUpdate
from pydantic import BaseModel

from hansei.policies.errors import UserError
from hansei.policies.narrow import as_list, as_mapping
from hansei.policies.plain_model import SHOWN, did_you_mean
from hansei.policies.records import Reflection, RoleUsage
from hansei.policies.state import AgentState

_SHAPES: Mapping[str, str] = {
    "steps": "an object with the numbers of steps, each with the fields to change",
    "usage": "an object with the names of roles, each with the fields of its usage",
    "reflections": "a list of reflections",
    "messages": 'a message such as {"role": "user", "content": "…"}, or a list of them',
}
"""The fields that are merged, and what may be given for each."""

_YOURS = frozenset(
    {"steps", "verdict", "messages", "brief", "conditions", "order", "notes", "language"}
    | {"reflections", "usage"}  # only added to
)
"""Fields of a planned run that an edit may change. The others are the record of what was done, and
what follows from it: they change with the steps."""


_EDITED_AS = "reflector"
"""The node in whose name every edit of a run's state is made."""

_WORKING = frozenset({"planner", "approval", "executor", "tools", "replanner", "synthesizer"})

_NO_NODES = frozenset({"__input__", "__copy__", "__end__"})
"""Names that LangGraph gives to an input, a copy and an end, whose values are no edit."""


def as_edits(
    supersteps: Sequence[Sequence[StateUpdate]], values: object
) -> list[list[StateUpdate]]:
    """Edits in the name of the reflector, whoever's name they bear.

    An edit drops the tasks that were under way, and only the edge of the node that it is made as
    says what follows. The reflector's edge knows; executor and tools have none.

    Args:
        supersteps: What LangGraph's `bulk_update_state` was given.
        values: The values that stand there.

    Raises:
        UserError: An edit cannot be merged into the state, or there is no plan yet to edit.
    """
    known = as_mapping(values)
    planned = bool(known.get("steps") or known.get("answer"))
    # Only the first superstep meets the values that were read.
    met: list[object] = [values, *([None] * len(supersteps[1:]))]
    return [
        [_as_edit(update, before, planned=planned) for update in superstep]
        for superstep, before in zip(supersteps, met, strict=True)
    ]


def _as_edit(update: StateUpdate, before: object, *, planned: bool) -> StateUpdate:
    if update.values is None or update.as_node in _NO_NODES:
        return update
    values = checked_edit(update.values, before)
    if planned:
        _check_yours(values)
    if update.as_node in _WORKING or (planned and update.as_node is None):
        return update._replace(values=values, as_node=_EDITED_AS)
    if update.as_node is None and {"steps", "verdict"} & set(values):
        msg = "There is no plan at that point yet, so there is no step or verdict to change."
        raise UserError(msg)
    return update._replace(values=values)


def _check_yours(values: Mapping[str, object]) -> None:
    """Refuse what is not for a human to say: that all is verified, or what it has cost.

    Raises:
        UserError: As said.
    """
    for name, value in values.items():
        if name not in _YOURS:
            AgentState.model_validate({name: value})  # what cannot be at all is told first
            msg = (
                f"The state field {name!r} follows from what was done and cannot be set by hand; "
                "change a step or give a verdict."
            )
            raise UserError(msg)
        if name == "steps" and _replaces(value):
            msg = "Steps are changed one by one, and all of them stay on record."
            raise UserError(msg)


def checked_edit(edit: object, values: object) -> dict[str, object]:
    """An edit of the state that can be merged, without what stands there already.

    Studio sends back all that it showed. What nobody has changed must not count: usage is added up.

    Args:
        edit: The values of the edit.
        values: The values that stand there.

    Raises:
        UserError: It is no object, there is no such field, or a field cannot be that.
    """
    if not isinstance(edit, Mapping):
        msg = f"An edit is an object of state fields, and {edit!r:.{SHOWN}} was given."
        raise UserError(msg)
    fields = cast("Mapping[str, object]", edit)
    for name, value in fields.items():
        if name not in AgentState.model_fields:
            near = did_you_mean(name, list(AgentState.model_fields))
            known = ", ".join(AgentState.model_fields)
            msg = f"There is no state field {name!r:.{SHOWN}}{near}; there are: {known}."
            raise UserError(msg)
        if name in _SHAPES and not _replaces(value) and not _fits(name, value):
            must = _SHAPES[name]
            msg = f"The state field {name!r} cannot be {value!r:.{SHOWN}}: it must be {must}."
            raise UserError(msg)
    stands = as_mapping(values)
    shown = AgentState.model_validate(dict(stands)).model_dump(mode="json") if stands else {}
    return {
        name: value for name, value in fields.items() if name not in shown or shown[name] != value
    }


def _replaces(value: object) -> bool:
    """Whether it stands in place of what is there, in LangGraph's words, and is not merged."""
    fields = as_mapping(value)
    return (
        isinstance(value, Overwrite)
        or set(fields) == {"__overwrite__"}
        or fields.get("type") == "__overwrite__"
    )


def _fits(name: str, value: object) -> bool:
    if name in ("steps", "usage"):
        parts = list(as_mapping(value).values())
        known = isinstance(value, Mapping)
    else:
        parts = as_list(value)
        known = isinstance(value, list)
    try:
        if name == "messages":
            add_messages([], cast("Messages", value))
            return True
        if name == "usage":
            [RoleUsage.model_validate(part) for part in parts]
        if name == "reflections":
            [Reflection.model_validate(part) for part in parts]
    except (ValueError, TypeError, NotImplementedError):
        return False
    return known and all(isinstance(part, Mapping | BaseModel) for part in parts)
