"""The two graphs that are held against each other.

hansei plays the scene as it plays everything. The bare graph has the same nodes and edges and makes
the same model calls: the very messages that hansei sent, with the same arguments, to the same model
object; its tool runs in LangGraph's own `ToolNode`. What it lacks is the rest: it renders no
prompts, has its models bound beforehand, reads replies with `json.loads`, checks nothing, counts
nothing, and keeps in its state only the plan, the last messages, the results and the verdicts.
"""

import json
from collections.abc import Sequence

from langchain_core.language_models import LanguageModelInput
from langchain_core.messages import AIMessage, AnyMessage
from langchain_core.runnables import Runnable
from langchain_core.tools import BaseTool
from langgraph.checkpoint.base import BaseCheckpointSaver
from langgraph.graph import END, START, StateGraph
from langgraph.graph.state import CompiledStateGraph
from langgraph.prebuilt import ToolNode
from overhead_scene import GOAL, InstantModel, Sent
from typing_extensions import TypedDict

from hansei import AgentInput, Settings, create_plan_execute_agent
from hansei.graphs.agent import Agent

Saver = BaseCheckpointSaver[str]


def hansei_agent(model: InstantModel, look: BaseTool, saver: Saver | None) -> Agent:
    """The agent as anybody builds it; every step is reflected on, the answer is reviewed."""
    settings = Settings(reflection="always", max_steps=max(7, model.steps))
    return create_plan_execute_agent(model, [look], settings=settings, checkpointer=saver)


def recorded(model: InstantModel, look: BaseTool) -> list[Sent]:
    """The requests of one run of hansei, in order; the bare graph makes the same."""
    sent = model.record()
    state = hansei_agent(model, look, None).invoke(AgentInput(goal=GOAL))
    if not state["verified"]:
        msg = f"the scene did not end verified: {state['answer']}"
        raise RuntimeError(msg)
    return sent


class BareState(TypedDict, total=False):
    """What a graph of this shape needs at the least."""

    goal: str
    plan: list[dict[str, object]]
    at: int
    sent: int
    messages: list[AnyMessage]
    results: dict[int, str]
    verdicts: list[dict[str, object]]
    answer: str


Bare = CompiledStateGraph[BareState, None, BareState, BareState]


class BareNodes:
    """The nodes: each makes its model call and keeps what came back."""

    def __init__(self, model: InstantModel, requests: Sequence[Sent]) -> None:
        """Bind the model once for each kind of request."""
        self._requests = requests
        self._bound: list[Runnable[LanguageModelInput, AIMessage]] = []
        kinds: dict[str, Runnable[LanguageModelInput, AIMessage]] = {}
        for request in requests:
            kind = request.schema or str("tools" in request.options)
            self._bound.append(kinds.setdefault(kind, model.bind(**request.options)))

    def _ask(self, state: BareState) -> tuple[AIMessage, int]:
        place = state.get("sent", 0)
        return self._bound[place].invoke(self._requests[place].messages), place + 1

    def planner(self, state: BareState) -> BareState:
        """Goal to plan."""
        reply, sent = self._ask(state)
        plan = json.loads(reply.text)["steps"]
        return {"plan": plan, "at": 0, "sent": sent, "results": {}, "verdicts": []}

    def executor(self, state: BareState) -> BareState:
        """One model call on one step."""
        reply, sent = self._ask(state)
        if reply.tool_calls:
            return {"messages": [reply], "sent": sent}
        results = {**state["results"], state["at"]: reply.text}
        return {"messages": [reply], "sent": sent, "results": results}

    def reflector(self, state: BareState) -> BareState:
        """One verdict, on a step or on the answer."""
        reply, sent = self._ask(state)
        verdicts = [*state["verdicts"], json.loads(reply.text)]
        return {"verdicts": verdicts, "at": state["at"] + 1, "sent": sent}

    def synthesizer(self, state: BareState) -> BareState:
        """The answer."""
        reply, sent = self._ask(state)
        return {"answer": reply.text, "sent": sent}


def _called(state: BareState) -> str:
    last = state["messages"][-1]
    return "tools" if isinstance(last, AIMessage) and last.tool_calls else "reflector"


def _judged(state: BareState) -> str:
    if "answer" in state:
        return END
    return "executor" if state["at"] < len(state["plan"]) else "synthesizer"


def bare_graph(
    model: InstantModel, look: BaseTool, requests: Sequence[Sent], saver: Saver | None
) -> Bare:
    """The same nodes, edges and model calls, and nothing else."""
    nodes = BareNodes(model, requests)
    graph: StateGraph[BareState, None, BareState, BareState] = StateGraph(BareState)
    graph.add_node("planner", nodes.planner)
    graph.add_node("executor", nodes.executor)
    graph.add_node("tools", ToolNode([look]))
    graph.add_node("reflector", nodes.reflector)
    graph.add_node("synthesizer", nodes.synthesizer)
    graph.add_edge(START, "planner")
    graph.add_edge("planner", "executor")
    graph.add_conditional_edges("executor", _called, ["tools", "reflector"])
    graph.add_edge("tools", "executor")
    graph.add_conditional_edges("reflector", _judged, ["executor", "synthesizer", END])
    graph.add_edge("synthesizer", "reflector")
    return graph.compile(checkpointer=saver)
