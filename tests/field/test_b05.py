"""A failure that comes as data is a failure; data that mentions an error is not."""

import json

import pytest
from field.stubs import Stubs, ask, give_up, only_step
from scripted_model import ScriptedChatModel
from scripted_replies import call_then_say

from hansei import AgentState, RunStatus, StepStatus
from hansei.tools.outcome import OutcomeStatus

FAILURES = {
    "a": ('{"error":"quota exceeded"}', "quota exceeded"),
    "b": ('{"status_code":503,"data":{"message":"upstream down"}}', "503"),
    "e": ("Error: no such file", "no such file"),
}
SUCCESSES = {
    "c": '{"ok":true,"results":[{"title":"T","error":null}]}',
    "d": '{"success":true,"result":{"error":["Enter a phone number"]}}',
}
CLAIMS = [
    "All done: the page was fetched.",
    "It went through without a hitch.",
    "The page is ready for you.",
]
"""What a model says that takes the failure for a success."""


def run(output: str, claim: str) -> tuple[AgentState, Stubs, ScriptedChatModel]:
    stubs = Stubs(fetch=output)
    model = ScriptedChatModel()
    model.book.script_defaults()
    model.script("executor", call_then_say("The page was fetched.", "fetch", url="http://a.org"))
    model.script("replanner", give_up(1))
    model.script("synthesizer", claim)
    with model.book:
        return ask(model, "fetch the page http://a.org", stubs), stubs, model


@pytest.mark.parametrize("claim", CLAIMS)
@pytest.mark.parametrize("case", FAILURES)
def test_a_failure_as_data_never_becomes_a_success(case: str, claim: str) -> None:
    output, reason = FAILURES[case]
    state, _, model = run(output, claim)
    step = only_step(state)
    (call,) = step.attempts[0].calls
    assert call.outcome is OutcomeStatus.ERROR
    assert reason in call.reason
    assert step.status is StepStatus.FAILED
    assert reason in step.reason
    assert model.count("reflector") == 0  # the rule has settled it
    assert state.status is RunStatus.FAILED
    assert claim not in state.answer
    assert "look it up" in state.answer
    assert reason in state.answer


@pytest.mark.parametrize("case", SUCCESSES)
def test_a_success_that_mentions_an_error_stays_one(case: str) -> None:
    state, stubs, model = run(SUCCESSES[case], "The page was fetched.")
    step = only_step(state)
    (call,) = step.attempts[0].calls
    assert call.outcome is OutcomeStatus.OK
    assert json.loads(call.output) == json.loads(SUCCESSES[case])
    assert step.status is StepStatus.VERIFIED
    assert len(step.attempts) == 1
    assert stubs.counts == {"fetch": 1}
    assert model.count("replanner") == 0
    assert state.status is RunStatus.COMPLETE
