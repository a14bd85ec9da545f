"""What the nodes of one agent share, and the session that answers one node's requests."""

import asyncio
import logging
import threading
import time
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field

from langchain_core.messages import ToolCall, ToolMessage
from langchain_core.runnables import RunnableConfig
from langchain_core.tools import BaseTool
from langgraph.errors import GraphBubbleUp
from langgraph.prebuilt.tool_node import ToolInvocationError
from langgraph.store.base import BaseStore
from langgraph.types import interrupt
from pydantic import JsonValue

from hansei.nodes.effects import (
    AskHuman,
    HumanReply,
    ModelCall,
    ModelReply,
    Recall,
    Remember,
    RunTool,
    ToolReply,
)
from hansei.nodes.ledger import Ledger
from hansei.nodes.models import ModelPort
from hansei.nodes.plain_tool import call_plain, in_a_loop, request_of
from hansei.nodes.run_memory import RunMemory
from hansei.nodes.shelves import Shelves
from hansei.nodes.tool_call import run_blocking, said_by, text_of, tool_node
from hansei.policies.budget import overdue
from hansei.policies.checks import Check
from hansei.policies.narrow import as_list, as_mapping
from hansei.policies.records import RoleUsage
from hansei.policies.settings import Settings
from hansei.policies.state import add_usage
from hansei.policies.words import Role

logger = logging.getLogger(__name__)

IDEMPOTENCY_KEY = "idempotency_key"
"""Where in `config["configurable"]` a tool finds the key to hand on to the service it calls."""

LENT_SAVER = "__pregel_checkpointer"
"""Where in a config LangGraph puts the saver that a graph is run with, or is lent."""


@dataclass(frozen=True)
class Kit:
    """Models, tools, checks and settings of one agent."""

    models: Mapping[Role, ModelPort]
    tools: Mapping[str, BaseTool]
    schemas: Mapping[str, dict[str, JsonValue]]
    """JSON schema of each tool's arguments."""
    settings: Settings
    effects: frozenset[str] = frozenset()
    """Tools that change something."""
    acts: frozenset[str] = frozenset()
    """Those of them that say so themselves; one that says nothing may only look something up."""
    once: frozenset[str] = frozenset()
    """Those of them that must not be called again when nobody knows whether they went through."""
    volatile: frozenset[str] = frozenset()
    """Tools whose identical call is run again rather than answered from the record."""
    plain: frozenset[str] = frozenset()
    """Tools that LangGraph's runner has nothing to inject into."""
    checks: Sequence[Check] = ()
    store: BaseStore | None = None
    """Long outputs and the journal; `None`: the store that `lent_store` finds."""
    lent_store: Callable[[RunnableConfig], BaseStore | None] = lambda _: None
    """Finds the one beside the saver that the graph is run with, or the graph's."""
    memory: RunMemory = field(default_factory=RunMemory)
    """The same where the graph is run without one either."""
    ledger: Ledger = field(default_factory=Ledger)


def tool_list(kit: Kit) -> list[dict[str, str]]:
    """The tools as a prompt shows them: name with its arguments, and the description."""
    shown: list[dict[str, str]] = []
    for name, tool in kit.tools.items():
        properties = kit.schemas[name].get("properties")
        arguments = ", ".join(properties) if isinstance(properties, dict) else ""
        lines = tool.description.strip().splitlines()
        shown.append(
            {
                "tool": name,
                "name": f"{name}({arguments})",
                "description": lines[0] if lines else "",
            }
        )
    return shown


@dataclass
class NodeSession:
    """Answers one node's requests and keeps what they cost."""

    kit: Kit
    settings: Settings
    config: RunnableConfig
    store: BaseStore | None
    """The store that is for everybody; `None`: what runs keep stays in the agent's memory."""
    run_id: str
    started_at: float = 0.0
    usage: dict[str, RoleUsage] = field(default_factory=dict[str, RoleUsage])
    _lock: threading.Lock = field(default_factory=threading.Lock)

    def call_model(self, call: ModelCall) -> ModelReply:
        """Make one model call, if the budgets allow it."""
        refused = self._admit(call.role)
        if refused:
            return ModelReply(refused=refused)
        reply, usage = self.kit.models[call.role].invoke(call, self.config)
        self._spend(call.role, usage)
        return reply

    async def acall_model(self, call: ModelCall) -> ModelReply:
        """Make one model call, if the budgets allow it."""
        refused = self._admit(call.role)
        if refused:
            return ModelReply(refused=refused)
        reply, usage = await self.kit.models[call.role].ainvoke(call, self.config)
        self._spend(call.role, usage)
        return reply

    def run_tool(self, run: RunTool) -> ToolReply:
        """Run one tool call; what it raises becomes its output."""
        late = self._late()
        if late:
            return late
        try:
            call, config = _call_of(run), _tool_config(run, self.config)
            if run.tool.name in self.kit.plain and not in_a_loop():
                result = call_plain(run.tool, call, config)
            else:
                result = run_blocking(run.tool, request_of(call), config, store=self._for_tools())
            return _tool_reply(result)
        except GraphBubbleUp:
            if run.key:  # it stopped to ask somebody, and will begin anew
                self.remember(Remember(key=run.key, text="", shelf="journal"))
            raise
        except (Exception, SystemExit, GeneratorExit, asyncio.CancelledError) as exc:  # noqa: BLE001
            return _raised(run, exc)

    async def arun_tool(self, run: RunTool) -> ToolReply:
        """Run one tool call; what it raises becomes its output. A sync tool runs in a thread."""
        late = self._late()
        if late:
            return late
        try:
            result: object = await tool_node(run.tool, store=self._for_tools()).ainvoke(
                request_of(_call_of(run)), _tool_config(run, self.config)
            )
            return _tool_reply(result)
        except GraphBubbleUp:
            if run.key:
                await self.aremember(Remember(key=run.key, text="", shelf="journal"))
            raise
        except asyncio.CancelledError as exc:
            task = asyncio.current_task()
            if task is None or task.cancelling():
                raise
            return _raised(run, exc)  # something inside the tool was cancelled, not this run
        except (Exception, SystemExit, GeneratorExit) as exc:  # noqa: BLE001 - a tool may raise anything
            return _raised(run, exc)

    def remember(self, item: Remember) -> bool:
        """Keep a text in the store, or forget it where it is empty."""
        return self._shelves().remember(item)

    async def aremember(self, item: Remember) -> bool:
        """Keep a text in the store, or forget it where it is empty."""
        return await self._shelves().aremember(item)

    def recall(self, item: Recall) -> str | None:
        """Read a text back."""
        return self._shelves().recall(item)

    async def arecall(self, item: Recall) -> str | None:
        """Read a text back."""
        return await self._shelves().arecall(item)

    def ask_human(self, item: AskHuman) -> HumanReply:
        """Stop for an answer, or give the one that was sent."""
        answer: object = interrupt(dict(item.question))
        return HumanReply(answer)

    def end(self) -> None:
        """Drop what the ended run has kept, where nobody can come back to it.

        Without a saver there is no run to look at or to fork, and a process that serves for weeks
        would keep the outputs of all of them.
        """
        if self.store is None and not self.saved:
            self.kit.memory.drop(self.run_id)

    @property
    def saved(self) -> bool:
        """Whether a saver keeps the run, so that somebody can come back to it."""
        return bool(self.config.get("configurable", {}).get(LENT_SAVER))

    def _for_tools(self) -> BaseStore:
        return self.kit.memory.for_tools if self.store is None else self.store

    def _shelves(self) -> Shelves:
        return Shelves(self.store, self.kit.memory, self.run_id)

    def _admit(self, role: Role) -> str:
        return self.kit.ledger.admit(
            self.run_id, self.settings, role=role, started_at=self.started_at
        )

    def _late(self) -> ToolReply | None:
        """The answer to a call of a tool once the deadline is over."""
        seconds = time.time() - self.started_at if self.started_at else 0.0
        late = overdue(self.settings, seconds=seconds)
        return ToolReply(output=f"not run: {late}", refused=True) if late else None

    def _spend(self, role: Role, usage: RoleUsage) -> None:
        self.kit.ledger.add_tokens(self.run_id, usage.input_tokens + usage.output_tokens)
        with self._lock:
            self.usage = add_usage(self.usage, {role: usage})


def _call_of(run: RunTool) -> ToolCall:
    call = run.call
    return ToolCall(name=call.name, args=dict(call.args), id=call.id, type="tool_call")


def _tool_config(run: RunTool, config: RunnableConfig) -> RunnableConfig:
    """The run's config; a tool that changes something also finds the key of its call in it."""
    if not run.key:
        return config
    configurable = {**config.get("configurable", {}), IDEMPOTENCY_KEY: run.key}
    return {**config, "configurable": configurable}


def _tool_reply(result: object) -> ToolReply:
    for message in as_list(as_mapping(result).get("messages", result)):
        if isinstance(message, ToolMessage):
            return ToolReply(output=text_of(message), raised=message.status == "error")
    return ToolReply(output="")


def _raised(run: RunTool, exc: BaseException) -> ToolReply:
    logger.warning("the tool %s raised %s", run.call.name, type(exc).__name__)
    if isinstance(exc, ToolInvocationError):
        return ToolReply(output=_misfit(exc), raised=True, misfit=True)
    return ToolReply(output=said_by(exc), raised=True)


def _misfit(exc: ToolInvocationError) -> str:
    """What is wrong with the arguments of a call, without what was injected into it."""
    errors = exc.filtered_errors or exc.source.errors()
    said = [f"{'.'.join(str(part) for part in e['loc'])}: {e['msg']}" for e in errors]
    return f"the arguments do not fit: {'; '.join(said)}"
