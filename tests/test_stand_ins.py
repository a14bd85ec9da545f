"""What stands in for a failed step: it must be new, and words alone make nothing good."""

from __future__ import annotations

import pytest

from hansei.policies.checks import CheckInput, Evidence, made_good, tool_used
from hansei.policies.drafts import StepDraft
from hansei.policies.planning import sift
from hansei.policies.provenance import given_up, owed
from hansei.policies.records import Attempt, Round, Step, ToolCall
from hansei.policies.words import FindingKind, StepStatus
from hansei.tools.outcome import OutcomeStatus

EFFECTS = frozenset({"refund_order", "open_ticket"})


def call(name: str, outcome: OutcomeStatus = OutcomeStatus.OK) -> ToolCall:
    return ToolCall(name=name, outcome=outcome, output="something")


def step(
    step_id: int,
    *calls: ToolCall,
    description: str = "a step",
    tool: str | None = None,
    status: StepStatus = StepStatus.PENDING,
    stands_in_for: tuple[int, ...] = (),
) -> Step:
    return Step(
        id=step_id,
        description=description,
        tool=tool,
        status=status,
        stands_in_for=list(stands_in_for),
        attempts=[
            Attempt(rounds=[Round(calls=list(calls))] if calls else [], result="all is well")
        ],
    )


def by_id(*steps: Step) -> dict[int, Step]:
    return {s.id: s for s in steps}


LOOKED_UP = step(
    1,
    call("query_order", OutcomeStatus.SHELL),
    description="query order 99999",
    tool="query_order",
    status=StepStatus.FAILED,
)
REFUNDED = step(
    1,
    call("refund_order", OutcomeStatus.ERROR),
    description="refund order 10005",
    tool="refund_order",
    status=StepStatus.FAILED,
)


class TestOwed:
    def test_an_ordinary_step_owes_nothing(self) -> None:
        plain = step(2)
        assert owed(plain, by_id(LOOKED_UP, plain), effects=EFFECTS) == ""

    def test_a_lookup_that_failed_asks_for_evidence(self) -> None:
        stand_in = step(2, stands_in_for=(1,))
        assert owed(stand_in, by_id(LOOKED_UP, stand_in), effects=EFFECTS) == "evidence"

    def test_so_does_a_stand_in_of_a_stand_in(self) -> None:
        second = step(2, status=StepStatus.FAILED, stands_in_for=(1,))
        third = step(3, stands_in_for=(2,))
        steps = by_id(LOOKED_UP, second, third)
        assert [s.id for s in given_up(third, steps)] == [1, 2]
        assert owed(third, steps, effects=EFFECTS) == "evidence"

    def test_a_step_that_needed_no_tool_asks_for_none(self) -> None:
        thought = step(1, status=StepStatus.FAILED)
        stand_in = step(2, stands_in_for=(1,))
        assert owed(stand_in, by_id(thought, stand_in), effects=EFFECTS) == ""

    def test_what_the_failed_step_found_serves_its_stand_in(self) -> None:
        compared = step(1, call("compare"), tool="compare", status=StepStatus.FAILED)
        stand_in = step(2, stands_in_for=(1,))
        assert owed(stand_in, by_id(compared, stand_in), effects=EFFECTS) == ""

    def test_a_change_that_failed_asks_its_only_stand_in_for_a_change(self) -> None:
        stand_in = step(2, stands_in_for=(1,))
        assert owed(stand_in, by_id(REFUNDED, stand_in), effects=EFFECTS) == "effect"

    def test_of_several_each_may_be_the_one_that_changes_something(self) -> None:
        first, second = step(2, stands_in_for=(1,)), step(3, stands_in_for=(1,))
        assert owed(first, by_id(REFUNDED, first, second), effects=EFFECTS) == "evidence"


class TestMadeGood:
    @staticmethod
    def verdict(owes: str, *calls: ToolCall, inputs: tuple[str, ...] = ()) -> FindingKind | None:
        found = made_good(
            CheckInput(
                goal="",
                step=step(2, *calls, stands_in_for=(1,)),
                result="all is well",
                evidence=[Evidence(call=c, output=c.output) for c in calls],
                inputs=inputs,
                effect_tools=EFFECTS,
                owes=owes,  # type: ignore[arg-type]
            )
        )
        return found.kind if found else None

    def test_words_alone_are_vetoed(self) -> None:
        assert self.verdict("evidence") is FindingKind.VETO_RETRY
        assert self.verdict("effect") is FindingKind.VETO_RETRY

    def test_a_failed_call_is_no_evidence(self) -> None:
        bad = call("query_order", OutcomeStatus.ERROR)
        assert self.verdict("evidence", bad) is FindingKind.VETO_RETRY

    def test_a_call_that_worked_is(self) -> None:
        assert self.verdict("evidence", call("query_order")) is None

    def test_so_is_the_result_of_another_step(self) -> None:
        assert self.verdict("evidence", inputs=("R1 costs 1299",)) is None

    def test_to_look_something_up_changes_nothing(self) -> None:
        assert self.verdict("effect", call("query_order")) is FindingKind.VETO_RETRY
        assert self.verdict("effect", inputs=("order 10005 exists",)) is FindingKind.VETO_RETRY
        assert self.verdict("effect", call("open_ticket")) is None

    def test_who_owes_nothing_is_left_alone(self) -> None:
        assert self.verdict("") is None


class TestToolUsed:
    @staticmethod
    def verdict(tool: str, *calls: ToolCall) -> FindingKind | None:
        data = CheckInput(
            goal="", step=step(1, *calls, tool=tool), result="done", effect_tools=EFFECTS
        )
        found = tool_used(data)
        return found.kind if found else None

    def test_another_lookup_may_know_as_much(self) -> None:
        assert self.verdict("query_order", call("query_parcel")) is FindingKind.SIGNAL

    def test_a_lookup_is_no_change(self) -> None:
        assert self.verdict("refund_order", call("query_order")) is FindingKind.VETO_RETRY

    def test_another_change_may_be_one(self) -> None:
        assert self.verdict("refund_order", call("open_ticket")) is FindingKind.SIGNAL

    @pytest.mark.parametrize("tool", ["query_order", "refund_order"])
    def test_no_call_at_all_is_vetoed(self, tool: str) -> None:
        assert self.verdict(tool) is FindingKind.VETO_RETRY


class TestSift:
    DONE = step(2, description="query order 10001", tool="query_order", status=StepStatus.VERIFIED)

    def test_what_repeats_a_failed_step_is_refused_with_what_depends_on_it(self) -> None:
        again = StepDraft(id="3", description="query order 99999 again", tool="query_order")
        after = StepDraft(id="4", description="pack the parcel", depends_on=["3"])
        sifted = sift([again, after], by_id(LOOKED_UP, self.DONE))
        assert sifted.novel == []
        assert sifted.refused == [again.description, after.description]

    def test_what_is_done_is_left_out_and_still_depended_on(self) -> None:
        again = StepDraft(id="3", description="query order 10001 once more", tool="query_order")
        after = StepDraft(id="4", description="pack the parcel", depends_on=["3"])
        sifted = sift([again, after], by_id(LOOKED_UP, self.DONE), effects=EFFECTS)
        assert [(d.description, d.depends_on) for d in sifted.novel] == [(after.description, ["2"])]
        assert sifted.done == [again.description]
        assert sifted.refused == []

    def test_two_changes_of_one_thing_are_two(self) -> None:
        done = step(
            2,
            description="open a ticket for order 10005",
            tool="open_ticket",
            status=StepStatus.VERIFIED,
        )
        other = StepDraft(
            id="3",
            description="open a ticket that asks why order 10005 cannot be refunded",
            tool="open_ticket",
        )
        same = StepDraft(id="4", description="Open a ticket for order 10005", tool="open_ticket")
        sifted = sift([other, same], by_id(REFUNDED, done), effects=EFFECTS)
        assert sifted.novel == [other]
        assert sifted.done == [same.description]

    def test_other_numbers_make_another_step(self) -> None:
        failed = step(
            1,
            description="搜索 500 元以内的降噪耳机",
            tool="search",
            status=StepStatus.FAILED,
        )
        wider = StepDraft(id="2", description="搜索 800 元以内的降噪耳机", tool="search")
        assert sift([wider], by_id(failed)).novel == [wider]
        same = StepDraft(id="2", description="搜索 500 元以内的 降噪耳机", tool="search")
        assert sift([same], by_id(failed)).refused == [same.description]
