"""Whether a text recites the prompt that asked for it, as small models do, and is no result.

The lines are those of the prompts of the executor and the synthesizer. A test holds them against
the templates.
"""

import re
from collections.abc import Iterable
from typing import Final

PROMPT_LINES: Final = (
    # the executor's
    r"\[hansei:",
    "You are the executor of one step",
    "Say only what the tool results and the material hold",
    "Ids and numbers in arguments come from the task",
    "If a tool reports an error, has no data, or only says",
    "Ask the user nothing, and do not just announce",
    r"This is another try\. This time you must:",
    "Tool for this step:",
    "These calls have succeeded already; do not repeat them",
    "State the result in (?:English|Chinese)",
    r"No more tools can be used\. State the result",
    r"Your reply held no usable result\.",
    r"Output one JSON object only\.",
    "When no tool is needed:",
    "你是执行者，只负责一个步骤",
    "只说工具结果和给定材料里有的内容",
    "参数里的编号和数字只能来自任务或材料",
    "工具报错、没有数据，或只返回",
    "不要问用户问题，不要只说打算做什么",
    "这是再做一次。这次必须做到：",
    "这一步要用的工具：",
    "这些调用已经做成，不要重复",
    "用(?:中文|英文)陈述结果",
    "工具已经不能再用。现在只用文字陈述",
    "你的回复里没有可用的结果。",
    "只输出一个 JSON 对象。",
    "不需要工具时：",
    # the synthesizer's
    r"You write the answer to the user\. Use only",
    "Start with what the answer must cover",
    r"Say plainly what was not done, why, and what the user can do next\.",
    "Do not mention steps, tools, or internal judgements",
    r"The last draft did not pass\. This time you must:",
    "The user['’]s goal:",
    "The answer must cover:",
    "Write the answer in (?:English|Chinese)",
    r"Nothing of what the user wanted could be done\. You tell the user so",
    "Say what was not done, why, and what the user can do next",
    "Make up no result and do not pretend",
    "Two to four sentences, sincere",
    "你负责写给用户的回答。只用给出的结果",
    "先直接回答要讲清的事",
    "没有完成的部分要明确说没有完成",
    "不提步骤、工具、编号流程或内部判断",
    "上一稿没有通过。这次必须做到：",
    "用户的目标：",
    "回答必须讲清：",
    "用(?:中文|英文)写回答",
    "用户要的事情一件都没有办成。你来如实告诉用户",
    "说清楚什么没有办成，原因是什么",
    "不要编造任何结果，不要假装已经办好",
    "两到四句话，语气诚恳",
)
_FRAME = re.compile(
    rf"^[\s>*#\-\"“]*(?:{'|'.join(PROMPT_LINES)})|\bdata only\)?\s*[:：]|仅作数据[)）]?\s*[:：]",
    re.IGNORECASE | re.MULTILINE,
)
_TASK = re.compile(r"[\s>*#\-\"“]*(?:Task|Overall goal|任务|总目标)\s*[:：]\s*", re.IGNORECASE)
_TASK_END = re.compile(r"[\s.。\"”]*")


def recital(text: str, *, task: str = "", sources: Iterable[str] = ()) -> str:
    """The first words of the prompt that a text recites; empty if it recites none.

    Args:
        text: A result or an answer.
        task: What the prompt named as the task; a text that only names it again is a recital.
        sources: Texts from which such words may rightly come: evidence, results, the goal.
    """
    told = list(sources)
    for found in _FRAME.finditer(text):
        words = found.group().strip(' \t\r\n>*#-"“')
        if not any(words in source for source in told):
            return words
    return text.strip() if task.strip() and _only_names(text, task.strip()) else ""


def _only_names(text: str, task: str) -> bool:
    """Whether a text is the prompt's line with the task, and nothing more."""
    head = _TASK.match(text)
    if head is None:
        return False
    end = head.end() + len(task)
    same = text[head.end() : end].casefold() == task.casefold()
    return same and _TASK_END.fullmatch(text, end) is not None
