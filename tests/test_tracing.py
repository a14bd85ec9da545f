"""What a tracer sees: every call of a model or a tool, with its role, in one tree."""

from __future__ import annotations

import asyncio
from collections import Counter
from collections.abc import Iterator
from typing import Any, Literal, cast

import pytest
from broken_runs import GIVES_UP, made
from langchain_core.callbacks import AsyncCallbackHandler, BaseCallbackHandler
from langchain_core.runnables import RunnableConfig, RunnableLambda
from langchain_core.tools import BaseTool, StructuredTool
from langchain_core.tracers.run_collector import RunCollectorCallbackHandler
from langchain_core.tracers.schemas import Run
from outer_graph import around, question
from scripted_model import ScriptedChatModel
from scripted_replies import JsonObject, Reply, call_then_say, error, messages_of, text_of
from scripted_server import plan, verdict

from hansei import AgentInput, create_plan_execute_agent
from hansei.graphs.agent import Agent

How = Literal["invoke", "ainvoke"]
BOTH = pytest.mark.parametrize("how", ["invoke", "ainvoke"])


def _inside(text: str) -> str:
    return f"{text}: 42"


INSIDE: RunnableLambda[str, str] = RunnableLambda(_inside, name="inside")


def look(q: str) -> str:
    """Looks something up."""
    return INSIDE.invoke(q)


async def alook(q: str) -> str:
    """Looks something up."""
    return await INSIDE.ainvoke(q)


def every_role() -> ScriptedChatModel:
    """Two steps side by side, a repair, a replan that gives up, two drafts of the answer."""
    model = ScriptedChatModel()
    first = {"description": "look up the lamp", "tool": "look"}
    other = {"description": "look up the bulb", "tool": "look"}
    model.script("planner", "no plan", plan(first, other))

    def executor(body: JsonObject) -> Reply:
        about = "bulb" if "look up the bulb" in text_of(messages_of(body)[1]) else "lamp"
        return call_then_say(f"The {about} is 42.", "look", q=about)(body)

    def reflector(body: JsonObject) -> Reply:
        bulb = "Task of this step: look up the bulb" in text_of(messages_of(body)[1])
        return verdict("REPLAN", "no") if bulb else verdict("PASS")

    model.script("executor", executor)
    model.script("reflector", reflector)
    model.script("replanner", GIVES_UP)
    model.script("synthesizer", "The lamp is 42. The bulb could not be found.")
    model.script("reviewer", verdict("RETRY", "no", "Say more"), verdict("PASS"))
    return model


def agent_of(model: ScriptedChatModel, tool: BaseTool) -> Agent:
    return create_plan_execute_agent(model, [tool])


def traced(agent: Agent, how: How, *handlers: BaseCallbackHandler) -> Run:
    """The root of the tree that a tracer builds of one run."""
    collector = RunCollectorCallbackHandler()
    config: RunnableConfig = {
        "callbacks": [collector, *handlers],
        "tags": ["mine"],
        "metadata": {"customer": "7"},
    }
    goal = AgentInput(goal="Look up the lamp and the bulb")
    if how == "ainvoke":
        asyncio.run(agent.ainvoke(goal, config))
    else:
        agent.invoke(goal, config)
    (root,) = collector.traced_runs
    return root


def below(run: Run) -> Iterator[tuple[Run, list[str]]]:
    """Every run of a tree with the names of those above it, the nearest last."""
    for child in run.child_runs:
        yield child, [run.name]
        for deeper, names in below(child):
            yield deeper, [run.name, *names]


def of_kind(root: Run, kind: str) -> list[tuple[Run, list[str]]]:
    return [(run, names) for run, names in below(root) if run.run_type == kind]


def metadata_of(run: Run) -> dict[str, Any]:
    return cast("dict[str, Any]", (run.extra or {}).get("metadata", {}))


def look_tool(how: How) -> BaseTool:
    if how == "ainvoke":
        return made(look)
    # Only awaited, under a blocking run: it gets a thread and a loop of its own.
    return StructuredTool.from_function(
        coroutine=alook, name="look", metadata={"hansei": {"effect": "read"}}
    )


@BOTH
def test_every_model_call_stands_in_the_tree_under_its_role(how: How) -> None:
    model = every_role()
    root = traced(agent_of(model, made(look)), how)
    assert root.name == "hansei"
    calls = of_kind(root, "llm")
    assert len(calls) == model.count()
    assert Counter(run.name for run, _ in calls) == {
        "planner": 1,
        "planner repair": 1,
        "executor": 4,
        "reflector": 2,
        "replanner": 1,
        "synthesizer": 2,
        "reviewer": 2,
    }
    for run, above in calls:
        role = run.name.removesuffix(" repair")
        node = "reflector" if role == "reviewer" else role
        assert above[:2] == ["hansei", node]
        assert metadata_of(run)["hansei_role"] == role
        assert metadata_of(run)["langgraph_node"] == node


@BOTH
def test_tags_and_metadata_of_the_caller_reach_every_call(how: How) -> None:
    root = traced(agent_of(every_role(), look_tool(how)), how)
    calls = [*of_kind(root, "llm"), *of_kind(root, "tool")]
    assert len(calls) == 13 + 2
    for run, _ in calls:
        assert "mine" in (run.tags or [])
        assert metadata_of(run)["customer"] == "7"


@BOTH
def test_calls_on_a_step_name_it(how: How) -> None:
    root = traced(agent_of(every_role(), made(look)), how)
    steps = Counter(
        (run.name, metadata_of(run).get("hansei_step"))
        for run, _ in [*of_kind(root, "llm"), *of_kind(root, "tool")]
    )
    assert {key: n for key, n in steps.items() if key[0] in {"executor", "reflector", "look"}} == {
        ("executor", 1): 2,
        ("executor", 2): 2,
        ("reflector", 1): 1,
        ("reflector", 2): 1,
        ("look", 1): 1,
        ("look", 2): 1,
    }
    assert all(step is None for (name, step) in steps if name in {"planner", "synthesizer"})


@BOTH
@pytest.mark.parametrize("awaited", [True, False])
def test_what_a_tool_runs_stands_below_the_tool(how: How, awaited: bool) -> None:
    root = traced(agent_of(every_role(), look_tool("invoke" if awaited else "ainvoke")), how)
    inner = [above for run, above in below(root) if run.name == "inside"]
    assert len(inner) == 2
    assert {(above[1], above[-1]) for above in inner} == {("tools", "look")}


@BOTH
def test_only_what_was_asked_stands_below_a_model_call(how: How) -> None:
    # The readers of LangChain's structured output are not used, so they would only be noise.
    root = traced(agent_of(every_role(), made(look)), how)
    names = {run.name for run, _ in below(root)}
    assert {
        name for name in names if name.startswith(("Runnable", "Json", "ScriptedChat"))
    } == set()


class Counting(BaseCallbackHandler):
    """Counts what begins and what ends."""

    def __init__(self) -> None:
        self.open = Counter[str]()
        self.seen = Counter[str]()

    def on_chat_model_start(self, *_: Any, **__: Any) -> None:
        self.open["llm"] += 1
        self.seen["llm"] += 1

    def on_llm_end(self, *_: Any, **__: Any) -> None:
        self.open["llm"] -= 1

    def on_llm_error(self, *_: Any, **__: Any) -> None:
        self.open["llm"] -= 1
        self.seen["llm error"] += 1

    def on_tool_start(self, *_: Any, **__: Any) -> None:
        self.open["tool"] += 1
        self.seen["tool"] += 1

    def on_tool_end(self, *_: Any, **__: Any) -> None:
        self.open["tool"] -= 1

    def on_tool_error(self, *_: Any, **__: Any) -> None:
        self.open["tool"] -= 1
        self.seen["tool error"] += 1


def breaks(q: str) -> str:
    raise ValueError(q)


@BOTH
def test_what_fails_is_closed_and_told_as_an_error(how: How) -> None:
    model = every_role()
    model.script("reflector", error(503))
    model.script("executor", call_then_say("Done.", "breaks", q="x"))
    counting = Counting()
    traced(agent_of(model, made(breaks)), how, counting)
    assert +counting.open == Counter()
    assert counting.seen["tool error"] == counting.seen["tool"] > 0
    model = every_role()
    model.script("reflector", error(503))
    counting = Counting()
    traced(agent_of(model, made(look)), how, counting)
    assert +counting.open == Counter()
    assert counting.seen["llm error"] == 2
    assert counting.seen["llm"] == model.count()


def test_a_handler_that_awaits_is_awaited() -> None:
    class Awaiting(AsyncCallbackHandler):
        def __init__(self) -> None:
            self.roles = Counter[str]()

        async def on_chat_model_start(self, *_: Any, **given: Any) -> None:
            await asyncio.sleep(0)
            self.roles[given["metadata"]["hansei_role"]] += 1

    handler = Awaiting()
    model = every_role()
    asyncio.run(
        agent_of(model, made(look)).ainvoke(
            AgentInput(goal="Look up the lamp and the bulb"), {"callbacks": [handler]}
        )
    )
    assert sum(handler.roles.values()) == model.count()
    assert handler.roles["reviewer"] == 2


@pytest.mark.parametrize("place", ["node", "function"])
def test_inside_another_graph_there_is_one_tree(place: Literal["node", "function"]) -> None:
    model = every_role()
    outer = around(agent_of(model, made(look)), place)
    collector = RunCollectorCallbackHandler()
    given = question("Look up the lamp and the bulb")
    outer.invoke(given, {"callbacks": [collector], "metadata": {"customer": "7"}})
    (root,) = collector.traced_runs
    calls = of_kind(root, "llm")
    assert len(calls) == model.count()
    assert {above[1] for _, above in calls} == {"helper"}
    assert {metadata_of(run)["customer"] for run, _ in calls} == {"7"}
