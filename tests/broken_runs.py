"""One run of a scripted model, in a few words."""

from __future__ import annotations

from collections.abc import Callable, Sequence

from langchain_core.tools import BaseTool, StructuredTool
from scripted_model import ScriptedChatModel
from scripted_replies import Entry, Reply, structured
from scripted_server import verdict

from hansei import Check, Settings, create_plan_execute_agent
from hansei.policies.state import AgentInput, AgentState

GIVES_UP = structured({"analysis": "no", "steps": [], "given_up": [1], "drop": []})


def made(function: Callable[..., object], effect: str = "read") -> BaseTool:
    return StructuredTool.from_function(
        func=function,
        name=function.__name__,
        description=function.__name__,
        metadata={"hansei": {"effect": effect}},
    )


def scripted(
    planner: Entry,
    executor: Entry | list[Entry],
    *,
    reflector: Entry | None = None,
    replanner: Entry = GIVES_UP,
    answer: str = "It is 42.",
) -> ScriptedChatModel:
    model = ScriptedChatModel()
    model.script("planner", planner)
    model.script("executor", *(executor if isinstance(executor, list) else [executor]))
    model.script("reflector", reflector or verdict("PASS"))
    model.script("reviewer", verdict("PASS"))
    model.script("replanner", replanner)
    model.script("synthesizer", answer)
    return model


def ran(
    model: ScriptedChatModel,
    tools: Sequence[BaseTool],
    *,
    goal: str = "Look it up",
    settings: Settings | None = None,
    checks: Sequence[Check] = (),
) -> AgentState:
    agent = create_plan_execute_agent(model, tools, settings=settings, checks=checks)
    return AgentState.model_validate(agent.invoke(AgentInput(goal=goal)))


def calls(*several: tuple[str, dict[str, object]]) -> Reply:
    return Reply(None, several, finish_reason="tool_calls")
