"""The compiled graph that hansei hands out: LangGraph's own, with one run at a time on a thread."""

from collections.abc import AsyncIterator, Iterator, Sequence
from contextlib import AbstractContextManager, aclosing, closing, nullcontext
from typing import TYPE_CHECKING, TypeVar, cast

from langchain_core.runnables import RunnableConfig
from langchain_core.runnables.config import merge_configs
from langgraph.graph.state import CompiledStateGraph
from langgraph.types import StateUpdate

from hansei.graphs.fence import Hold
from hansei.graphs.in_thread import in_a_thread
from hansei.graphs.run_table import RunTable
from hansei.policies.edit_shapes import as_edits
from hansei.policies.goals import asked_for, check_input
from hansei.policies.settings import Settings
from hansei.policies.state import AgentInput, AgentState

THREAD_NAME = "thread_name"
"""Where in a config's metadata the user's own name of a thread may stand."""

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
            with (
                self._held(input, config) as hold,
                # Closed here, since nobody else would before the thread is let go.
                closing(super().stream(input, _under(hold, config), **options)) as parts,
            ):
                for part in parts:
                    yield part
                    if hold is not None:
                        hold.check()

        async def astream(
            self, input: object, config: RunnableConfig | None = None, **options: object
        ) -> AsyncIterator[object]:
            """See LangGraph's `astream`; `ainvoke` and `abatch` come through here as well."""
            async with (
                in_a_thread(self._held(input, config)) as hold,
                aclosing(super().astream(input, _under(hold, config), **options)) as parts,
            ):
                async for part in parts:
                    yield part
                    if hold is not None:
                        hold.check()

        def bulk_update_state(
            self, config: RunnableConfig, supersteps: Sequence[Sequence[StateUpdate]]
        ) -> RunnableConfig:
            """See LangGraph's `bulk_update_state`; `update_state` comes through here as well."""
            with self._held(None, config, edit=True) as hold:
                edits = as_edits(supersteps, self.get_state(config).values)
                return super().bulk_update_state(_under(hold, config), edits)

        async def abulk_update_state(
            self, config: RunnableConfig, supersteps: Sequence[Sequence[StateUpdate]]
        ) -> RunnableConfig:
            """See LangGraph's `abulk_update_state`; `aupdate_state` comes through here as well."""
            async with in_a_thread(self._held(None, config, edit=True)) as hold:
                edits = as_edits(supersteps, (await self.aget_state(config)).values)
                return await super().abulk_update_state(_under(hold, config), edits)

    def _held(
        self, given: object, config: RunnableConfig | None, *, edit: bool = False
    ) -> AbstractContextManager[Hold | None]:
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
        return runs.held(str(thread), goal=asked_for(given), name=str(name), edit=edit)


def _under(hold: Hold | None, config: RunnableConfig | None) -> RunnableConfig | None:
    return config if hold is None else hold.of(config)


A = TypeVar("A", bound=Agent)


def agent_of(compiled: Base, kind: type[A]) -> A:
    """The same graph as an `Agent` of some kind, made the way in which LangGraph copies one."""
    parts = {k: v for k, v in vars(compiled).items() if k != "__orig_class__"}
    return kind(**parts)
