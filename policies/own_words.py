"""What hansei itself noted in English about a reply or a call, in the language of a run.

Readers of replies, endpoints and calls note what is wrong in English: their words go to models,
logs and records, mostly without a run at hand. Where they get into an answer they are put into
the run's language here. Other people's words (a tool's, an exception's) stay as they are.
"""

import re
from functools import lru_cache
from typing import Final

from hansei.policies.words import Language

_NOTES: Final[tuple[tuple[str, str], ...]] = (
    # a reply that cannot be read
    (
        "the reply was cut off at the length limit, a shorter one is needed",
        "回复超过长度上限，被截断了，需要更短的回复",
    ),
    ("the JSON in the reply is nested too deeply", "回复里的 JSON 嵌套太深"),
    (
        "the JSON in the reply is too deep or too large to read",
        "回复里的 JSON 太深或太大，无法读取",
    ),
    (
        "the JSON in the reply is part of something larger that cannot be read",
        "回复里的 JSON 只是一段无法读取的内容的一部分",
    ),
    ("the JSON in the reply is not complete", "回复里的 JSON 不完整"),
    ("the JSON in the reply was copied out of the data", "回复里的 JSON 是从资料里照抄的"),
    ("the JSON is broken and says a field twice", "JSON 有错误，而且同一个字段写了两次"),
    ("the JSON has a field twice with different values", "JSON 里同一个字段有两个不同的值"),
    ("the JSON has {}, which is not a JSON value", "JSON 里的 {} 不是合法的值"),
    (
        "the JSON has a broken character that no text file could hold",
        "JSON 里有无法保存的残缺字符",
    ),
    ("the JSON object has none of the fields {}", "JSON 对象里没有需要的字段：{}"),
    ("the reply has too many brackets to read", "回复里的括号太多，无法读取"),
    ("the reply is empty", "回复是空的"),
    ("the reply has no JSON object that can be read", "回复里没有可以读取的 JSON 对象"),
    (
        "the reply gives two answers that differ, exactly one is needed",
        "回复给出了两个不同的答案，只能有一个",
    ),
    (
        "the reply names another verdict than the one in its JSON",
        "回复的文字和其中的 JSON 给出了不同的结论",
    ),
    ("the fields do not fit: {}", "字段不符合要求：{}"),
    # a plan that cannot run
    ("the plan has no steps that do work", "计划里没有真正做事的步骤"),
    (
        "The plan has no steps that do work, and there is no direct answer.",
        "计划里没有真正做事的步骤，也没有直接的回答。",
    ),
    (
        "The plan has {} steps and at most {} are allowed.",
        "计划有 {} 步，最多只能有 {} 步。",
    ),
    ('"{}" of the goal is told to no step.', "目标里的“{}”没有写进任何一步。"),
    (
        'The direct answer says "{}", and no step does it.',
        "直接的回答说“{}”，但没有哪一步做这件事。",
    ),
    ('The goal names "{}", and no step looks it up.', "目标提到了“{}”，但没有哪一步去查。"),
    ("The step id {} is used more than once.", "步骤编号 {} 用了不止一次。"),
    (
        "Step {} depends on {}, which does not exist.",
        "第 {} 步依赖第 {} 步，而后者并不存在。",
    ),
    ("The dependencies of the steps form a circle.", "步骤之间循环依赖。"),
    ("Step {} has no description.", "第 {} 步没有说明。"),
    (
        "Step {} names the tool {}, which does not exist.",
        "第 {} 步用的工具 {} 不存在。",
    ),
    (
        'Step {} points at "{}" but depends on no step; '
        "whoever runs it sees only its own text and the results it depends on.",
        "第 {} 步提到“{}”，却不依赖任何一步；执行的人只看得到这一步的文字和它所依赖的结果。",
    ),
    (
        "Step {} points at the earlier conversation, which whoever runs it does not "
        "see; write the id or the name itself.",
        "第 {} 步提到之前的对话，但执行的人看不到；请直接写出编号或名称。",
    ),
    # an endpoint that fails
    ("no answer in time", "没有在规定时间内回答"),
    ("the endpoint cannot be reached", "连接不上"),
    ("the reply is no chat completion ({})", "回复不是聊天补全的格式（{}）"),
    # a call that was not made, or brought nothing
    ("the tool failed and said nothing", "工具出错，没有给出说明"),
    ("the tool returned nothing", "工具没有返回任何内容"),
    ("there is nothing in the result", "返回的结果里没有内容"),
    ("not found", "没有找到"),
    ("done; it returned nothing", "已执行，没有返回内容"),
    ("the arguments are not valid JSON: {}", "参数不是合法的 JSON：{}"),
    ("the arguments do not fit: {}", "参数不符合要求：{}"),
    ("the call was cut off", "调用在中途被截断"),
    ("there is no tool {}; tools: {}", "没有工具 {}；可用的工具：{}"),
    (
        "not run: {} stands neither in the task nor in any result; use only what is given there",
        "没有执行：任务和结果里都没有 {}，只能用其中给出的内容",
    ),
    (
        "not run: the call before it may or may not have gone through",
        "没有执行：不知道前一个调用有没有成功",
    ),
    ("not run: {}", "没有执行：已经到了 {} 的上限"),
)
"""Each note with its Chinese; `{}` is what it tells, in the same order."""

_FIELD_NOTES: Final[tuple[tuple[str, str], ...]] = (
    ("{}: Field required", "缺少 {}"),
    ("{}: Unexpected keyword argument", "不需要 {}"),
    ("{}: Extra inputs are not permitted", "不需要 {}"),
    ("{}: Input should be a valid string", "{} 应为文本"),
    ("{}: Input should be a valid list", "{} 应为列表"),
    ("{}: Input should be a valid boolean[]", "{} 应为 true 或 false"),
    ("{}: Input should be a valid integer[]", "{} 应为整数"),
    ("{}: Input should be a valid number[]", "{} 应为数字"),
    ("{}: Input should be a valid dictionary[]", "{} 应为对象"),
    ("{}: Input should be '{}'", "{} 只能是 '{}'"),
    ("{}: Input should be [a-z][]", "{} 的值不符合要求"),
)
"""What pydantic says of a field; `[]` is what is left out."""


def in_language(note: str, language: Language) -> str:
    """A note in a language; what is not hansei's own stays as it is.

    Args:
        note: What is wrong, in one phrase.
        language: The language of the run.
    """
    if language == "en":
        return note
    for pattern, chinese in _patterns(_NOTES):
        if match := pattern.fullmatch(note):
            told = list(match.groups())
            if "do not fit" in note:
                told = ["；".join(_field(part) for part in told[0].split("; "))]
            return chinese.format(*told)
    return note


def _field(text: str) -> str:
    for pattern, chinese in _patterns(_FIELD_NOTES):
        if match := pattern.fullmatch(text):
            return (
                chinese.format(*match.groups()).replace("' or '", "' 或 '").replace("', '", "'、'")
            )
    return text


@lru_cache(maxsize=2)
def _patterns(notes: tuple[tuple[str, str], ...]) -> list[tuple[re.Pattern[str], str]]:
    return [
        (
            re.compile(
                re.escape(english)
                .replace(r"\{\}", "(.+?)")
                .replace(r"\[a\-z\]", "[a-z]")
                .replace(r"\[\]", ".*"),
                re.DOTALL,
            ),
            chinese,
        )
        for english, chinese in notes
    ]
