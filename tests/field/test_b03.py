"""One of three calls that were asked for together raises: the other two keep what they did."""

import pytest
from field.stubs import Stubs, ask, give_up, only_step, tool_messages
from scripted_model import ScriptedChatModel
from scripted_replies import Call, Reply, plan, tool_call, verdict

from hansei import RunStatus, StepStatus, Verdict

MAIL = {"to": "ann@example.org", "body": "A is one"}
THREE = Reply(
    None,
    [
        Call("lookup", {"q": "A"}, "c1"),
        Call("fetch", {"url": "http://example.org"}, "c2"),
        Call("send_mail", MAIL, "c3"),
    ],
    finish_reason="tool_calls",
)


def broken_once(stubs: Stubs) -> str:
    """The page cannot be had the first time it is asked for."""
    if stubs.counts["fetch"] == 1:
        raise ConnectionError("refused")
    return "B is two"


def stub_tools() -> Stubs:
    stubs = Stubs(lookup="A=1", send_mail="sent", fetch=lambda url: broken_once(stubs))
    return stubs


def scripted(*after_the_failure: Reply | str) -> ScriptedChatModel:
    model = ScriptedChatModel()
    model.book.modes = {"strict_pairing": True}
    model.book.script_defaults()
    model.script(
        "executor", THREE, "A=1 and the mail is sent; the page failed.", *after_the_failure
    )
    model.script("synthesizer", "A=1, the page says that B is two, and the mail is sent.")
    return model


def test_each_call_is_answered_and_the_results_are_kept() -> None:
    stubs = stub_tools()
    model = scripted(tool_call("fetch", url="http://example.org"), "A=1, and B is two.")
    with model.book:
        state = ask(model, "see what A is, fetch the page and mail ann@example.org", stubs)
    requests = [request.body for request in model.book.asked("executor")]
    answered = tool_messages(requests[1])
    assert list(answered) == ["c1", "c2", "c3"]
    assert answered["c1"] == "A=1"
    assert "refused" in answered["c2"]
    assert all(request.status == 200 for request in model.requests)
    step = only_step(state)
    assert [v.verdict for v in step.verdicts] == [Verdict.RETRY, Verdict.PASS]
    assert step.status is StepStatus.VERIFIED
    assert stubs.counts == {"lookup": 1, "fetch": 2, "send_mail": 1}
    assert state.status is RunStatus.COMPLETE


def test_the_retry_is_told_what_has_succeeded() -> None:
    model = scripted(tool_call("fetch", url="http://example.org"), "A=1, and B is two.")
    with model.book:
        ask(model, "see what A is, fetch the page and mail ann@example.org", stub_tools())
    retry = model.prompts("executor")[2]
    assert "have succeeded already" in retry
    assert 'send_mail({"body":"A is one","to":"ann@example.org"}) → sent' in retry
    assert 'lookup({"q":"A"}) → A=1' in retry
    assert "fetch({" not in retry


@pytest.mark.parametrize("other_order", [False, True])
def test_a_mail_that_is_asked_for_again_is_not_sent_again(other_order: bool) -> None:
    stubs = stub_tools()
    calls = [(c[0], c[1]) for c in THREE.tool_calls]
    again = Reply(None, calls[::-1] if other_order else calls, finish_reason="tool_calls")
    model = scripted(again, "A=1, and B is two.")
    with model.book:
        state = ask(model, "see what A is, fetch the page and mail ann@example.org", stubs)
    assert stubs.counts == {"lookup": 1, "fetch": 2, "send_mail": 1}
    second = only_step(state).attempts[1]
    assert {c.name for c in second.calls if c.from_record} == {"lookup", "send_mail"}
    assert only_step(state).status is StepStatus.VERIFIED


def test_a_failure_stands_until_its_call_is_made_again() -> None:
    stubs = stub_tools()
    model = scripted("A=1, B is two, and the mail is sent.")
    model.script("replanner", give_up(1))
    with model.book:
        state = ask(model, "see what A is, fetch the page and mail ann@example.org", stubs)
    step = only_step(state)
    assert [v.verdict for v in step.verdicts] == [Verdict.RETRY, Verdict.REPLAN]
    assert step.status is StepStatus.FAILED
    assert "refused" in step.reason
    assert model.count("reflector") == 0
    assert state.status is RunStatus.FAILED


def test_a_retry_that_does_not_repeat_a_call_keeps_its_evidence() -> None:
    stubs = Stubs(lookup="42, as of May")
    model = ScriptedChatModel()
    model.book.script_defaults()
    model.script("planner", plan({"description": "look it up", "tool": "lookup"}))
    model.script("executor", tool_call("lookup", q="it"), "About forty.", "It is 42, as of May.")
    model.script("reflector", verdict("RETRY", "too vague", "say the number"), verdict("PASS"))
    with model.book:
        state = ask(model, "look it up", stubs)
    step = only_step(state)
    assert (step.status, step.result) == (StepStatus.VERIFIED, "It is 42, as of May.")
    assert stubs.counts == {"lookup": 1}
    assert "42, as of May" in model.prompts("reflector")[1].partition("Result")[0]
    assert "no tool was called" not in model.prompts("reflector")[1]
