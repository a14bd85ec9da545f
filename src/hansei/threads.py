"""Threads of the command line: their names, their database, and what stands in it."""

from collections.abc import Generator, Iterable
from contextlib import contextmanager
from pathlib import Path
from typing import TYPE_CHECKING
from uuid import NAMESPACE_URL, UUID, uuid5

from langchain_core.runnables import RunnableConfig
from langgraph.types import StateSnapshot
from pydantic import ValidationError

from hansei.graphs.checkpoints import Checkpointer, open_checkpointer
from hansei.graphs.damage import DamagedThreadError
from hansei.graphs.database import default_database
from hansei.graphs.run_table import RunRow
from hansei.graphs.saving import is_ours
from hansei.policies.errors import UserError
from hansei.policies.narrow import as_mapping
from hansei.policies.phrases import say
from hansei.policies.places import is_postgres, shown
from hansei.policies.state import AgentState
from hansei.policies.words import RunStatus

if TYPE_CHECKING:  # the graph is only loaded by the commands that need it
    from hansei.history import Moment


def thread_id(name: str) -> str:
    """The thread's UUID: the name itself where it is one, else one made from it.

    LangGraph Studio only takes UUIDs, so every thread gets one.
    """
    try:
        return str(UUID(name))
    except ValueError:
        return str(uuid5(NAMESPACE_URL, f"hansei:{name}"))


def stored_id(saver: Checkpointer, name: str) -> str:
    """The id under which a thread is kept: a program may have used the name itself as one."""
    itself: RunnableConfig = {"configurable": {"thread_id": name}}
    try:
        return name if saver.get_tuple(itself) is not None else thread_id(name)
    except DamagedThreadError:
        return name


def load_history(thread: str, db: str | Path | None) -> list["Moment"]:
    """The checkpoints of a thread, the oldest first, read without a model."""
    from hansei.graphs.plan_execute import reading_agent
    from hansei.history import history

    with _named(thread), existing(db) as saver:
        place: RunnableConfig = {"configurable": {"thread_id": stored_id(saver, thread)}}
        return history(reading_agent(saver), place)


def load_state(thread: str, db: str | Path | None, *, checkpoint: str | None = None) -> AgentState:
    """The state of a thread, read without a model.

    Args:
        thread: Name or UUID of the thread.
        db: A SQLite file or a Postgres URL; `None` is the default file.
        checkpoint: Number or id of a checkpoint; `None` is the newest.

    Raises:
        UserError: There is no such thread, or no such checkpoint on it.
        DamagedThreadError: What is kept of it cannot be read.
    """
    if checkpoint is not None:
        from hansei.history import find_checkpoint

        load_state(thread, db)
        return find_checkpoint(load_history(thread, db), checkpoint).state
    from hansei.graphs.plan_execute import reading_agent

    with _named(thread), existing(db) as saver:
        place = stored_id(saver, thread)
        found = reading_agent(saver).get_state({"configurable": {"thread_id": place}})
        row = saver.runs.row(place)
        if row is None and found.values and not is_ours(found.values):
            where = shown(db or default_database())
            msg = f"The thread {thread!r} in {where} is another program's, not hansei's."
            raise UserError(msg)
        state = state_of(found)
    if state is None:
        msg = f"There is no thread {thread!r} in {shown(db or default_database())}."
        if row is not None:
            msg = (
                f"The run on thread {thread!r} ({row.goal!r:.80}) was accepted, and nothing of it "
                "was kept yet; if it was stopped, run it again."
            )
        raise UserError(msg)
    return with_reason(state, row)


def with_reason(state: AgentState, row: RunRow | None) -> AgentState:
    """The state with why it is no end, where it is none: only the run's row tells that."""
    if state.status is not RunStatus.RUNNING:
        return state
    stopped = row is None or not row.under_way
    why = (row.note if row else "") or "The run was stopped before it ended."
    return state.model_copy(update={"reason": why if stopped else "The run is under way."})


def state_of(found: StateSnapshot) -> AgentState | None:
    """What a checkpoint holds, and where the run waits there for an answer, the question.

    Raises:
        DamagedThreadError: It holds no state that could be.
    """
    known = {k: v for k, v in as_mapping(found.values).items() if k in AgentState.model_fields}
    if not known:
        return None
    try:
        state = AgentState.model_validate(known)
    except ValidationError as exc:
        thread: object = found.config.get("configurable", {}).get("thread_id")
        raise DamagedThreadError.from_reader(thread, exc) from exc
    if not found.interrupts:
        return state
    # A tool or a node has stopped to ask somebody, and the run waits.
    asked: object = found.interrupts[0].value
    told = as_mapping(asked).get("question") or asked
    question = say("waits", state.language, question=str(told))
    waiting = {"status": RunStatus.NEEDS_HUMAN, "reason": question, "answer": question}
    return state.model_copy(update=waiting)


def standings(saver: Checkpointer, rows: Iterable[RunRow]) -> dict[str, str]:
    """How each thread stands, in a few words, by its id."""
    from hansei.graphs.plan_execute import reading_agent

    agent = reading_agent(saver)
    found: dict[str, str] = {}
    for row in rows:
        try:
            state = state_of(agent.get_state({"configurable": {"thread_id": row.thread_id}}))
        except DamagedThreadError:
            found[row.thread_id] = "damaged"
            continue
        if row.under_way:
            found[row.thread_id] = "under way"
        elif state is None:
            found[row.thread_id] = "nothing kept"
        elif state.status is RunStatus.NEEDS_HUMAN and not state.needs_human:
            found[row.thread_id] = "waits for an answer"
        elif state.status is RunStatus.RUNNING:
            found[row.thread_id] = "stopped"
        else:
            found[row.thread_id] = state.status.value
    return found


def old_threads(rows: Iterable[RunRow], *, days: float, now: float) -> list[RunRow]:
    """The threads whose last run began so many days ago, and is not under way."""
    return [row for row in rows if row.accepted_at < now - days * 86_400 and not row.under_way]


def existing_place(db: str | Path | None) -> str | Path:
    """The database, if there is one.

    Raises:
        UserError: There is none.
    """
    place = db or default_database()
    if not is_postgres(place) and not Path(place).expanduser().exists():
        msg = f"There is no database {place}; run something first, or give its file with --db."
        raise UserError(msg)
    return place


@contextmanager
def existing(db: str | Path | None) -> Generator[Checkpointer]:
    """The database, open, if there is one.

    Raises:
        UserError: There is none.
        OperatorError: It has failed.
    """
    with (
        open_checkpointer(existing_place(db)) as saver,
        saver.runs.failures_told(then="try again"),
    ):
        yield saver


@contextmanager
def _named(thread: str) -> Generator[None]:
    """Tell of damage under the name that the user knows."""
    try:
        yield
    except DamagedThreadError as exc:
        raise DamagedThreadError(repr(thread), exc.why) from exc
