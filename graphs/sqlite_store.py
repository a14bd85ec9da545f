"""The stores on a SQLite file: each with a second way into the same table.

A commit waits until the disk has the data, so that nothing is lost when the power fails. That is
right for the journal. How often a round of calls has ended the process is of use only where the
process ended and the machine did not: then the data are safe with the system, on disk or not.
"""

import sqlite3

import aiosqlite
from langgraph.store.base import BaseStore
from langgraph.store.sqlite import SqliteStore
from langgraph.store.sqlite.aio import AsyncSqliteStore

UNSYNCED = "PRAGMA synchronous=NORMAL"
"""With a write-ahead log a commit is safe against the end of the process, and waits for no disk."""


class RunStore(SqliteStore):
    """For calls that block.

    Attributes:
        unsynced: The same table, for what need not outlive a power cut.
    """

    def __init__(self, connection: sqlite3.Connection, *, quick: sqlite3.Connection | None) -> None:
        """Take over open connections; without a second one there is one way in."""
        super().__init__(connection)
        self.unsynced: BaseStore = self
        if quick is not None:
            quick.execute(UNSYNCED)
            self.unsynced = SqliteStore(quick)


class AsyncRunStore(AsyncSqliteStore):
    """The same for the running event loop."""

    def __init__(
        self, connection: aiosqlite.Connection, *, quick: aiosqlite.Connection | None
    ) -> None:
        """Take over open connections; the second one has been told not to wait."""
        super().__init__(connection)
        self.unsynced: BaseStore = self if quick is None else AsyncSqliteStore(quick)
