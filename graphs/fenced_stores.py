"""What stands before LangGraph's stores that are awaited; see `fence`."""

import asyncio
from collections.abc import Mapping
from typing import Literal

from langgraph.store.base import NOT_PROVIDED, NotProvided, PutOp
from langgraph.store.base.batch import AsyncBatchedBaseStore

from hansei.graphs.fence import from_a_node, hold_here


class FencedAsyncStore(AsyncBatchedBaseStore):
    """Writes nothing for a run that has lost its thread.

    LangGraph's own gather what is written, and a task of theirs writes it, which knows of no run.
    So what a run keeps is written here, to its end also where the run is cancelled.

    Attributes:
        runs: The run table of the same database.
    """

    runs: object

    async def aput(
        self,
        namespace: tuple[str, ...],
        key: str,
        value: Mapping[str, object],
        index: Literal[False] | list[str] | None = None,
        *,
        ttl: float | NotProvided | None = NOT_PROVIDED,
    ) -> None:
        """Keep a value."""
        hold = hold_here(self.runs, namespace)
        if hold is None:
            await super().aput(namespace, key, value, index, ttl=ttl)
            return
        with from_a_node(hold):
            await asyncio.shield(self.abatch([PutOp(namespace, key, dict(value), index)]))

    async def adelete(self, namespace: tuple[str, ...], key: str) -> None:
        """Forget a value."""
        hold = hold_here(self.runs, namespace)
        if hold is None:
            await super().adelete(namespace, key)
            return
        with from_a_node(hold):
            await asyncio.shield(self.abatch([PutOp(namespace, key, None)]))
