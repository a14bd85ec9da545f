"""The saver on a SQLite file: own connection, write-ahead log, patience, and an allow-list."""

import asyncio
import sqlite3
from collections.abc import AsyncGenerator, Generator, Sequence
from contextlib import AsyncExitStack, ExitStack, asynccontextmanager, contextmanager
from pathlib import Path
from typing import Literal, TypedDict
from uuid import uuid4

import aiosqlite
from langchain_core.runnables import RunnableConfig
from langgraph.checkpoint.base import ChannelVersions, Checkpoint, CheckpointMetadata
from langgraph.checkpoint.serde.jsonplus import JsonPlusSerializer
from langgraph.checkpoint.sqlite import SqliteSaver
from langgraph.checkpoint.sqlite.aio import AsyncSqliteSaver
from langgraph.store.base import BaseStore
from langgraph.store.sqlite import SqliteStore
from langgraph.store.sqlite.aio import AsyncSqliteStore

from hansei.graphs.run_table import RunTable
from hansei.nodes.kit import SHELVES
from hansei.policies import budget, records, state, words
from hansei.policies.errors import OperatorError
from hansei.tools.outcome import OutcomeStatus

BUSY_TIMEOUT = 5.0
"""Seconds to wait for another writer: with 0.2 s, eight processes on one file failed 12 times
in 80 runs; with 5 s, never."""

SAVED_TYPES: tuple[type, ...] = (
    state.AgentInput,
    state.StepTask,
    state.StepInput,
    records.ToolCall,
    records.Round,
    records.Attempt,
    records.Finding,
    records.ConditionAnswer,
    records.VerdictRecord,
    records.Ruling,
    records.Gates,
    records.Waiting,
    records.Step,
    records.Reflection,
    records.Condition,
    records.AnswerAttempt,
    records.RoleUsage,
    budget.Spent,
    OutcomeStatus,
    words.Verdict,
    words.VerdictSource,
    words.StepStatus,
    words.Progress,
    words.AcceptedReason,
    words.AnswerStatus,
    words.RunStatus,
    words.FindingKind,
    words.Fault,
)
"""Everything that a checkpoint may hold besides plain values and messages. A row that names
any other type is not revived: without this list the serializer imports and calls what a row
says (CVE-2026-28277)."""


def serializer() -> JsonPlusSerializer:
    """The serializer that revives only what is ours."""
    return JsonPlusSerializer(allowed_msgpack_modules=SAVED_TYPES)


class Checkpointer(SqliteSaver):
    """LangGraph's saver on a SQLite file, with what belongs beside the checkpoints.

    Attributes:
        store: Long tool outputs and the journal of calls that change something.
        runs: Which thread has a run under way.
    """

    def __init__(
        self, connection: sqlite3.Connection, *, store: SqliteStore, runs: RunTable
    ) -> None:
        """Take over an open connection."""
        super().__init__(connection, serde=serializer())
        self.store: BaseStore = store
        self.runs = runs

    def forget(self, thread_id: str) -> None:
        """Delete a thread: its checkpoints, what its runs keep beside them, and its row.

        Raises:
            ThreadBusyError: It has a run under way.
        """
        config: RunnableConfig = {"configurable": {"thread_id": thread_id}}
        with self.runs.held(thread_id):
            runs = {
                str(found.checkpoint["channel_values"].get("run_id") or "-")
                for found in self.list(config)
            }
            for shelf in SHELVES.values():
                for run in runs:
                    place = (*shelf, run)
                    while items := self.store.search(place, limit=100):
                        for item in items:
                            self.store.delete(place, item.key)
            self.delete_thread(thread_id)
        self.runs.forget(thread_id)


class AsyncCheckpointer(AsyncSqliteSaver):
    """The same for `ainvoke` and `astream`."""

    def __init__(
        self, connection: aiosqlite.Connection, *, store: AsyncSqliteStore, runs: RunTable
    ) -> None:
        """Take over an open connection of the running event loop."""
        super().__init__(connection, serde=serializer())
        self.store: BaseStore = store
        self.runs = runs

    async def aput(
        self,
        config: RunnableConfig,
        checkpoint: Checkpoint,
        metadata: CheckpointMetadata,
        new_versions: ChannelVersions,
    ) -> RunnableConfig:
        """Write a checkpoint, to its end also where the run is cancelled.

        A write that stops before its commit would keep the file locked for everybody.
        """
        return await asyncio.shield(super().aput(config, checkpoint, metadata, new_versions))

    async def aput_writes(
        self,
        config: RunnableConfig,
        writes: Sequence[tuple[str, object]],
        task_id: str,
        task_path: str = "",
    ) -> None:
        """Write what tasks have returned, to its end as well."""
        await asyncio.shield(super().aput_writes(config, writes, task_id, task_path))


@contextmanager
def open_checkpointer(path: str | Path) -> Generator[Checkpointer]:
    """Open a SQLite file as a checkpointer, and close it afterwards.

    The saver brings the store for long tool outputs and for the journal of calls that change
    something, in the same file, and refuses a second run on a thread that has one under way.

    Args:
        path: The file; its folder is made. `:memory:` lives as long as the block.

    Raises:
        OperatorError: The file cannot be opened, or is no database, or was written by another
            version of hansei.
    """
    with ExitStack() as stack:
        with _for_the_operator(path):
            name = _place(path)
            runs = RunTable(_connect(name, stack))
            _check_version(_connect(name, stack), name)
            store = SqliteStore(_connect(name, stack, own_transactions=True))
            saver = Checkpointer(_connect(name, stack), store=store, runs=runs)
            saver.setup()
            store.setup()
        yield saver


@asynccontextmanager
async def aopen_checkpointer(path: str | Path) -> AsyncGenerator[AsyncCheckpointer]:
    """Open a SQLite file as a checkpointer for `ainvoke` and `astream`, and close it afterwards.

    Args:
        path: The file; its folder is made. `:memory:` lives as long as the block.

    Raises:
        OperatorError: As for `open_checkpointer`.
    """
    async with AsyncExitStack() as stack:
        with _for_the_operator(path):
            name = _place(path)
            _check_version(_connect(name, stack), name)
            runs = RunTable(_connect(name, stack))
            store = AsyncSqliteStore(await _aconnect(name, stack, own_transactions=True))
            saver = AsyncCheckpointer(await _aconnect(name, stack), store=store, runs=runs)
            await saver.setup()
            await store.setup()
        yield saver


def store_beside(checkpointer: object) -> BaseStore | None:
    """The store that a saver of ours brings."""
    if isinstance(checkpointer, Checkpointer | AsyncCheckpointer):
        return checkpointer.store
    return None


def _place(path: str | Path) -> str:
    """The file's name for SQLite; memory is shared between the connections of one block."""
    if str(path) == ":memory:":
        return f"file:hansei-{uuid4()}?mode=memory&cache=shared"
    place = Path(path).expanduser()
    place.parent.mkdir(parents=True, exist_ok=True)
    return str(place)


def _connect(
    name: str, stack: ExitStack | AsyncExitStack, *, own_transactions: bool = False
) -> sqlite3.Connection:
    connection = sqlite3.connect(name, check_same_thread=False, **_options(name, own_transactions))
    stack.callback(connection.close)
    connection.execute("PRAGMA journal_mode=WAL")
    return connection


async def _aconnect(
    name: str, stack: AsyncExitStack, *, own_transactions: bool = False
) -> aiosqlite.Connection:
    options = _options(name, own_transactions)
    return await stack.enter_async_context(aiosqlite.connect(name, **options))


class _Options(TypedDict):
    timeout: float
    uri: bool
    isolation_level: Literal["DEFERRED"] | None


def _options(name: str, own_transactions: bool) -> _Options:
    """LangGraph's stores begin their transactions themselves, its savers leave that to Python."""
    return {
        "timeout": BUSY_TIMEOUT,
        "uri": name.startswith("file:"),
        "isolation_level": None if own_transactions else "DEFERRED",
    }


def _check_version(connection: sqlite3.Connection, name: str) -> None:
    """Refuse a database whose states this version would read wrongly; mark a new one."""
    with connection:
        connection.execute("CREATE TABLE IF NOT EXISTS hansei_meta (state_version INTEGER)")
        found = connection.execute("SELECT state_version FROM hansei_meta").fetchone()
        if found is None:
            connection.execute("INSERT INTO hansei_meta VALUES (?)", (state.STATE_VERSION,))
    if found is not None and found[0] != state.STATE_VERSION:
        msg = (
            f"The database {name} holds states of version {found[0]}, and this hansei reads "
            f"version {state.STATE_VERSION}; use the hansei that wrote it, or another file."
        )
        raise OperatorError(msg)


@contextmanager
def _for_the_operator(path: str | Path) -> Generator[None]:
    try:
        yield
    except (OSError, RuntimeError, sqlite3.Error) as exc:  # RuntimeError: ~ of nobody
        msg = f"The database {path} cannot be used ({exc}); give another file with --db."
        raise OperatorError(msg) from exc
