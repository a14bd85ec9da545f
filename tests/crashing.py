"""A world whose process dies at some event, in memory: quick enough for random runs.

After the death nothing is written any more and no tool runs, as if the process were gone; what was
written before is what the next one finds.
"""

from __future__ import annotations

import threading
from collections.abc import Iterable, Sequence
from dataclasses import dataclass, field
from typing import Any

from langchain_core.runnables import RunnableConfig
from langchain_core.tools import BaseTool, StructuredTool
from langgraph.checkpoint.base import ChannelVersions, Checkpoint, CheckpointMetadata
from langgraph.checkpoint.memory import InMemorySaver
from langgraph.store.base import Op, PutOp, Result
from langgraph.store.memory import InMemoryStore
from random_world import World

from hansei import create_plan_execute_agent
from hansei.graphs.agent import Agent
from hansei.graphs.checkpoints import serializer
from hansei.nodes.kit import IDEMPOTENCY_KEY


class KilledError(BaseException):
    """Stands in for a process that is killed: nothing of ours catches it."""


@dataclass
class Fate:
    """At which events the process dies, counted over all its lives."""

    deaths: Sequence[int] = ()
    events: int = 0
    crashes: int = 0
    dead: bool = False
    _guard: threading.Lock = field(default_factory=threading.Lock)

    def meet(self) -> None:
        """One event: before or after a write or a call of a tool."""
        with self._guard:
            if self.dead:
                raise KilledError
            self.events += 1
            if self.events in self.deaths:
                self.dead = True
                self.crashes += 1
                raise KilledError


class MortalSaver(InMemorySaver):
    """Writes as long as the process lives."""

    def __init__(self, fate: Fate) -> None:
        super().__init__(serde=serializer())
        self.fate = fate

    def put(
        self,
        config: RunnableConfig,
        checkpoint: Checkpoint,
        metadata: CheckpointMetadata,
        new_versions: ChannelVersions,
    ) -> RunnableConfig:
        self.fate.meet()
        written = super().put(config, checkpoint, metadata, new_versions)
        self.fate.meet()
        return written

    def put_writes(
        self,
        config: RunnableConfig,
        writes: Sequence[tuple[str, Any]],
        task_id: str,
        task_path: str = "",
    ) -> None:
        self.fate.meet()
        super().put_writes(config, writes, task_id, task_path)


class MortalStore(InMemoryStore):
    """Writes as long as the process lives."""

    def __init__(self, fate: Fate) -> None:
        super().__init__()
        self.fate = fate

    def batch(self, ops: Iterable[Op]) -> list[Result]:
        asked = list(ops)
        if any(isinstance(op, PutOp) for op in asked):
            self.fate.meet()
        return super().batch(asked)


@dataclass
class CrashingWorld(World):
    """A world that notes the key of every call that really happened."""

    fate: Fate = field(default_factory=Fate)
    keys: list[tuple[str, str]] = field(default_factory=list[tuple[str, str]])
    """Tool and key."""

    def on(self, saver: MortalSaver, store: MortalStore) -> Agent:
        """The agent of a new process."""
        return create_plan_execute_agent(
            self.model,
            self.tools(),
            settings=self.scenario.settings,
            checks=[self.check],
            checkpointer=saver,
            store=store,
        )

    def tools(self) -> list[BaseTool]:
        """One of each kind."""
        return [
            self._tool("fetch", {"effect": "read"}),
            self._tool("send", {"effect": "once"}),
            self._tool("poll", {"effect": "idempotent", "volatile": True}),
        ]

    def _tool(self, name: str, declared: dict[str, object]) -> BaseTool:
        whole = super()._tool(name, declared)

        def run(q: str, config: RunnableConfig) -> str:
            self.fate.meet()
            self.keys.append((name, str(config.get("configurable", {}).get(IDEMPOTENCY_KEY, ""))))
            try:
                return str(whole.invoke({"q": q}))
            finally:
                self.fate.meet()

        return StructuredTool.from_function(
            run, name=name, description=whole.description, metadata={"hansei": declared}
        )
