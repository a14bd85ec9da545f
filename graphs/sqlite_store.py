"""The stores on a SQLite file: each with a second way into the same table.

A commit waits until the disk has the data, so that nothing is lost when the power fails. That is
right for the journal. How often a round of calls has ended the process is of use only where the
process ended and the machine did not: then the data are safe with the system, on disk or not.
"""

import sqlite3
from collections.abc import AsyncGenerator, Generator, Iterable
from contextlib import asynccontextmanager, contextmanager

import aiosqlite
from langgraph.store.base import BaseStore, Op, Result
from langgraph.store.sqlite import SqliteStore
from langgraph.store.sqlite.aio import AsyncSqliteStore

from hansei.graphs.fence import FENCE, being_written, from_a_node, hold_for
from hansei.graphs.fenced_stores import FencedAsyncStore

UNSYNCED = "PRAGMA synchronous=NORMAL"
"""With a write-ahead log a commit is safe against the end of the process, and waits for no disk."""


class _Fenced(SqliteStore):
    def __init__(self, connection: sqlite3.Connection, *, runs: object) -> None:
        super().__init__(connection)
        self._runs = runs

    def batch(self, ops: Iterable[Op]) -> list[Result]:
        """Do it, unless it is written by a run that has lost its thread."""
        asked = list(ops)
        with from_a_node(hold_for(asked, self._runs)):
            return super().batch(asked)

    @contextmanager
    def _cursor(self, *, transaction: bool = True) -> Generator[sqlite3.Cursor]:
        with super()._cursor(transaction=transaction) as cursor:
            hold = being_written()
            if hold is not None and not cursor.execute(FENCE, hold.key).rowcount:
                raise hold.overtaken()
            yield cursor


class RunStore(_Fenced):
    """For calls that block.

    Attributes:
        unsynced: The same table, for what need not outlive a power cut.
    """

    def __init__(
        self, connection: sqlite3.Connection, *, quick: sqlite3.Connection | None, runs: object
    ) -> None:
        """Take over open connections; without a second one there is one way in."""
        super().__init__(connection, runs=runs)
        self.unsynced: BaseStore = self
        if quick is not None:
            quick.execute(UNSYNCED)
            self.unsynced = _Fenced(quick, runs=runs)


class _AsyncFenced(FencedAsyncStore, AsyncSqliteStore):
    def __init__(self, connection: aiosqlite.Connection, *, runs: object) -> None:
        super().__init__(connection)
        self.runs = runs

    @asynccontextmanager
    async def _cursor(self, *, transaction: bool = True) -> AsyncGenerator[aiosqlite.Cursor]:
        async with super()._cursor(transaction=transaction) as cursor:
            hold = being_written()
            if hold is not None:
                await cursor.execute(FENCE, hold.key)
                if not cursor.rowcount:
                    raise hold.overtaken()
            yield cursor


class AsyncRunStore(_AsyncFenced):
    """The same for the running event loop."""

    def __init__(
        self,
        connection: aiosqlite.Connection,
        *,
        quick: aiosqlite.Connection | None,
        runs: object,
    ) -> None:
        """Take over open connections; the second one has been told not to wait."""
        super().__init__(connection, runs=runs)
        self.unsynced: BaseStore = self if quick is None else _AsyncFenced(quick, runs=runs)
