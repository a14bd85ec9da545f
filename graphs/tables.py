"""The few tables of our own beside the checkpoints, in SQLite and in Postgres alike.

A statement is written once, with `:name` for its values, in what both databases understand.
"""

import sqlite3
import threading
import time
from typing import Protocol

Row = tuple[object, ...]
Value = str | float


class Tables(Protocol):
    """Runs statements, each in a transaction of its own. May be used from any thread."""

    @property
    def failure(self) -> type[Exception]:
        """What the driver raises when the database fails."""
        ...

    @property
    def is_ours(self) -> str:
        """A condition on a row of `checkpoints`: it may hold a state of ours."""
        ...

    def rows(self, statement: str, **values: Value) -> list[Row]:
        """What a statement finds."""
        ...

    def change(self, statement: str, **values: Value) -> int:
        """How many rows a statement has changed."""
        ...

    def columns(self) -> dict[str, frozenset[str]]:
        """The tables there are, and the columns of each."""
        ...

    def now(self) -> float:
        """Seconds since the epoch, by the clock that all who use the database share."""
        ...


class SqliteTables:
    """On a SQLite file."""

    failure = sqlite3.Error
    # A row that is squeezed shows no names, and nobody else squeezes.
    is_ours = "(type LIKE '%+zlib' OR instr(checkpoint, CAST('state_version' AS BLOB)) > 0)"

    def __init__(self, connection: sqlite3.Connection) -> None:
        """Take over a connection that may be used from any thread."""
        self._connection = connection
        self._guard = threading.Lock()

    def rows(self, statement: str, **values: Value) -> list[Row]:
        """What a statement finds."""
        with self._guard:
            return self._connection.execute(statement, values).fetchall()

    def change(self, statement: str, **values: Value) -> int:
        """How many rows a statement has changed."""
        with self._guard, self._connection:
            return self._connection.execute(statement, values).rowcount

    def columns(self) -> dict[str, frozenset[str]]:
        """The tables there are, and the columns of each."""
        found = self.rows(
            "SELECT m.name, c.name FROM sqlite_master m, pragma_table_info(m.name) c "
            "WHERE m.type = 'table' AND m.name NOT LIKE 'sqlite!_%' ESCAPE '!'"
        )
        return by_table(found)

    def now(self) -> float:
        """A file is used by one machine, so its clock will do."""
        return time.time()


def by_table(found: list[Row]) -> dict[str, frozenset[str]]:
    """Pairs of table and column as a mapping."""
    tables: dict[str, set[str]] = {}
    for table, column in found:
        tables.setdefault(str(table), set()).add(str(column))
    return {table: frozenset(columns) for table, columns in tables.items()}
