"""The saver on a Postgres database, for calls that block.

Imported only where the extra `postgres` is installed.
"""

from collections.abc import Generator
from contextlib import ExitStack, contextmanager
from enum import Enum

from langchain_core.runnables import RunnableConfig
from langgraph.checkpoint.base import ChannelVersions, Checkpoint, CheckpointMetadata
from langgraph.checkpoint.serde.jsonplus import JsonPlusSerializer

from hansei.graphs.postgres_fence import FencedPostgresSaver, FencedPostgresStore
from hansei.graphs.postgres_tables import (
    Pool,
    PostgresTables,
    for_the_operator,
    opened_pool,
    set_up,
)
from hansei.graphs.run_table import RunTable
from hansei.graphs.saving import SAVED_TYPES, Checkpointer
from hansei.graphs.state_mark import mark, refuse_foreign
from hansei.policies.places import shown


class PostgresCheckpointer(Checkpointer, FencedPostgresSaver):
    """On a Postgres database, for `invoke` and `stream`."""

    def __init__(self, pool: Pool, *, store: FencedPostgresStore, runs: RunTable) -> None:
        """Use an open pool."""
        super().__init__(pool, serde=postgres_serializer())
        self.store = store
        self.runs = runs

    def put(
        self,
        config: RunnableConfig,
        checkpoint: Checkpoint,
        metadata: CheckpointMetadata,
        new_versions: ChannelVersions,
    ) -> RunnableConfig:
        """Write a checkpoint, with enums that come back as what they were."""
        return super().put(config, with_enums_kept(checkpoint), metadata, new_versions)


class _Kept:
    """An enum on its way to the serializer.

    LangGraph writes a text into the checkpoint's JSON and everything else through the
    serializer; an enum whose values are texts would be taken for one, and come back as such.
    """

    def __init__(self, value: Enum) -> None:
        self.value = value


class _EnumSerializer(JsonPlusSerializer):
    def dumps_typed(self, obj: object) -> tuple[str, bytes]:
        return super().dumps_typed(obj.value if isinstance(obj, _Kept) else obj)


def postgres_serializer() -> JsonPlusSerializer:
    """Revives only what is ours, like `serializer`, and takes enums apart from texts."""
    return _EnumSerializer(allowed_msgpack_modules=SAVED_TYPES)


def with_enums_kept(checkpoint: Checkpoint) -> Checkpoint:
    """The checkpoint with its enums set apart from texts."""
    values: dict[str, object] = checkpoint["channel_values"]
    kept = {name: _Kept(v) if isinstance(v, Enum) else v for name, v in values.items()}
    return {**checkpoint, "channel_values": kept}


def prepared(pool: Pool, url: str) -> RunTable:
    """The run table of a database that is ours to write to, and marked as such."""
    tables = PostgresTables(pool)
    refuse_foreign(tables, place=shown(url), alone=False)
    mark(tables, place=shown(url))
    return RunTable(tables, place=shown(url))


@contextmanager
def open_postgres(url: str) -> Generator[PostgresCheckpointer]:
    """Open a database for calls that block; see `open_checkpointer`."""
    with ExitStack() as stack:
        with for_the_operator(url), set_up(url):
            pool = stack.enter_context(opened_pool(url))
            runs = prepared(pool, url)
            store = FencedPostgresStore(pool)
            store.runs = runs
            saver = PostgresCheckpointer(pool, store=store, runs=runs)
            saver.setup()
            store.setup()
        yield saver
