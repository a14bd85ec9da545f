"""A shop that refunds, a store that fails, and one run of the two."""

from __future__ import annotations

import asyncio
from collections.abc import Callable, Iterable
from dataclasses import dataclass, field
from typing import Any

from broken_runs import calls, made, scripted
from langchain_core.runnables import RunnableConfig
from langchain_core.tools import BaseTool
from langgraph.store.base import Op, PutOp, Result
from langgraph.store.memory import InMemoryStore
from scripted_model import ScriptedChatModel
from scripted_replies import messages_of, structured
from scripted_server import Reply, plan

from hansei.policies.state import AgentInput, AgentState

THREAD: RunnableConfig = {"configurable": {"thread_id": "1"}}
GOAL = AgentInput(goal="Refund order 1")
ANOTHER_WAY = structured(
    {
        "analysis": "again",
        "steps": [
            {
                "id": 9,
                "description": "Give the money of order 1 back in another way",
                "tool": "refund",
                "depends_on": [],
            }
        ],
        "given_up": [],
        "drop": [],
    }
)


@dataclass
class Shop:
    """What was refunded, and what happens during a refund."""

    during: Callable[[], None] = lambda: None
    answer: str = "refunded"
    done: list[str] = field(default_factory=list[str])

    def refund(self, order: str) -> str:
        self.done.append(order)
        self.during()
        return self.answer


class FailingStore(InMemoryStore):
    """A store that cannot keep a text that holds some word; `None`: it works."""

    def __init__(self, word: str | None) -> None:
        super().__init__()
        self.word = word

    def batch(self, ops: Iterable[Op]) -> list[Result]:
        every = list(ops)
        if self.word and any(self.word in str(o.value) for o in every if isinstance(o, PutOp)):
            raise OSError("disk full")
        return super().batch(every)

    async def abatch(self, ops: Iterable[Op]) -> list[Result]:
        return self.batch(ops)


def refunder(orders: tuple[str, ...] = ("1",)) -> ScriptedChatModel:
    """One that asks for the refunds, and for a way around where the step fails."""

    def executor(body: dict[str, object]) -> Reply:
        if messages_of(body)[-1].get("role") == "tool":
            return Reply("Order 1 is refunded.")
        several: list[tuple[str, dict[str, object]]] = [("refund", {"order": o}) for o in orders]
        return calls(*several)

    return scripted(
        plan({"description": "Refund order 1", "tool": "refund"}),
        executor,
        replanner=ANOTHER_WAY,
        answer="Order 1 is refunded.",
    )


def refunds(shop: Shop, effect: str) -> BaseTool:
    return made(shop.refund, effect)


def ran(agent: Any, given: object, awaited: bool) -> AgentState:
    if awaited:
        return AgentState.model_validate(
            asyncio.run(agent.ainvoke(given, THREAD, durability="sync"))
        )
    return AgentState.model_validate(agent.invoke(given, THREAD, durability="sync"))
