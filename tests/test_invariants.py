"""The invariants of the house (design), on random scripted runs."""

import json
import re
from collections.abc import Mapping
from dataclasses import replace
from pathlib import Path
from tempfile import TemporaryDirectory

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st
from injected_runs import INJECTIONS, EchoWorld, no_mark_reached
from langchain_core.messages import HumanMessage
from langgraph.checkpoint.memory import InMemorySaver
from random_runs import THREAD, Played, ask, no_complaints, play
from random_scenarios import BROKEN, SUBJECTS, Drafted, Habit, Scenario, scenarios, under
from random_world import World
from run_oracles import (
    assert_all,
    assert_bounded,
    assert_disclosed,
    assert_only_pass_verifies,
    assert_over,
    assert_saved,
    assert_status_fits,
    assert_tools_kept,
)

from hansei import Settings, worst_case_calls
from hansei.graphs.checkpoints import open_checkpointer, serializer
from hansei.policies.state import AgentInput, AgentState
from hansei.policies.words import RunStatus, StepStatus

SLOW = [HealthCheck.too_slow, HealthCheck.data_too_large, HealthCheck.filter_too_much]
"""A run takes a tenth of a second: slow for an example, and right for a run."""


def holds(played: Played) -> bool:
    """Whether the run got past its planner; then everything must hold."""
    if played.error is not None:
        assert played.world.said["planner"][-1] in BROKEN
        return False
    assert_all(played)
    return True


@settings(max_examples=100, suppress_health_check=SLOW)
@given(scenario=scenarios(), asynchronous=st.booleans())
def test_every_run_ends_honestly(scenario: Scenario, asynchronous: bool) -> None:
    """Invariants 1, 2 and 4, the status, and what is saved."""
    with no_complaints():
        holds(play(scenario, asynchronous=asynchronous))


# Where the machinery must be able to go, or the property above would say little.

ONE = (Drafted("fetch"),)
TWO = (Drafted("fetch"), Drafted("fetch", depends_on=(1,)))
LOST = Habit(outputs=("error",))
ENDS: Mapping[str, tuple[Scenario, RunStatus, set[StepStatus]]] = {
    "all verified": (Scenario(steps=TWO), RunStatus.COMPLETE, {StepStatus.VERIFIED}),
    "in Chinese": (
        Scenario(steps=TWO, language="zh", goal="帮我把这些账目查一下。"),
        RunStatus.COMPLETE,
        {StepStatus.VERIFIED},
    ),
    "verified at the second try": (
        Scenario(habits=(Habit(verdicts=("RETRY", "PASS")),)),
        RunStatus.COMPLETE,
        {StepStatus.VERIFIED},
    ),
    "not reviewed by choice": (
        Scenario(settings=Settings(reflection="never")),
        RunStatus.COMPLETE,
        {StepStatus.ACCEPTED},
    ),
    "nobody vouches": (
        Scenario(habits=(Habit(verdicts=("down",)),)),
        RunStatus.PARTIAL,
        {StepStatus.ACCEPTED},
    ),
    "failed and given up": (
        Scenario(steps=TWO, habits=(LOST,), replans=("give up",)),
        RunStatus.FAILED,
        {StepStatus.FAILED, StepStatus.SKIPPED},
    ),
    "made good": (
        Scenario(habits=(LOST, Habit())),
        RunStatus.COMPLETE,
        {StepStatus.RECOVERED, StepStatus.VERIFIED},
    ),
    "left out by a replan": (
        Scenario(
            steps=(*ONE, Drafted("fetch")),
            habits=(LOST, Habit()),
            replans=("drop",),
            settings=Settings(max_parallel=1),
        ),
        RunStatus.PARTIAL,
        {StepStatus.RECOVERED, StepStatus.SKIPPED, StepStatus.VERIFIED},
    ),
    "one part lost": (
        Scenario(steps=(*ONE, Drafted("fetch")), habits=(LOST, Habit()), replans=("give up",)),
        RunStatus.PARTIAL,
        {StepStatus.FAILED, StepStatus.VERIFIED},
    ),
    "the answer is not verified": (
        Scenario(reviews=("RETRY",)),
        RunStatus.PARTIAL,
        {StepStatus.VERIFIED},
    ),
    "out of budget": (
        Scenario(settings=Settings(call_budget=2)),
        RunStatus.EXHAUSTED,
        {StepStatus.FAILED},
    ),
    "no plan": (Scenario(plans=("prose",)), RunStatus.FAILED, set()),
    "answered at once": (Scenario(plans=("answer",)), RunStatus.COMPLETE, set()),
    "too long a plan": (
        Scenario(plans=("too many",), settings=Settings(max_steps=1)),
        RunStatus.PARTIAL,
        {StepStatus.VERIFIED, StepStatus.SKIPPED},
    ),
}


@pytest.mark.parametrize("name", ENDS)
def test_every_end_is_reached(name: str) -> None:
    scenario, status, statuses = ENDS[name]
    played = play(scenario)
    assert played.state.status is status
    assert {step.status for step in played.state.steps.values()} == statuses
    assert holds(played)


# Sync and async, memory and file: one behaviour.


def comparable(state: AgentState) -> object:
    """The state without what is new in every run."""
    data = state.model_dump(exclude={"run_id", "started_at", "asked"})
    data["messages"] = [(m.type, m.text) for m in state.messages]
    return data


@settings(max_examples=12, suppress_health_check=SLOW)
@given(scenario=scenarios(budgets=False))
def test_sync_and_async_and_a_file_agree(scenario: Scenario) -> None:
    plain = play(scenario)
    other = play(scenario, asynchronous=True)
    assert (plain.error is None) == (other.error is None)
    assert comparable(plain.state) == comparable(other.state)
    with TemporaryDirectory() as folder, no_complaints():
        file = Path(folder) / "runs.db"
        with open_checkpointer(file) as saver:
            saved = play(scenario, saver=saver)
        with open_checkpointer(file) as saver:
            found = World(scenario).agent(saver).get_state(THREAD).values
    assert comparable(saved.state) == comparable(plain.state)
    assert AgentState.model_validate(found) == saved.state


# Invariant 5: runs on one thread, and forks.


@settings(max_examples=15, suppress_health_check=SLOW)
@given(first=scenarios(), second=scenarios(), spoken=st.booleans())
def test_a_second_question_starts_clean(first: Scenario, second: Scenario, spoken: bool) -> None:
    second = under(second, first.settings)
    world = World(first)
    agent = world.agent(InMemorySaver(serde=serializer()))
    one = ask(world, agent, AgentInput(goal=first.goal))
    world.again(second)
    question = AgentInput(messages=[HumanMessage(second.goal)])
    two = ask(world, agent, question if spoken else AgentInput(goal=second.goal))
    if not holds(two):
        return
    assert two.state.goal == second.goal
    assert two.state.run_id != one.state.run_id
    rest = two.state.model_dump_json(exclude={"messages"})
    old = SUBJECTS[: len(SUBJECTS) // 2]
    assert not [subject for subject in old if subject in rest]
    told = [message.text for message in two.state.messages]
    before = [message.text for message in one.state.messages]
    assert told[: len(before)] == before
    assert told[len(before) :] == [second.goal, two.state.answer]


EDITS: tuple[dict[str, object], ...] = (
    {"status": "failed", "reason": "a human said so"},
    {"status": "pending"},
    {"hint": "be careful"},
    {"needs_reflection": False},
    {"verdict": "replan"},
    {"verdict": {"verdict": "RETRY", "hint": "be careful"}},
    {"verdict": "PASS", "result": "a human found it"},
    {},
)
"""What a human changes in a step, in the form in which Studio sends it; the last one edits none."""


@settings(max_examples=15, suppress_health_check=SLOW)
@given(
    scenario=scenarios(),
    place=st.integers(0, 30),
    edit=st.sampled_from(EDITS),
    node=st.sampled_from(("planner", "reflector", "replanner")),
)
def test_a_fork_leaves_the_old_branch_alone(
    scenario: Scenario, place: int, edit: dict[str, object], node: str
) -> None:
    saver = InMemorySaver(serde=serializer())
    first = play(scenario, saver=saver)
    history = list(first.agent.get_state_history(THREAD))
    planned = [item for item in history if item.values.get("steps") and item.next]
    if not planned:
        return
    head, chosen = history[0], planned[place % len(planned)]
    before = _branch(saver)
    steps = {str(key): edit for key in chosen.values["steps"]}
    values: dict[str, object] = {"steps": steps} if edit else {"brief": "the gist"}
    fork = first.agent.update_state(chosen.config, values, as_node=node)
    second = ask(first.world, first.agent, None, config=fork)
    after = _branch(saver)
    for key, (saved, writes) in before.items():
        assert after[key][0] == saved
        # LangGraph notes the edit itself beside the checkpoint that it was made on.
        assert [write for write in after[key][1] if write in writes] == writes
    assert len(after) > len(before)
    assert first.agent.get_state(head.config).values == head.values
    assert second.state.run_id == first.state.run_id
    assert_over(second, set_back=edit.get("status") == "pending")
    assert not any(step.verdict for step in second.state.steps.values())
    assert_status_fits(second)
    assert_disclosed(second)
    assert_saved(second)


def _branch(saver: InMemorySaver) -> dict[str, tuple[object, list[object]]]:
    """Every checkpoint of the thread and its pending writes, by id."""
    return {
        str(item.config["configurable"]["checkpoint_id"]): (
            (item.checkpoint, item.metadata, item.parent_config),
            list(item.pending_writes or ()),
        )
        for item in saver.list(THREAD)
    }


# Invariant 6: what a tool returns is evidence and nothing else.


@settings(max_examples=25, suppress_health_check=SLOW)
@given(
    scenario=scenarios(budgets=False),
    injections=st.lists(st.sampled_from(INJECTIONS), min_size=1, max_size=3),
)
def test_tool_outputs_are_only_evidence(scenario: Scenario, injections: list[str]) -> None:
    scenario = replace(scenario, plans=("good",))
    world = EchoWorld(scenario, injections=injections)
    agent = world.agent(InMemorySaver(serde=serializer()))
    played = ask(world, agent, AgentInput(goal=scenario.goal))
    assert_over(played)
    assert_only_pass_verifies(played)
    assert_bounded(played)
    assert_tools_kept(played)
    assert_status_fits(played)
    assert_saved(played)
    assert played.state.goal == scenario.goal
    assert played.state.bound == worst_case_calls(scenario.settings)
    assert no_mark_reached(world)
    offered = {
        str(tool["function"]["name"])
        for request in world.model.requests
        if request.role == "executor"
        for tool in json.loads(json.dumps(request.body.get("tools", [])))
    }
    assert offered <= {"fetch", "send", "poll"}
    planned = [step.description for step in played.state.steps.values()]
    assert all(re.search("|".join(SUBJECTS), text) for text in planned)


def test_the_same_goal_again_is_asked_again() -> None:
    """An answer at once leaves the question in the conversation too."""
    world = World(Scenario(plans=("answer",)))
    agent = world.agent(InMemorySaver(serde=serializer()))
    ask(world, agent, AgentInput(messages=[HumanMessage("Fetch the first ledger.")]))
    goals = ["Fetch the second ledger.", "Fetch the second ledger."]
    states = [ask(world, agent, AgentInput(goal=goal)).state for goal in goals]
    assert [state.goal for state in states] == goals
    assert [m.text for m in states[-1].messages if m.type == "human"] == [
        "Fetch the first ledger.",
        *goals,
    ]
