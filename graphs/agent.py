"""The compiled graph that hansei hands out: LangGraph's own, with one run at a time on a thread."""

from collections.abc import AsyncIterator, Iterator, Mapping, Sequence
from contextlib import AbstractContextManager, nullcontext
from typing import TYPE_CHECKING, TypeVar, cast

from langchain_core.runnables import RunnableConfig
from langchain_core.runnables.config import merge_configs
from langgraph.graph.state import CompiledStateGraph
from langgraph.types import StateSnapshot, StateUpdate

from hansei.graphs.in_thread import in_a_thread
from hansei.graphs.run_table import RunTable
from hansei.policies.edit_shapes import checked_edit
from hansei.policies.errors import UserError
from hansei.policies.narrow import as_mapping
from hansei.policies.settings import Settings
from hansei.policies.state import AgentInput, AgentState

THREAD_NAME = "thread_name"
"""Where in a config's metadata the user's own name of a thread may stand."""

EDITED_AS = "reflector"
"""The node in whose name every edit of a run's state is made."""

_WORKING = frozenset({"planner", "approval", "executor", "tools", "replanner", "synthesizer"})

_NO_NODES = frozenset({"__input__", "__copy__", "__end__"})
"""Names that LangGraph gives to an input, a copy and an end, whose values are no edit."""

Base = CompiledStateGraph[AgentState, Settings, AgentInput, AgentState]


class Agent(Base):
    """A compiled agent: LangGraph's own invoke, stream, get_state and the rest work on it.

    With a saver of `open_checkpointer` a second run on a thread that has one under way is refused
    with a `ThreadBusyError`, before anything is written.
    """

    if not TYPE_CHECKING:  # the checkers keep LangGraph's own overloads

        def stream(
            self, input: object, config: RunnableConfig | None = None, **options: object
        ) -> Iterator[object]:
            """See LangGraph's `stream`; `invoke` and `batch` come through here as well."""
            with self._held(input, config):
                yield from super().stream(input, config, **options)

        async def astream(
            self, input: object, config: RunnableConfig | None = None, **options: object
        ) -> AsyncIterator[object]:
            """See LangGraph's `astream`; `ainvoke` and `abatch` come through here as well."""
            async with in_a_thread(self._held(input, config)):
                async for part in super().astream(input, config, **options):
                    yield part

        def bulk_update_state(
            self, config: RunnableConfig, supersteps: Sequence[Sequence[StateUpdate]]
        ) -> RunnableConfig:
            """See LangGraph's `bulk_update_state`; `update_state` comes through here as well."""
            with self._held(None, config, edit=True):
                edits = _as_edits(supersteps, self.get_state(config))
                return super().bulk_update_state(config, edits)

        async def abulk_update_state(
            self, config: RunnableConfig, supersteps: Sequence[Sequence[StateUpdate]]
        ) -> RunnableConfig:
            """See LangGraph's `abulk_update_state`; `aupdate_state` comes through here as well."""
            async with in_a_thread(self._held(None, config, edit=True)):
                edits = _as_edits(supersteps, await self.aget_state(config))
                return await super().abulk_update_state(config, edits)

    def _held(
        self, given: object, config: RunnableConfig | None, *, edit: bool = False
    ) -> AbstractContextManager[None]:
        runs: object = getattr(cast("object", self.checkpointer), "runs", None)  # pyright: ignore[reportUnknownMemberType] - a bare saver there
        merged = merge_configs(self.config, config)
        place = merged.get("configurable", {})
        thread: object = place.get("thread_id")
        if not place.get("checkpoint_ns"):
            check_input(given)
        # Inside another graph the thread is that graph's.
        if not isinstance(runs, RunTable) or thread is None or place.get("checkpoint_ns"):
            return nullcontext()
        name: object = merged.get("metadata", {}).get(THREAD_NAME, "")
        return runs.held(str(thread), goal=_goal_of(given), name=str(name), edit=edit)


def check_input(given: object) -> None:
    """Refuse an input that asks nothing: LangGraph drops the keys that a graph does not know.

    On a thread with an earlier question that one would be asked again.

    Raises:
        UserError: It is a mapping without a goal and messages.
    """
    values = cast("Mapping[object, object]", given) if isinstance(given, Mapping) else None
    if values is not None and not {"goal", "messages"} & set(values):
        msg = (
            "The goal is empty; say in a sentence what is to be done, as "
            '{"goal": "…"} or {"messages": […]} with a human message (other keys are not read).'
        )
        raise UserError(msg)


def _planned(values: object) -> bool:
    """Whether a run has got past its planner."""
    known = as_mapping(values)
    return bool(known.get("steps") or known.get("answer"))


def _as_edits(
    supersteps: Sequence[Sequence[StateUpdate]], snapshot: StateSnapshot
) -> list[list[StateUpdate]]:
    """Edits in the name of the reflector, whoever's name they bear.

    An edit drops the tasks that were under way, and only the edge of the node that it is made as
    says what follows. The reflector's edge knows; executor and tools have none.

    Raises:
        UserError: An edit cannot be merged into the state, or there is no plan yet to edit.
    """
    before: object = snapshot.values
    planned = _planned(before)
    edits: list[list[StateUpdate]] = []
    for superstep in supersteps:
        edits.append([_as_edit(update, before, planned=planned) for update in superstep])
        before = {}  # only the first one meets the state that was read
    return edits


def _as_edit(update: StateUpdate, before: object, *, planned: bool) -> StateUpdate:
    if update.values is None or update.as_node in _NO_NODES:
        return update
    values = checked_edit(update.values, before)
    if update.as_node in _WORKING or (planned and update.as_node is None):
        return update._replace(values=values, as_node=EDITED_AS)
    if update.as_node is None and {"steps", "verdict"} & set(values):
        msg = "There is no plan at that point yet, so there is no step or verdict to change."
        raise UserError(msg)
    return update._replace(values=values)


A = TypeVar("A", bound=Agent)


def agent_of(compiled: Base, kind: type[A]) -> A:
    """The same graph as an `Agent` of some kind, made the way in which LangGraph copies one."""
    parts = {k: v for k, v in vars(compiled).items() if k != "__orig_class__"}
    return kind(**parts)


def _goal_of(given: object) -> str:
    """What is asked, for whoever looks for a run that left nothing else."""
    if isinstance(given, AgentInput):
        return given.goal or _last_text(given.messages)
    values = as_mapping(given)
    return str(values.get("goal") or "") or _last_text(values.get("messages"))


def _last_text(messages: object) -> str:
    if not isinstance(messages, list) or not messages:
        return ""
    last: object = cast("list[object]", messages)[-1]
    content: object = getattr(last, "content", as_mapping(last).get("content", last))
    return content if isinstance(content, str) else ""
