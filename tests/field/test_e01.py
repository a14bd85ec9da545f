"""A step that says it acted and called nothing, a fooled reflector, an answer that believes it."""

import pytest
from field.stubs import Stubs, ask, give_up, only_step
from scripted_model import ScriptedChatModel
from scripted_replies import call_then_say, plan, verdict

from hansei import AgentState, RunStatus, StepStatus

GOAL = "Write report.txt with the total"
DONE = "Done! report.txt is written."
READY = "Your report.txt is ready."
FOOLED = verdict("PASS", "the file was written")

WORDINGS = [
    "Write report.txt with the total",
    "Put the total into report.txt",
    "Create the file report.txt that holds the total",
    "Make sure that report.txt holds the total",
]
CLAIMS = [
    DONE,
    "I have created report.txt with the total.",
    "report.txt has been saved.",
    "The file report.txt now holds the total; I wrote it a moment ago.",
]


def run(description: str, claim: str, *, tool: str | None = None) -> AgentState:
    model = ScriptedChatModel()
    model.book.script_defaults()
    model.script("planner", plan({"description": description, "tool": tool}))
    model.script("executor", claim)
    model.script("reflector", FOOLED)
    model.script("reviewer", FOOLED)
    model.script("replanner", give_up(1))
    model.script("synthesizer", READY)
    stubs = Stubs()
    with model.book:
        state = ask(model, GOAL, stubs)
    assert not stubs.counts
    return state


@pytest.mark.parametrize("claim", CLAIMS)
@pytest.mark.parametrize("description", WORDINGS)
def test_an_action_that_never_happened_is_no_success(description: str, claim: str) -> None:
    state = run(description, claim)
    step = only_step(state)
    assert step.status is not StepStatus.VERIFIED
    reasons = [f.reason for v in step.verdicts for f in v.findings]
    assert any("no tool was called" in reason for reason in reasons)
    assert state.status in {RunStatus.PARTIAL, RunStatus.FAILED}
    assert state.answer != READY
    assert "Note: nobody has verified" in state.answer or "Not done" in state.answer


def test_a_planned_tool_that_was_not_called_fails_the_step() -> None:
    state = run("Put the total into report.txt", "All good.", tool="write_file")
    step = only_step(state)
    assert step.status is StepStatus.FAILED
    assert len(step.attempts) == 3
    assert "write_file" in step.reason
    assert state.status is RunStatus.FAILED
    assert READY not in state.answer
    assert "write_file" in state.answer


def test_the_reflector_sees_that_no_tool_was_called() -> None:
    model = ScriptedChatModel()
    model.book.script_defaults()
    model.script("executor", "The total is the sum of both.")
    with model.book:
        ask(model, "how is the total made?")
    assert "no tool was called in this step" in model.prompts("reflector")[0]


def test_the_reflector_sees_what_the_tools_returned() -> None:
    model = ScriptedChatModel()
    model.book.script_defaults()
    with model.book:
        ask(model, "look it up", Stubs(lookup="forty-two, as of May"))
    (prompt,) = model.prompts("reflector")
    assert "no tool was called" not in prompt
    assert "forty-two, as of May" in prompt
    assert 'lookup({\\"q\\":\\"it\\"})' in prompt


def test_an_action_that_happened_may_be_told() -> None:
    stubs = Stubs()
    model = ScriptedChatModel()
    model.book.script_defaults()
    model.script("planner", plan({"description": GOAL, "tool": "write_file"}))
    call = call_then_say(DONE, "write_file", path="report.txt", text="the total")
    model.script("executor", call)
    model.script("synthesizer", READY)
    with model.book:
        state = ask(model, GOAL, stubs)
    assert stubs.counts == {"write_file": 1}
    assert only_step(state).status is StepStatus.VERIFIED
    assert state.status is RunStatus.COMPLETE
    assert state.answer == READY


@pytest.mark.parametrize(
    "result",
    [
        "Written in 1813, the novel is about two sisters.",
        "The letter of May was sent by the bank, not by you.",
        "Once upon a time a fox was created by a careless god.",
    ],
)
def test_a_text_about_actions_of_others_is_no_claim(result: str) -> None:
    model = ScriptedChatModel()
    model.book.script_defaults()
    model.script("planner", plan("Give the story in one sentence"))
    model.script("executor", result)
    model.script("synthesizer", result)
    with model.book:
        state = ask(model, "tell me the story in one sentence")
    assert only_step(state).status is StepStatus.VERIFIED
    assert state.status is RunStatus.COMPLETE
