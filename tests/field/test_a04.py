"""Prose with braces after the plan, a lone brace inside it, a schema echoed behind it."""

import pytest
from field.stubs import ask, only_step
from scripted_model import ScriptedChatModel

from hansei import RunStatus

CASES = {
    "a": (
        'Here is the plan:\n{"steps":[{"id":1,"description":"Render the template"}]}\n'
        "Note: swap {user} for {name} before use.",
        "Render the template",
    ),
    "b": (
        'Plan: {"steps":[{"id":1,"description":"Explain why line 3 complains about a lone } '
        'there"}]} Done!',
        "Explain why line 3 complains about a lone } there",
    ),
    "c": (
        r'{"steps":[{"id":1,"description":"Say \"it'
        r"'"
        r's {ok}\" twice"}]} (this follows {"type":"object"})',
        'Say "it\'s {ok}" twice',
    ),
}


@pytest.mark.parametrize("case", CASES)
def test_the_plan_is_read_at_once_and_unchanged(case: str) -> None:
    reply, description = CASES[case]
    model = ScriptedChatModel()
    model.book.script_defaults()
    model.script("planner", reply)
    with model.book:
        state = ask(model, "do what has to be done")
    assert only_step(state).description == description
    assert model.count("planner") == 1
    assert not state.notes
    assert state.status is RunStatus.COMPLETE
