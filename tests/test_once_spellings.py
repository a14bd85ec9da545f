"""A call that must not be made twice is not made for each way to write it."""

from __future__ import annotations

import asyncio
from dataclasses import dataclass, field
from typing import Any, Literal

import pytest
from broken_runs import calls, made, scripted
from langchain_core.runnables import RunnableConfig
from langchain_core.tools import StructuredTool
from langgraph.checkpoint.memory import InMemorySaver
from langgraph.store.memory import InMemoryStore
from pydantic import BaseModel, ConfigDict, ValidationError
from scripted_model import ScriptedChatModel
from scripted_replies import messages_of, plan
from scripted_server import Reply

from hansei import RunStatus, Settings, StepStatus, create_plan_execute_agent
from hansei.policies.effect_keys import JournalEntry
from hansei.policies.state import AgentInput, AgentState
from hansei.tools.outcome import OutcomeStatus

THREAD: RunnableConfig = {"configurable": {"thread_id": "1"}}
GOAL = AgentInput(goal="Refund order 1")
Args = dict[str, Any]


@dataclass
class Shop:
    """What was refunded."""

    raises: type[Exception] | None = None
    done: list[tuple[str, str]] = field(default_factory=list[tuple[str, str]])

    def refund(self, order: str, currency: str = "EUR") -> str:
        self.done.append((order, currency))
        if self.raises is not None:
            raise self.raises
        return f"refunded order {order}"


def model(*rounds: list[Args]) -> ScriptedChatModel:
    """One that asks for refunds, round by round, and then says that it is done."""
    asked: list[int] = []

    def executor(body: dict[str, object]) -> Reply:
        if messages_of(body)[-1].get("role") != "tool":
            asked.clear()
        if len(asked) == len(rounds):
            return Reply("Order 1 is refunded.")
        asked.append(1)
        several: list[tuple[str, Args]] = [("refund", args) for args in rounds[len(asked) - 1]]
        return calls(*several)

    step = plan({"description": "Refund order 1", "tool": "refund"})
    return scripted(step, executor, answer="Order 1 is refunded.")


How = Literal["invoke", "ainvoke"]


def ran(agent: Any, given: object = GOAL, how: How = "invoke") -> AgentState:
    told = agent.invoke(given) if how == "invoke" else asyncio.run(agent.ainvoke(given))
    return AgentState.model_validate(told)


ONE: Args = {"order": "1"}
WHOLE: Args = {"order": "1", "currency": "EUR"}
ODD: Args = {"order": "1", "note": "again"}


@pytest.mark.parametrize("rounds", [[[ONE, WHOLE]], [[ONE], [WHOLE]], [[WHOLE], [ONE]]])
@pytest.mark.parametrize("how", ["invoke", "ainvoke"])
def test_what_is_left_out_is_what_the_tool_fills_in(rounds: list[list[Args]], how: How) -> None:
    shop = Shop()
    agent = create_plan_execute_agent(model(*rounds), [made(shop.refund, "once")])
    state = ran(agent, how=how)
    assert (shop.done, state.status, state.verified) == ([("1", "EUR")], RunStatus.COMPLETE, True)


@pytest.mark.parametrize("other", [ONE, WHOLE, ODD])
def test_a_call_that_broke_off_is_not_made_again_in_other_words(other: Args) -> None:
    shop = Shop(raises=TimeoutError)
    agent = create_plan_execute_agent(model([ONE], [other]), [made(shop.refund, "once")])
    state = ran(agent)
    assert shop.done == [("1", "EUR")]
    assert state.status is not RunStatus.COMPLETE
    assert 'may have gone through, although nothing confirms it: refund {"order":"1"}.' in (
        state.answer
    )


@pytest.mark.parametrize("effect", ["once", "idempotent"])
def test_a_model_is_told_of_arguments_that_there_are_and_may_ask_again(effect: str) -> None:
    shop = Shop()
    agent = create_plan_execute_agent(
        model([ODD], [ODD], [ONE]),
        [made(shop.refund, effect)],
        settings=Settings(max_tool_rounds=4),
    )
    state = ran(agent)
    assert (shop.done, state.status, state.verified) == ([("1", "EUR")], RunStatus.COMPLETE, True)
    refused = state.steps[1].last_attempt.calls[0]
    assert (refused.outcome, refused.changes) == (OutcomeStatus.REFUSED, False)
    assert refused.output == "not run: refund has no argument note; its arguments: order, currency"


def test_a_tool_that_looks_up_may_be_given_what_it_drops() -> None:
    shop = Shop()
    agent = create_plan_execute_agent(model([ODD]), [made(shop.refund)])
    assert ran(agent).status is RunStatus.COMPLETE
    assert shop.done == [("1", "EUR")]


class Open(BaseModel):
    """Arguments of a tool that takes any."""

    model_config = ConfigDict(extra="allow")

    order: str


def test_a_tool_that_takes_more_gets_it() -> None:
    done: list[Args] = []

    def refund(**given: Any) -> str:
        done.append(given)
        return "refunded order 1"

    tool = StructuredTool.from_function(
        refund, args_schema=Open, description="x", metadata={"hansei": {"effect": "once"}}
    )
    agent = create_plan_execute_agent(model([ODD, ONE]), [tool])
    assert ran(agent).status is RunStatus.COMPLETE
    assert done == [ODD, ONE]


@pytest.mark.parametrize("handled", [False, True])
@pytest.mark.parametrize("how", ["invoke", "ainvoke"])
def test_a_call_that_the_tools_own_validation_refuses_was_not_made(handled: bool, how: How) -> None:
    shop, store = Shop(), InMemoryStore()
    tool = made(shop.refund, "once")
    tool.handle_validation_error = handled
    agent = create_plan_execute_agent(model([{"order": 1}]), [tool], store=store)
    state = ran(agent, how=how)
    assert shop.done == []
    assert state.steps[1].status is StepStatus.FAILED
    assert "gone through" not in state.answer
    assert store.search(("hansei", "journal")) == []
    call = state.steps[1].last_attempt.calls[0]
    assert (call.outcome, call.raised, call.changes) == (OutcomeStatus.ERROR, False, False)


@pytest.mark.parametrize("how", ["invoke", "ainvoke"])
def test_a_tool_that_breaks_on_a_model_of_its_own_may_have_done_its_work(how: How) -> None:
    done: list[str] = []

    def refund(order: str) -> str:
        done.append(order)
        return Open.model_validate({}).order

    agent = create_plan_execute_agent(model([ONE]), [made(refund, "once")])
    state = ran(agent, how=how)
    assert done == ["1"]
    assert 'may have gone through, although nothing confirms it: refund {"order":"1"}.' in (
        state.answer
    )
    with pytest.raises(ValidationError):
        refund("2")


class KilledError(BaseException):
    """Stands in for a process that is killed: nothing of ours catches it."""


@pytest.mark.parametrize("args", [ODD, WHOLE])
def test_a_call_that_an_earlier_version_has_begun_is_not_refused_or_taken_for_another(
    args: Args,
) -> None:
    done: list[str] = []

    def refund(**given: Any) -> str:
        done.append(str(given["order"]))
        if len(done) == 2:
            raise KilledError
        return "refunded"

    def tool(schema: type[BaseModel] | None) -> Any:
        named: Any = Shop().refund if schema is None else refund
        return StructuredTool.from_function(
            named,
            name="refund",
            description="x",
            args_schema=schema,
            metadata={"hansei": {"effect": "once"}},
        )

    saver, store = InMemorySaver(), InMemoryStore()
    old = create_plan_execute_agent(
        model([ONE, args]), [tool(Open)], checkpointer=saver, store=store
    )
    with pytest.raises(KilledError):
        old.invoke(GOAL, THREAD, durability="sync")
    entries = [
        JournalEntry.model_validate_json(str(item.value["text"]))
        for item in store.search(("hansei", "journal"))
    ]
    assert sorted(entry.stage for entry in entries) == ["begun", "done"]
    new = create_plan_execute_agent(
        model([ONE, args]), [tool(None)], checkpointer=saver, store=store
    )
    state = AgentState.model_validate(new.invoke(None, THREAD, durability="sync"))
    assert (done, state.status) == (["1", "1"], RunStatus.NEEDS_HUMAN)
