"""Plan lint: every finding, and the least correction of each."""

from collections.abc import Mapping, Sequence

import pytest
from hypothesis import given
from hypothesis import strategies as st
from policy_records import drafted

from hansei.policies.drafts import ConditionDraft, PlanDraft, StepDraft
from hansei.policies.lint import (
    LintContext,
    Linted,
    correct,
    is_small_talk,
    lint,
    only_tells,
    working_steps,
)

TOOLS = frozenset({"query_order", "compare"})
CONTEXT = LintContext(goal="Where is my parcel?", tools=TOOLS, max_steps=3)
ORDER = LintContext(goal='Where is order A7712 for "Li Ming"?', tools=TOOLS, max_steps=3)
REPLAN = LintContext(goal=ORDER.goal, tools=TOOLS, known=frozenset({"1"}), whole=False)

LOOK = drafted("1", "Look up the parcel", tool="query_order")
WEIGH = drafted("2", "Compare it with the offer", tool="compare", needs=["1"])
TELL = drafted("3", "Summarize the findings for the user", needs=["2"])


def plan(
    *steps: StepDraft, answer: str = "", conditions: Sequence[ConditionDraft] = ()
) -> PlanDraft:
    """A plan as a model wrote it."""
    return PlanDraft(steps=list(steps), answer=answer, conditions=list(conditions))


def test_a_sound_plan_is_left_alone() -> None:
    draft = plan(LOOK, WEIGH)
    assert lint(draft, CONTEXT) == []
    assert correct(draft, CONTEXT) == Linted(steps=[LOOK, WEIGH], conditions=[])


Fault = tuple[PlanDraft, LintContext, str]
FAULTS: Mapping[str, Fault] = {
    "nothing at all": (plan(), CONTEXT, "no steps that do work, and there is no direct answer"),
    "an id that no step looks up": (
        plan(answer="It is on its way."),
        ORDER,
        'names "A7712", and no step looks it up',
    ),
    "an id twice": (plan(LOOK, drafted("1", "More")), CONTEXT, "id 1 is used more than once"),
    "a dependency that does not exist": (
        plan(LOOK, drafted("2", "More", needs=["8"])),
        CONTEXT,
        "Step 2 depends on 8, which does not exist",
    ),
    "a circle": (
        plan(drafted("1", "One", needs=["2"]), drafted("2", "Two", needs=["1"])),
        CONTEXT,
        "form a circle",
    ),
    "on itself": (plan(drafted("1", "One", needs=["1"])), CONTEXT, "form a circle"),
    "no description": (plan(LOOK, drafted("2", " ")), CONTEXT, "Step 2 has no description"),
    "an unknown tool": (
        plan(drafted("1", "Wipe it", tool="wipe")),
        CONTEXT,
        "names the tool 'wipe', which does not exist",
    ),
    "a reference to nothing": (
        plan(LOOK, drafted("2", "Weigh the above result")),
        CONTEXT,
        'Step 2 points at "the above result" but depends on no step',
    ),
    "a reference to nothing, in Chinese": (
        plan(LOOK, drafted("2", "根据上述结果进行对比")),
        CONTEXT,
        'points at "上述"',
    ),
    "too many": (
        plan(*(drafted(str(i), f"Do thing {'abcd'[i]}") for i in range(4))),
        CONTEXT,
        "has 4 steps and at most 3 are allowed",
    ),
    "an id that is not carried": (plan(LOOK), ORDER, '"A7712" of the goal is told to no step'),
    "quoted words that are not carried": (
        plan(drafted("1", "Look up A7712")),
        ORDER,
        '"Li Ming" of the goal is told to no step',
    ),
    "an unknown dependency of a replan": (
        plan(drafted("5", "Ask", needs=["2"])),
        REPLAN,
        "Step 5 depends on 2, which does not exist",
    ),
}


@pytest.mark.parametrize("name", FAULTS)
def test_each_fault_is_found_and_corrected(name: str) -> None:
    draft, context, expected = FAULTS[name]
    findings = lint(draft, context)
    assert [f for f in findings if expected in f], findings
    linted = correct(draft, context)
    assert isinstance(linted, Linted)
    again = PlanDraft(steps=linted.steps, conditions=linted.conditions, answer=draft.answer)
    assert lint(again, context) == []


Fine = tuple[PlanDraft, LintContext]
FINE: Mapping[str, Fine] = {
    "a direct answer": (plan(answer="Ask at the counter."), CONTEXT),
    "a direct answer where no tool could look": (
        plan(answer="I cannot know."),
        LintContext(goal=ORDER.goal),
    ),
    "small talk, whatever the plan": (plan(), LintContext(goal="Hello!")),
    "a reference with a dependency": (
        plan(LOOK, drafted("2", "Weigh the above result", needs=["1"])),
        CONTEXT,
    ),
    "an id in another spelling": (plan(drafted("1", "Look up a-7712 for Li Ming")), ORDER),
    "quoted words in a condition": (
        plan(drafted("1", "Look up A7712"), conditions=[ConditionDraft(quote="Li Ming")]),
        ORDER,
    ),
    "a replan that carries only its part": (plan(drafted("2", "Ask", needs=["1"])), REPLAN),
    "an empty replan": (plan(), REPLAN),
    "a step that only tells beside work": (plan(LOOK, WEIGH, TELL), CONTEXT),
    "telling as the work itself": (
        plan(drafted("1", "Summarize the text")),
        LintContext(goal="Summarize this text: it rains."),
    ),
}


@pytest.mark.parametrize("name", FINE)
def test_what_is_fine(name: str) -> None:
    draft, context = FINE[name]
    assert lint(draft, context) == []


def corrected(draft: PlanDraft, context: LintContext = CONTEXT) -> Linted:
    """The corrected plan."""
    linted = correct(draft, context)
    assert isinstance(linted, Linted)
    return linted


def test_repeated_ids_are_told_apart() -> None:
    linted = corrected(plan(LOOK, drafted("1", "More"), drafted("", "Even more")))
    assert [s.id for s in linted.steps] == ["1", "1#2", "#3"]
    assert any("repeated step id '1'" in note for note in linted.notes)


def test_a_circle_is_cut_so_that_earlier_steps_come_first() -> None:
    circle = plan(
        drafted("1", "One", needs=["3"]),
        drafted("2", "Two", needs=["1"]),
        drafted("3", "Three", needs=["2"]),
    )
    linted = corrected(circle)
    assert [s.depends_on for s in linted.steps] == [[], ["1"], ["2"]]
    assert any("dropped dependencies of step 1" in note for note in linted.notes)


def test_a_later_dependency_is_kept_where_there_is_no_circle() -> None:
    linted = corrected(plan(drafted("1", "One", needs=["2", "2"]), drafted("2", "Two")))
    assert linted.steps[0].depends_on == ["2"]


def test_unknown_tools_and_dependencies_are_dropped() -> None:
    linted = corrected(plan(drafted("1", "Wipe it", tool="wipe", needs=["7"])))
    assert (linted.steps[0].tool, linted.steps[0].depends_on) == (None, [])
    assert len(linted.notes) == 2


def test_a_reference_is_bound_to_the_step_before() -> None:
    linted = corrected(plan(drafted("1", "Weigh the above result"), drafted("2", "From above")))
    assert [s.depends_on for s in linted.steps] == [[], ["1"]]


def test_a_reference_that_is_bound_closes_no_circle() -> None:
    linted = corrected(plan(drafted("1", "Look up", needs=["2"]), drafted("2", "From above")))
    assert [s.depends_on for s in linted.steps] == [[], ["1"]]


def test_a_reference_in_a_circle_is_bound_when_the_circle_is_cut() -> None:
    circle = plan(drafted("1", "Look up", needs=["2"]), drafted("2", "From above", needs=["1"]))
    assert [s.depends_on for s in corrected(circle).steps] == [[], ["1"]]


def test_steps_beyond_the_limit_are_set_aside() -> None:
    draft = plan(*(drafted(str(i), f"Do thing {'abcde'[i]}") for i in range(5)))
    linted = corrected(draft)
    assert [s.id for s in linted.steps] == ["0", "1", "2"]
    assert [s.id for s in linted.cut] == ["3", "4"]


def test_what_nothing_carries_is_told_to_the_first_step() -> None:
    linted = corrected(plan(LOOK, WEIGH), ORDER)
    assert linted.steps[0].description == "Look up the parcel (A7712, Li Ming)"
    assert [(c.quote, c.hard) for c in linted.conditions] == [("A7712", True), ("Li Ming", True)]


def test_without_steps_the_goal_is_the_step() -> None:
    linted = corrected(plan(), ORDER)
    assert [s.description for s in linted.steps] == [ORDER.goal]
    direct = corrected(plan(answer="Ask at the counter."))
    assert direct.steps == []


@pytest.mark.parametrize("context", [REPLAN, LintContext(goal="你好！")])
def test_where_there_is_nothing_to_correct(context: LintContext) -> None:
    assert correct(plan(), context) == "the plan has no steps that do work"


def test_the_same_step_twice_is_one_step() -> None:
    again = drafted("2", " Look up the parcel", tool="query_order")
    after = drafted("3", "Compare", needs=["2"])
    assert working_steps([LOOK, again, after, TELL]) == [
        LOOK,
        after.model_copy(update={"depends_on": ["1"]}),
    ]


@pytest.mark.parametrize(
    ("description", "tells"),
    [
        ("Summarize the findings", True),
        ("Finally, tell the user where the parcel is", True),
        ("Report back to the customer", True),
        ("Give the final answer", True),
        ("If it is found, return it", True),
        ("最后，向用户总结", True),
        ("根据查询结果回复用户", True),
        ("告知用户订单状态", True),
        ("Look up the parcel", False),
        ("Compare the reports of both shops", False),
        ("Find out who can tell more", False),
        ("查询用户的订单", False),
        ("对比两款耳机", False),
    ],
)
def test_steps_that_only_tell(description: str, tells: bool) -> None:
    assert only_tells(drafted("1", description)) is tells
    assert not only_tells(drafted("1", description, tool="query_order"))


@pytest.mark.parametrize("goal", ["Hello", "hi there!", "Thank you!!", "你好呀", "在吗？"])
def test_small_talk(goal: str) -> None:
    assert is_small_talk(goal)


@pytest.mark.parametrize("goal", ["Hello, where is A7712?", "你好，帮我查订单", "history", "byte"])
def test_a_greeting_with_work_in_it_is_no_small_talk(goal: str) -> None:
    assert not is_small_talk(goal)


keys = st.sampled_from(["1", "2", "3", "4", "9", ""])
steps_drawn = st.lists(
    st.builds(
        drafted,
        keys,
        st.sampled_from(
            ["Look up", "Weigh the above result", "Compare A7712", " ", "Summarize the findings"]
        ),
        tool=st.sampled_from([None, "compare", "wipe"]),
        needs=st.lists(keys, max_size=3),
    ),
    max_size=6,
)


@given(
    steps=steps_drawn,
    answer=st.sampled_from(["", "It is here."]),
    context=st.sampled_from([CONTEXT, ORDER, REPLAN]),
)
def test_a_corrected_plan_can_run(
    steps: list[StepDraft], answer: str, context: LintContext
) -> None:
    linted = correct(plan(*steps, answer=answer), context)
    if isinstance(linted, str):
        assert not context.whole
        return
    done = set(context.known)
    left = list(linted.steps)
    assert len({step.id for step in left}) == len(left) <= context.max_steps
    while left:
        able = [step for step in left if set(step.depends_on) <= done]
        assert able, "no step can begin"
        done |= {step.id for step in able}
        left = [step for step in left if step not in able]
    assert all(step.tool is None or step.tool in TOOLS for step in linted.steps)
    assert all(step.description.strip() for step in [*linted.steps, *linted.cut])
