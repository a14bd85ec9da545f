"""What a plan costs in model calls, to the call, over real HTTP, sync and async."""

from __future__ import annotations

import asyncio
from collections.abc import Iterator, Sequence

import pytest
from langchain_core.tools import BaseTool, tool
from scripted_replies import JsonObject, Reply, messages_of, text_of
from scripted_server import ScriptedServer, call_then_say, plan, verdict

from hansei import RunStatus, Settings, chat_model, create_plan_execute_agent, worst_case_calls
from hansei.policies.state import AgentInput, AgentState

PASS = verdict("PASS")
RETRY = verdict("RETRY", "too thin", "say more")
REPLAN = verdict("REPLAN", "this way leads nowhere", "another way")
NEVER = Settings(reflection="never")
MOST = Settings().max_steps


@tool
def look_up(what: str) -> str:
    """Looks something up."""
    return f"{what} is fine"


look_up.metadata = {"hansei": {"effect": "read"}}

WORDS = ("alpha", "bravo", "charlie", "delta", "echo", "foxtrot", "golf")


@pytest.fixture
def server() -> Iterator[ScriptedServer]:
    with ScriptedServer(strict_pairing=True) as server:
        server.script("synthesizer", f"All is told: {', '.join(WORDS)}.")
        server.script("reflector", PASS)
        server.script("reviewer", PASS)
        yield server


@pytest.fixture(params=["sync", "async"])
def way(request: pytest.FixtureRequest) -> str:
    return str(request.param)


def script_plan(server: ScriptedServer, steps: int, *, tool: str | None = None) -> None:
    """A plan of steps that one call states, or that call the tool once before."""
    rows = [{"description": f"Think of {word}", "tool": tool} for word in WORDS[:steps]]
    server.script("planner", plan(*rows))

    def executor(body: JsonObject) -> Reply | str:
        asked = "\n".join(text_of(m) for m in messages_of(body) if m.get("role") == "user")
        word = next(word for word in [*WORDS, "zulu"] if f"of {word}" in asked)
        said = f"The {word} is told."
        return said if tool is None else call_then_say(said, tool, what=word)(body)

    server.script("executor", executor)


def calls_of(
    server: ScriptedServer, way: str, settings: Settings, tools: Sequence[BaseTool] = ()
) -> int:
    """Model calls of one run that ends complete, as the endpoint counts them."""
    model = chat_model("scripted", base_url=server.base_url, max_retries=0)
    agent = create_plan_execute_agent(model, tools, settings=settings)
    goal = AgentInput(goal="Think of the words")
    raw = agent.invoke(goal) if way == "sync" else asyncio.run(agent.ainvoke(goal))
    state = AgentState.model_validate(raw)
    assert state.status is RunStatus.COMPLETE, state.answer
    counted = sum(usage.calls for usage in state.usage.values())
    assert counted == server.count() <= worst_case_calls(settings) == state.bound
    return counted


@pytest.mark.parametrize("steps", [1, 2, MOST])
def test_without_reflection_a_plan_costs_2_and_its_steps(
    server: ScriptedServer, way: str, steps: int
) -> None:
    script_plan(server, steps)
    assert calls_of(server, way, NEVER) == 2 + steps


@pytest.mark.parametrize("steps", [1, 2, MOST])
def test_with_reflection_it_costs_3_and_twice_its_steps(
    server: ScriptedServer, way: str, steps: int
) -> None:
    script_plan(server, steps)
    assert calls_of(server, way, Settings()) == 3 + 2 * steps


def test_the_width_changes_nothing(server: ScriptedServer, way: str) -> None:
    script_plan(server, 5)
    assert calls_of(server, way, Settings(max_parallel=1)) == 3 + 2 * 5


@pytest.mark.parametrize(("settings", "cost"), [(NEVER, 2 + 2 * 2), (Settings(), 3 + 3 * 2)])
def test_a_step_that_calls_one_tool_once_costs_2(
    server: ScriptedServer, way: str, settings: Settings, cost: int
) -> None:
    script_plan(server, 2, tool="look_up")
    assert calls_of(server, way, settings, [look_up]) == cost


def test_a_retry_adds_the_attempts_call_and_1(server: ScriptedServer, way: str) -> None:
    script_plan(server, 2)
    server.script("reflector", RETRY, PASS)
    assert calls_of(server, way, Settings()) == (3 + 2 * 2) + 1 + 1


def test_a_retry_of_a_step_with_a_tool_adds_2_calls_and_1(server: ScriptedServer, way: str) -> None:
    script_plan(server, 2, tool="look_up")
    server.script("reflector", RETRY, PASS)
    assert calls_of(server, way, Settings(), [look_up]) == (3 + 3 * 2) + 2 + 1


def test_a_replan_adds_1_and_the_new_steps_calls(server: ScriptedServer, way: str) -> None:
    script_plan(server, 2)
    server.script("reflector", REPLAN, PASS)
    new = {"description": "Think of zulu", "stands_in_for": [1]}
    server.script("replanner", plan(new))
    server.script("synthesizer", f"All is told: zulu, {', '.join(WORDS)}.")
    # The new step is executed once and judged once.
    assert calls_of(server, way, Settings(max_parallel=1)) == (3 + 2 * 2) + 1 + 2


def test_an_answer_sent_back_adds_a_text_and_a_review(server: ScriptedServer, way: str) -> None:
    script_plan(server, 1)
    server.script("reviewer", RETRY, PASS)
    assert calls_of(server, way, Settings()) == (3 + 2 * 1) + 2


def test_an_answer_that_is_not_reviewed_saves_1(server: ScriptedServer, way: str) -> None:
    script_plan(server, 3)
    assert calls_of(server, way, Settings(review_answer=False)) == 2 + 2 * 3


def test_a_verdict_by_rule_saves_the_call(server: ScriptedServer, way: str) -> None:
    # The veto costs nothing; the retry costs the attempt's calls and the reflector's one.
    script_plan(server, 1)
    server.script("planner", plan({"description": "Think of alpha", "tool": "look_up"}))
    told = "The alpha is told."
    server.script("executor", told, call_then_say(told, "look_up", what="alpha"))
    assert calls_of(server, way, Settings(), [look_up]) == 1 + 1 + (2 + 1) + 2
