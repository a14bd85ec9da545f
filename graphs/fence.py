"""What a run may still write once another process has taken its thread: nothing.

A process that was stopped for longer than its lease does not know that another one has gone on with
the run. So whatever a run writes stands in one transaction with the question whether the row of its
thread is its own still, and the answer holds until the write is done, since it locks the row.
"""

from collections.abc import Generator, Sequence
from contextlib import contextmanager
from contextvars import ContextVar
from dataclasses import dataclass

from langchain_core.runnables import RunnableConfig
from langchain_core.runnables.config import var_child_runnable_config
from langgraph.errors import GraphBubbleUp
from langgraph.store.base import Op, PutOp

from hansei.policies.errors import UserError

HOLD = "__pregel_hansei_hold"
"""Where a config tells the hold of its run. LangGraph shows and keeps no key of this beginning."""

FENCE = "UPDATE hansei_runs SET owner = owner WHERE thread_id = ? AND owner = ?"
"""Changes one row, or none. Being the first of a transaction it also waits until the file is free;
a look that is followed by a write does not."""

FENCE_POSTGRES = (
    "SELECT 1 / count(*) FROM (SELECT 1 FROM hansei_runs "
    "WHERE thread_id = %s AND owner = %s FOR SHARE) AS held"
)
"""Fails where there is no such row: within a pipeline nothing else can be told in time."""

_OURS = "hansei"
"""What the namespaces of the store begin with that a run writes to; others are the tools'."""


class ThreadBusyError(UserError):
    """Another run is under way on the thread."""


class Overtaken(GraphBubbleUp):
    """A node may not go on. LangGraph hands on what is of this kind, and notes nothing of it."""


@dataclass(eq=False, slots=True)
class Hold:
    """One run's right to write to its thread."""

    table: object
    """The run table in which it stands; `None` where nobody else can take the thread."""
    thread_id: str
    owner: str
    lost: bool = False
    """Somebody else has the thread by now."""

    @property
    def key(self) -> tuple[str, str]:
        """The row that is this hold."""
        return self.thread_id, self.owner

    def overtaken(self) -> ThreadBusyError:
        """Note that it is lost, and what to say of it."""
        self.lost = True
        msg = (
            f"Another process has taken over the thread {self.thread_id}, since this one was "
            "silent for too long; nothing more is written here."
        )
        return ThreadBusyError(msg)

    def check(self) -> None:
        """Refuse to go on where it is known to be lost.

        Raises:
            ThreadBusyError: As said.
        """
        if self.lost:
            raise self.overtaken()

    def of(self, config: RunnableConfig | None) -> RunnableConfig:
        """A config with which a run is told what it writes under."""
        given: RunnableConfig = config or {}
        return {**given, "configurable": {**given.get("configurable", {}), HOLD: self}}


_writing: ContextVar[Hold | None] = ContextVar("hansei_writing", default=None)


def hold_of(config: RunnableConfig | None, table: object, *, thread: object = None) -> Hold | None:
    """The hold under which something is written.

    Args:
        config: Of whoever writes.
        table: The run table of the database that is written to.
        thread: The thread that is written to; `None`: whichever the hold is of.
    """
    found: object = (config or {}).get("configurable", {}).get(HOLD)
    if not isinstance(found, Hold) or found.table is not table:
        return None
    return found if thread is None or found.thread_id == str(thread) else None


def hold_here(table: object, namespace: tuple[str, ...]) -> Hold | None:
    """The hold of the run whose node is at work, where it writes to a namespace of ours."""
    if namespace[:1] != (_OURS,):
        return None
    return hold_of(var_child_runnable_config.get(), table)


def hold_for(ops: Sequence[Op], table: object) -> Hold | None:
    """The same for what a store is to do."""
    found = (hold_here(table, op.namespace) for op in ops if isinstance(op, PutOp))
    return next((hold for hold in found if hold is not None), None)


@contextmanager
def writing(hold: Hold | None) -> Generator[None]:
    """While the block runs, what is written stands under a hold.

    Raises:
        ThreadBusyError: It is known to be lost.
    """
    if hold is None:
        yield
        return
    hold.check()
    token = _writing.set(hold)
    try:
        yield
    finally:
        _writing.reset(token)


@contextmanager
def from_a_node(hold: Hold | None) -> Generator[None]:
    """The same for a node, which would take an error for that of a tool or a step.

    Raises:
        Overtaken: It is lost.
    """
    try:
        with writing(hold):
            yield
    except ThreadBusyError as exc:
        raise Overtaken from exc


def being_written() -> Hold | None:
    """The hold under which something is being written."""
    return _writing.get()
