"""What was said before on a thread, for questions that lean on it, such as "and the other one?".

Only planner and replanner see the conversation, and put what is meant into the steps; the executor
sees nothing of it. Rules count what stands in it as known, like the words of the goal.
"""

import re
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Literal

from langchain_core.messages import AnyMessage

from hansei.policies.fencing import capped, for_prompt
from hansei.policies.text import identifiers

TURNS = 6
"""Earlier messages that count: three questions and answers; further back few people point."""

TURN_CHARS = 500
"""Characters of each of them: its two ends, where an answer says what it is about."""

QUESTIONS = 2
"""Earlier questions that a judge is shown, to understand the goal; it judges none of them."""

QUESTION_CHARS = 200
"""Characters of each of those questions, in prompts that are long already."""

Speaker = Literal["user", "assistant"]

_SPEAKERS: dict[str, Speaker] = {"human": "user", "ai": "assistant"}

_LEANS = re.compile(
    r"另外?[那的一]*[个件单家款张份笔位条只]"
    r"|[那这][一两几]?[个件单家款张份笔位条只](?!月|星期|礼拜|小时)"
    r"|刚才|刚刚|上次|之前(?:的|那)|同样的?(?:问题|查询|事)"
    r"|\b(?:the other(?: ones?)?|the (?:first|second|third|last|next|same|former|latter) one"
    r"|th(?:at|is) one|th(?:ose|ese) ones?|the same (?:thing|question|again)|(?:as|like) before"
    r"|last time|just now|the (?:earlier|previous|former|latter)(?: \w+)?)\b",
    re.IGNORECASE,
)
"""Words that point at something said before, which nobody sees who sees only one step."""


@dataclass(frozen=True, slots=True)
class Turn:
    """One message of the conversation before a goal."""

    speaker: Speaker
    text: str


def earlier_turns(messages: Sequence[AnyMessage], *, asked: str, goal: str) -> list[Turn]:
    """What was said before the goal: the latest turns, each shortened, in their order.

    Args:
        messages: All messages of the thread.
        asked: The id of the message that the goal was taken from; where none has it, the goal was
            given beside the messages, and all of them came before.
        goal: The goal; a last message that says the same is the goal itself.
    """
    place = next((i for i, m in enumerate(messages) if asked and m.id == asked), len(messages))
    turns = [
        Turn(_SPEAKERS[message.type], message.text.strip())
        for message in messages[:place]
        if message.type in _SPEAKERS and message.text.strip()
    ]
    if turns and turns[-1] == Turn("user", goal.strip()):
        turns.pop()
    return [Turn(turn.speaker, for_prompt(turn.text, TURN_CHARS)) for turn in turns[-TURNS:]]


def said(turns: Sequence[Turn]) -> list[str]:
    """The texts of all turns: what stands in them may be named."""
    return [turn.text for turn in turns]


def asked_before(turns: Sequence[Turn]) -> list[str]:
    """The latest questions, short and on one line each."""
    questions = [turn.text for turn in turns if turn.speaker == "user"]
    return [capped(" ".join(text.split()), QUESTION_CHARS) for text in questions[-QUESTIONS:]]


def leans(description: str) -> bool:
    """Whether a step points at what was said before, and names nothing that could be looked up."""
    return bool(_LEANS.search(description)) and not identifiers(description)


def with_question(description: str, turns: Sequence[Turn]) -> str:
    """A step that leans on the conversation, with the last question behind it."""
    questions = asked_before(turns)
    return f"{description} ({questions[-1]})" if questions else description
