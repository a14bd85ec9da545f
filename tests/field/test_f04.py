"""Nothing internal in what the user reads: no ids, no verdicts, no thinking, no records."""

import pytest
from field.stubs import Stubs, ask, only_step
from scripted_model import ScriptedChatModel
from scripted_replies import Call, Reply, plan

from hansei import AgentState, RunStatus

LEAKY = (
    "<think>check</think>Based on step s2_9f3 (verdict PASS, attempt 2) "
    '{"analysis":"ok"} the total is 731.'
)
INTERNAL = ("<think>", "check", "s2_9f3", "call_a1", "verdict", "attempt 2", '"analysis"')
CALL = Reply(None, [Call("lookup", {"q": "total"}, "call_a1")], finish_reason="tool_calls")


def run(goal: str, *answers: str) -> tuple[AgentState, ScriptedChatModel]:
    model = ScriptedChatModel()
    model.book.script_defaults()
    model.script("planner", plan({"id": "s2_9f3", "description": "Look up the total"}))
    model.script("executor", CALL, "The total is 731.")
    model.script("synthesizer", *answers)
    with model.book:
        return ask(model, goal, Stubs(lookup="731")), model


@pytest.mark.parametrize(
    "answer",
    [
        LEAKY,
        LEAKY.replace("the total", "(see call_a1) the total"),
        '{"analysis":"ok","verdict":"PASS"}\nThe total is 731.',
        "According to step 1, the total is 731 (verdict: PASS).",
    ],
)
def test_internal_words_are_taken_out(answer: str) -> None:
    state, model = run("what is the total?", answer)
    assert "731" in state.answer
    assert not [word for word in INTERNAL if word in state.answer]
    assert "PASS" not in state.answer
    assert "()" not in state.answer
    assert state.messages[-1].text == state.answer
    assert state.status is RunStatus.COMPLETE
    assert model.count("synthesizer") == 1


def test_the_synthesizer_is_not_told_any_id() -> None:
    state, model = run("what is the total?", "The total is 731.")
    (prompt,) = model.prompts("synthesizer")
    assert not [word for word in ("s2_9f3", "call_a1", "verdict", "PASS") if word in prompt]
    assert state.answer == "The total is 731."
    assert only_step(state).id == 1


@pytest.mark.parametrize(
    "answer",
    [
        "In step 2 of the recipe the dough rests for 731 minutes.",
        "According to step 2 of the recipe, the dough rests for 731 minutes.",
        "Use call_center() or call_2 for the total, which is 731.",
        "Step 2 (attempt 2 in your notes) lets the dough rest for 731 minutes.",
    ],
)
def test_a_step_that_the_user_speaks_of_may_be_named(answer: str) -> None:
    state, _ = run(
        "how long is step 2 of the recipe, attempt 2 in my notes, and what does call_2 do?", answer
    )
    assert state.answer == answer
