"""A graph of somebody's own with the agent in it, and what is asked of it."""

from __future__ import annotations

import asyncio
from typing import Annotated, Any, Literal

from broken_runs import scripted
from langchain_core.messages import AnyMessage, HumanMessage
from langchain_core.runnables import RunnableConfig, RunnableLambda
from langchain_core.tools import BaseTool
from langgraph.checkpoint.base import BaseCheckpointSaver
from langgraph.checkpoint.memory import InMemorySaver
from langgraph.graph import START, StateGraph
from langgraph.graph.message import add_messages
from langgraph.graph.state import CompiledStateGraph
from langgraph.store.base import BaseStore
from scripted_model import ScriptedChatModel
from scripted_replies import call_then_say, plan
from typing_extensions import TypedDict

from hansei import AgentInput, create_plan_execute_agent
from hansei.graphs.agent import Agent
from hansei.graphs.checkpoints import serializer

THREAD: RunnableConfig = {"configurable": {"thread_id": "outer"}}

Place = Literal["node", "function"]
How = Literal["invoke", "ainvoke"]
Outer = CompiledStateGraph[Any, Any, Any, Any]


class Talk(TypedDict):
    """The least that a graph around the agent needs."""

    messages: Annotated[list[AnyMessage], add_messages]


def look(q: str) -> str:
    return f"{q}: 42"


def agent_with(
    tool: BaseTool, *, saver: BaseCheckpointSaver[str] | bool | None = None
) -> tuple[ScriptedChatModel, Agent]:
    one = plan({"description": "look it up", "tool": tool.name})
    model = scripted(one, call_then_say("It is 42.", tool.name, q="it"))
    return model, create_plan_execute_agent(model, [tool], checkpointer=saver)


def around(
    agent: Agent,
    place: Place,
    *,
    saver: BaseCheckpointSaver[str] | None = None,
    store: BaseStore | None = None,
) -> Outer:
    """A graph of somebody's own with the agent in it."""

    def call(state: Talk) -> dict[str, object]:
        result = agent.invoke(AgentInput(messages=state["messages"]))
        return {"messages": result["messages"]}

    async def acall(state: Talk) -> dict[str, object]:
        result = await agent.ainvoke(AgentInput(messages=state["messages"]))
        return {"messages": result["messages"]}

    graph = StateGraph(Talk)
    if place == "node":
        graph.add_node("helper", agent)
    else:
        graph.add_node("helper", RunnableLambda(call, afunc=acall))
    graph.add_edge(START, "helper")
    return graph.compile(checkpointer=saver, store=store)


def told(outer: Outer, given: object, how: How) -> Any:
    if how == "ainvoke":
        return asyncio.run(outer.ainvoke(given, THREAD))
    return outer.invoke(given, THREAD)


def question(text: str) -> Any:
    return {"messages": [HumanMessage(text)]}


def memory() -> InMemorySaver:
    return InMemorySaver(serde=serializer())
