"""What stands before LangGraph's savers.

A run that has lost its thread writes nothing more, and what cannot be read is told as damage.
"""

import asyncio
from collections.abc import AsyncIterator, Iterator, Sequence

from langchain_core.runnables import RunnableConfig
from langgraph.checkpoint.base import (
    BaseCheckpointSaver,
    ChannelVersions,
    Checkpoint,
    CheckpointMetadata,
    CheckpointTuple,
)

from hansei.graphs.damage import readable, whole
from hansei.graphs.fence import Hold, hold_of, writing
from hansei.graphs.run_table import RunTable


class GuardedSaver(BaseCheckpointSaver[str]):
    """For calls that block.

    Attributes:
        runs: Which thread has a run under way.
    """

    runs: RunTable

    def get_tuple(self, config: RunnableConfig) -> CheckpointTuple | None:
        """Read a checkpoint.

        Raises:
            DamagedThreadError: It cannot be read.
        """
        with readable(config, self.runs.failure):
            found = super().get_tuple(config)
            return None if found is None else whole(found)

    def list(
        self,
        config: RunnableConfig | None,
        *,
        filter: dict[str, object] | None = None,
        before: RunnableConfig | None = None,
        limit: int | None = None,
    ) -> Iterator[CheckpointTuple]:
        """Read checkpoints, the newest first.

        Raises:
            DamagedThreadError: One cannot be read.
        """
        with readable(config, self.runs.failure):
            yield from map(whole, super().list(config, filter=filter, before=before, limit=limit))

    def put(
        self,
        config: RunnableConfig,
        checkpoint: Checkpoint,
        metadata: CheckpointMetadata,
        new_versions: ChannelVersions,
    ) -> RunnableConfig:
        """Write a checkpoint.

        Raises:
            ThreadBusyError: Another process has the thread by now.
        """
        with writing(_hold(config, self.runs)):
            return super().put(config, checkpoint, metadata, new_versions)

    def put_writes(
        self,
        config: RunnableConfig,
        writes: Sequence[tuple[str, object]],
        task_id: str,
        task_path: str = "",
    ) -> None:
        """Write what tasks have returned.

        Raises:
            ThreadBusyError: Another process has the thread by now.
        """
        with writing(_hold(config, self.runs)):
            super().put_writes(config, writes, task_id, task_path)


class AsyncGuardedSaver(BaseCheckpointSaver[str]):
    """The same for the loop. What is begun is written to its end, also where the run is cancelled.

    A write that stops before its commit would keep a file locked for everybody.
    """

    runs: RunTable

    async def aget_tuple(self, config: RunnableConfig) -> CheckpointTuple | None:
        """Read a checkpoint.

        Raises:
            DamagedThreadError: It cannot be read.
        """
        with readable(config, self.runs.failure):
            found = await super().aget_tuple(config)
            return None if found is None else whole(found)

    async def alist(
        self,
        config: RunnableConfig | None,
        *,
        filter: dict[str, object] | None = None,
        before: RunnableConfig | None = None,
        limit: int | None = None,
    ) -> AsyncIterator[CheckpointTuple]:
        """Read checkpoints, the newest first.

        Raises:
            DamagedThreadError: One cannot be read.
        """
        with readable(config, self.runs.failure):
            found = super().alist(config, filter=filter, before=before, limit=limit)
            async for each in found:
                yield whole(each)

    async def aput(
        self,
        config: RunnableConfig,
        checkpoint: Checkpoint,
        metadata: CheckpointMetadata,
        new_versions: ChannelVersions,
    ) -> RunnableConfig:
        """Write a checkpoint.

        Raises:
            ThreadBusyError: Another process has the thread by now.
        """
        with writing(_hold(config, self.runs)):
            return await asyncio.shield(super().aput(config, checkpoint, metadata, new_versions))

    async def aput_writes(
        self,
        config: RunnableConfig,
        writes: Sequence[tuple[str, object]],
        task_id: str,
        task_path: str = "",
    ) -> None:
        """Write what tasks have returned.

        Raises:
            ThreadBusyError: Another process has the thread by now.
        """
        with writing(_hold(config, self.runs)):
            await asyncio.shield(super().aput_writes(config, writes, task_id, task_path))


def _hold(config: RunnableConfig, runs: RunTable) -> Hold | None:
    return hold_of(config, runs, thread=config.get("configurable", {}).get("thread_id"))
