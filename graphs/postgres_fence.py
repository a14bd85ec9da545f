"""Fenced cursors of LangGraph's savers and stores on Postgres; see `fence`.

Imported only where the extra `postgres` is installed.
"""

from collections.abc import AsyncGenerator, Generator, Iterable
from contextlib import asynccontextmanager, contextmanager

from langgraph.checkpoint.postgres import PostgresSaver
from langgraph.checkpoint.postgres.aio import AsyncPostgresSaver
from langgraph.store.base import Op, Result
from langgraph.store.postgres import PostgresStore
from langgraph.store.postgres.aio import AsyncPostgresStore
from psycopg import AsyncCursor, Cursor
from psycopg.errors import DivisionByZero
from psycopg.rows import DictRow

from hansei.graphs.fence import FENCE_POSTGRES, being_written, from_a_node, hold_for
from hansei.graphs.fenced_stores import FencedAsyncStore

_FENCE = FENCE_POSTGRES.encode()


@contextmanager
def _told() -> Generator[None]:
    """Tell the failure of the fence as what it means."""
    hold = being_written()
    try:
        yield
    except DivisionByZero as exc:
        if hold is None:
            raise
        raise hold.overtaken() from exc


def _fence(cursor: Cursor[DictRow]) -> None:
    hold = being_written()
    if hold is not None:
        cursor.execute(_FENCE, hold.key)


async def _afence(cursor: AsyncCursor[DictRow]) -> None:
    hold = being_written()
    if hold is not None:
        await cursor.execute(_FENCE, hold.key)


class FencedPostgresSaver(PostgresSaver):
    """For calls that block. What stands in one pipeline is one transaction."""

    @contextmanager
    def _cursor(self, *, pipeline: bool = False) -> Generator[Cursor[DictRow]]:
        with _told(), super()._cursor(pipeline=pipeline) as cursor:
            _fence(cursor)
            yield cursor


class AsyncFencedPostgresSaver(AsyncPostgresSaver):
    """For the running event loop."""

    @asynccontextmanager
    async def _cursor(self, *, pipeline: bool = False) -> AsyncGenerator[AsyncCursor[DictRow]]:
        with _told():
            async with super()._cursor(pipeline=pipeline) as cursor:
                await _afence(cursor)
                yield cursor


class FencedPostgresStore(PostgresStore):
    """For calls that block.

    Attributes:
        runs: The run table of the same database.
    """

    runs: object

    def batch(self, ops: Iterable[Op]) -> list[Result]:
        """Do it, unless it is written by a run that has lost its thread."""
        asked = list(ops)
        with from_a_node(hold_for(asked, self.runs)):
            return super().batch(asked)

    @contextmanager
    def _cursor(self, *, pipeline: bool = False) -> Generator[Cursor[DictRow]]:
        with _told(), super()._cursor(pipeline=pipeline) as cursor:
            _fence(cursor)
            yield cursor


class AsyncFencedPostgresStore(FencedAsyncStore, AsyncPostgresStore):
    """For the running event loop."""

    @asynccontextmanager
    async def _cursor(self, *, pipeline: bool = False) -> AsyncGenerator[AsyncCursor[DictRow]]:
        with _told():
            async with super()._cursor(pipeline=pipeline) as cursor:
                await _afence(cursor)
                yield cursor
