"""What LangGraph Studio's server loads, by `langgraph.json`: the graph, the saver and the store.

Loading it contacts nobody and needs no key. The server brings saver and store to the graph itself,
so the graph is compiled without; both lie in the file of the command line.
"""

import asyncio
import threading
from collections.abc import AsyncGenerator, AsyncIterator, Iterator, Mapping, Sequence
from contextlib import asynccontextmanager
from typing import TYPE_CHECKING

from langchain_core.runnables import RunnableConfig
from langchain_core.tools import BaseTool
from langgraph.store.base import BaseStore

from hansei.graphs.agent import Agent
from hansei.graphs.arguments import checked_tools
from hansei.graphs.checkpoints import AsyncCheckpointer, aopen_checkpointer
from hansei.graphs.database import default_database
from hansei.graphs.models import chat_model
from hansei.graphs.plan_execute import compiled, make_kit, make_ports
from hansei.graphs.run_table import RunRow
from hansei.nodes.models import ModelPort
from hansei.policies.settings import Settings
from hansei.policies.words import ROLES, Role
from hansei.tools.shop import shop_tools


class EnvironmentModels(Mapping[Role, ModelPort]):
    """The models that the environment names, looked up when the first run asks for one.

    Where there is none, every run asks anew: somebody may have set one meanwhile.
    """

    def __init__(self) -> None:
        self._guard = threading.Lock()
        self._found: Mapping[Role, ModelPort] = {}

    def load(self) -> Mapping[Role, ModelPort]:
        """Find the models, which may start the embedded one and take seconds.

        Raises:
            OperatorError: No model is set and none is embedded, or it cannot start.
        """
        with self._guard:
            if not self._found:
                self._found = make_ports(chat_model(), chat_model(role="reflector"))
            return self._found

    def __getitem__(self, role: Role) -> ModelPort:
        return self.load()[role]

    def __iter__(self) -> Iterator[Role]:
        return iter(ROLES)

    def __len__(self) -> int:
        return len(ROLES)


MODELS = EnvironmentModels()


class ServedAgent(Agent):
    """The agent as a server runs it.

    The models are found before anything of a run is written. Checkpoints are written before the
    next step begins (`durability="sync"`), also where the client asks for `async`, as Studio does:
    the key of a call that changes something is made from a state that is on disk.
    """

    if not TYPE_CHECKING:

        async def astream(
            self, input: object, config: RunnableConfig | None = None, **options: object
        ) -> AsyncIterator[object]:
            """See LangGraph's `astream`."""
            # In a thread: the environment and the embedded model's files are read.
            await asyncio.to_thread(MODELS.load)
            if options.get("durability") != "exit":
                options["durability"] = "sync"
            async for part in super().astream(input, config, **options):
                yield part


def served_agent(tools: Sequence[BaseTool], *, settings: Settings | None = None) -> ServedAgent:
    """An agent for `langgraph.json`, with the models that the environment names.

    Args:
        tools: LangChain tools.
        settings: Limits and switches; by default those of `Settings()`.

    Raises:
        UserError: Something is no tool, or two tools share a name.
    """
    kit = make_kit(MODELS, checked_tools(tools), settings=settings or Settings())
    return compiled(kit, ServedAgent)


_OPEN: list[AsyncCheckpointer] = []
"""The savers that the server has open: one for each of its event loops."""


@asynccontextmanager
async def checkpointer() -> AsyncGenerator[AsyncCheckpointer]:
    """The saver on the file of the command line, for the server's `checkpointer`."""
    async with aopen_checkpointer(await asyncio.to_thread(default_database)) as saver:
        _OPEN.append(saver)
        try:
            yield saver
        finally:
            _OPEN.remove(saver)


def accepted_runs() -> list[RunRow]:
    """The last run of each thread in the server's file, the latest first."""
    return _OPEN[0].runs.rows() if _OPEN else []


@asynccontextmanager
async def store() -> AsyncGenerator[BaseStore]:
    """The store in the same file, for the server's `store`: long tool outputs and the journal."""
    async with checkpointer() as saver:
        yield saver.store


graph = served_agent(shop_tools())
