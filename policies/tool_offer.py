"""Tools offered as a JSON schema, for models without tool calling of their own.

Small models that leave the endpoint's tool calling alone, or write a call into their text, do
fill in a schema well: the arguments of a known tool came right in one to three seconds each
time. So they are given the schema of one call, and, where no call is due, of a result.
"""

import json
from collections.abc import Mapping
from dataclasses import dataclass

from pydantic import JsonValue

from hansei.policies.json_scan import json_values
from hansei.policies.records import Step
from hansei.tools.outcome import OutcomeStatus

TURN = "turn"
"""Field that holds the choice: a schema has to be an object at its top."""

_ASK_AGAIN = frozenset({OutcomeStatus.REFUSED, OutcomeStatus.ERROR, OutcomeStatus.EMPTY})
"""Outcomes after which another call may help."""


@dataclass(frozen=True, slots=True)
class Offer:
    """The tools on offer in one turn, and whether one must be called."""

    tools: tuple[str, ...]
    must_call: bool


def offered(step: Step, schemas: Mapping[str, object]) -> Offer | None:
    """What to offer in the next turn; `None` asks for words.

    The tool that the plan names is called first. After a call went wrong any tool may be
    tried; after one that answered it is time to state the result.
    """
    calls = step.last_attempt.calls
    if not calls:
        if step.tool is not None and step.tool in schemas:
            return Offer((step.tool,), must_call=True)
        return Offer(tuple(schemas), must_call=False)
    if any(call.outcome in _ASK_AGAIN for call in step.round_calls):
        return Offer(tuple(schemas), must_call=False)
    return None


def call_schema(offer: Offer, schemas: Mapping[str, dict[str, JsonValue]]) -> dict[str, JsonValue]:
    """The JSON schema of one call of an offered tool, or of a result where that is allowed."""
    choices: list[JsonValue] = [
        {
            "type": "object",
            "properties": {"name": {"const": name}, "arguments": schemas[name]},
            "required": ["name", "arguments"],
            "additionalProperties": False,
        }
        for name in offer.tools
    ]
    if not offer.must_call:
        choices.append(
            {
                "type": "object",
                "properties": {"result": {"type": "string"}},
                "required": ["result"],
                "additionalProperties": False,
            }
        )
    return {
        "title": "turn",
        "description": "One tool call, or a result.",
        "type": "object",
        "properties": {TURN: {"anyOf": choices}},
        "required": [TURN],
        "additionalProperties": False,
    }


def stated(text: str) -> str:
    """What one turn says: the text of a result, the JSON of a call, any other text as it is."""
    if not text.startswith("{"):
        return text
    values = json_values(text)
    if len(values) != 1 or not isinstance(values[0], dict):
        return text
    turn = values[0].get(TURN, values[0])
    if not isinstance(turn, dict):
        return text
    if set(turn) == {"result"} and isinstance(turn["result"], str):
        return turn["result"].strip()
    return json.dumps(turn, ensure_ascii=False) if turn is not values[0] else text
