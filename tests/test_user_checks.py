"""Checks that users add: they count as evaluators, and one that breaks never passes anything."""

import logging

import pytest
from check_inputs import bad, judged, kind_of
from policy_records import ERROR, found, tried

from hansei.policies.checks import CheckInput, run_check, run_checks
from hansei.policies.records import Condition, Finding
from hansei.policies.required_fields import required_fields
from hansei.policies.words import FindingKind, VerdictSource

UNKNOWN = FindingKind.UNKNOWN
SIGNAL, VETO_RETRY, VETO_REPLAN = (
    FindingKind.SIGNAL,
    FindingKind.VETO_RETRY,
    FindingKind.VETO_REPLAN,
)


def passes(data: CheckInput) -> Finding:
    """A check of the user's that is always content."""
    return found(FindingKind.PASS, check="", source=VerdictSource.RULE)


def silent(data: CheckInput) -> None:
    """A check of the user's with nothing to say."""


def breaks(data: CheckInput) -> Finding:
    """A check of the user's that does not work."""
    raise LookupError("no database")


class Strict:
    """A check that is no function and has no name."""

    def __call__(self, data: CheckInput) -> Finding:
        return found(VETO_RETRY, check="strict")


def test_a_users_check_counts_as_an_evaluator(caplog: pytest.LogCaptureFixture) -> None:
    data = judged(tried())
    assert run_check(silent, data) is None
    passed = run_check(passes, data)
    assert passed is not None
    assert (passed.source, passed.check) == (VerdictSource.EVALUATOR, "passes")
    strict = run_check(Strict(), data)
    assert strict is not None
    assert (strict.kind, strict.check) == (VETO_RETRY, "strict")
    with caplog.at_level(logging.WARNING):
        broke = run_check(breaks, data)
    assert broke is not None
    assert (broke.kind, broke.source, broke.check) == (UNKNOWN, VerdictSource.EVALUATOR, "breaks")
    assert "LookupError" in broke.reason
    assert "no database" not in broke.reason
    assert "breaks" in caplog.text


CATS = Condition(id=1, kind="situation", quote="two long-haired cats", steps=[1])


def test_all_findings_come_together() -> None:
    data = judged(tried([bad(ERROR)]), result="", tool="search", conditions=[CATS], evidence=["x"])
    kinds = [(f.check, f.kind) for f in run_checks(data, [passes, silent, Strict()])]
    assert kinds == [
        ("tool_status", VETO_REPLAN),
        ("tool_used", SIGNAL),
        ("result_text", VETO_RETRY),
        ("passes", FindingKind.PASS),
        ("strict", VETO_RETRY),
        ("condition 1", SIGNAL),
    ]
    assert run_checks(judged(tried())) == []


@pytest.mark.parametrize(
    ("result", "evidence", "missing"),
    [
        ('{"name": "R1", "price": 0}', [], ""),
        ('{"name": "R1"}', ['{"price": 9}'], ""),
        ('{"name": "", "price": null}', [], "name, price"),
        ('{"name": [], "price": {}}', ["[1]"], "name, price"),
        ("it costs 9", ["not json"], "name, price"),
        ("[" * 100_000, [], "name, price"),
    ],
)
def test_required_fields(result: str, evidence: list[str], missing: str) -> None:
    check = required_fields("name", "price")
    finding = check(judged(tried(), result=result, evidence=evidence))
    assert kind_of(finding) is (VETO_RETRY if missing else None)
    assert finding is None or missing in finding.reason
