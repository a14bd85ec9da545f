"""The two graphs that are held against each other.

hansei plays the scene as it plays everything. The bare graph has the same nodes and edges and makes
the same model calls: it sends the very messages that hansei sent to the same model object, with the
same tools and schemas, bound through the same methods of the model; its tool runs in LangGraph's
own `ToolNode`. What it lacks is the rest: it renders no prompts, checks nothing, counts nothing,
and keeps in its state only the plan, the last messages, the results and the verdicts.

Structured replies are asked for by `with_structured_output`, as LangChain's guides do it. The bare
graph may also be made without what LangChain reads them with (`parsed=False`): then a reply is what
`json.loads` makes of it, which is the least that any graph can do.
"""

import json
from collections.abc import Mapping, Sequence
from typing import Any, cast

from langchain_core.language_models import LanguageModelInput
from langchain_core.messages import AIMessage, AnyMessage
from langchain_core.runnables import Runnable
from langchain_core.tools import BaseTool
from langchain_openai import ChatOpenAI
from langgraph.checkpoint.base import BaseCheckpointSaver
from langgraph.graph import END, START, StateGraph
from langgraph.graph.state import CompiledStateGraph
from langgraph.prebuilt import ToolNode
from overhead_scene import GOAL, Script, Sent, clientless_model
from typing_extensions import TypedDict

from hansei import AgentInput, Settings, create_plan_execute_agent
from hansei.graphs.agent import Agent
from hansei.nodes.planner import plan_schema
from hansei.nodes.reflector import REFLECTOR_SCHEMA

Saver = BaseCheckpointSaver[str]


def hansei_agent(model: ChatOpenAI, look: BaseTool, saver: Saver | None, *, steps: int) -> Agent:
    """The agent as anybody builds it; every step is reflected on, the answer is reviewed."""
    settings = Settings(reflection="always", max_steps=steps)
    return create_plan_execute_agent(model, [look], settings=settings, checkpointer=saver)


def recorded(look: BaseTool, *, steps: int) -> Sequence[Sent]:
    """The requests of one run of hansei, in order; the bare graph makes the same."""
    model = clientless_model(Script(steps=steps))
    state = hansei_agent(model, look, None, steps=steps).invoke(AgentInput(goal=GOAL))
    if not state["verified"]:
        msg = f"the scene did not end verified: {state['answer']}"
        raise RuntimeError(msg)
    return model.sent()


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
Asked = Runnable[LanguageModelInput, object]


class BareNodes:
    """The nodes: each makes its model call and keeps what came back."""

    def __init__(
        self, model: ChatOpenAI, look: BaseTool, requests: Sequence[Sent], *, parsed: bool
    ) -> None:
        """Bind the model once for each kind of request."""
        self._requests = requests
        schemas = {"plan": plan_schema((look.name,), _steps(requests))}
        kinds: dict[str, Asked] = {}
        self._asked: list[Asked] = []
        for request in requests:
            kind = request.schema or ("tools" if "tools" in request.options else "words")
            if kind not in kinds and request.schema and parsed:
                schema = schemas.get(kind, REFLECTOR_SCHEMA)
                kinds[kind] = model.with_structured_output(schema, method="json_schema")
            elif kind not in kinds:
                kinds[kind] = model.bind(**request.options)
            self._asked.append(kinds[kind])

    def _ask(self, state: BareState) -> object:
        place = state.get("sent", 0)
        return self._asked[place].invoke(self._requests[place].messages)

    def _ask_for_data(self, state: BareState) -> dict[str, Any]:
        reply = self._ask(state)
        data = json.loads(reply.text) if isinstance(reply, AIMessage) else reply
        return cast("dict[str, Any]", data)

    def planner(self, state: BareState) -> BareState:
        """Goal to plan."""
        plan = self._ask_for_data(state)["steps"]
        return {"plan": plan, "at": 0, "sent": 1, "results": {}, "verdicts": []}

    def executor(self, state: BareState) -> BareState:
        """One model call on one step."""
        reply = cast("AIMessage", self._ask(state))
        sent = state["sent"] + 1
        if reply.tool_calls:
            return {"messages": [reply], "sent": sent}
        results = {**state["results"], state["at"]: reply.text}
        return {"messages": [reply], "sent": sent, "results": results}

    def reflector(self, state: BareState) -> BareState:
        """One verdict, on a step or on the answer."""
        verdicts = [*state["verdicts"], self._ask_for_data(state)]
        return {"verdicts": verdicts, "at": state["at"] + 1, "sent": state["sent"] + 1}

    def synthesizer(self, state: BareState) -> BareState:
        """The answer."""
        reply = cast("AIMessage", self._ask(state))
        return {"answer": reply.text, "sent": state["sent"] + 1}


def _steps(requests: Sequence[Sent]) -> int:
    """The limit of steps in the schema of the recorded plan."""
    form: Mapping[str, Any] = requests[0].options["response_format"]["json_schema"]
    return int(form["schema"]["properties"]["steps"]["maxItems"])


def _called(state: BareState) -> str:
    last = state["messages"][-1]
    return "tools" if isinstance(last, AIMessage) and last.tool_calls else "reflector"


def _judged(state: BareState) -> str:
    if "answer" in state:
        return END
    return "executor" if state["at"] < len(state["plan"]) else "synthesizer"


def bare_graph(
    model: ChatOpenAI,
    look: BaseTool,
    requests: Sequence[Sent],
    saver: Saver | None,
    *,
    parsed: bool = True,
) -> Bare:
    """The same nodes, edges and model calls, and nothing else."""
    nodes = BareNodes(model, look, requests, parsed=parsed)
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
