"""Which arguments of a call are claims about something there is, and which are the caller's own."""

from __future__ import annotations

import pytest
from pydantic import JsonValue

from hansei.policies.checks import CheckInput, Evidence, grounded
from hansei.policies.provenance import invented
from hansei.policies.records import Step, ToolCall


@pytest.mark.parametrize(
    ("name", "value"),
    [
        ("query", "China GDP 2024"),
        ("code", "print(1 + 1)"),
        ("code", "def f(x):\n  return x * 2\nf(21)"),
        ("num_results", 5),
        ("numResults", 5),
        ("number_of_nights", 2),
        ("number", 7),
        ("page_no", 2),
        ("limit", 1000),
        ("timeout", 5000),
        ("start_date", "20260605"),
        ("timestamp", 1717545600),
    ],
)
def test_how_much_and_when_is_the_callers_own(name: str, value: JsonValue) -> None:
    assert invented({name: value}, ["look something up"]) == []


@pytest.mark.parametrize(
    ("name", "value"),
    [
        ("order_id", "10002"),
        ("order_id", 2024),
        ("orderId", "7"),
        ("order_no", "12"),
        ("invoice_number", 12),
        ("query", "order 10002"),
        ("code", "AB12"),
        ("phone", "13800138000"),
        ("amount", 25000),
    ],
)
def test_an_id_that_nobody_gave_is_invented(name: str, value: JsonValue) -> None:
    assert invented({name: value}, ["look order 10001 up"]) == [str(value).removeprefix("order ")]


@pytest.mark.parametrize(("text", "seen"), [("It rose in 2024.", False), ("Order 10002.", True)])
def test_a_year_in_a_result_is_no_id_without_evidence(text: str, *, seen: bool) -> None:
    evidence = [Evidence(call=ToolCall(name="look", args="{}"), output="it rose")]
    data = CheckInput(goal="", step=Step(), result=text, evidence=evidence)
    assert (grounded(data) is not None) is seen
