"""Whether a text says plainly that a step failed, or only denies something near its name.

`disclosure` takes any negation beside a step for owning up, and no list of the negations that
mean nothing ends ("you are not charged", "it cannot be stopped"). Here the list is closed: what
is not on it counts as unclear, and the records' own sentence is then added to the answer.
"""

import re
from collections.abc import Sequence

from hansei.policies.disclosure import own_terms, owns_up, without_reassurance
from hansei.policies.records import Step
from hansei.policies.text import contains_quote, content_terms, mentions, quoted, sentences

_FAILURE = re.compile(
    r"\bcould(?: not|n['’]t)\b|\bunable\b|\bfail(?:ed|s|ure)?\b|\b(?:declined|rejected|refused)\b"
    r"|\bdenied\b|\btoo late\b|\bunavailable\b|\berrors?\b|\bnot (?:found|available|done|possible"
    r"|exist|successful)\b|\bunsuccessful\b|\bdoes(?:n['’]t| not) exist\b|\bmissing\b"
    r"|\bno (?:such (?!luck)|data|results?|records?|match|information)\b|\bnot? yet\b"
    r"|\bnothing (?:was (?:found|done|returned)|came)\b|\bno (?:[\w'’-]+ ){1,4}(?:found|returned)\b"
    r"|无法|未能|没能|没办|失败|出错|报错|错误|有误|不存在|[查找]不到|没有?[查找]到|未[查找]到|查无"
    r"|不成功|没有?成功|未[^，。；,;]{0,6}成功|没有?完成|未完成|没有?通过|拒绝|不可用|无效|[退办取订]不了"
    r"|(?:没有?|未|尚未|暂未)(?:得到|获取|办|退|取消|查询|返回|更新|提供)",
    re.IGNORECASE,
)
_CANNOT = re.compile(
    r"\b(?:cannot|can(?: not|['’]t)|(?:was|were|is|are|has|have|did|do|does)(?: not|n['’]t))"
    r"(?: \w+ly)?(?: been| be)? (?P<verb>[a-z]+)",
    re.IGNORECASE,
)
_TELLING = frozenset({"tell", "say", "get", "find", "found", "give", "confirm", "check", "see"})
"""Verbs of whoever could not find a thing out."""

_STEM = 4
"""Letters by which two forms of a verb are known as one: refund and refunded."""

_LATER = re.compile(
    r"(?:无法|不能|未能|没能)再?(?:被)?(?P<zh>撤销|撤回|取消|更改|修改|阻止|超过|停止)",
)
"""What cannot be done to a thing under way: no failure, unless it was the step's own task."""

_PREFIX = re.compile(r"^.*[：:]", re.DOTALL)
"""What a rule puts before a tool's own words."""

_ENOUGH = 0.5
"""Share of the words of a reason beyond which they tell it again: one of two may be chance."""


def plainly_told(text: str, step: Step, steps: Sequence[Step]) -> bool:
    """Whether the sentences about a step say that it failed, in words that mean nothing else.

    Args:
        text: The answer.
        step: A step that was not done.
        steps: All steps.
    """
    parts = sentences(text)
    terms = own_terms(step, steps)
    named = {i for i, part in enumerate(parts) if mentions(part, terms)}
    about = named | {i + 1 for i in named if i + 1 < len(parts)}
    about = about or {i for i, part in enumerate(parts) if owns_up(part)}
    return any(_says_so(parts[i], step) for i in about)


def _says_so(sentence: str, step: Step) -> bool:
    task = step.description.lower()
    plain = without_reassurance(sentence)
    plain = _LATER.sub(lambda m: m.group() if m["zh"] in task else " ", plain)
    if _FAILURE.search(plain):
        return True
    stems = {word[:_STEM] for word in re.findall(r"[a-z]+", task)}
    verbs = [m["verb"].lower() for m in _CANNOT.finditer(plain)]
    if any(verb in _TELLING or verb[:_STEM] in stems for verb in verbs):
        return True
    if any(contains_quote(sentence, words) for words in quoted(step.reason)):
        return True
    why = content_terms(_PREFIX.sub("", step.reason)) or content_terms(step.reason)
    told = [term for term in why if mentions(sentence, [term])]
    return bool(why) and len(told) > _ENOUGH * len(why)
