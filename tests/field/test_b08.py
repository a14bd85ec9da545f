"""A tool call that is written as text is run or refused, and never a result."""

import pytest
from field.stubs import Stubs, ask, give_up, only_step
from scripted_model import ScriptedChatModel

from hansei import AgentState, RunStatus, StepStatus

TAGGED = '<tool_call>\n{"name":"lookup","arguments":{"q":"tides"}}\n</tool_call>'
TWO = '{"name":"lookup","parameters":{"q":"tides"}}; {"name":"lookup","parameters":{"q":"moon"}}'
FUNCTION = "<function=lookup><parameter=q>tides</parameter></function>"
EXAMPLE = 'The call looks like {"name":"lookup","arguments":{"q":"x"}}.'

CASES = {"a": (TAGGED, ["tides"]), "b": (TWO, ["tides", "moon"]), "c": (FUNCTION, ["tides"])}
MARKUP = ("<tool_call", "<function", '"parameters"', '"arguments"')


def run(goal: str, *executor: str, answer: str) -> tuple[AgentState, Stubs, list[str]]:
    asked: list[str] = []

    def lookup(q: str) -> str:
        asked.append(q)
        return f"{q}: high at nine"

    stubs = Stubs(lookup=lookup)
    model = ScriptedChatModel()
    model.book.script_defaults()
    model.script("executor", *executor)
    model.script("replanner", give_up(1))
    model.script("synthesizer", answer)
    with model.book:
        return ask(model, goal, stubs), stubs, asked


def no_markup(text: str) -> bool:
    return not any(mark in text for mark in MARKUP)


@pytest.mark.parametrize("case", CASES)
def test_the_call_is_run_with_its_arguments(case: str) -> None:
    text, wanted = CASES[case]
    state, _, asked = run(
        "when is high tide?", text, "High tide is at nine.", answer="High tide is at nine."
    )
    assert sorted(asked) == sorted(wanted)
    step = only_step(state)
    assert (step.status, step.result) == (StepStatus.VERIFIED, "High tide is at nine.")
    assert state.status is RunStatus.COMPLETE
    assert no_markup(state.answer)


@pytest.mark.parametrize("case", CASES)
def test_markup_in_place_of_the_result_fails_the_step(case: str) -> None:
    text, wanted = CASES[case]
    state, _, asked = run("when is high tide?", text, answer=text)
    # It answers every request with the same markup; each call is really run once.
    assert sorted(asked) == sorted(wanted)
    step = only_step(state)
    assert step.status is StepStatus.FAILED
    assert "never stated a result" in step.reason
    assert state.status is RunStatus.FAILED
    assert state.answer.strip()
    assert no_markup(state.answer)


def test_an_example_of_a_call_is_an_answer() -> None:
    state, stubs, _ = run("show me an example call", EXAMPLE, answer=EXAMPLE)
    assert stubs.counts["lookup"] == 0
    step = only_step(state)
    assert (step.status, step.result) == (StepStatus.VERIFIED, EXAMPLE)
    assert state.answer == EXAMPLE
    assert state.status is RunStatus.COMPLETE
