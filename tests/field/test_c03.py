"""An empty last message is not the end of the work, and never the answer."""

import pytest
from field.stubs import Stubs, ask, give_up, only_step
from scripted_model import ScriptedChatModel
from scripted_replies import Entry, Reply, call_then_say

from hansei import RunStatus, StepStatus
from hansei.policies.words import Fault

SAID_AND_CALLED = Reply(
    "The total is 731.",
    [("write_file", {"path": "total.txt", "text": "731"})],
    finish_reason="tool_calls",
)


def scripted(*executor: Entry) -> ScriptedChatModel:
    model = ScriptedChatModel()
    model.book.script_defaults()
    model.script("executor", *executor)
    model.script("replanner", give_up(1))
    model.script("synthesizer", "The total is 731.")
    return model


def test_the_text_beside_the_last_call_is_the_result() -> None:
    stubs = Stubs()
    model = scripted(SAID_AND_CALLED, "")
    with model.book:
        state = ask(model, "add it up and write it down; it must be 731", stubs)
    step = only_step(state)
    assert (step.status, step.result) == (StepStatus.VERIFIED, "The total is 731.")
    assert stubs.counts == {"write_file": 1}
    assert model.count("executor") == 2
    assert state.status is RunStatus.COMPLETE


def test_two_empty_replies_fail_the_step() -> None:
    model = scripted("", "")
    with model.book:
        state = ask(model, "look it up")
    step = only_step(state)
    assert model.count("executor") == 2  # the reply and one nudge
    assert "no usable result" in model.prompts("executor")[1]
    assert step.status is StepStatus.FAILED
    assert step.last_attempt.fault is Fault.EMPTY_REPLY
    assert "empty reply" in step.reason
    assert model.count("reflector") == 0
    assert state.status is RunStatus.FAILED
    assert "empty reply" in state.answer


@pytest.mark.parametrize("blank", ["", "   ", "\n\n", "<think>done</think>"])
def test_a_blank_answer_is_asked_for_once_more(blank: str) -> None:
    model = scripted(call_then_say("The total is 731.", "lookup", q="total"))
    model.script("synthesizer", blank, "The total is 731.")
    with model.book:
        state = ask(model, "look up the total")
    assert model.count("synthesizer") == 2
    assert state.answer == "The total is 731."
    assert state.status is RunStatus.COMPLETE


def test_a_blank_answer_for_ever_is_made_from_the_results() -> None:
    model = scripted(call_then_say("The total is 731.", "lookup", q="total"))
    model.script("synthesizer", "   ")
    with model.book:
        state = ask(model, "look up the total")
    assert model.count("synthesizer") == 2
    assert model.count("reviewer") == 0
    assert state.answer.startswith("The total is 731.")
    assert "not verified" in state.answer
    assert state.status is RunStatus.PARTIAL


def test_a_blank_answer_is_never_given_where_nothing_reflects() -> None:
    model = scripted(call_then_say("The total is 731.", "lookup", q="total"))
    model.script("synthesizer", "   ")
    with model.book:
        state = ask(model, "look up the total", reflection="never")
    assert state.answer.startswith("The total is 731.")
    assert not state.verified
