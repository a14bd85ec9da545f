"""Odd tools, foreign contexts and second runs: nothing of it ends a run or eats its budget."""

from __future__ import annotations

import asyncio
import time
from dataclasses import dataclass
from typing import TypedDict

import pytest
from broken_runs import made, ran, scripted
from langchain_core.runnables import RunnableConfig
from langgraph.checkpoint.memory import InMemorySaver
from langgraph.graph import END, START, StateGraph
from scripted_model import ScriptedChatModel
from scripted_replies import structured
from scripted_server import Reply, ScriptedServer, call_then_say, plan, verdict

from hansei import (
    CheckInput,
    Finding,
    OperatorError,
    RunStatus,
    Settings,
    StepStatus,
    chat_model,
    create_plan_execute_agent,
    open_checkpointer,
)
from hansei.policies.phrases import say
from hansei.policies.state import AgentInput, AgentState
from hansei.policies.words import Language

ONE = plan({"description": "look it up", "tool": "look"})
THREAD: RunnableConfig = {"configurable": {"thread_id": "1"}}


class Mute(Exception):  # noqa: N818 - a bad one is meant
    def __str__(self) -> str:
        raise Mute


@pytest.mark.parametrize("exc", [SystemExit(3), Mute(), asyncio.CancelledError()])
@pytest.mark.parametrize("mode", ["sync", "async"])
def test_whatever_a_tool_raises_fails_its_step_and_not_the_run(
    exc: BaseException, mode: str
) -> None:
    def look() -> str:
        raise exc

    agent = create_plan_execute_agent(scripted(ONE, call_then_say("42", "look")), [made(look)])
    goal = AgentInput(goal="Look it up")
    found: object = agent.invoke(goal) if mode == "sync" else asyncio.run(agent.ainvoke(goal))
    state = AgentState.model_validate(found)
    assert state.steps[1].status is StepStatus.FAILED
    assert type(exc).__name__ in state.answer


def look() -> str:
    return "42"


@dataclass
class Foreign:
    user: str = "somebody"


class Outer(TypedDict, total=False):
    goal: str
    answer: str


def test_the_context_of_another_graph_is_left_alone() -> None:
    agent = create_plan_execute_agent(
        scripted(ONE, call_then_say("It is 42.", "look")), [made(look)]
    )
    graph = StateGraph(Outer, context_schema=Foreign)
    graph.add_node("agent", agent)
    graph.add_edge(START, "agent")
    graph.add_edge("agent", END)
    found = graph.compile().invoke({"goal": "Look it up"}, context=Foreign())
    assert found["answer"] == "It is 42."


@pytest.mark.parametrize(
    "settings", [Settings(call_budget=6), Settings(token_budget=700), Settings(deadline=3.0)]
)
def test_each_run_on_a_thread_has_its_own_budget(
    settings: Settings, monkeypatch: pytest.MonkeyPatch
) -> None:
    model = scripted(ONE, call_then_say("It is 42.", "look"))
    agent = create_plan_execute_agent(
        model, [made(look)], settings=settings, checkpointer=InMemorySaver()
    )
    later = time.time()
    for goal in ("Look it up", "Look it up again"):
        monkeypatch.setattr(time, "time", lambda now=later: now)
        state = AgentState.model_validate(agent.invoke(AgentInput(goal=goal), THREAD))
        assert (state.status, state.exhausted) == (RunStatus.COMPLETE, "")
        later += 1000


def test_the_planner_counts_against_the_deadline() -> None:
    model = scripted(ONE, call_then_say("It is 42.", "look"))
    state = ran(model, [made(look)], settings=Settings(deadline=1e-9))
    assert state.status is RunStatus.EXHAUSTED
    assert model.count() == 0
    assert state.answer.strip()


def test_whichever_call_a_budget_forbids_the_run_is_exhausted_and_names_it() -> None:
    def answers() -> ScriptedChatModel:
        return scripted(ONE, call_then_say("It is 42.", "look"))

    free = ran(answers(), [made(look)])
    needed = sum(cost.calls for cost in free.usage.values())
    assert (free.status, needed) == (RunStatus.COMPLETE, 6)
    for budget in range(needed + 1):
        state = ran(answers(), [made(look)], settings=Settings(call_budget=budget))
        enough = budget == needed
        assert state.status is (RunStatus.COMPLETE if enough else RunStatus.EXHAUSTED), budget
        assert state.verified is enough
        assert (f"call_budget {budget}" in state.answer) is not enough, state.answer


def test_a_budget_that_forbids_the_repair_of_a_replan_is_named() -> None:
    def look() -> str:
        return '{"error": "no such thing"}'

    poor = structured({"analysis": "", "steps": [{"id": 2, "description": "", "tool": None}]})
    model = scripted(ONE, call_then_say("There is none.", "look"), replanner=poor)
    state = ran(model, [made(look)], settings=Settings(call_budget=5))
    assert state.status is RunStatus.EXHAUSTED
    assert "call_budget 5" in state.answer


def test_a_check_that_breaks_leaves_nothing_verified_also_without_reflection() -> None:
    def boom(data: CheckInput) -> Finding | None:
        raise RuntimeError(data.result)

    model = scripted(ONE, call_then_say("It is 42.", "look"))
    state = ran(model, [made(look)], settings=Settings(reflection="never"), checks=[boom])
    assert (state.status, state.verified) == (RunStatus.PARTIAL, False)
    assert "nobody has verified this part" in state.answer


def test_a_step_that_an_edit_adds_is_done() -> None:
    model = scripted(ONE, call_then_say("It is 42.", "look"))
    agent = create_plan_execute_agent(model, [made(look)], checkpointer=InMemorySaver())
    agent.invoke(AgentInput(goal="Look it up"), THREAD, interrupt_before=["synthesizer"])
    added: dict[str, object] = {"9": {"description": "Look once more", "tool": "look"}}
    agent.update_state(THREAD, {"steps": added}, as_node="planner")
    state = AgentState.model_validate(agent.invoke(None, THREAD))
    assert {i: s.status for i, s in state.steps.items()} == {
        1: StepStatus.VERIFIED,
        9: StepStatus.VERIFIED,
    }


@pytest.mark.parametrize("nothing", ["\u200b", "\u2800 \ufeff"])
def test_what_shows_nothing_is_no_result_and_no_answer(nothing: str) -> None:
    state = ran(scripted(ONE, call_then_say(nothing, "look")), [made(look)])
    assert (state.status, state.verified) == (RunStatus.FAILED, False)
    state = ran(scripted(ONE, call_then_say("It is 42.", "look"), answer=nothing), [made(look)])
    assert (state.status, state.verified) == (RunStatus.PARTIAL, False)
    assert "It is 42." in state.answer
    state = ran(scripted(plan(answer=nothing), "It is 42."), [])
    assert (state.status, state.verified) == (RunStatus.COMPLETE, True)
    assert "It is 42." in state.answer


def test_where_nothing_was_tried_no_text_is_an_answer() -> None:
    model = scripted(ONE, "42", answer="It is 42.")
    state = ran(model, [made(look)], settings=Settings(call_budget=1))
    assert state.status is RunStatus.EXHAUSTED
    assert "42" not in state.answer


def test_a_planner_that_fails_leaves_no_old_answer_under_a_new_goal() -> None:
    model = scripted(ONE, call_then_say("It is 42.", "look"))
    agent = create_plan_execute_agent(model, [made(look)], checkpointer=InMemorySaver())
    first = AgentState.model_validate(agent.invoke(AgentInput(goal="Look it up"), THREAD))
    assert first.verified
    model.script("planner", Reply("down", status=503))
    with pytest.raises(OperatorError):
        agent.invoke(AgentInput(goal="Refund order A1001"), THREAD)
    state = AgentState.model_validate(agent.get_state(THREAD).values)
    assert (state.status, state.verified, state.answer) == (RunStatus.RUNNING, False, "")
    assert not state.steps


def test_usage_may_be_edited_as_plain_values() -> None:
    model = scripted(ONE, call_then_say("It is 42.", "look"))
    agent = create_plan_execute_agent(model, [made(look)], checkpointer=InMemorySaver())
    agent.invoke(AgentInput(goal="Look it up"), THREAD)
    agent.update_state(THREAD, {"usage": {"planner": {"calls": 1}}})
    state = AgentState.model_validate(agent.get_state(THREAD).values)
    assert state.usage["planner"].calls == 2


def test_half_characters_reach_no_endpoint() -> None:
    def look(q: str) -> str:
        return "42 \ud800"

    with ScriptedServer() as server:
        server.script("planner", ONE)
        server.script("executor", Reply(None, [("look", '{"q": "\\ud83d"}')]), "It is 42.")
        server.script("reflector", verdict("PASS"))
        server.script("reviewer", verdict("PASS"))
        server.script("synthesizer", "It is 42.")
        model = chat_model("scripted", base_url=server.base_url, max_retries=0)
        agent = create_plan_execute_agent(model, [made(look)])
        state = AgentState.model_validate(agent.invoke(AgentInput(goal="Look \udcff up")))
    assert (state.status, state.verified) == (RunStatus.COMPLETE, True)
    state.model_dump_json()


def test_the_home_of_nobody_is_for_the_operator() -> None:
    with pytest.raises(OperatorError), open_checkpointer("~nobody-at-all/x.db"):
        pass


@pytest.mark.parametrize(
    ("goal", "said", "language"),
    [
        ("What is the weather like in Paris?", "It is sunny, 25 degrees.", "en"),
        ("巴黎天气怎么样", "晴，25 度。", "zh"),
    ],
)
def test_an_answer_that_was_looked_up_nowhere_says_so(
    goal: str, said: str, language: Language
) -> None:
    state = ran(scripted(plan(answer=said), "x"), [made(look)], goal=goal)
    assert (state.status, state.verified) == (RunStatus.COMPLETE, False)
    assert state.answer == f"{said}\n\n{say('direct', language)}"


def test_a_greeting_needs_no_note() -> None:
    state = ran(scripted(plan(answer="Hello!"), "x"), [made(look)], goal="hello")
    assert state.answer == "Hello!"
