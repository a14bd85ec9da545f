"""Thinking that drafts a verdict, a missing opening tag, an answer on the reasoning channel."""

import json

import pytest
from field.stubs import ask, only_step, over_http
from scripted_server import Reply, ScriptedServer, verdict

from hansei import AcceptedReason, AgentState, RunStatus, StepStatus, Verdict

GOOD = '{"verdict":"PASS","analysis":"42 is there","suggestion":""}'
THOUGHT = (
    '<think>Maybe {"verdict":"REPLAN","analysis":"draft"} ... no, the tool did return 42.</think>\n'
    + GOOD
)
NO_OPENING_TAG = 'Maybe {"verdict":"REPLAN"} first.</think>' + GOOD
ON_THE_OTHER_CHANNEL = Reply(
    None,
    reasoning_content='{"verdict":"RETRY","analysis":"empty result","suggestion":"use page 2"}',
)
NEVER_CLOSED = Reply('<think>still thinking {"verdict":"PASS"', finish_reason="length")


def run(*replies: Reply | str) -> tuple[AgentState, ScriptedServer]:
    with ScriptedServer() as server:
        server.script_defaults()
        server.script("reflector", *replies)
        return ask(over_http(server.base_url), "look it up"), server


@pytest.mark.parametrize("reply", [THOUGHT, NO_OPENING_TAG], ids=["a", "b"])
def test_the_verdict_after_the_thinking_counts(reply: str) -> None:
    state, server = run(reply)
    (record,) = only_step(state).verdicts
    assert (record.verdict, record.analysis) == (Verdict.PASS, "42 is there")
    assert server.count("reflector") == 1
    assert state.status is RunStatus.COMPLETE
    assert "think>" not in state.model_dump_json()
    assert "draft" not in state.model_dump_json()


def test_an_answer_on_the_reasoning_channel_is_no_pass() -> None:
    state, server = run(ON_THE_OTHER_CHANNEL, verdict("RETRY", "empty result", "use page 2"), GOOD)
    step = only_step(state)
    # The first verdict comes after one repair request, the second at once.
    assert [v.verdict for v in step.verdicts] == [Verdict.RETRY, Verdict.PASS]
    assert server.count("reflector") == 3
    assert step.attempts[1].hint == "use page 2"


def test_a_channel_that_is_never_the_right_one_leaves_the_step_unverified() -> None:
    state, server = run(ON_THE_OTHER_CHANNEL)
    step = only_step(state)
    assert (step.status, step.reason) == (StepStatus.ACCEPTED, AcceptedReason.NOT_JUDGED)
    assert server.count("reflector") == 2
    assert state.status is RunStatus.PARTIAL


def test_thinking_that_was_cut_is_no_verdict() -> None:
    state, server = run(NEVER_CLOSED)
    step = only_step(state)
    (record,) = step.verdicts
    assert record.verdict is None
    assert "cut off" in record.analysis
    assert (step.status, step.reason) == (StepStatus.ACCEPTED, AcceptedReason.NOT_JUDGED)
    assert server.count("reflector") == 2
    assert "think>" not in state.answer


def test_a_cut_reply_is_asked_for_again_and_the_second_one_counts() -> None:
    state, server = run(NEVER_CLOSED, verdict("RETRY", "empty result", "use page 2"), GOOD)
    step = only_step(state)
    assert [v.verdict for v in step.verdicts] == [Verdict.RETRY, Verdict.PASS]
    repair = json.dumps(server.asked("reflector")[1].body["messages"])
    assert "cut off" in repair
