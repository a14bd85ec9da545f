"""The same call for ever, and a reflector that always wants more: the run ends, with an answer."""

import itertools

import pytest
from field.stubs import LIMITS, Stubs, ask
from scripted_model import ScriptedChatModel
from scripted_replies import Entry, call_then_say, plan, tool_call, verdict

from hansei import AgentState, RunStatus, Settings, StepStatus, worst_case_calls

WORDINGS = [
    "look up the rate",
    "find out what the current rate is",
    "search for today's exchange figure",
    "get the rate from the data source",
]


def run(
    executor: Entry, answer: str, *, output: str = "no rows"
) -> tuple[AgentState, Stubs, ScriptedChatModel]:
    stubs = Stubs(lookup=output)
    model = ScriptedChatModel()
    wordings = itertools.cycle(WORDINGS[1:])
    model.script("planner", plan({"description": WORDINGS[0], "tool": "lookup"}))
    model.script("executor", executor)
    model.script("reflector", verdict("RETRY", "no rate yet", "try again"))
    model.script(
        "replanner", lambda _: plan({"description": next(wordings), "tool": "lookup", "id": 9})
    )
    model.script("synthesizer", answer)
    model.script("reviewer", verdict("PASS"))
    with model.book:
        return ask(model, "what is the rate?", stubs), stubs, model


EXECUTORS: dict[str, Entry] = {
    "never says anything": tool_call("lookup", q="rate"),
    "says what it found": call_then_say("There are no rows.", "lookup", q="rate"),
    "claims a rate": call_then_say("The rate is seven.", "lookup", q="rate"),
}
ANSWERS = {
    "honest": "No rate was found: the lookup has no rows.",
    "empty": "",
    "false": "The rate is seven.",
}


@pytest.mark.parametrize("answer", ANSWERS)
@pytest.mark.parametrize("executor", EXECUTORS)
def test_the_run_ends_with_what_is_known(executor: str, answer: str) -> None:
    state, stubs, model = run(EXECUTORS[executor], ANSWERS[answer])
    settings = Settings.model_validate(LIMITS)
    assert model.count() <= worst_case_calls(settings, steps=1)
    assert model.count() == sum(u.calls for u in state.usage.values())
    assert state.replans == 2
    # The answer "no rows" is a definite one: it is asked for once, and then known.
    assert stubs.counts == {"lookup": 1}
    for step in state.steps.values():
        assert step.status is StepStatus.FAILED
    assert state.status is RunStatus.FAILED
    assert "rate" in state.answer
    assert "no rows" in state.answer or "Nothing was found" in state.answer
    assert "seven" not in state.answer
    if answer == "honest":
        assert state.answer.startswith(ANSWERS["honest"])


def test_a_call_that_reports_an_error_is_tried_twice_at_most() -> None:
    state, stubs, _ = run(tool_call("lookup", q="rate"), "", output="Error: connection refused")
    assert stubs.counts == {"lookup": 2}
    assert state.status is RunStatus.FAILED
    assert "connection refused" in state.answer
