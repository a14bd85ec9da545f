"""A step that failed does not vanish behind the model's claim that all is ready."""

import itertools

import pytest
from field.stubs import Stubs, ask, give_up, task_of
from scripted_model import ScriptedChatModel
from scripted_replies import Entry, JsonObject, Reply, call_then_say, plan

from hansei import AgentState, RunStatus, StepStatus

FAILURE = '{"success":false,"error":"rows must be arrays"}'
QUARTERS = "Q1=10, Q2=12"
CLAIM = "Your chart is ready: [chart.png](chart.png)"
WAYS = itertools.cycle(["Draw the chart another way", "Try the chart with fewer rows"])


def executor(body: JsonObject) -> Reply:
    if "chart" in task_of(body).lower():
        return call_then_say("The chart is made: chart.png", "make_chart", rows="10, 12")(body)
    return call_then_say(f"{QUARTERS}.", "lookup", q="quarters")(body)


def run(*answers: str, replanner: Entry | None = None) -> tuple[AgentState, ScriptedChatModel]:
    model = ScriptedChatModel()
    model.book.script_defaults()
    model.script(
        "planner",
        plan(
            {"description": "Look up the sales of the quarters", "tool": "lookup"},
            {"description": "Draw a chart of the sales", "tool": "make_chart", "depends_on": [1]},
        ),
    )
    model.script("executor", executor)
    model.script("replanner", replanner or give_up(2))
    model.script("synthesizer", *answers)
    stubs = Stubs(lookup=QUARTERS, make_chart=FAILURE)
    with model.book:
        return ask(model, "make a chart of the sales of the quarters", stubs), model


def until_the_limit(_: JsonObject) -> Reply:
    return plan({"description": next(WAYS), "tool": "make_chart", "id": 9, "depends_on": [1]})


@pytest.mark.parametrize("replanner", [None, until_the_limit], ids=["given up", "until the limit"])
def test_the_failure_is_told_whatever_the_model_says(replanner: Entry | None) -> None:
    state, model = run(CLAIM, replanner=replanner)
    assert state.steps[1].status is StepStatus.VERIFIED
    assert {s.status for i, s in state.steps.items() if i > 1} == {StepStatus.FAILED}
    told = model.prompts("synthesizer")[0].partition("Not done:")[2]
    assert "Draw a chart of the sales" in told
    assert "rows must be arrays" in told
    assert state.status is RunStatus.PARTIAL
    assert CLAIM not in state.answer
    assert "chart.png" not in state.answer
    assert "Not done: Draw a chart of the sales" in state.answer
    assert "rows must be arrays" in state.answer
    assert QUARTERS in state.answer


def test_the_model_is_asked_once_more_and_may_own_up() -> None:
    honest = f"{QUARTERS}. The chart of the sales could not be made: rows must be arrays."
    state, model = run(CLAIM, honest)
    assert model.count("synthesizer") == 2
    assert state.answer == honest
    assert state.status is RunStatus.PARTIAL


def test_a_text_that_leaves_the_failure_out_gets_a_sentence_about_it() -> None:
    state, _ = run(f"{QUARTERS}.")
    assert state.answer.startswith(f"{QUARTERS}.")
    assert "Not done: Draw a chart of the sales" in state.answer
    assert state.status is RunStatus.PARTIAL


def test_a_step_behind_the_failed_one_is_told_too() -> None:
    model = ScriptedChatModel()
    model.book.script_defaults()
    model.script(
        "planner",
        plan(
            {"description": "Look up the sales of the quarters", "tool": "lookup"},
            {"description": "Draw a chart of the sales", "tool": "make_chart", "depends_on": [1]},
            {"description": "Mail the picture to Ann", "tool": "send_mail", "depends_on": [2]},
        ),
    )
    model.script("executor", executor)
    model.script("replanner", give_up(2))
    model.script("synthesizer", "Everything is done.")
    stubs = Stubs(lookup=QUARTERS, make_chart=FAILURE)
    with model.book:
        state = ask(model, "make a chart of the sales and mail it to Ann", stubs)
    assert state.steps[3].status is StepStatus.SKIPPED
    assert stubs.counts["send_mail"] == 0
    assert "Everything is done" not in state.answer
    for text in ("Not done: Draw a chart of the sales", "Not done: Mail the picture to Ann"):
        assert text in state.answer
    assert QUARTERS in state.answer
