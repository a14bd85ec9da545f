"""A greeting, or a question that needs no work, is answered at once."""

import pytest
from field.stubs import Stubs, ask, only_step
from scripted_model import ScriptedChatModel
from scripted_replies import Reply, plan, structured

from hansei import AgentState, RunStatus

SAID = "Hi! What can I do for you?"
REPLIES: dict[str, Reply | str] = {
    "empty": structured({"steps": []}),
    "blank": plan({"description": "  "}),
    "text": SAID,
    "with an answer": structured({"steps": [], "answer": SAID}),
}
LATER = ("executor", "reflector", "replanner", "synthesizer", "reviewer")


def run(goal: str, reply: Reply | str) -> tuple[AgentState, Stubs, ScriptedChatModel]:
    stubs = Stubs()
    model = ScriptedChatModel()
    model.script("planner", reply)  # for every other role a request would be a mistake
    with model.book:
        return ask(model, goal, stubs), stubs, model


@pytest.mark.parametrize("goal", ["hello", "你好"])
@pytest.mark.parametrize("kind", REPLIES)
def test_a_greeting_gets_a_reply_and_no_work(kind: str, goal: str) -> None:
    state, stubs, model = run(goal, REPLIES[kind])
    assert state.answer.strip()
    assert not state.steps
    assert not any(model.count(role) for role in LATER)
    assert model.count("planner") <= 2
    assert not stubs.counts
    assert state.status is RunStatus.COMPLETE
    assert not state.verified  # nobody looked at it
    assert state.messages[-1].text == state.answer


@pytest.mark.parametrize("kind", ["text", "with an answer"])
def test_the_text_of_the_model_is_the_reply(kind: str) -> None:
    state, _, model = run("hello", REPLIES[kind])
    assert state.answer == SAID
    assert model.count("planner") == 1


def test_a_question_without_work_is_answered_by_the_planner() -> None:
    state, _, model = run("what is two and two?", structured({"steps": [], "answer": "Four."}))
    assert state.answer.splitlines()[0] == "Four."
    assert "nothing was looked up or checked" in state.answer
    assert model.count() == 1
    assert state.status is RunStatus.COMPLETE


@pytest.mark.parametrize("kind", ["empty", "blank"])
def test_where_a_plan_stays_empty_the_goal_itself_is_the_step(kind: str) -> None:
    model = ScriptedChatModel()
    model.book.script_defaults()
    model.script("planner", REPLIES[kind])
    with model.book:
        state = ask(model, "look up the sales of May", Stubs())
    assert model.count("planner") == 2  # the plan and one repair
    assert [step.description for step in state.steps.values()] == ["look up the sales of May"]
    assert state.notes


def test_prose_instead_of_a_plan_is_not_taken_for_done() -> None:
    state, stubs, model = run("look up the sales of May", REPLIES["text"])
    assert model.count("planner") == 2  # the plan and one repair
    assert not any(model.count(role) for role in LATER)
    assert not stubs.counts
    assert state.status is RunStatus.FAILED
    assert "No usable plan" in state.answer


@pytest.mark.parametrize(
    ("goal", "description"),
    [
        ("summarize: the sea rose and fell", "Summarize: the sea rose and fell"),
        ("tell me a story about the sea", "Tell a story about the sea"),
        ("总结一下：海水涨了又落", "总结：海水涨了又落"),
    ],
)
def test_telling_is_work_where_the_goal_asks_for_it(goal: str, description: str) -> None:
    model = ScriptedChatModel()
    model.book.script_defaults()
    model.script("planner", plan(description))
    text = "海水有涨有落。" if "海" in goal else "The sea comes and goes."
    model.script("executor", text)
    model.script("synthesizer", text)
    with model.book:
        state = ask(model, goal)
    assert only_step(state).description == description
    assert model.count("planner") == 1
    assert state.answer == text
    assert state.status is RunStatus.COMPLETE
