"""A change that was made is told, whatever became of its step."""

import pytest
from broken_runs import made, ran, scripted
from policy_records import ERROR, FAILED, OK, RECOVERED, SHELL, VERIFIED, a_step, called, tried
from scripted_replies import Reply, call_then_say, messages_of, tool_call
from scripted_server import plan

from hansei import RunStatus
from hansei.policies.answers import closing_notes, rule_answer
from hansei.policies.carried_out import SHOWN_ARGS, left_behind, may_have_changed, shown_calls
from hansei.policies.checks import CheckInput
from hansei.policies.records import Finding, Step, ToolCall
from hansei.policies.words import FindingKind, Language


def paid(args: str = '{"order":"A1"}', *, from_record: bool = False) -> ToolCall:
    call = called("refund", OK, args=args, from_record=from_record)
    return call.model_copy(update={"changes": True})


ABORTED = called("refund", ERROR, args='{"order":"A1"}').model_copy(
    update={"changes": True, "raised": True}
)
PENDING = called("refund", SHELL, args='{"order":"A1"}').model_copy(update={"changes": True})
BROKEN = called("refund", ERROR, args='{"order":"A1"}').model_copy(update={"changes": True})
LOOKED = called("look", OK)
OTHER = paid('{"order":"A2"}')


@pytest.mark.parametrize(
    ("steps", "calls"),
    [
        ([a_step(1, FAILED, tried([LOOKED, paid()]))], [paid()]),
        ([a_step(1, FAILED, tried([LOOKED]), tried([BROKEN]))], []),
        ([a_step(1, VERIFIED, tried([paid()]))], []),
        ([a_step(1, VERIFIED, tried([paid()]), tried([paid(from_record=True)]))], []),
        ([a_step(1, RECOVERED, tried([paid()])), a_step(2, VERIFIED, tried([OTHER]))], [paid()]),
        # Done twice, and only one of them counts.
        ([a_step(1, RECOVERED, tried([paid()])), a_step(2, VERIFIED, tried([paid()]))], [paid()]),
        (
            [
                a_step(1, RECOVERED, tried([paid()])),
                a_step(2, VERIFIED, tried([paid(from_record=True)])),
            ],
            [],
        ),
        ([a_step(1, VERIFIED, tried([paid()])), a_step(2, VERIFIED, tried([paid()]))], []),
        ([a_step(1, FAILED, tried([paid()]), tried([paid()]))], [paid()]),
    ],
)
def test_changes_that_no_completed_step_rests_on(steps: list[Step], calls: list[ToolCall]) -> None:
    assert left_behind(steps) == calls


@pytest.mark.parametrize(
    ("calls", "unsure"),
    [
        ([ABORTED], [ABORTED]),
        ([PENDING], [PENDING]),
        ([BROKEN], []),  # the tool says itself that it failed
        ([ABORTED, paid()], []),
        ([LOOKED], []),
    ],
)
def test_changes_that_may_have_been_made(calls: list[ToolCall], unsure: list[ToolCall]) -> None:
    step = a_step(1, FAILED, tried(calls), description="Refund A1", reason="it broke")
    assert may_have_changed([step]) == unsure
    notes = closing_notes([step], answer_reason="", exhausted="", language="en")
    assert any("may have gone through" in note for note in notes) is bool(unsure)
    if unsure:
        assert "try again later" not in rule_answer([step], "en")


def test_long_arguments_are_cut() -> None:
    shown = shown_calls([paid('{"note":"' + "x" * 500 + '"}')], "en")
    assert shown.startswith('refund {"note":"xx')
    assert len(shown) < SHOWN_ARGS + 20


@pytest.mark.parametrize(
    ("language", "word", "advice"),
    [("en", "was carried out", "try again later"), ("zh", "已经执行过", "稍后再试")],
)
def test_an_answer_from_the_records_tells_it(language: Language, word: str, advice: str) -> None:
    step = a_step(1, FAILED, tried([paid()]), description="Refund A1", reason="no receipt")
    notes = closing_notes([step], answer_reason="", exhausted="", language=language)
    assert [n for n in notes if word in n and 'refund {"order":"A1"}' in n]
    assert advice not in rule_answer([step], language)
    assert advice in rule_answer([step.model_copy(update={"attempts": []})], language)


@pytest.mark.parametrize("told", ["The refund of A1 was not done.", "Sorry, it failed.", ""])
def test_a_run_whose_check_rejects_a_refund_says_that_it_went_through(told: str) -> None:
    runs: list[str] = []

    def refund(order: str) -> str:
        runs.append(order)
        return '{"refunded": true}'

    def no_receipt(data: CheckInput) -> Finding:
        del data
        return Finding(kind=FindingKind.VETO_REPLAN, reason="there is no receipt")

    one = plan({"description": "Refund order A1", "tool": "refund"})
    model = scripted(one, call_then_say("Refunded.", "refund", order="A1"), answer=told)
    state = ran(model, [made(refund, "once")], goal="Refund order A1", checks=[no_receipt])
    assert (state.status, runs) == (RunStatus.FAILED, ["A1"])
    assert 'carried out, although its outcome was not confirmed: refund {"order":"A1"}' in (
        state.answer
    )
    assert "try again later" not in state.answer


@pytest.mark.parametrize(("effect", "runs"), [("once", 1), ("idempotent", 2)])
def test_a_call_that_broke_off_is_repeated_only_where_that_does_no_harm(
    effect: str, runs: int
) -> None:
    started: list[str] = []

    def refund(order: str) -> str:
        started.append(order)
        raise TimeoutError

    def executor(body: dict[str, object]) -> Reply:
        asked = [m for m in messages_of(body) if m.get("role") == "tool"]
        if len(asked) < 2:
            return tool_call("refund", order="A1001")
        return Reply("It could not be refunded.")

    one = plan({"description": "Refund order A1001", "tool": "refund"})
    model = scripted(one, executor, answer="The refund of A1001 failed.")
    state = ran(model, [made(refund, effect)], goal="Refund order A1001")
    assert (state.status, len(started)) == (RunStatus.FAILED, runs)
    assert 'may have gone through, although nothing confirms it: refund {"order":"A1001"}' in (
        state.answer
    )


@pytest.mark.parametrize("nothing", [None, "", "{}", "[]"])
def test_who_does_something_need_not_return_anything(nothing: object) -> None:
    def refund(order: str) -> object:
        del order
        return nothing

    one = plan({"description": "Refund order A1001", "tool": "refund"})
    model = scripted(
        one,
        call_then_say("Order A1001 is refunded.", "refund", order="A1001"),
        answer="Order A1001 is refunded.",
    )
    state = ran(model, [made(refund, "once")], goal="Refund order A1001")
    assert (state.status, state.verified) == (RunStatus.COMPLETE, True)
