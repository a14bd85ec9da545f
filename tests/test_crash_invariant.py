"""Invariant 3: after a crash at any point nothing is lost, reset or done twice."""

from __future__ import annotations

from collections import Counter

from crashing import CrashingWorld, Fate, KilledError, MortalSaver, MortalStore
from hypothesis import HealthCheck, event, given, settings
from hypothesis import strategies as st
from random_runs import THREAD, Played, ask
from random_scenarios import BROKEN, Habit, Scenario, scenarios
from run_oracles import assert_over

from hansei import Settings, worst_case_calls
from hansei.policies.state import AgentInput, AgentState
from hansei.policies.words import RunStatus, StepStatus

SLOW = [HealthCheck.too_slow, HealthCheck.data_too_large, HealthCheck.filter_too_much]

SETTLED = {StepStatus.VERIFIED, StepStatus.ACCEPTED, StepStatus.FAILED, StepStatus.SKIPPED}


def lived(scenario: Scenario, deaths: list[int]) -> tuple[Played, Fate, MortalSaver]:
    """A run that is taken up again after each death, to its end."""
    fate = Fate(deaths)
    world, saver, store = CrashingWorld(scenario, fate=fate), MortalSaver(fate), MortalStore(fate)
    while True:
        begun = saver.get_tuple(THREAD) is not None
        given = None if begun else AgentInput(goal=scenario.goal)
        try:
            return ask(world, world.on(saver, store), given), fate, saver
        except KilledError:
            fate.dead = False


def states(saver: MortalSaver) -> list[AgentState]:
    """The states that were kept, the oldest first."""
    found = [item.checkpoint["channel_values"] for item in saver.list(THREAD)]
    fields = AgentState.model_fields.keys()
    kept = [{k: v for k, v in values.items() if k in fields} for values in found]
    return [AgentState.model_validate(values) for values in reversed(kept) if values.get("run_id")]


@settings(max_examples=40, suppress_health_check=SLOW)
@given(
    scenario=scenarios(budgets=False),
    deaths=st.lists(st.integers(1, 90), min_size=1, max_size=2, unique=True),
)
def test_a_crash_loses_nothing_and_repeats_nothing(scenario: Scenario, deaths: list[int]) -> None:
    played, fate, saver = lived(scenario, deaths)
    event(f"{fate.crashes} crashes")
    if played.error is not None:
        assert played.world.said["planner"][-1] in BROKEN
        return
    assert isinstance(played.world, CrashingWorld)
    assert_nothing_twice(played.world)
    assert_counters_only_rise(saver, played.state)
    assert_bounds_hold(played, fate.crashes)
    if played.state.status is RunStatus.NEEDS_HUMAN:
        # Of a call that must not be repeated nobody knows the outcome, and the answer names it.
        assert fate.crashes
        assert "send" in played.state.answer
        return
    assert_over(played)
    assert played.state.answer.strip()


def assert_nothing_twice(world: CrashingWorld) -> None:
    """No key of a call that may be made once was used twice; every change had a key."""
    times = Counter(world.keys)
    assert all(key for name, key in times if name != "fetch")
    assert not [key for (name, key), count in times.items() if name == "send" and count > 1]


def assert_counters_only_rise(saver: MortalSaver, end: AgentState) -> None:
    """Attempts, replans and what is settled only grow, over crashes too."""
    before: AgentState | None = None
    for state in [*states(saver), end]:
        if before is not None and before.run_id == state.run_id:
            assert before.replans <= state.replans
            assert before.steps.keys() <= state.steps.keys()
            for number, step in before.steps.items():
                after = state.steps[number]
                assert len(step.attempts) <= len(after.attempts)
                assert len(step.verdicts) <= len(after.verdicts)
                if step.status in SETTLED:
                    assert after.status is not StepStatus.PENDING
                if step.status is StepStatus.VERIFIED:
                    assert (after.status, after.result) == (step.status, step.result)
        before = state


def assert_bounds_hold(played: Played, crashes: int) -> None:
    """The limits hold as without a crash; what was in flight may be asked for again."""
    state, scenario = played.state, played.world.scenario
    limits = scenario.settings
    retries, replans = limits.max_step_retries, limits.max_replans
    if limits.reflection == "never":
        retries = replans = 0
    assert state.replans <= replans
    for step in state.steps.values():
        assert len(step.attempts) <= retries + 1
        assert [a.number for a in step.attempts] == list(range(1, len(step.attempts) + 1))
    told = sum(cost.calls for cost in state.usage.values())
    made = played.world.model.count()
    assert told <= worst_case_calls(limits)
    # A superstep asks for each of its steps, or reads each of its results, and repairs each reply.
    in_flight = limits.max_parallel * (1 + limits.max_repairs)
    assert told <= made <= told + crashes * in_flight


CHANGES = Scenario(
    habits=(Habit(moves=("call",)),),
    settings=Settings(max_parallel=1),
)


def test_every_event_of_a_plain_run_may_be_the_last() -> None:
    _, fate, _ = lived(CHANGES, [])
    assert fate.events > 30
    for death in range(1, fate.events + 1):
        played, after, _ = lived(CHANGES, [death])
        assert after.crashes == 1
        assert played.state.status is RunStatus.COMPLETE
