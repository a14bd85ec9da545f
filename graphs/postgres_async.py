"""The saver on a Postgres database, for `ainvoke` and `astream`.

Imported only where the extra `postgres` is installed.
"""

import asyncio
from collections.abc import AsyncGenerator
from contextlib import AsyncExitStack, asynccontextmanager

from langchain_core.runnables import RunnableConfig
from langgraph.checkpoint.base import ChannelVersions, Checkpoint, CheckpointMetadata
from psycopg import AsyncConnection
from psycopg.rows import DictRow
from psycopg_pool import AsyncConnectionPool

from hansei.graphs.in_thread import in_a_thread
from hansei.graphs.postgres_fence import AsyncFencedPostgresSaver, AsyncFencedPostgresStore
from hansei.graphs.postgres_saver import postgres_serializer, prepared, with_enums_kept
from hansei.graphs.postgres_tables import (
    CONNECTION,
    PATIENCE,
    POOL_SIZE,
    for_the_operator,
    opened_pool,
    set_up,
)
from hansei.graphs.run_table import RunTable
from hansei.graphs.saving import AsyncCheckpointer

Pool = AsyncConnectionPool[AsyncConnection[DictRow]]

LEASE_CONNECTIONS = 2
"""For the run table, whose statements are short and come from threads."""


class AsyncPostgresCheckpointer(AsyncCheckpointer, AsyncFencedPostgresSaver):
    """On a Postgres database, for `ainvoke` and `astream`."""

    def __init__(self, pool: Pool, *, store: AsyncFencedPostgresStore, runs: RunTable) -> None:
        """Use an open pool of the running event loop."""
        super().__init__(pool, serde=postgres_serializer())
        self.store = store
        self.runs = runs

    async def aput(
        self,
        config: RunnableConfig,
        checkpoint: Checkpoint,
        metadata: CheckpointMetadata,
        new_versions: ChannelVersions,
    ) -> RunnableConfig:
        """Write a checkpoint, with enums that come back as what they were."""
        return await super().aput(config, with_enums_kept(checkpoint), metadata, new_versions)


@asynccontextmanager
async def aopen_postgres(url: str) -> AsyncGenerator[AsyncPostgresCheckpointer]:
    """Open a database for the running event loop; see `aopen_checkpointer`."""
    async with AsyncExitStack() as stack:
        with for_the_operator(url):
            async with in_a_thread(set_up(url)):
                leases = opened_pool(url, size=LEASE_CONNECTIONS)
                tables = await stack.enter_async_context(in_a_thread(leases))
                runs = await asyncio.to_thread(prepared, tables, url)
                pool = await stack.enter_async_context(_opened(url))
                store = AsyncFencedPostgresStore(pool)
                store.runs = runs
                saver = AsyncPostgresCheckpointer(pool, store=store, runs=runs)
                await saver.setup()
                await store.setup()
        yield saver


async def _check(connection: AsyncConnection[DictRow]) -> None:
    """Fail where a connection is lost, so that the pool makes another."""
    await connection.execute("SELECT 1")


@asynccontextmanager
async def _opened(url: str) -> AsyncGenerator[Pool]:
    pool = Pool(
        url,
        kwargs=CONNECTION,
        min_size=1,
        max_size=POOL_SIZE,
        timeout=PATIENCE,
        check=_check,
        name="hansei",
        open=False,
    )
    async with pool:
        await pool.wait(PATIENCE)
        yield pool
