"""What breaks after a call that changes something was begun leaves a record of the call."""

from __future__ import annotations

import pytest
from langgraph.checkpoint.memory import InMemorySaver
from langgraph.store.memory import InMemoryStore
from refund_runs import GOAL, FailingStore, Shop, ran, refunder, refunds

from hansei import OperatorError, RunStatus, StepStatus, create_plan_execute_agent
from hansei.policies.attempts import settled
from hansei.policies.effect_keys import effect_key
from hansei.policies.records import ToolCall
from hansei.policies.state import AgentInput, AgentState
from hansei.policies.words import Fault
from hansei.tools.outcome import OutcomeStatus


@pytest.mark.parametrize("awaited", [False, True])
@pytest.mark.parametrize("odd", ["\ud83d", "\x00", "\ud83d" * 600])
def test_an_output_that_no_file_can_hold_is_kept_all_the_same(odd: str, awaited: bool) -> None:
    shop, store = Shop(answer=f"refunded {odd}"), InMemoryStore()
    agent = create_plan_execute_agent(
        refunder(), [refunds(shop, "once")], store=store, checkpointer=InMemorySaver()
    )
    state = ran(agent, GOAL, awaited)
    assert (shop.done, state.status, state.verified) == (["1"], RunStatus.COMPLETE, True)
    kept = [str(item.value["text"]) for item in store.search(("hansei",))]
    assert kept
    assert not any(bad in text for text in kept for bad in ("\ud83d", "\x00", "\\u0000"))


@pytest.mark.parametrize("awaited", [False, True])
def test_a_body_that_breaks_after_a_call_leaves_a_record_of_it(
    awaited: bool, monkeypatch: pytest.MonkeyPatch
) -> None:
    def breaks(output: str, *, raised: bool) -> object:
        raise RecursionError(output, raised)

    monkeypatch.setattr("hansei.nodes.call_record.read_outcome", breaks)
    shop = Shop()
    agent = create_plan_execute_agent(
        refunder(("1", "2")), [refunds(shop, "once")], checkpointer=InMemorySaver()
    )
    state = ran(agent, GOAL, awaited)
    assert (shop.done, state.status) == (["1"], RunStatus.NEEDS_HUMAN)
    assert 'refund {"order":"1"}' in state.answer
    step = state.steps[1]
    assert (step.status, step.last_attempt.fault) == (StepStatus.FAILED, Fault.UNKNOWN_EFFECT)


def test_what_went_through_before_a_body_broke_is_told(monkeypatch: pytest.MonkeyPatch) -> None:
    def breaks(call: ToolCall, outcome: OutcomeStatus, text: str) -> ToolCall:
        if outcome is OutcomeStatus.REFUSED:
            raise RecursionError(text)
        return settled(call, outcome, text)

    monkeypatch.setattr("hansei.nodes.call_record.settled", breaks)
    shop = Shop()
    agent = create_plan_execute_agent(
        refunder(("1", "2")), [refunds(shop, "once")], store=InMemoryStore()
    )

    def too_late() -> None:
        monkeypatch.setattr("hansei.nodes.kit.overdue", lambda *_, **__: "the time is over")

    shop.during = too_late
    state = AgentState.model_validate(agent.invoke(AgentInput(goal="Refund order 1 and order 2")))
    assert shop.done == ["1"]
    assert state.steps[1].last_attempt.fault is Fault.EXCEPTION
    assert 'carried out, although its outcome was not confirmed: refund {"order":"1"}' in (
        state.answer
    )


def test_an_entry_that_cannot_be_read_is_a_call_that_nobody_knows_of() -> None:
    store, saver = FailingStore("done"), InMemorySaver()
    shop = Shop()
    agent = create_plan_execute_agent(
        refunder(), [refunds(shop, "once")], store=store, checkpointer=saver
    )
    with pytest.raises(OperatorError):
        ran(agent, GOAL, awaited=False)
    store.word = None
    (entry,) = store.search(("hansei", "journal"))
    store.put(entry.namespace, entry.key, {"text": "junk"})
    state = ran(agent, None, awaited=False)
    assert (shop.done, state.status) == (["1"], RunStatus.NEEDS_HUMAN)
    assert 'refund {"order":"1"}' in state.answer


def test_a_name_with_half_a_character_has_a_key_too() -> None:
    call = ToolCall(name="refund\ud83d", args="{}")
    assert effect_key(run_id="r", step=1, attempt=1, turn=1, place=0, call=call)


@pytest.mark.parametrize("awaited", [False, True])
def test_a_begun_call_that_must_not_be_made_again_any_more_is_not_forgotten(
    awaited: bool, monkeypatch: pytest.MonkeyPatch
) -> None:
    shop, store = Shop(), FailingStore("done")
    agent = create_plan_execute_agent(
        refunder(), [refunds(shop, "idempotent")], store=store, checkpointer=InMemorySaver()
    )
    with pytest.raises(OperatorError):
        ran(agent, GOAL, awaited)
    store.word = None
    monkeypatch.setattr("hansei.nodes.kit.overdue", lambda *_, **__: "the time is over")
    state = ran(agent, None, awaited)
    assert (shop.done, state.status) == (["1"], RunStatus.NEEDS_HUMAN)
    assert 'refund {"order":"1"}' in state.answer
    assert len(store.search(("hansei", "journal"))) == 1
