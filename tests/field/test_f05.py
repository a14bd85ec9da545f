"""The answer is in the user's language, whatever language everything else is in."""

import pytest
from field.stubs import Stubs, ask
from scripted_model import ScriptedChatModel
from scripted_replies import call_then_say, plan, verdict

from hansei import AgentState, RunStatus, StepStatus

QUESTION = "上海明天会下雨吗？"
ENGLISH = "It will rain in Shanghai tomorrow."
CHINESE = "上海明天会下雨。"


def has_chinese(text: str) -> bool:
    return any("\u4e00" <= c <= "\u9fff" for c in text)


def scripted(*answers: str) -> ScriptedChatModel:
    model = ScriptedChatModel()
    model.book.script_defaults()
    model.script("planner", plan("Look up the weather of Shanghai for tomorrow"))
    model.script("executor", call_then_say("Rain in Shanghai.", "lookup", q="Shanghai"))
    model.script("synthesizer", *answers)
    return model


def run(model: ScriptedChatModel, goal: str, output: str = "Rain, 80%") -> AgentState:
    with model.book:
        return ask(model, goal, Stubs(lookup=output))


def test_an_english_answer_to_a_chinese_question_is_asked_for_again() -> None:
    model = scripted(ENGLISH, CHINESE)
    state = run(model, QUESTION)
    assert state.language == "zh"
    assert model.count("synthesizer") == 2
    assert state.answer == CHINESE
    assert state.status is RunStatus.COMPLETE
    for role in ("planner", "synthesizer"):
        assert "用中文" in model.prompts(role)[0]
    assert "用中文回答" in model.prompts("synthesizer")[1]


def test_an_english_answer_for_ever_is_not_given_to_a_chinese_question() -> None:
    model = scripted(ENGLISH)
    state = run(model, QUESTION)
    assert model.count("synthesizer") == 2
    assert ENGLISH not in state.answer
    assert "没有通过核对" in state.answer
    assert state.status is RunStatus.PARTIAL


def test_english_is_right_where_the_user_asks_for_it() -> None:
    model = scripted(ENGLISH)
    state = run(model, f"{QUESTION}请用英文回答。")
    assert state.language == "en"
    assert model.count("synthesizer") == 1
    assert state.answer == ENGLISH
    assert state.status is RunStatus.COMPLETE
    assert "English" in model.prompts("synthesizer")[0]


SORRY = "Sorry, I could not find out whether it will rain in Shanghai tomorrow."


@pytest.mark.parametrize("answer", [SORRY, "Take an umbrella to be safe.", ""])
def test_a_chinese_analysis_does_not_turn_an_english_answer(answer: str) -> None:
    model = scripted(answer)
    model.script("reflector", verdict("REPLAN", "数据还没有同步，查不到明天的天气", "换一个来源"))
    model.script(
        "replanner",
        '{"analysis":"没有别的办法","steps":[],"given_up":[1],"drop":[]}',
    )
    state = run(model, "Will it rain in Shanghai tomorrow?", "明天有雨，概率百分之八十")
    assert state.language == "en"
    assert state.steps[1].status is StepStatus.FAILED
    assert state.status is RunStatus.FAILED
    assert state.answer.strip()
    assert not has_chinese(state.answer)
    if answer == SORRY:
        assert state.answer == SORRY


def test_a_fixed_language_outweighs_the_question() -> None:
    model = scripted(ENGLISH)
    with model.book:
        state = ask(model, QUESTION, language="en")
    assert state.answer == ENGLISH
    assert state.status is RunStatus.COMPLETE
