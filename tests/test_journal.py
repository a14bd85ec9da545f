"""Calls that change something, over crashes: never twice where that is not allowed."""

from dataclasses import dataclass, field

import pytest
from broken_runs import calls, made, scripted
from langchain_core.runnables import RunnableConfig
from langchain_core.tools import BaseTool, StructuredTool
from langgraph.checkpoint.memory import InMemorySaver
from langgraph.store.memory import InMemoryStore
from langgraph.types import Command, interrupt
from scripted_replies import messages_of
from scripted_server import Reply, plan

from hansei import RunStatus, StepStatus, create_plan_execute_agent
from hansei.graphs.agent import Agent
from hansei.nodes.kit import IDEMPOTENCY_KEY
from hansei.policies.effect_keys import JournalEntry, effect_key, read_entry
from hansei.policies.records import ToolCall
from hansei.policies.state import AgentInput, AgentState
from hansei.tools.outcome import OutcomeStatus

THREAD: RunnableConfig = {"configurable": {"thread_id": "1"}}


class KilledError(BaseException):
    """Stands in for a process that is killed: nothing of ours catches it."""


@dataclass
class World:
    """What really happened, and at which call the process is killed."""

    kill_at: int = 0
    kill_after: bool = False
    done: list[str] = field(default_factory=list[str])
    keys: list[str] = field(default_factory=list[str])
    started: int = 0

    def refund(self, order: str, config: RunnableConfig) -> str:
        """Refund an order."""
        self.started += 1
        self.keys.append(str(config.get("configurable", {}).get(IDEMPOTENCY_KEY)))
        dies = self.started == self.kill_at
        if dies and not self.kill_after:
            raise KilledError
        self.done.append(order)
        if dies:
            raise KilledError
        return f"refunded {order}"


def refunds(world: World, effect: str) -> BaseTool:
    return StructuredTool.from_function(
        world.refund, name="refund", metadata={"hansei": {"effect": effect}}
    )


def agent_of(
    tool: BaseTool,
    orders: tuple[str, ...] = ("A1001", "A1002"),
    *,
    saver: InMemorySaver | None = None,
    store: InMemoryStore | None = None,
) -> Agent:
    one = plan({"description": f"Refund {' and '.join(orders)}", "tool": "refund"})

    def executor(body: dict[str, object]) -> Reply:
        if messages_of(body)[-1].get("role") == "tool":
            return Reply(f"Refunded {' and '.join(orders)}.")
        several: list[tuple[str, dict[str, object]]] = [("refund", {"order": o}) for o in orders]
        return calls(*several)

    model = scripted(one, executor, answer=f"Refunded {' and '.join(orders)}.")
    return create_plan_execute_agent(
        model, [tool], checkpointer=saver or InMemorySaver(), store=store or InMemoryStore()
    )


GOAL = AgentInput(goal="Refund A1001 and A1002")


def crashed_and_resumed(world: World, effect: str) -> AgentState:
    agent = agent_of(refunds(world, effect))
    with pytest.raises(KilledError):
        agent.invoke(GOAL, THREAD, durability="sync")
    return AgentState.model_validate(agent.invoke(None, THREAD, durability="sync"))


@pytest.mark.parametrize("kill_at", [1, 2])
@pytest.mark.parametrize("kill_after", [False, True])
def test_a_call_that_must_not_be_repeated_is_left_to_a_human(
    kill_at: int, kill_after: bool
) -> None:
    world = World(kill_at, kill_after)
    state = crashed_and_resumed(world, "once")
    assert (state.status, state.verified) == (RunStatus.NEEDS_HUMAN, False)
    assert len(world.done) == len(set(world.done))
    assert world.started == kill_at  # nothing was begun after it
    lost = ("A1001", "A1002")[kill_at - 1]
    assert f'refund {{"order":"{lost}"}}' in state.needs_human
    assert "needs a human" in state.answer
    assert "try again later" not in state.answer
    step = state.steps[1]
    assert step.status is StepStatus.FAILED
    assert [c.outcome for c in step.last_attempt.calls][kill_at - 1] is OutcomeStatus.UNKNOWN


def test_a_run_that_goes_on_without_the_tool_does_not_forget_its_call() -> None:
    world, saver, store = World(kill_at=1, kill_after=True), InMemorySaver(), InMemoryStore()
    agent = agent_of(refunds(world, "once"), saver=saver, store=store)
    with pytest.raises(KilledError):
        agent.invoke(GOAL, THREAD, durability="sync")
    other = agent_of(made(look), saver=saver, store=store)
    state = AgentState.model_validate(other.invoke(None, THREAD, durability="sync"))
    assert state.status is RunStatus.NEEDS_HUMAN
    assert 'refund {"order":"A1001"}' in state.answer


def look() -> str:
    return "42"


@pytest.mark.parametrize("kill_at", [1, 2])
def test_a_call_that_may_be_repeated_is_under_the_same_key(kill_at: int) -> None:
    world = World(kill_at, kill_after=True)
    state = crashed_and_resumed(world, "idempotent")
    assert (state.status, state.verified) == (RunStatus.COMPLETE, True)
    assert len(set(world.keys)) == 2
    assert world.keys[kill_at - 1] == world.keys[kill_at]
    assert world.started == 3  # what was done before the crash is answered from the journal


def test_without_a_crash_every_call_has_its_own_key_and_runs_once() -> None:
    world = World()
    state = AgentState.model_validate(agent_of(refunds(world, "once")).invoke(GOAL, THREAD))
    assert (state.status, world.done) == (RunStatus.COMPLETE, ["A1001", "A1002"])
    assert len(set(world.keys)) == 2


def test_a_tool_that_stops_to_ask_begins_anew_as_often_as_it_likes() -> None:
    done: list[str] = []

    def refund(order: str) -> str:
        while interrupt({"refund": order}) != "yes":
            pass
        done.append(order)
        return "refunded"

    agent = agent_of(made(refund, "once"), orders=("A1001",))
    agent.invoke(GOAL, THREAD, durability="sync")
    for _ in range(5):
        agent.invoke(Command(resume="no"), THREAD, durability="sync")
    state = AgentState.model_validate(agent.invoke(Command(resume="yes"), THREAD))
    assert (state.status, done) == (RunStatus.COMPLETE, ["A1001"])


def key(**other: int | str) -> str:
    place: dict[str, int] = {"step": 1, "attempt": 1, "turn": 1, "place": 0}
    place |= {k: v for k, v in other.items() if isinstance(v, int)}
    call = ToolCall(name=str(other.get("name", "refund")), args=str(other.get("args", "{}")))
    return effect_key(run_id=str(other.get("run_id", "r")), call=call, **place)


@pytest.mark.parametrize(
    "other",
    [
        {"run_id": "s"},
        {"step": 2},
        {"attempt": 2},
        {"turn": 2},
        {"place": 1},
        {"name": "pay"},
        {"args": '{"a":1}'},
    ],
)
def test_a_key_changes_with_everything_that_makes_another_call(
    other: dict[str, int | str],
) -> None:
    assert key() == key()
    assert key(**other) != key()


@pytest.mark.parametrize("text", ["", "junk", "{}", '{"stage": "odd"}'])
def test_an_entry_that_cannot_be_read_counts_as_begun(text: str) -> None:
    assert read_entry(text) == JournalEntry()
    assert read_entry(None) is None
