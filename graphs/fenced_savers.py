"""What stands before LangGraph's savers: a run that has lost its thread writes nothing more."""

import asyncio
from collections.abc import Sequence

from langchain_core.runnables import RunnableConfig
from langgraph.checkpoint.base import (
    BaseCheckpointSaver,
    ChannelVersions,
    Checkpoint,
    CheckpointMetadata,
)

from hansei.graphs.fence import Hold, hold_of, writing
from hansei.graphs.run_table import RunTable


class FencedSaver(BaseCheckpointSaver[str]):
    """For calls that block.

    Attributes:
        runs: Which thread has a run under way.
    """

    runs: RunTable

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


class AsyncFencedSaver(BaseCheckpointSaver[str]):
    """The same for the loop. What is begun is written to its end, also where the run is cancelled.

    A write that stops before its commit would keep a file locked for everybody.
    """

    runs: RunTable

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
