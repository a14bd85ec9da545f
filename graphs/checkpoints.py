"""Where checkpoints are kept: a SQLite file, or a Postgres database by its URL."""

from collections.abc import AsyncGenerator, Generator, Sequence
from contextlib import asynccontextmanager, contextmanager
from importlib import import_module
from pathlib import Path

from langchain_core.runnables import RunnableConfig
from langgraph.runtime import get_runtime
from langgraph.store.base import BaseStore

from hansei.graphs.saving import SAVED_TYPES, AsyncCheckpointer, Checkpointer, revive, serializer
from hansei.nodes.kit import LENT_SAVER
from hansei.policies.errors import OperatorError
from hansei.policies.places import is_postgres


@contextmanager
def open_checkpointer(place: str | Path, *, types: Sequence[type] = ()) -> Generator[Checkpointer]:
    """Open a database as a checkpointer, and close it afterwards.

    The saver brings the store for long tool outputs and for the journal of calls that change
    something, in the same database, and refuses a second run on a thread that has one under way.

    Args:
        place: A SQLite file, whose folder is made; `:memory:`, which lives as long as the block;
            or the URL of a Postgres database, as in `postgresql://user@host/database`, for which
            the extra `postgres` must be installed. What the URL leaves out libpq finds where it
            always does: a password in `PGPASSWORD` or `~/.pgpass`.
        types: Classes of your own that the state of a graph around the agent holds; what a row
            names besides these and hansei's is not revived.

    Raises:
        OperatorError: The database cannot be opened, or is none, or is another program's, or was
            written by another version of hansei.
        UserError: The place is a URL of something else.
    """
    if is_postgres(place):
        need_driver()
        from hansei.graphs.postgres_saver import open_postgres

        with open_postgres(str(place)) as saver:
            revive(saver, types)
            yield saver
    else:
        from hansei.graphs.sqlite_saver import open_sqlite

        with open_sqlite(place) as saver:
            revive(saver, types)
            yield saver


@asynccontextmanager
async def aopen_checkpointer(
    place: str | Path, *, types: Sequence[type] = ()
) -> AsyncGenerator[AsyncCheckpointer]:
    """Open a database as a checkpointer for `ainvoke` and `astream`, and close it afterwards.

    Args:
        place: As for `open_checkpointer`.
        types: As for `open_checkpointer`.

    Raises:
        OperatorError: As for `open_checkpointer`.
        UserError: As for `open_checkpointer`.
    """
    if is_postgres(place):
        need_driver()
        from hansei.graphs.postgres_async import aopen_postgres

        async with aopen_postgres(str(place)) as saver:
            revive(saver, types)
            yield saver
    else:
        from hansei.graphs.sqlite_saver import aopen_sqlite

        async with aopen_sqlite(place) as saver:
            revive(saver, types)
            yield saver


def store_beside(checkpointer: object) -> BaseStore | None:
    """The store that a saver of ours brings."""
    if isinstance(checkpointer, Checkpointer | AsyncCheckpointer):
        return checkpointer.store
    return None


def lent_store(config: RunnableConfig) -> BaseStore | None:
    """The store that a graph around the agent brings: beside its saver, or its own."""
    saver: object = config.get("configurable", {}).get(LENT_SAVER)
    return store_beside(saver) or get_runtime().store


def need_driver() -> None:
    """Refuse Postgres where its extra is not installed.

    Raises:
        OperatorError: As said.
    """
    try:
        for name in ("langgraph.checkpoint.postgres", "psycopg_pool"):
            import_module(name)
    except ImportError as exc:
        msg = 'Postgres needs the extra `postgres`: pip install "hansei[postgres]".'
        raise OperatorError(msg) from exc


__all__ = [
    "SAVED_TYPES",
    "AsyncCheckpointer",
    "Checkpointer",
    "aopen_checkpointer",
    "lent_store",
    "open_checkpointer",
    "serializer",
    "store_beside",
]
