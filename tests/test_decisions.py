"""How the answer to a question for leave is read."""

import pytest

from hansei.policies.approvals import Decision, read_decisions

YES, NO = Decision(type="approve"), Decision(type="reject")


@pytest.mark.parametrize(
    ("answer", "decision"),
    [
        ("approve", YES),
        (" Yes. ", YES),
        ("同意", YES),
        (True, YES),
        ({"type": "approve"}, YES),
        ({"decisions": [{"type": "approve"}]}, YES),
        ('{"decisions": [{"type": "approve"}]}', YES),
        ("no", NO),
        (False, NO),
        ("reject: too dear", Decision(type="reject", message="too dear")),
        ("拒绝：太贵", Decision(type="reject", message="太贵")),
        ([{"type": "reject", "message": "too dear"}], Decision(type="reject", message="too dear")),
        ({"type": "reject", "reason": "too dear"}, Decision(type="reject", message="too dear")),
        ({"type": "edit", "args": {"q": "x"}}, Decision(type="edit", args={"q": "x"})),
        (
            {"decisions": [{"type": "edit", "edited_action": {"name": "a", "args": {"q": "x"}}}]},
            Decision(type="edit", name="a", args={"q": "x"}),
        ),
    ],
)
def test_what_an_answer_decides(answer: object, decision: Decision) -> None:
    assert read_decisions(answer, asked=1, language="en") == [decision]


@pytest.mark.parametrize(
    "answer",
    [
        "maybe",
        "approve it, but not the second",
        "approve: all",
        "",
        None,
        3,
        {},
        {"type": "perhaps"},
        {"type": "edit"},
        {"type": "approve", "args": {"q": "x"}},
        {"decisions": ["approve", "maybe"]},
        {"decision": "approve"},
        {"type": "edit", "args": {"q": "x"}, "steps": [{"description": "x"}]},
        "[" * 100_000,
        "[1, 2]",
    ],
)
def test_any_other_answer_decides_nothing(answer: object) -> None:
    assert "answer approve" in str(read_decisions(answer, asked=1, language="en"))


def test_one_decision_is_for_all_and_else_each_has_its_own() -> None:
    assert read_decisions("no", asked=2, language="en") == [NO, NO]
    assert read_decisions(["approve", "no"], asked=2, language="en") == [YES, NO]
    assert "2 things were asked" in str(read_decisions(["no"] * 3, asked=2, language="en"))
    edit = {"type": "edit", "args": {}}
    assert "2 things were asked" in str(read_decisions(edit, asked=2, language="en"))


def test_a_slip_in_an_edited_step_is_told() -> None:
    edit = {"type": "edit", "steps": [{"description": "look", "tol": "look"}]}
    assert "no field tol" in str(read_decisions(edit, asked=1, language="en"))
    inside = {"decisions": [{"type": "edit", "edited_action": {"args": {"steps": edit["steps"]}}}]}
    assert "no field tol" in str(read_decisions(inside, asked=1, language="en"))
