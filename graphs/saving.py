"""What every saver of ours has, whatever keeps its rows.

That is the types it revives, the run table, the store, and one sentence where the kind of call
does not fit.
"""

import asyncio
import logging
from collections.abc import AsyncIterator, Iterable, Iterator, Mapping, Sequence
from contextlib import suppress
from datetime import datetime
from typing import NoReturn

from langchain_core.runnables import RunnableConfig
from langgraph.checkpoint.base import (
    BaseCheckpointSaver,
    ChannelVersions,
    Checkpoint,
    CheckpointMetadata,
    CheckpointTuple,
)
from langgraph.checkpoint.serde.jsonplus import JsonPlusSerializer
from langgraph.store.base import BaseStore

from hansei.graphs.damage import DamagedThreadError
from hansei.graphs.guarded_savers import AsyncGuardedSaver, GuardedSaver
from hansei.graphs.in_thread import in_a_thread
from hansei.graphs.run_table import RunRow
from hansei.nodes.shelves import SHELVES
from hansei.policies import budget, kept, records, state, words
from hansei.policies.errors import UserError
from hansei.tools.outcome import OutcomeStatus

logger = logging.getLogger(__name__)

SAVED_TYPES: tuple[type, ...] = (
    state.AgentInput,
    state.StepTask,
    state.StepInput,
    records.ToolCall,
    records.Round,
    records.Attempt,
    records.Finding,
    records.ConditionAnswer,
    records.VerdictRecord,
    records.Ruling,
    records.Gates,
    records.Waiting,
    records.Step,
    records.Reflection,
    records.Condition,
    records.AnswerAttempt,
    records.RoleUsage,
    budget.Spent,
    kept.Kept,
    OutcomeStatus,
    words.Verdict,
    words.VerdictSource,
    words.StepStatus,
    words.Progress,
    words.AcceptedReason,
    words.AnswerStatus,
    words.RunStatus,
    words.FindingKind,
    words.Fault,
)
"""Everything that a checkpoint may hold besides plain values and messages. A row that names
any other type is not revived: without this list the serializer imports and calls what a row
says (CVE-2026-28277)."""

_OURS = frozenset({"state_version", "run_id", "answer_status"})
"""Channels that tell a state of ours from one of another graph in the same tables."""

_AT_ONCE = 100
"""Items of the store that are looked up, and deleted, at a time."""


def serializer(types: Sequence[type] = ()) -> JsonPlusSerializer:
    """The serializer that revives only what is ours, and `types`."""
    return JsonPlusSerializer(allowed_msgpack_modules=(*SAVED_TYPES, *types))


def revive(saver: BaseCheckpointSaver[str], types: Sequence[type]) -> None:
    """Have a saver of ours revive classes of somebody else's too."""
    if isinstance(saver.serde, JsonPlusSerializer):
        saver.serde = saver.serde.with_msgpack_allowlist(types)


class Checkpointer(GuardedSaver):
    """A saver for `invoke` and `stream`, with what belongs beside the checkpoints.

    Attributes:
        store: Long tool outputs and the journal of calls that change something.
    """

    store: BaseStore

    def forget(self, thread_id: str) -> None:
        """Delete a thread: its checkpoints, what its runs keep beside them, and its row.

        Raises:
            ThreadBusyError: It has a run under way.
        """
        with self.runs.held(thread_id):
            for place in _places(self._readable(thread_id)):
                while items := self.store.search(place, limit=_AT_ONCE):
                    for item in items:
                        self.store.delete(place, item.key)
            super().delete_thread(thread_id)
        self.runs.forget(thread_id)

    def delete_thread(self, thread_id: str) -> None:
        """See `forget`: whoever deletes a thread means all that it has left."""
        self.forget(thread_id)

    def threads(self) -> list[RunRow]:
        """The threads of hansei, the latest first; what other graphs keep here is left out."""
        rows = self.runs.rows()
        for thread_id in self.runs.without_row():
            try:
                found = self.get_tuple(_config(thread_id))
            except DamagedThreadError as exc:
                # Nobody can say whether it is ours.
                logger.warning("a thread is left out: %s", exc)
                continue
            if found is not None and is_ours(found.checkpoint["channel_values"]):
                rows.append(_row_of(thread_id, found.checkpoint))
        return sorted(rows, key=lambda row: row.accepted_at, reverse=True)

    def _readable(self, thread_id: str) -> list[CheckpointTuple]:
        """The checkpoints of a thread that can be read."""
        try:
            return [*self.list(_config(thread_id))]
        except DamagedThreadError:
            places = self.runs.checkpoints(thread_id)
        found: list[CheckpointTuple | None] = []
        for place in places:
            with suppress(DamagedThreadError):
                found.append(self.get_tuple(place))
        return [each for each in found if each is not None]

    async def aget_tuple(self, config: RunnableConfig) -> CheckpointTuple | None:
        """Refuse: this saver is for calls that block."""
        del config
        _refuse_async()

    def alist(
        self,
        config: RunnableConfig | None,
        *,
        filter: dict[str, object] | None = None,
        before: RunnableConfig | None = None,
        limit: int | None = None,
    ) -> AsyncIterator[CheckpointTuple]:
        """Refuse: this saver is for calls that block."""
        del config, filter, before, limit
        _refuse_async()

    async def aput(
        self,
        config: RunnableConfig,
        checkpoint: Checkpoint,
        metadata: CheckpointMetadata,
        new_versions: ChannelVersions,
    ) -> RunnableConfig:
        """Refuse: this saver is for calls that block."""
        del config, checkpoint, metadata, new_versions
        _refuse_async()

    async def aput_writes(
        self,
        config: RunnableConfig,
        writes: Sequence[tuple[str, object]],
        task_id: str,
        task_path: str = "",
    ) -> None:
        """Refuse: this saver is for calls that block."""
        del config, writes, task_id, task_path
        _refuse_async()

    async def adelete_thread(self, thread_id: str) -> None:
        """Refuse: this saver is for calls that block."""
        del thread_id
        _refuse_async()


class AsyncCheckpointer(AsyncGuardedSaver):
    """The same for `ainvoke` and `astream`."""

    store: BaseStore
    loop: asyncio.AbstractEventLoop
    """In which it was opened, and which its connection belongs to."""

    async def aforget(self, thread_id: str) -> None:
        """Delete a thread, as `Checkpointer.forget` does.

        Raises:
            ThreadBusyError: It has a run under way.
        """
        async with in_a_thread(self.runs.held(thread_id)):
            for place in _places(await self._readable(thread_id)):
                while items := await self.store.asearch(place, limit=_AT_ONCE):
                    for item in items:
                        await self.store.adelete(place, item.key)
            await super().adelete_thread(thread_id)
        await asyncio.to_thread(self.runs.forget, thread_id)

    async def adelete_thread(self, thread_id: str) -> None:
        """See `aforget`; this is what a server calls."""
        await self.aforget(thread_id)

    async def _readable(self, thread_id: str) -> list[CheckpointTuple]:
        """The checkpoints of a thread that can be read."""
        try:
            return [each async for each in self.alist(_config(thread_id))]
        except DamagedThreadError:
            places = await asyncio.to_thread(self.runs.checkpoints, thread_id)
        found: list[CheckpointTuple | None] = []
        for place in places:
            with suppress(DamagedThreadError):
                found.append(await self.aget_tuple(place))
        return [each for each in found if each is not None]

    def get_tuple(self, config: RunnableConfig) -> CheckpointTuple | None:
        """Read from a thread beside the loop; elsewhere it would wait for itself."""
        self._refuse_waiting()
        return super().get_tuple(config)

    def list(
        self,
        config: RunnableConfig | None,
        *,
        filter: dict[str, object] | None = None,
        before: RunnableConfig | None = None,
        limit: int | None = None,
    ) -> Iterator[CheckpointTuple]:
        """Read from a thread beside the loop; elsewhere it would wait for itself."""
        self._refuse_waiting()
        return super().list(config, filter=filter, before=before, limit=limit)

    def put(
        self,
        config: RunnableConfig,
        checkpoint: Checkpoint,
        metadata: CheckpointMetadata,
        new_versions: ChannelVersions,
    ) -> RunnableConfig:
        """Write from a thread beside the loop; elsewhere it would wait for itself."""
        self._refuse_waiting()
        return super().put(config, checkpoint, metadata, new_versions)

    def _refuse_waiting(self) -> None:
        try:
            inside = asyncio.get_running_loop() is self.loop
        except RuntimeError:
            inside = False
        if inside or not self.loop.is_running():
            msg = (
                "A saver of aopen_checkpointer answers ainvoke, astream and aget_state; "
                "use those, or open_checkpointer for invoke, stream and get_state."
            )
            raise UserError(msg)


def is_ours(channels: Mapping[str, object]) -> bool:
    """Whether the channels of a checkpoint are a state of hansei, and not of another graph."""
    return channels.keys() >= _OURS


def _refuse_async() -> NoReturn:
    msg = (
        "A saver of open_checkpointer does not answer ainvoke, astream and aget_state; "
        "use aopen_checkpointer for them: async with aopen_checkpointer(…) as saver."
    )
    raise UserError(msg)


def _config(thread_id: str) -> RunnableConfig:
    return {"configurable": {"thread_id": thread_id}}


def _places(checkpoints: Iterable[CheckpointTuple]) -> list[tuple[str, ...]]:
    """Where in the store the runs of a thread have kept something."""
    runs = {str(found.checkpoint["channel_values"].get("run_id") or "-") for found in checkpoints}
    return [(*shelf, run) for shelf in SHELVES.values() for run in sorted(runs)]


def _row_of(thread_id: str, last: Checkpoint) -> RunRow:
    """A row for a thread that has none: what its last checkpoint tells."""
    return RunRow(
        thread_id=thread_id,
        owner="",
        goal=str(last["channel_values"].get("goal", "")),
        accepted_at=datetime.fromisoformat(last["ts"]).timestamp(),
        expires_at=0.0,
    )
