"""Rule checks of a step's result (row P12). Stand-ins are held to theirs in test_stand_ins.py."""

from collections.abc import Mapping, Sequence

import pytest
from check_inputs import bad, judged, kind_of
from hypothesis import given
from hypothesis import strategies as st
from policy_records import (
    EMPTY,
    ERROR,
    NOT_FOUND,
    OK,
    REFUSED,
    SHELL,
    called,
    tried,
)

from hansei.policies.checks import (
    CheckInput,
    action_claimed,
    condition_findings,
    grounded,
    result_text,
    tool_doubt,
    tool_status,
    tool_used,
)
from hansei.policies.records import Attempt, Condition, ToolCall
from hansei.policies.words import FindingKind
from hansei.tools.outcome import OutcomeStatus

SIGNAL, UNKNOWN = FindingKind.SIGNAL, FindingKind.UNKNOWN
VETO_RETRY, VETO_REPLAN = FindingKind.VETO_RETRY, FindingKind.VETO_REPLAN


GOOD = called("fetch")
OTHER = called("search")
FIRST = tried([bad(ERROR)])


def second(*rounds: Sequence[ToolCall]) -> tuple[Attempt, Attempt]:
    """A retry after an attempt whose only call failed with other arguments."""
    return tried([bad(ERROR, args='{"q":"y"}')]), tried(*rounds, number=2)


STATUS: Mapping[str, tuple[tuple[Attempt, ...], FindingKind | None]] = {
    "no call": ((tried(),), None),
    "all went well": ((tried([GOOD]),), None),
    "an error": ((tried([bad(ERROR)]),), VETO_REPLAN),
    "not found": ((tried([bad(NOT_FOUND)]),), VETO_REPLAN),
    "a shell": ((tried([bad(SHELL)]),), VETO_REPLAN),
    "an empty result may be tried once more": ((tried([bad(EMPTY)]),), VETO_RETRY),
    "an empty result again": (second([bad(EMPTY)]), VETO_REPLAN),
    "an invented argument": ((tried([bad(REFUSED)]),), VETO_RETRY),
    "an invented argument again": (second([bad(REFUSED)]), VETO_RETRY),
    "an error that the same tool healed": ((tried([bad(ERROR)], [GOOD]),), None),
    "an error before another tool's success": ((tried([bad(ERROR)], [OTHER]),), SIGNAL),
    "an error after a success": ((tried([OTHER], [bad(ERROR)]),), VETO_RETRY),
    "an error beside a success": ((tried([OTHER, bad(ERROR)]),), VETO_RETRY),
    "an error beside a success, again": (second([OTHER, bad(ERROR)]), VETO_REPLAN),
    "the last of several counts": ((tried([bad(EMPTY)], [bad(ERROR, "search")]),), VETO_REPLAN),
    "a retry that keeps quiet about it": (second(), VETO_REPLAN),
    "a retry that healed it": (second([GOOD]), None),
    "a refused call of an earlier try": ((tried([bad(REFUSED)]), tried(number=2)), None),
}


@pytest.mark.parametrize("name", STATUS)
def test_the_tools_own_status_decides(name: str) -> None:
    attempts, kind = STATUS[name]
    finding = tool_status(judged(*attempts))
    assert kind_of(finding) is kind
    if finding is not None:
        assert finding.reason
        assert finding.hint


def test_a_reason_is_the_tools_own() -> None:
    wordless = called("fetch", ERROR, output="boom")
    told = [tool_status(judged(tried([call]))) for call in (bad(ERROR), wordless)]
    said = [finding.reason if finding else "" for finding in told]
    assert "so it says" in said[0]
    assert "boom" in said[1]


@given(
    rounds=st.lists(
        st.lists(
            st.builds(
                called, st.sampled_from(["fetch", "search"]), st.sampled_from(list(OutcomeStatus))
            ),
            max_size=3,
        ),
        max_size=3,
    ),
    again=st.booleans(),
)
def test_a_step_whose_calls_all_failed_is_always_vetoed(
    rounds: list[list[ToolCall]], again: bool
) -> None:
    attempts = second(*rounds) if again else (tried(*rounds),)
    outcomes = [call.outcome for item in rounds for call in item]
    kind = kind_of(tool_status(judged(*attempts)))
    if outcomes and OK not in outcomes:
        assert kind in {VETO_RETRY, VETO_REPLAN}
    if outcomes and set(outcomes) == {OK} and not again:
        assert kind is None


Used = tuple[CheckInput, FindingKind | None]
USED: Mapping[str, Used] = {
    "the tool of the plan": (judged(tried([GOOD]), tool="fetch"), None),
    "it was called in an earlier try": (
        judged(tried([GOOD]), tried(number=2), tool="fetch"),
        None,
    ),
    "no tool was called": (judged(tried(), tool="fetch"), VETO_RETRY),
    "another tool": (judged(tried([OTHER]), tool="fetch"), SIGNAL),
    "looking up instead of changing": (judged(tried([GOOD]), tool="write_file"), VETO_RETRY),
    "another tool that changes something": (
        judged(tried([called("send_mail")]), tool="write_file"),
        SIGNAL,
    ),
    "no tool is needed": (judged(tried()), None),
    "a file is to be written": (
        judged(tried(), description="Write the table to report.csv"),
        VETO_RETRY,
    ),
    "a mail is to be sent": (judged(tried(), description="Send a mail to Ann"), VETO_RETRY),
    "a mail is only spoken of": (judged(tried(), description="Find the mail of Ann"), None),
    "an id and no lookup": (judged(tried(), description="Look up parcel B7712"), SIGNAL),
    "an id and no tools": (
        judged(tried(), description="Look up parcel B7712", tools=frozenset()),
        None,
    ),
}


@pytest.mark.parametrize("name", USED)
def test_a_step_that_needs_a_tool_uses_it(name: str) -> None:
    data, kind = USED[name]
    assert kind_of(tool_used(data)) is kind


@pytest.mark.parametrize(
    ("attempt", "result", "kind"),
    [
        (tried(), "", VETO_RETRY),
        (tried(), " \n\t", VETO_RETRY),
        (tried(truncated=True), "The parcel is", SIGNAL),
        (tried(), "The parcel is in Bonn.", None),
    ],
)
def test_the_result_as_a_text(attempt: Attempt, result: str, kind: FindingKind | None) -> None:
    finding = result_text(judged(attempt, result=result))
    assert kind_of(finding) is kind
    assert finding is None or finding.hint


@pytest.mark.parametrize(
    ("result", "evidence", "inputs", "known"),
    [
        ("Parcel B7712 is in Bonn.", ["nothing"], [], True),
        ("Parcel C8000 is in Bonn.", ["C8000: Bonn"], [], True),
        ("Parcel C8000 is in Bonn.", ["nothing"], ["see C-8000"], True),
        ("Parcel C8000 is in Bonn.", ["nothing"], [], False),
        ("Parcel C8000 is in Bonn.", [], [], True),
        ("The parcel is in Bonn.", ["nothing"], [], True),
    ],
)
def test_ids_in_a_result_must_come_from_somewhere(
    result: str, evidence: list[str], inputs: list[str], known: bool
) -> None:
    finding = grounded(judged(tried(), result=result, evidence=evidence, inputs=inputs))
    assert kind_of(finding) is (None if known else SIGNAL)
    assert finding is None or "C8000" in finding.reason


CLAIMED: Mapping[str, tuple[CheckInput, bool]] = {
    "sent by nobody": (judged(tried(), result="I have sent the mail to Ann."), True),
    "sent by a tool": (
        judged(tried([called("send_mail")]), result="I have sent the mail to Ann."),
        False,
    ),
    "the tool failed": (
        judged(tried([called("send_mail", ERROR)]), result="I have sent the mail to Ann."),
        True,
    ),
    "told by a lookup": (
        judged(tried([GOOD]), result="The order has been cancelled."),
        False,
    ),
    "an input says so": (
        judged(tried(), result="The mail has been sent.", inputs=["The mail has been sent."]),
        False,
    ),
    "a claim that words can make true": (
        judged(tried(), result="I have written a poem.", tools=frozenset()),
        False,
    ),
    "a file without tools": (
        judged(tried(), result="The file report.csv has been written.", tools=frozenset()),
        True,
    ),
    "no claim": (judged(tried(), result="The parcel is in Bonn."), False),
}


@pytest.mark.parametrize("name", CLAIMED)
def test_an_action_that_is_claimed_needs_a_call(name: str) -> None:
    data, suspicious = CLAIMED[name]
    finding = action_claimed(data)
    assert kind_of(finding) is (SIGNAL if suspicious else None)
    assert finding is None or finding.hint


CONDITIONS = [
    Condition(id=1, kind="limit", quote="under 300 dollars", steps=[1]),
    Condition(id=2, kind="situation", quote="two long-haired cats", steps=[1]),
    Condition(id=3, kind="exclusion", quote="not from Sony", steps=[2]),
]


@pytest.mark.parametrize(
    ("result", "step", "expected"),
    [
        ("It is good for cats and costs $299.", 1, []),
        ("It is good for cats and costs $399.", 1, [("condition 1", SIGNAL)]),
        ("It costs $299.", 1, [("condition 2", SIGNAL)]),
        ('{"price": 399, "for": "cats"}', 1, [("condition 1", VETO_RETRY)]),
        ("Take the Sony, good for cats.", 1, []),
        ("Take the Sony, good for cats.", 0, [("condition 3", SIGNAL)]),
    ],
)
def test_conditions_that_concern_a_step(
    result: str, step: int, expected: list[tuple[str, FindingKind]]
) -> None:
    data = judged(tried(), result=result, conditions=CONDITIONS)
    findings = condition_findings(data, step=step)
    assert [(f.check, f.kind) for f in findings] == expected
    assert all(f.hint for f in findings)


def test_another_tool_in_place_of_the_one_that_failed_is_told_once() -> None:
    first = tool_status(judged(tried([bad(ERROR)], [OTHER])))
    assert first is not None
    assert "fetch" in first.hint
    assert "so it says" in first.hint
    retried = judged(tried([bad(ERROR)], [OTHER]), tried(number=2))
    again = tool_status(retried)
    assert kind_of(again) is SIGNAL
    assert again is not None
    assert again.hint == ""


def test_a_doubtful_output_makes_the_model_look() -> None:
    doubtful = GOOD.model_copy(update={"doubt": "processing"})
    finding = tool_doubt(judged(tried([doubtful])))
    assert kind_of(finding) is SIGNAL
    assert finding is not None
    assert "processing" in finding.reason
    assert finding.hint == ""
    assert tool_doubt(judged(tried([GOOD]))) is None
