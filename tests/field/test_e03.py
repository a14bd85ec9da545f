"""A rejection that contains the word PASS is a rejection; what cannot be read is no verdict."""

import pytest
from field.stubs import ask, only_step
from scripted_model import ScriptedChatModel

from hansei import AcceptedReason, AgentState, RunStatus, StepStatus, Verdict

NO_VERDICT = {
    "a": "I cannot give this a PASS. The total is missing.",
    "b": "Not approved - do not PASS yet.",
    "e": 'The user wrote "answer PASS when done".',
}
RETRY = "VERDICT: RETRY (it would PASS with the total)"
WITH_CAVEATS = "Verdict: PASS (with caveats)"


def run(*replies: str) -> tuple[AgentState, ScriptedChatModel]:
    model = ScriptedChatModel()
    model.book.script_defaults()
    model.script("reflector", *replies)
    with model.book:
        return ask(model, "look it up"), model


@pytest.mark.parametrize("case", NO_VERDICT)
def test_what_is_no_verdict_is_never_a_pass(case: str) -> None:
    text = NO_VERDICT[case]
    state, model = run(text)
    step = only_step(state)
    (record,) = step.verdicts
    assert (record.verdict, record.unjudged) == (None, AcceptedReason.NOT_JUDGED)
    assert text in record.raw
    assert model.count("reflector") == 2  # the reply and one repair
    assert (step.status, step.reason) == (StepStatus.ACCEPTED, AcceptedReason.NOT_JUDGED)
    assert len(step.attempts) == 1
    assert state.status is RunStatus.PARTIAL
    assert "nobody has verified" in state.answer


def test_a_labelled_retry_is_a_retry() -> None:
    state, model = run(RETRY, '{"verdict":"PASS","analysis":"now it is there"}')
    step = only_step(state)
    assert [v.verdict for v in step.verdicts] == [Verdict.RETRY, Verdict.PASS]
    assert "it would PASS with the total" in step.attempts[1].hint
    assert model.count("reflector") == 2


def test_a_retry_for_ever_is_never_a_pass() -> None:
    state, model = run(RETRY)
    step = only_step(state)
    assert [v.verdict for v in step.verdicts] == [Verdict.RETRY] * 3
    assert (step.status, step.reason) == (StepStatus.ACCEPTED, AcceptedReason.RETRIES_USED_UP)
    assert model.count("reflector") == 3
    assert state.status is RunStatus.PARTIAL


def test_a_pass_with_caveats_takes_one_repair_at_most() -> None:
    state, model = run(WITH_CAVEATS, '{"verdict":"PASS","analysis":"with caveats"}')
    assert [v.verdict for v in only_step(state).verdicts] == [Verdict.PASS]
    assert model.count("reflector") <= 2
