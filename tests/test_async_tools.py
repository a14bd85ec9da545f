"""Tools that can only be awaited, under `invoke` and under `ainvoke`."""

import asyncio
import threading
from collections.abc import Callable, Sequence
from typing import Literal

import pytest
from langchain_core.tools import BaseTool, StructuredTool, tool
from pydantic import Field
from scripted_model import ScriptedChatModel
from scripted_replies import Reply, plan, tool_call, verdict
from typing_extensions import override

from hansei import AgentInput, AgentState, create_plan_execute_agent
from hansei.tools.outcome import OutcomeStatus

READ = {"hansei": {"effect": "read"}}


@tool
async def awaited(q: str) -> str:
    """Looks something up."""
    await asyncio.sleep(0)
    return f"{q}: 3 lamps"


class Refusing(BaseTool):
    """A class of one's own that only awaits."""

    name: str = "awaited"
    description: str = "Looks something up."
    ran: list[str] = Field(default_factory=list[str])

    @override
    def _run(self, q: str) -> str:
        raise NotImplementedError("await me")

    @override
    async def _arun(self, q: str) -> str:
        await asyncio.sleep(0)
        self.ran.append(q)
        return f"{q}: 3 lamps"


class Unfinished(BaseTool):
    """A class of one's own in which something deeper is not implemented."""

    name: str = "awaited"
    description: str = "Looks something up."
    ran: list[str] = Field(default_factory=list[str])

    @override
    def _run(self, q: str) -> str:
        self.ran.append(q)
        return _deeper()


def _deeper() -> str:
    raise NotImplementedError("this catalogue has no search")


async def _fails(q: str) -> str:
    """Looks something up."""
    await asyncio.sleep(0)
    raise ValueError(f"no {q}")


async def _leaves(q: str) -> str:
    """Looks something up."""
    await asyncio.sleep(0)
    raise SystemExit(q)


async def _gives_up(q: str) -> str:
    """Looks something up."""
    raise asyncio.CancelledError(q)


def script(*calls: Reply) -> ScriptedChatModel:
    """A model for one step with these calls."""
    model = ScriptedChatModel()
    model.script("planner", plan("Look up lamps"))
    model.script("executor", *calls, "There are 3 lamps.")
    model.script("reflector", verdict("PASS"))
    model.script("reviewer", verdict("PASS"))
    model.script("replanner", plan())
    model.script("synthesizer", "There are 3 lamps.")
    return model


def outcomes(
    tools: Sequence[BaseTool], *calls: Reply, how: Literal["invoke", "ainvoke"] = "invoke"
) -> list[tuple[OutcomeStatus | None, str]]:
    """What became of the calls of one run."""
    for each in tools:
        each.metadata = READ
    agent = create_plan_execute_agent(script(*calls), tools)
    question = AgentInput(goal="How many lamps are there?")
    raw = agent.invoke(question) if how == "invoke" else asyncio.run(agent.ainvoke(question))
    state = AgentState.model_validate(raw)
    assert "support sync" not in state.answer
    return [
        (call.outcome, call.output)
        for step in state.steps.values()
        for attempt in step.attempts
        for call in attempt.calls
    ]


GOOD = [(OutcomeStatus.OK, "lamps: 3 lamps")]


@pytest.mark.parametrize("how", ["invoke", "ainvoke"])
@pytest.mark.parametrize("make", [lambda: awaited, Refusing], ids=["function", "class"])
def test_a_tool_that_can_only_be_awaited_runs(
    make: Callable[[], BaseTool], how: Literal["invoke", "ainvoke"]
) -> None:
    assert outcomes([make()], tool_call("awaited", q="lamps"), how=how) == GOOD


def test_it_runs_where_a_loop_is_running_already() -> None:
    async def inside() -> list[tuple[OutcomeStatus | None, str]]:
        return outcomes([awaited], tool_call("awaited", q="lamps"))

    assert asyncio.run(inside()) == GOOD


def test_several_run_side_by_side() -> None:
    together = threading.Barrier(2, timeout=20)

    async def meet(q: str) -> str:
        """Waits for the other one."""
        await asyncio.to_thread(together.wait)
        return f"{q}: 3 lamps"

    both = Reply(
        None, [("meet", {"q": "lamps"}), ("meet", {"q": "bulbs"})], finish_reason="tool_calls"
    )
    meeting = StructuredTool.from_function(coroutine=meet)
    assert [status for status, _ in outcomes([meeting], both)] == [OutcomeStatus.OK] * 2


@pytest.mark.parametrize(
    ("body", "said"), [(_fails, "no lamps"), (_leaves, "lamps"), (_gives_up, "lamps")]
)
def test_what_it_raises_is_its_outcome(body: Callable[..., object], said: str) -> None:
    broken = StructuredTool.from_function(coroutine=body, name="awaited")  # type: ignore[arg-type]
    ((status, output),) = outcomes([broken], tool_call("awaited", q="lamps"))
    assert status is OutcomeStatus.ERROR
    assert said in output


def test_what_is_not_implemented_deeper_down_is_no_reason_to_run_it_again() -> None:
    unfinished = Unfinished()
    ((status, output),) = outcomes([unfinished], tool_call("awaited", q="lamps"))
    assert status is OutcomeStatus.ERROR
    assert "no search" in output
    assert unfinished.ran == ["lamps"]
