"""The JSON schemas that a model is sent: they say what to write, and nothing about this library."""

from __future__ import annotations

import json
from collections.abc import Iterator

import pytest
from broken_runs import calls, made
from scripted_model import ScriptedChatModel
from scripted_replies import JsonObject, plan, structured
from scripted_server import verdict

from hansei import create_plan_execute_agent
from hansei.policies.state import AgentInput

TOLD = {
    "plan": "The reply of the plan.",
    "replan": "The reply of the replan.",
    "reflection": "The reply of the reflection.",
    "turn": "One tool call, or a result.",
}
"""What the schemas say of themselves, by their titles."""


class _SchemaStyle(ScriptedChatModel):
    """A model that is offered tools as the schema of a call."""

    tool_style: str = "schema"


def lookup(q: str) -> str:
    """Looks something up."""
    return "42" if q == "it" else "Error: no line"


def _sent(model: ScriptedChatModel) -> list[JsonObject]:
    """The schemas of a run with every role, the reviewer and the replanner as well."""
    model.script("planner", plan({"description": "Find the line", "tool": "lookup"}))
    first, again = calls(("lookup", {"q": "x"})), calls(("lookup", {"q": "it"}))
    model.script("executor", first, "There is none.", again, "It is 42.")
    model.script("reflector", verdict("PASS"))
    model.script("reviewer", verdict("PASS"))
    steps = [{"id": 2, "description": "Find the number", "tool": "lookup", "stands_in_for": [1]}]
    model.script("replanner", structured({"analysis": "x", "steps": steps, "given_up": []}))
    model.script("synthesizer", "It is 42.")
    create_plan_execute_agent(model, [made(lookup)]).invoke(AgentInput(goal="Find the line"))
    found: list[JsonObject] = []
    for request in model.requests:
        form = request.body.get("response_format")
        if isinstance(form, dict) and isinstance(form["json_schema"], dict):
            schema = form["json_schema"]["schema"]
            assert isinstance(schema, dict)
            found.append({"title": form["json_schema"]["name"], **schema})
    return found


def _texts(node: object, *, names: bool = False) -> Iterator[str]:
    """What a schema says in words, wherever it stands; a field may have the name `description`."""
    if isinstance(node, list):
        for item in node:
            yield from _texts(item)
    elif isinstance(node, dict):
        for key, value in node.items():
            if not names and key in {"description", "title", "$comment", "examples"}:
                yield json.dumps(value)
            else:
                yield from _texts(value, names=key in {"properties", "$defs"} and not names)


@pytest.mark.parametrize("model", [ScriptedChatModel(), _SchemaStyle()], ids=["native", "schema"])
def test_no_schema_says_anything_internal(model: ScriptedChatModel) -> None:
    schemas = _sent(model)
    titles = {str(schema["title"]) for schema in schemas}
    assert titles >= ({"turn"} if isinstance(model, _SchemaStyle) else set(TOLD) - {"turn"})
    for schema in schemas:
        title = str(schema["title"])
        said = {json.loads(text) for text in _texts(schema)}
        assert said <= {title, TOLD[title]}, (title, said)
