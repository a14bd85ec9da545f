"""From drafts to steps, and a replan's place in the plan. What a stand-in owes: test_stand_ins."""

from collections.abc import Mapping, Sequence

import pytest
from policy_records import (
    ACCEPTED,
    FAILED,
    PENDING,
    REPLACED,
    SKIPPED,
    VERIFIED,
    a_step,
    by_id,
    drafted,
    statuses,
    tried,
)

from hansei.policies.answers import reason_of
from hansei.policies.drafts import ReplanDraft, StepDraft
from hansei.policies.lint import Linted
from hansei.policies.planning import (
    Replanned,
    apply_replan,
    cut_steps,
    left_out,
    number_steps,
    repeats,
    sift,
    waiting,
)
from hansei.policies.records import Step
from hansei.policies.words import Progress


def test_ids_grow_from_the_first() -> None:
    drafts = [drafted("a", " find it ", tool="fetch"), drafted("b", "weigh it", needs=["a", "x"])]
    steps, ids = number_steps(drafts, first=4)
    assert ids == {"a": 4, "b": 5}
    assert [(s.id, s.description, s.tool, s.depends_on) for s in steps] == [
        (4, "find it", "fetch", []),
        (5, "weigh it", None, [4]),
    ]


def test_earlier_steps_may_be_depended_on() -> None:
    steps, ids = number_steps([drafted("n", "more", needs=["1", "n2"])], first=3, known={"1": 1})
    assert steps[0].depends_on == [1]
    assert ids == {"1": 1, "n": 3}


def test_a_key_of_the_replan_wins_over_an_earlier_one() -> None:
    drafts = [drafted("1", "one"), drafted("2", "two", needs=["1"])]
    steps, _ = number_steps(drafts, first=5, known={"1": 1})
    assert steps[1].depends_on == [5]


@pytest.mark.parametrize(("language", "word"), [("en", "limit of 2"), ("zh", "2 步的上限")])
def test_steps_beyond_the_limit_say_so(language: str, word: str) -> None:
    steps = cut_steps(
        [drafted("a", " more ", tool="fetch"), drafted("b", "even more")],
        first=3,
        limit=2,
        language="zh" if language == "zh" else "en",
    )
    assert [(s.id, s.description, s.tool, s.status) for s in steps] == [
        (3, "more", "fetch", SKIPPED),
        (4, "even more", None, SKIPPED),
    ]
    assert all(word in s.reason for s in steps)


FETCHED = a_step(1, FAILED, tool="query_order", description="Look up the state of order 99999")
REPEATS: Mapping[str, tuple[StepDraft, bool]] = {
    "word for word": (drafted("n", FETCHED.description, tool="query_order"), True),
    "the same order in other words": (
        drafted("n", "See where 99999 is", tool="query_order"),
        True,
    ),
    "another order": (drafted("n", "Look up the state of order 99998", tool="query_order"), False),
    "more than that order": (
        drafted("n", "Look up the state of 99999 and of A7001", tool="query_order"),
        False,
    ),
    "another tool": (drafted("n", FETCHED.description, tool="query_logistics"), False),
    "no tool": (drafted("n", FETCHED.description), False),
    "only another try": (
        drafted("n", "Try query_order again to look up the state", tool="query_order"),
        True,
    ),
}


@pytest.mark.parametrize("name", REPEATS)
def test_what_repeats_a_step(name: str) -> None:
    draft, again = REPEATS[name]
    assert repeats(draft, [FETCHED]) == (FETCHED if again else None)


def test_a_change_of_the_same_thing_need_not_be_the_same_change() -> None:
    draft = drafted("n", "Cancel the whole thing for 99999", tool="query_order")
    assert repeats(draft, [FETCHED]) is FETCHED
    assert repeats(draft, [FETCHED], by_words=True) is None


def test_without_a_tool_only_the_words_count() -> None:
    step = a_step(1, FAILED, description="Weigh the offers of 99999")
    same = drafted("n", "Weigh the offers of 99999!")
    other = drafted("n", "Ask somebody about 99999")
    assert repeats(same, [step]) is step
    assert repeats(other, [step]) is None


def test_drafts_are_sifted() -> None:
    steps = by_id(
        FETCHED, a_step(2, VERIFIED, tool="search", description="Search for robot vacuums")
    )
    drafts = [
        drafted("a", "Look up 99999 once more", tool="query_order"),
        drafted("b", "Weigh what came of it", needs=["a"]),
        drafted("c", "Search for robot vacuums", tool="search"),
        drafted("d", "Compare brushes with care", needs=["c"]),
        drafted("e", "Summarize the findings for the user"),
    ]
    sifted = sift(drafts, steps)
    assert [(d.id, d.depends_on) for d in sifted.novel] == [("d", ["2"])]
    assert sifted.refused == [drafts[0].description, drafts[1].description]
    assert sifted.done == [drafts[2].description]


def replanned(
    steps: Sequence[Step],
    drafts: Sequence[StepDraft],
    *,
    due: Sequence[int] = (1,),
    given_up: Sequence[str] = (),
    drop: Sequence[str] = (),
) -> Replanned:
    """A replan put into a plan."""
    draft = ReplanDraft(steps=list(drafts), given_up=list(given_up), drop=list(drop))
    return apply_replan(by_id(*steps), due, Linted(list(drafts), []), draft)


LOST = a_step(1, FAILED, tried(), tool="fetch", description="find the parcel")
LATER = a_step(2, needs=[1], description="tell when the parcel comes home")
OTHER = a_step(3, description="weigh the two robot vacuums")
NEW = drafted("9", "ask the neighbours", tool="ask")


def test_new_steps_take_the_place_of_what_failed() -> None:
    result = replanned([LOST, LATER, OTHER], [NEW])
    assert result.new == [4]
    assert result.steps[4].stands_in_for == [1]
    assert result.steps[2].depends_on == [4]
    assert set(result.steps) == {2, 4}


def test_an_empty_replan_changes_nothing() -> None:
    assert replanned([LOST, LATER, OTHER], []) == Replanned(steps={}, new=[])


def test_what_is_given_up_has_no_stand_in() -> None:
    result = replanned([LOST, LATER], [NEW], given_up=["1"])
    assert result.steps[4 - 1].stands_in_for == []
    assert 2 not in result.steps


def test_stand_ins_that_are_named_count_alone() -> None:
    more = a_step(4, FAILED, description="find the letter")
    drafts = [drafted("a", "ask", instead_of=["4", "77"]), drafted("b", "wait")]
    result = replanned([LOST, OTHER, more], drafts, due=[1, 4])
    assert [result.steps[i].stands_in_for for i in result.new] == [[4], []]


def test_unnamed_stand_ins_stand_for_all_that_is_due() -> None:
    more = a_step(4, FAILED, description="find the letter")
    result = replanned([LOST, more], [drafted("a", "ask"), drafted("b", "wait")], due=[1, 4])
    assert [result.steps[i].stands_in_for for i in result.new] == [[1, 4], [1, 4]]


def test_a_waiting_step_that_is_dropped_is_skipped_with_a_reason() -> None:
    after = a_step(4, needs=[3], description="buy the better one")
    result = replanned([LOST, OTHER, after], [NEW], drop=["3"])
    assert result.steps[3].status is SKIPPED
    assert result.steps[3].reason == "A new plan left this step out"
    assert result.steps.get(4, after).depends_on == [3]


def test_the_reason_of_a_dropped_step_is_its_own() -> None:
    result = replanned([LOST, LATER], [NEW], drop=["2"])
    assert reason_of(result.steps[2], "en") == "A new plan left this step out"


@pytest.mark.parametrize(
    "new",
    [
        drafted("n", "Refund the order 10001 to the card", tool="refund"),
        drafted("n", "Refund orders 10001 and 10002", tool="refund"),
        drafted("n", "Refund order 10001!", tool="pay"),
    ],
)
def test_a_dropped_step_that_a_new_one_takes_over_is_replaced(new: StepDraft) -> None:
    old = a_step(2, tool="refund", description="Refund order 10001")
    result = replanned([LOST, old], [new], drop=["2"])
    assert result.steps[2].status is REPLACED


def test_a_waiting_step_that_is_said_again_is_replaced_by_it() -> None:
    again = drafted("n", "weigh the two robot vacuums!")
    after = a_step(4, needs=[3], description="buy the better one")
    result = replanned([LOST, OTHER, after], [again])
    assert statuses(result.steps) == {3: REPLACED, 4: PENDING, 5: PENDING}
    assert result.steps[4].depends_on == [5]


@pytest.mark.parametrize(
    "kept",
    [
        a_step(3, VERIFIED, description="weigh the two robot vacuums"),
        a_step(3, PENDING, tried(), description="weigh the two robot vacuums"),
        a_step(3, progress=Progress.RUNNING, description="weigh the two robot vacuums"),
    ],
)
def test_what_was_begun_is_not_replaced(kept: Step) -> None:
    result = replanned([LOST, kept], [NEW], drop=["3"])
    assert 3 not in result.steps


@pytest.mark.parametrize(
    ("status", "kept"), [(VERIFIED, [2]), (ACCEPTED, [2]), (PENDING, [2]), (FAILED, [])]
)
def test_a_new_step_may_depend_on_what_is_usable(status: object, kept: list[int]) -> None:
    old = a_step(2, PENDING).model_copy(update={"status": status})
    result = replanned([LOST, old], [drafted("n", "go on", needs=["2"])])
    assert result.steps[3].depends_on == kept


def test_a_stand_in_does_not_wait_for_what_waits_for_it() -> None:
    result = replanned([LOST, LATER], [drafted("3", "ask the neighbours", needs=["2"])])
    assert result.steps[3].depends_on == []
    assert result.steps[2].depends_on == [3]
    assert result.notes == ["step 3 does not wait for what waits for it"]


def test_a_new_step_does_not_wait_for_itself() -> None:
    mine = drafted("2", "ask the neighbours", needs=["2"])
    assert replanned([LOST], [mine]).steps[2].depends_on == []
    assert replanned([LOST, a_step(2, VERIFIED)], [mine]).steps[3].depends_on == [2]


def test_who_waits_and_who_is_lost() -> None:
    begun = a_step(4, progress=Progress.RUNNING, needs=[1])
    steps = by_id(LOST, LATER, OTHER, begun)
    assert [s.id for s in waiting(steps)] == [2, 3]
    assert [s.id for s in left_out(steps, [1])] == [2]
