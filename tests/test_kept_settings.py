"""A run goes on under the settings that it was started with, whoever goes on with it."""

from __future__ import annotations

from pathlib import Path

import pytest
from broken_runs import made, scripted
from hypothesis import given
from hypothesis import strategies as st
from langchain_core.runnables import RunnableConfig
from scripted_server import call_then_say, plan

from hansei import (
    AgentInput,
    AgentState,
    RunStatus,
    Settings,
    UserError,
    create_plan_execute_agent,
    open_checkpointer,
)
from hansei.graphs.agent import Agent
from hansei.graphs.checkpoints import Checkpointer
from hansei.policies.kept import Kept, in_force, keep
from hansei.policies.run_context import RunContext

THREAD: RunnableConfig = {"configurable": {"thread_id": "1"}}
GOAL = AgentInput(goal="Look it up")


def look() -> str:
    return "42"


def agent_with(saver: Checkpointer, settings: Settings | None = None) -> Agent:
    steps = plan(
        {"description": "look one up", "tool": "look"},
        {"description": "look two up", "tool": "look", "depends_on": [1]},
    )
    model = scripted(steps, call_then_say("It is 42.", "look"))
    return create_plan_execute_agent(model, [made(look)], settings=settings, checkpointer=saver)


def gone_on(
    folder: Path,
    *,
    first: Settings | None = None,
    context: Settings | None = None,
    then: Settings | None = None,
    then_context: Settings | None = None,
) -> AgentState:
    """A run that stops before its first look back, and goes on with another agent."""
    with open_checkpointer(folder / "runs.db") as saver:
        agent_with(saver, first).invoke(
            GOAL, THREAD, context=context, interrupt_before=["reflector"], durability="sync"
        )
    with open_checkpointer(folder / "runs.db") as saver:
        ended = agent_with(saver, then).invoke(
            None, THREAD, context=then_context, durability="sync"
        )
    state = AgentState.model_validate(ended)
    assert sum(cost.calls for cost in state.usage.values()) <= state.bound
    return state


def calls(state: AgentState) -> int:
    return sum(cost.calls for cost in state.usage.values())


def test_a_budget_of_the_agent_is_kept(tmp_path: Path) -> None:
    state = gone_on(tmp_path, first=Settings(call_budget=4))
    assert (state.status, state.bound) == (RunStatus.EXHAUSTED, 4)
    assert calls(state) <= 4


def test_a_budget_of_the_context_is_kept(tmp_path: Path) -> None:
    state = gone_on(tmp_path, first=Settings(call_budget=40), context=Settings(call_budget=4))
    assert (state.status, state.bound) == (RunStatus.EXHAUSTED, 4)


def test_that_nothing_reflects_is_kept(tmp_path: Path) -> None:
    state = gone_on(tmp_path, first=Settings(reflection="never"))
    assert "reflector" not in state.usage
    assert (state.status, state.verified) == (RunStatus.COMPLETE, False)


def test_who_goes_on_may_set_another_and_the_bound_follows(tmp_path: Path) -> None:
    state = gone_on(tmp_path, first=Settings(call_budget=4), then=Settings(call_budget=30))
    assert (state.status, state.bound) == (RunStatus.COMPLETE, 30)
    (tmp_path / "2").mkdir()
    again = gone_on(
        tmp_path / "2", context=Settings(call_budget=4), then_context=Settings(call_budget=30)
    )
    assert (again.status, again.bound) == (RunStatus.COMPLETE, 30)


def test_prompts_of_the_context_are_kept(tmp_path: Path) -> None:
    state = gone_on(tmp_path, context=RunContext(reflector_prompt="Judge it kindly."))
    versions = [v.prompt_version for step in state.steps.values() for v in step.verdicts]
    assert versions
    assert all("edited" in version for version in versions)


def test_a_new_question_keeps_nothing_of_the_last_one(tmp_path: Path) -> None:
    with open_checkpointer(tmp_path / "runs.db") as saver:
        agent_with(saver).invoke(GOAL, THREAD, context=Settings(call_budget=4), durability="sync")
        state = AgentState.model_validate(agent_with(saver).invoke(GOAL, THREAD, durability="sync"))
    assert state.status is RunStatus.COMPLETE
    assert state.kept == Kept()


VALUES = st.fixed_dictionaries(
    {},
    optional={
        "max_replans": st.integers(0, 3),
        "call_budget": st.none() | st.integers(1, 9),
        "approve_tools": st.none() | st.just(("look",)),
        "language": st.sampled_from(["zh", "en"]),
    },
)


@given(first=VALUES, context=VALUES, then=VALUES, now=VALUES)
def test_the_order_of_who_decides(
    first: dict[str, object],
    context: dict[str, object],
    then: dict[str, object],
    now: dict[str, object],
) -> None:
    kept = keep(Settings(**first), RunContext(**context))  # type: ignore[arg-type]
    there = in_force(Settings(**then), RunContext(**now), kept)  # type: ignore[arg-type]
    wanted = Settings(**{**first, **then, **context, **now})  # type: ignore[arg-type]
    assert {name: getattr(there, name) for name in Settings.model_fields} == dict(wanted)
    again = Kept.model_validate_json(kept.model_dump_json())
    assert in_force(Settings(**then), RunContext(**now), again) == there  # type: ignore[arg-type]


def test_before_a_run_begins_only_the_agent_and_the_context_count() -> None:
    assert in_force(Settings(max_replans=1), None, None) == Settings(max_replans=1)


@pytest.mark.parametrize("setting", ["approve_plan", "approve_replans", "approve_effects"])
def test_leave_needs_a_saver(setting: str) -> None:
    def pay() -> str:
        return "paid"

    model = scripted(plan({"description": "pay", "tool": "pay"}), call_then_say("Paid.", "pay"))
    agent = create_plan_execute_agent(
        model,
        [made(pay, "once")],
        settings=Settings.model_validate({setting: True}),
    )
    with pytest.raises(UserError, match="checkpointer"):
        agent.invoke(GOAL)
    assert model.count() == 0
