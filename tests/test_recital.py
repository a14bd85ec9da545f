"""A result or an answer that repeats the prompt is none."""

import re
from typing import get_args

import pytest
from answer_steps import STOCK, TELLS_STOCK
from check_inputs import judged, kind_of
from policy_records import tried
from test_prompts import VALUES

from hansei.nodes.prompting import LANGUAGE_NAMES, block, template
from hansei.policies.answers import answer_findings, honest_answer
from hansei.policies.checks import recited, run_checks
from hansei.policies.recital import PROMPT_LINES, recital
from hansei.policies.words import FindingKind, Language

LANGUAGES: tuple[Language, ...] = get_args(Language)

ORDINARY = re.compile(
    r"(?:Task|Overall goal|任务|总目标)[:：].*|Not done:|没有完成的部分：|没有办成的事："
    r"|[(（](?:none|无)[)）]"
    r"|Tools:|可用的工具："
)
"""Lines of the prompts that an honest text may have as well."""

TOLD = ("- look up", "- Not done: look up", "- 没有完成：look up")
"""How the lines begin that tell what was done or not: a text that repeats them tells it too."""

_FILLED = ("42001", "query_order")
"""What stands in the values of the prompts, and so in no line of their own."""


def frame_lines(language: Language) -> list[str]:
    """The lines of the prompts whose replies users may get to see."""
    found: list[str] = []
    for name in ("executor", "synthesizer", "synthesizer_failed"):
        for part in template(name, language).blocks:
            spoken = LANGUAGE_NAMES[language][language]
            text = block(name, part, language, **{**VALUES, "answer_language": spoken})
            found += [line.strip() for line in text.splitlines()]
    return [
        line
        for line in dict.fromkeys(found)
        if line and not ORDINARY.fullmatch(line) and not line.startswith(TOLD)
    ]


def is_a_value(line: str) -> bool:
    """Whether a line shows a value only, such as the material itself."""
    bare = line.removeprefix("- ")
    return any(bare == str(v) for v in ("it is 42001", "it arrived", "query_order({})")) or (
        bare.startswith(_FILLED)
    )


@pytest.mark.parametrize("language", LANGUAGES)
def test_every_line_of_the_prompts_is_known(language: Language) -> None:
    lines = [line for line in frame_lines(language) if not is_a_value(line)]
    assert len(lines) > 15
    assert [line for line in lines if not recital(line)] == []


@pytest.mark.parametrize("language", LANGUAGES)
def test_every_known_line_stands_in_a_prompt(language: Language) -> None:
    names = ("executor", "synthesizer", "synthesizer_failed")
    prompts = "\n".join(
        block(name, part, language, **{**VALUES, "answer_language": answer})
        for name in names
        for part in template(name, language).blocks
        for answer in ("English", "Chinese", "中文", "英文")
    )
    chinese = re.compile(r"[\u4e00-\u9fff]")
    of_language = [
        line
        for line in PROMPT_LINES
        if line != r"\[hansei:" and bool(chinese.search(line)) is (language == "zh")
    ]
    assert [line for line in of_language if not re.search(line, prompts)] == []


RECITALS = [
    "The answer must cover: whether the order has arrived",
    "Results (data only):\n- Look up the stock of R1: R1: 66 pieces are in the shop.",
    "R1: 66 pieces are in the shop.\n\nWrite the answer in English.",
    "> Tool for this step: fetch. Call it first.",
    "Task: find the parcel",
    "任务：find the parcel。",
    "已完成的结果（仅作数据）：\n- 查询库存：66 件",
    "回答必须讲清：订单到了没有",
    "这一步要用的工具：query_order。先调用它。",
    "你是执行者，只负责一个步骤。",
]
HONEST = [
    "The parcel is in Bonn.",
    "Task: find the parcel\nResult: it is in Bonn.",
    "Not done:\n- find the letter. Reason: the counter is closed",
    "没有完成的部分：查询物流。原因：查无此单。",
    "The answer must be yes.",
    "Results: 66 pieces.",
    "He told me that the answer must cover: nothing.",
]


@pytest.mark.parametrize("text", RECITALS)
def test_a_result_that_recites_is_sent_back(text: str) -> None:
    data = judged(tried(), result=text)
    finding = recited(data)
    assert kind_of(finding) is FindingKind.VETO_RETRY
    assert finding is not None
    assert finding.hint
    assert finding in run_checks(data)


@pytest.mark.parametrize("text", HONEST)
def test_an_honest_result_is_none(text: str) -> None:
    assert recited(judged(tried(), result=text)) is None


def test_words_that_the_evidence_holds_are_told_and_not_recited() -> None:
    text = "The answer must cover: both parts."
    assert recited(judged(tried(), result=text, evidence=[f"Sheet 3. {text}"])) is None


def test_an_answer_that_recites_is_sent_back_and_never_given_to_the_user() -> None:
    text = f"The answer must cover: the stock of R1\n{TELLS_STOCK}"
    found = answer_findings(text, [STOCK], goal="stock of R1?", conditions=[], language="en")
    assert [f.check for f in found if f.kind is FindingKind.VETO_RETRY] == ["recited"]
    assert honest_answer(text, [STOCK], "en") == (STOCK.result, False)
    assert honest_answer(TELLS_STOCK, [STOCK], "en") == (TELLS_STOCK, True)
