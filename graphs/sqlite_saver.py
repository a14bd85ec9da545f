"""The savers on a SQLite file: own connections, write-ahead log, and patience."""

import asyncio
import sqlite3
from collections.abc import AsyncGenerator, Generator, Sequence
from contextlib import AsyncExitStack, ExitStack, asynccontextmanager, contextmanager
from functools import partial
from pathlib import Path
from typing import Literal, TypedDict
from uuid import uuid4

import aiosqlite
from langchain_core.runnables import RunnableConfig
from langgraph.checkpoint.base import ChannelVersions, Checkpoint, CheckpointMetadata
from langgraph.checkpoint.serde.base import SerializerProtocol
from langgraph.checkpoint.sqlite import SqliteSaver
from langgraph.checkpoint.sqlite.aio import AsyncSqliteSaver
from langgraph.store.sqlite import SqliteStore

from hansei.graphs.fence import FENCE, being_written
from hansei.graphs.packing import PackedSerializer
from hansei.graphs.run_table import RunTable
from hansei.graphs.saving import SAVED_TYPES, AsyncCheckpointer, Checkpointer
from hansei.graphs.sqlite_fence import CommitFence, FencedConnection
from hansei.graphs.sqlite_store import UNSYNCED, AsyncRunStore, RunStore
from hansei.graphs.state_mark import mark, refuse_foreign
from hansei.graphs.tables import SqliteTables
from hansei.policies.errors import OperatorError

BUSY_TIMEOUT = 5.0
"""Seconds to wait for another writer: with 0.2 s, eight processes on one file failed 12 times
in 80 runs; with 5 s, never."""


class SqliteCheckpointer(Checkpointer, SqliteSaver):
    """On a SQLite file, for `invoke` and `stream`."""

    def __init__(self, connection: sqlite3.Connection, *, store: RunStore, runs: RunTable) -> None:
        """Take over an open connection."""
        super().__init__(connection, serde=PackedSerializer(allowed_msgpack_modules=SAVED_TYPES))
        self.store = store
        self.runs = runs

    @contextmanager
    def cursor(self, transaction: bool = True) -> Generator[sqlite3.Cursor]:
        """A cursor; one that writes for a run has first seen that its thread is its own."""
        with super().cursor(transaction) as cursor:
            hold = being_written()
            if hold is not None and not cursor.execute(FENCE, hold.key).rowcount:
                raise hold.overtaken()
            yield cursor


class _Undoing(AsyncSqliteSaver):
    """LangGraph's saver, which lets go of the file when a write has failed in the middle.

    It would leave its transaction open, and the file locked for everybody else. One that writes for
    a run sees in the same transaction that its thread is its own.
    """

    def __init__(
        self, connection: aiosqlite.Connection, *, serde: SerializerProtocol, fence: CommitFence
    ) -> None:
        """Take over an open connection of the running event loop, and what its commits ask."""
        super().__init__(connection, serde=serde)
        self._one_writer = asyncio.Lock()
        self._fence = fence

    async def aput(
        self,
        config: RunnableConfig,
        checkpoint: Checkpoint,
        metadata: CheckpointMetadata,
        new_versions: ChannelVersions,
    ) -> RunnableConfig:
        """Write a checkpoint, or nothing."""
        async with self._undone():
            return await super().aput(config, checkpoint, metadata, new_versions)

    async def aput_writes(
        self,
        config: RunnableConfig,
        writes: Sequence[tuple[str, object]],
        task_id: str,
        task_path: str = "",
    ) -> None:
        """Write what tasks have returned, or nothing."""
        async with self._undone():
            await super().aput_writes(config, writes, task_id, task_path)

    async def adelete_thread(self, thread_id: str) -> None:
        """Delete a thread, or nothing."""
        async with self._undone():
            await super().adelete_thread(thread_id)

    @asynccontextmanager
    async def _undone(self) -> AsyncGenerator[None]:
        async with self._one_writer:
            self._fence.hold = being_written()
            try:
                yield
            except BaseException:
                async with self.lock:
                    await self.conn.rollback()
                raise


class AsyncSqliteCheckpointer(AsyncCheckpointer, _Undoing):
    """On a SQLite file, for `ainvoke` and `astream`."""

    def __init__(
        self,
        connection: aiosqlite.Connection,
        *,
        fence: CommitFence,
        store: AsyncRunStore,
        runs: RunTable,
    ) -> None:
        """Take over an open connection of the running event loop, and what its commits ask."""
        super().__init__(
            connection, serde=PackedSerializer(allowed_msgpack_modules=SAVED_TYPES), fence=fence
        )
        self.store = store
        self.runs = runs


@contextmanager
def open_sqlite(path: str | Path) -> Generator[SqliteCheckpointer]:
    """Open a file for calls that block; see `open_checkpointer`."""
    with ExitStack() as stack:
        with for_the_operator(path):
            name = _place(path)
            runs = _runs(name, path, stack)
            _prepare_store(_connect(name, stack, own_transactions=True))
            quick = None if _in_memory(name) else _connect(name, stack, own_transactions=True)
            store = RunStore(_connect(name, stack, own_transactions=True), quick=quick, runs=runs)
            saver = SqliteCheckpointer(_connect(name, stack), store=store, runs=runs)
            saver.setup()
            store.setup()
        yield saver


@asynccontextmanager
async def aopen_sqlite(path: str | Path) -> AsyncGenerator[AsyncSqliteCheckpointer]:
    """Open a file for the running event loop; see `aopen_checkpointer`."""
    async with AsyncExitStack() as stack:
        with for_the_operator(path):
            # In a thread: the loop is often a server's, and other runs wait for it.
            name, runs = await asyncio.to_thread(_opened_tables, path, stack)
            quick = (
                None if _in_memory(name) else await _aconnect(name, stack, own_transactions=True)
            )
            if quick is not None:
                await quick.execute(UNSYNCED)
            store = AsyncRunStore(
                await _aconnect(name, stack, own_transactions=True), quick=quick, runs=runs
            )
            fence = CommitFence()
            saver = AsyncSqliteCheckpointer(
                await _aconnect(name, stack, fence=fence), fence=fence, store=store, runs=runs
            )
            await saver.setup()
            await store.setup()
        yield saver


def _opened_tables(path: str | Path, stack: AsyncExitStack) -> tuple[str, RunTable]:
    name = _place(path)
    runs = _runs(name, path, stack)
    _prepare_store(_connect(name, stack, own_transactions=True))
    return name, runs


def _runs(name: str, path: str | Path, stack: ExitStack | AsyncExitStack) -> RunTable:
    # Looked at before anything is written: the file may be another program's.
    looked_at = SqliteTables(_connect(name, stack, untouched=True))
    refuse_foreign(looked_at, place=str(path), alone=True)
    tables = SqliteTables(_connect(name, stack))
    mark(tables, place=str(path))
    return RunTable(tables, place=str(path), alone=_in_memory(name))


def _prepare_store(connection: sqlite3.Connection) -> None:
    """Make the store's tables as a whole or not at all, by one process at a time.

    The store would make them one by one, each without a note of what is done: killed in between, or
    beside another process, it never gets through again.
    """
    connection.execute("BEGIN IMMEDIATE")
    try:
        connection.execute("CREATE TABLE IF NOT EXISTS store_migrations (v INTEGER PRIMARY KEY)")
        (done,) = connection.execute("SELECT coalesce(max(v), -1) FROM store_migrations").fetchone()
        for number, script in enumerate(SqliteStore.MIGRATIONS):
            if number > done:
                for statement in _statements(script):
                    _add(connection, statement)
                connection.execute("INSERT INTO store_migrations (v) VALUES (?)", (number,))
    except BaseException:
        connection.execute("ROLLBACK")
        raise
    connection.execute("COMMIT")


def _statements(script: str) -> Generator[str]:
    statement = ""
    for part in script.split(";"):
        statement += f"{part};"
        if sqlite3.complete_statement(statement):
            if statement.strip() != ";":
                yield statement
            statement = ""


def _add(connection: sqlite3.Connection, statement: str) -> None:
    try:
        connection.execute(statement)
    except sqlite3.OperationalError as exc:
        # An earlier version was killed between the column and the note of it.
        if "duplicate column name" not in str(exc):
            raise


def _place(path: str | Path) -> str:
    """The file's name for SQLite; memory is shared between the connections of one block."""
    if str(path) == ":memory:":
        return f"file:hansei-{uuid4()}?mode=memory&cache=shared"
    place = Path(path).expanduser()
    place.parent.mkdir(parents=True, exist_ok=True)
    return str(place)


def _in_memory(name: str) -> bool:
    return name.startswith("file:")


def _connect(
    name: str,
    stack: ExitStack | AsyncExitStack,
    *,
    own_transactions: bool = False,
    untouched: bool = False,
) -> sqlite3.Connection:
    connection = sqlite3.connect(name, check_same_thread=False, **_options(name, own_transactions))
    stack.callback(connection.close)
    if not untouched:
        connection.execute("PRAGMA journal_mode=WAL")
    return connection


async def _aconnect(
    name: str,
    stack: AsyncExitStack,
    *,
    own_transactions: bool = False,
    fence: CommitFence | None = None,
) -> aiosqlite.Connection:
    options = _options(name, own_transactions)
    factory = partial(FencedConnection, fence or CommitFence())
    return await stack.enter_async_context(aiosqlite.connect(name, factory=factory, **options))


class _Options(TypedDict):
    timeout: float
    uri: bool
    isolation_level: Literal["DEFERRED"] | None


def _options(name: str, own_transactions: bool) -> _Options:
    """LangGraph's stores begin their transactions themselves, its savers leave that to Python."""
    return {
        "timeout": BUSY_TIMEOUT,
        "uri": _in_memory(name),
        "isolation_level": None if own_transactions else "DEFERRED",
    }


@contextmanager
def for_the_operator(path: str | Path) -> Generator[None]:
    """Tell what goes wrong while a file is opened in one sentence."""
    try:
        yield
    except OperatorError:
        raise
    except (OSError, RuntimeError, sqlite3.Error) as exc:  # RuntimeError: ~ of nobody
        msg = f"The database {path} cannot be used ({exc}); give another file with --db."
        raise OperatorError(msg) from exc
