"""Tools as the schema of one call, for models that leave tool calling alone."""

import json

import pytest
from pydantic import JsonValue

from hansei.policies.records import Attempt, Round, Step, ToolCall
from hansei.policies.tool_offer import TURN, Offer, call_schema, offered, stated
from hansei.tools.outcome import OutcomeStatus

SCHEMAS: dict[str, dict[str, JsonValue]] = {
    "lookup": {"type": "object", "properties": {"q": {"type": "string"}}, "required": ["q"]},
    "fetch": {"type": "object", "properties": {"url": {"type": "string"}}, "required": ["url"]},
}


def step(tool: str | None, *outcomes: OutcomeStatus) -> Step:
    rounds = [Round(calls=[ToolCall(name="lookup", outcome=outcome)]) for outcome in outcomes]
    return Step(id=1, tool=tool, attempts=[Attempt(rounds=rounds)])


@pytest.mark.parametrize(
    ("case", "offer"),
    [
        (step("lookup"), Offer(("lookup",), must_call=True)),
        (step(None), Offer(("lookup", "fetch"), must_call=False)),
        (step("gone"), Offer(("lookup", "fetch"), must_call=False)),
        (step("lookup", OutcomeStatus.OK), None),
        (step("lookup", OutcomeStatus.SHELL), None),
        (step("lookup", OutcomeStatus.REFUSED), Offer(("lookup", "fetch"), must_call=False)),
        (step("lookup", OutcomeStatus.ERROR), Offer(("lookup", "fetch"), must_call=False)),
        (step("lookup", OutcomeStatus.EMPTY, OutcomeStatus.OK), None),
    ],
)
def test_what_is_offered(case: Step, offer: Offer | None) -> None:
    assert offered(case, SCHEMAS) == offer


def test_a_call_that_must_be_made_leaves_no_other_choice() -> None:
    text = json.dumps(call_schema(Offer(("lookup",), must_call=True), SCHEMAS))
    assert '"const": "lookup"' in text
    assert "fetch" not in text
    assert '"result"' not in text


def test_where_no_call_is_due_a_result_may_be_stated() -> None:
    schema = call_schema(Offer(("lookup", "fetch"), must_call=False), SCHEMAS)
    assert schema["type"] == "object"  # endpoints take nothing else at the top
    assert schema["required"] == [TURN]
    text = json.dumps(schema)
    assert all(word in text for word in ('"lookup"', '"fetch"', '"result"'))


@pytest.mark.parametrize(
    ("text", "said"),
    [
        ('{"turn": {"result": " seven "}}', "seven"),
        ('{"result": "seven"}', "seven"),
        (
            '{"turn": {"name": "lookup", "arguments": {"q": "x"}}}',
            '{"name": "lookup", "arguments": {"q": "x"}}',
        ),
        ('{"name": "lookup", "arguments": {}}', '{"name": "lookup", "arguments": {}}'),
        ('{"turn": 7}', '{"turn": 7}'),
        ('{"result": 7}', '{"result": 7}'),
        ('{"result": "a"} {"result": "b"}', '{"result": "a"} {"result": "b"}'),
        ("plain words", "plain words"),
    ],
)
def test_what_a_turn_says(text: str, said: str) -> None:
    assert stated(text) == said
