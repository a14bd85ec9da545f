"""A node of the graph in both its forms."""

from collections.abc import Awaitable, Callable
from typing import Generic, TypeVar

from langchain_core.runnables import Runnable, RunnableConfig

S = TypeVar("S")
R = TypeVar("R")


class Node(Runnable[S, R], Generic[S, R]):
    """Runs a body with blocking calls, or with awaits.

    LangGraph traces each node and gives it its config. A `RunnableLambda` inside would do all that
    once more, for a tenth of what a superstep costs.
    """

    def __init__(self, run: Callable[[S], R], arun: Callable[[S], Awaitable[R]]) -> None:
        """Take both forms."""
        self._run = run
        self._arun = arun

    def invoke(self, input: S, config: RunnableConfig | None = None, **kwargs: object) -> R:
        """Run with blocking calls."""
        del config, kwargs
        return self._run(input)

    async def ainvoke(self, input: S, config: RunnableConfig | None = None, **kwargs: object) -> R:
        """Run with awaits."""
        del config, kwargs
        return await self._arun(input)
