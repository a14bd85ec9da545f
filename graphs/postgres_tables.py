"""Our tables in Postgres, and how a Postgres database is reached.

Imported only where the extra `postgres` is installed.
"""

import re
import time
from collections.abc import Generator
from contextlib import contextmanager
from typing import LiteralString

import psycopg
from psycopg import Connection
from psycopg.conninfo import conninfo_to_dict
from psycopg.rows import DictRow, dict_row, tuple_row
from psycopg_pool import ConnectionPool, PoolTimeout

from hansei.graphs.tables import Row, Value, by_table
from hansei.policies.errors import OperatorError
from hansei.policies.places import shown, without_secrets

PATIENCE = 10.0
"""Seconds to wait for a connection: a server that starts anew, or a pool that is busy, takes some;
who waits longer wants to know."""

POOL_SIZE = 8
"""Connections of one saver at most. The saver itself uses one at a time; the rest are for the store
and the run table beside it."""

_SETUP_LOCK = 0x68616E736569
"""Key of the advisory lock under which tables are made: the letters of hansei."""

_SETUP_WAIT = 0.05
"""Seconds between two tries to get it. Waiting inside the server would not do: an index that is
built concurrently waits for every statement that is under way, also for one that waits."""

Pool = ConnectionPool[Connection[DictRow]]


class PostgresTables:
    """On a Postgres database."""

    failure = psycopg.Error
    is_ours = "jsonb_exists(checkpoint -> 'channel_values', 'state_version')"

    def __init__(self, pool: Pool) -> None:
        """Use a pool whose connections commit each statement."""
        self._pool = pool

    def rows(self, statement: str, **values: Value) -> list[Row]:
        """What a statement finds."""
        with self._pool.connection() as connection, connection.cursor(row_factory=tuple_row) as cur:
            return cur.execute(in_postgres(statement), values).fetchall()

    def change(self, statement: str, **values: Value) -> int:
        """How many rows a statement has changed."""
        with self._pool.connection() as connection:
            return connection.execute(in_postgres(statement), values).rowcount

    def columns(self) -> dict[str, frozenset[str]]:
        """The tables there are in the schema that is used, and the columns of each."""
        return by_table(
            self.rows(
                "SELECT table_name, column_name FROM information_schema.columns "
                "WHERE table_schema = current_schema()"
            )
        )

    def now(self) -> float:
        """By the server's clock: the machines that use it need not agree."""
        return float(str(self.rows("SELECT extract(epoch FROM clock_timestamp())")[0][0]))


def in_postgres(statement: str) -> bytes:
    """A statement with the driver's form of `:name`."""
    return re.sub(r":(\w+)", r"%(\1)s", statement).encode()


def _check(connection: Connection[DictRow]) -> None:
    """Fail where a connection is lost, so that the pool makes another."""
    connection.execute("SELECT 1")


@contextmanager
def opened_pool(url: str, *, size: int = POOL_SIZE) -> Generator[Pool]:
    """Connections to a database, made as they are needed and renewed when the server was away."""
    pool = Pool(
        url,
        kwargs=CONNECTION,
        min_size=1,
        max_size=size,
        timeout=PATIENCE,
        check=_check,
        name="hansei",
        open=False,
    )
    with pool:
        pool.wait(PATIENCE)
        yield pool


CONNECTION = {"autocommit": True, "prepare_threshold": 0, "row_factory": dict_row}
"""What LangGraph's savers expect of a connection."""


@contextmanager
def set_up(url: str) -> Generator[None]:
    """Hold the database while tables are made, so that two who open it do not make them twice.

    Raises:
        OperatorError: It cannot be reached.
    """
    with psycopg.connect(url, autocommit=True, connect_timeout=int(PATIENCE)) as connection:
        until = time.monotonic() + PATIENCE
        while not _asked(connection, "SELECT pg_try_advisory_lock(%s)"):
            if time.monotonic() > until:
                msg = (
                    f"The database {shown(url)} is being set up by somebody else, "
                    f"who has not finished for {PATIENCE:.0f} s; try again."
                )
                raise OperatorError(msg)
            time.sleep(_SETUP_WAIT)
        yield  # the lock ends with the connection


def _asked(connection: Connection[Row], statement: LiteralString) -> bool:
    found = connection.execute(statement, (_SETUP_LOCK,)).fetchone()
    return found is not None and found[0] is True


def check_url(url: str) -> None:
    """Refuse a URL that cannot be read, without quoting it.

    Raises:
        OperatorError: As said.
    """
    try:
        conninfo_to_dict(url)
    except psycopg.Error:
        # The driver's own words quote a part of it, which may be the password.
        msg = (
            f"The URL {shown(url)} cannot be read: write postgresql://user@host:5432/database, "
            "with % and other marks in a name or password encoded."
        )
        raise OperatorError(msg) from None


@contextmanager
def for_the_operator(url: str) -> Generator[None]:
    """Tell what goes wrong while a database is opened in one sentence without secrets."""
    check_url(url)
    try:
        yield
    except (psycopg.Error, PoolTimeout) as exc:
        said = without_secrets(str(exc), url)
        msg = (
            f"The database {shown(url)} cannot be used ({said}); "
            "check the URL, and that the server runs and lets you in."
        )
        raise OperatorError(msg) from None
