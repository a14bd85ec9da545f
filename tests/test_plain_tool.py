"""A call of a plain tool, made without LangGraph's runner, comes out as the runner has it."""

from __future__ import annotations

import asyncio
from collections.abc import Callable
from typing import Annotated, Literal

import pytest
from broken_runs import made, ran, scripted
from langchain_core.messages import ToolCall, ToolMessage
from langchain_core.runnables import RunnableConfig
from langchain_core.tools import (
    BaseTool,
    InjectedToolArg,
    InjectedToolCallId,
    StructuredTool,
    ToolException,
    tool,
)
from langgraph.config import get_config
from langgraph.graph import START, StateGraph
from langgraph.prebuilt import InjectedState, InjectedStore, ToolRuntime
from langgraph.store.base import BaseStore
from langgraph.types import Command
from pydantic import BaseModel
from scripted_replies import call_then_say, plan
from typing_extensions import TypedDict

from hansei.nodes.plain_tool import call_plain, is_plain, request_of
from hansei.nodes.tool_call import tool_node
from hansei.policies.state import AgentState


@tool
def text(q: str) -> str:
    """Text."""
    return f"{q}: 3 lamps"


@tool
def record(q: str, most: int = 3) -> dict[str, object]:
    """A record."""
    return {"q": q, "most": most, "名": "灯"}


@tool
def words(q: str) -> list[str]:
    """A list of text."""
    return [q, "lamps"]


@tool
def blocks(q: str) -> list[dict[str, str]]:
    """Content blocks."""
    return [{"type": "text", "text": q}]


@tool
def nothing(q: str) -> None:
    """Nothing."""


@tool
def configured(q: str, config: RunnableConfig) -> str:
    """Text that the config says."""
    return str(config["configurable"]["said"])


@tool(response_format="content_and_artifact")
def with_artifact(q: str) -> tuple[str, list[int]]:
    """Text and more."""
    return q, [1, 2]


@tool
def raises(q: str) -> str:
    """Fails."""
    raise RuntimeError(q)


@tool
def validates(q: str) -> str:
    """Fails in its own model."""
    return Strict(number=q).model_dump_json()  # type: ignore[arg-type]


class Strict(BaseModel):
    number: int


def _refuses(q: str) -> str:
    """Refuses."""
    raise ToolException(q)


refuses = StructuredTool.from_function(func=_refuses, handle_tool_error=True)


@tool
def commands(q: str) -> Command[str]:
    """A command that answers the call."""
    return Command(update={"messages": [ToolMessage(q, tool_call_id="1")]})


@tool
def lost_command(q: str) -> Command[str]:
    """A command that answers nothing."""
    return Command(update={"messages": []})


PLAIN = [
    text,
    record,
    words,
    blocks,
    nothing,
    configured,
    with_artifact,
    raises,
    validates,
    refuses,
    commands,
    lost_command,
]


class Empty(TypedDict, total=False):
    done: bool


def within_a_node(work: Callable[[], object]) -> list[object]:
    """What work gives inside a node of a running graph, where tools are called."""
    found: list[object] = []

    def node(state: Empty) -> Empty:
        found.append(work())
        return {"done": True}

    graph = StateGraph(Empty)
    graph.add_node("node", node)
    graph.add_edge(START, "node")
    graph.compile().invoke({}, {"configurable": {"said": "3 lamps"}})
    return found


def outcome(how: Callable[[RunnableConfig], object]) -> object:
    try:
        answer = how(get_config())
    except Exception as exc:  # noqa: BLE001 - it is what is compared
        return type(exc), str(exc)
    messages = answer["messages"] if isinstance(answer, dict) else answer
    assert isinstance(messages, list)
    return [
        (type(m), m.content, m.status, m.artifact, m.tool_call_id, m.name)
        if isinstance(m, ToolMessage)
        else m
        for m in messages
    ]


@pytest.mark.parametrize("each", PLAIN, ids=lambda each: each.name)
@pytest.mark.parametrize("args", [{"q": "lamps"}, {"q": 3}, {"what": "lamps"}])
def test_it_comes_out_as_with_the_runner(each: BaseTool, args: dict[str, object]) -> None:
    assert is_plain(each)
    call = ToolCall(name=each.name, args=args, id="1", type="tool_call")

    def both() -> None:
        ours = outcome(lambda config: call_plain(each, call, config))
        assert ours == outcome(lambda config: tool_node(each).invoke(request_of(call), config))

    within_a_node(both)


@tool
def wants_id(q: str, call: Annotated[str, InjectedToolCallId]) -> str:
    """Injected."""
    return call


@tool
def wants_state(q: str, state: Annotated[object, InjectedState]) -> str:
    """Injected."""
    return q


@tool
def wants_store(q: str, store: Annotated[BaseStore, InjectedStore()]) -> str:
    """Injected."""
    return q


@tool
def wants_runtime(q: str, runtime: ToolRuntime) -> str:
    """Injected."""
    return q


@tool
def wants_other(q: str, other: Annotated[str, InjectedToolArg] = "") -> str:
    """Injected."""
    return q


@tool
async def awaits(q: str) -> str:
    """Awaited."""
    return q


def _by_hand(q: str, state: Annotated[object, InjectedState]) -> str:
    return q


class OnlyQ(BaseModel):
    q: str


by_hand = StructuredTool.from_function(
    func=_by_hand, name="by_hand", description="by hand", args_schema=OnlyQ
)
by_schema = StructuredTool.from_function(
    func=_by_hand,
    name="by_schema",
    description="by schema",
    args_schema={"type": "object", "properties": {"q": {"type": "string"}}},
)


class OfAClass(BaseTool):
    name: str = "of_a_class"
    description: str = "A class of one's own."

    def _run(self, q: str) -> str:
        return q


@pytest.mark.parametrize(
    "each",
    [
        wants_id,
        wants_state,
        wants_store,
        wants_runtime,
        wants_other,
        awaits,
        by_hand,
        by_schema,
        OfAClass(),
    ],
    ids=lambda each: each.name,
)
def test_a_tool_that_is_handed_more_than_the_model_says_goes_through_the_runner(
    each: BaseTool,
) -> None:
    assert not is_plain(each)


@pytest.mark.parametrize("where", ["loop", "thread"])
def test_a_tool_may_start_a_loop_of_its_own(where: Literal["loop", "thread"]) -> None:
    def look(q: str) -> str:
        async def inner() -> str:
            return f"{q}: 42"

        return asyncio.run(inner())

    model = scripted(
        plan({"description": "Look it up", "tool": "look"}),
        call_then_say("It is 42.", "look", q="a"),
    )

    def played() -> AgentState:
        return ran(model, [made(look)])

    async def inside() -> AgentState:
        return played()

    state = asyncio.run(inside()) if where == "loop" else played()
    assert [call.output for call in state.steps[1].attempts[0].calls] == ["a: 42"]
