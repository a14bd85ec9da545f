"""Sentences that claim an action in the world: a file written, a mail sent, an order cancelled.

Such a sentence is held against the calls that were made. Verbs only count in forms that claim
("has been sent", "I have written", "已发送"), so that a text about somebody else's actions
("was sent by the bank", "written in 1813") is left alone.
"""

import re
from dataclasses import dataclass

from hansei.policies.remembered import remembered
from hansei.policies.text import sentences

_ACTED = (
    r"(?:sent|e-?mailed|mailed|posted|published|uploaded|submitted|booked|reserved|ordered"
    r"|cancel(?:l)?ed|deleted|removed|scheduled|refunded|paid|transferred|registered|notified"
    r"|installed|deployed|renamed|moved)"
)
"""What can only be done with a tool."""

_MADE = r"(?:written|wrote|saved|stored|created|generated|added|updated|changed|filled in)"
"""What can also be done by words alone, as in "I have written a poem"."""

_NOT_OTHERS = r"(?!\s+(?:by|in|on|at|during|around|between|from)\b)"
"""An agent, a place or a time behind the verb: somebody else's action is told."""

_BY_ME = r"\b(?:I|we)(?:['’]ve| have)?(?: just| already| now| also| then| successfully)*\s+"
_IT_IS = (
    r"\b(?:(?:is|are|has been|have been|['’]s been)(?: now| already| just| successfully)*\s+{verb}"
    r"|(?:was|were)(?: successfully)?\s+{verb}" + _NOT_OTHERS + r")\b"
)

_ZH_ACTED = (
    r"(?:发送|发出|寄出|提交|发布|上传|预订|预定|下单|取消|删除|退款|支付|转账|登记|通知"
    r"|催促|催办|催单|安装|部署)"
)
_ZH_MADE = r"(?:写入|写好|写到|保存|存到|存入|创建|建好|生成|更新|修改|添加)"
_ZH_BY_ME = (
    r"(?:我(?:们)?(?:已经|已|刚刚)(?:成功)?|已(?:经)?(?:成功)?(?:帮|为|替|给)(?:您|你))"
    r"[^，。,.;；]{0,10}?"
)

_FIRST_ACTED = re.compile(rf"{_BY_ME}{_ACTED}\b|{_ZH_BY_ME}{_ZH_ACTED}", re.IGNORECASE)
_FIRST_MADE = re.compile(rf"{_BY_ME}{_MADE}\b|{_ZH_BY_ME}{_ZH_MADE}", re.IGNORECASE)
_PASSIVE = re.compile(
    _IT_IS.format(verb=f"(?:{_ACTED}|{_MADE})")
    + rf"|已(?:经)?(?:成功)?(?:被)?(?:{_ZH_ACTED}|{_ZH_MADE})",
    re.IGNORECASE,
)
_OUTSIDE = re.compile(
    r"\b[\w-]+\.[A-Za-z][A-Za-z0-9]{1,4}\b|\be?-?mails?\b|\bmessages?\b|邮件|短信|文件",
    re.IGNORECASE,
)
"""Things that words alone do not make: files and mails."""

_NO_TROUBLE = re.compile(
    r"\b(?:no|without(?: any)?) (?:problems?|trouble|issues?|errors?|worries|delay)\b"
    r"|没有(?:任何)?问题|[无没]有?误",
    re.IGNORECASE,
)
"""Words that deny nothing of what was done."""

_TOLD_DONE = re.compile(
    r"\b(?:(?:has|have)(?: \w+ly| now| already| just)* been"
    r"|(?:is|are|was|were) (?:now|already|just|successfully))"
    rf"(?: \w+ly)?\s+(?P<en>{_ACTED})\b"
    rf"|已(?:经)?(?:成功)?(?:被)?(?:帮您|为您|给您)?(?P<zh>{_ZH_ACTED})",
    re.IGNORECASE,
)
_FIRST_VERB = re.compile(
    rf"{_BY_ME}(?P<en>{_ACTED})\b|{_ZH_BY_ME}(?P<zh>{_ZH_ACTED})", re.IGNORECASE
)
_NEXT_VERB = re.compile(
    rf"(?:\band|[,;])\s+(?:also |then )?(?P<en>{_ACTED})\b|[并且，、](?:已|还)?(?P<zh>{_ZH_ACTED})",
    re.IGNORECASE,
)

_DENIED = re.compile(
    r"\b(?:no|not|never|nothing|none|cannot|unable|failed)\b|n['’]t\b|[没未无]", re.IGNORECASE
)


@dataclass(frozen=True, slots=True)
class Claim:
    """One sentence that claims an action."""

    sentence: str
    needs_tool: bool
    """It says that the speaker did what only a tool can do."""
    outside: bool
    """It is about a file or a mail."""
    verbs: tuple[str, ...] = ()
    """What only a tool can do and the speaker, or the text, says was done."""


@remembered
def claimed_actions(text: str) -> tuple[Claim, ...]:
    """The sentences of a text that claim an action, in order."""
    found: list[Claim] = []
    for sentence in sentences(text):
        if _DENIED.search(_NO_TROUBLE.sub(" ", sentence)):
            continue
        needs_tool = bool(_FIRST_ACTED.search(sentence))
        if needs_tool or _FIRST_MADE.search(sentence) or _PASSIVE.search(sentence):
            outside = bool(_OUTSIDE.search(sentence))
            verbs = _verbs(sentence, mine=needs_tool)
            found.append(Claim(sentence.strip(), needs_tool, outside, verbs))
    return tuple(found)


def _verbs(sentence: str, *, mine: bool) -> tuple[str, ...]:
    """The verbs of a claim: in "I have cancelled it and mailed you" there are two."""
    patterns = [_FIRST_VERB, _TOLD_DONE] if mine else [_TOLD_DONE]
    first = [m for pattern in patterns for m in pattern.finditer(sentence)]
    begin = min((m.end() for m in first), default=len(sentence))
    more = list(_NEXT_VERB.finditer(sentence, begin))
    return tuple(dict.fromkeys((m["en"] or m["zh"]).lower() for m in [*first, *more]))


_ASKS_ACTION = re.compile(
    r"^\s*(?:please\s+|then\s+|also\s+)*(?:"
    r"(?:send|inform|notify|publish|submit|reserve|buy|purchase|cancel|delete|pay|unsubscribe"
    r"|subscribe|install|deploy|rename|renew|terminate)\b"
    r"|(?:e-?mail|mail|message|post|upload|book|order|schedule|refund|transfer|register|charge"
    r"|ship)(?= (?:an?|the|my|our|his|her|their|it|me|us|two|three|some|for|orders?|\w*\d\w*)\b)"
    r"(?! (?:the|an?)? ?(?:results?|list|rows|items|\d+ (?:results|items)))"
    r"|let\b[^.]{1,40}\bknow\b|tell (?:the|my|our|his|her|their)\b)",
    re.IGNORECASE,
)
"""A task that begins with a verb of a change in the world; one that may also be a noun needs an
object behind it ("book a table", not "book recommendations")."""

_ASKS_ACTION_ZH = re.compile(
    r"^\s*(?:请|先|再|然后|并|帮(?:我|用户)?|(?!给出)[为给替向][^，。,]{1,12}?)*(?:办理|申请|执行|进行)?"
    r"(?:发送|发邮件|发短信|寄出|寄送|通知|告知|告诉|提交|发布|上传|预订|预定|订购|下单|购买|取消"
    r"|退订|删除|退款|退货|支付|付款|转账|缴费|催促|催单|催办|安装|部署|注销|续费|退掉)"
    r"(?![^，。]{0,6}(?:状态|进度|政策|规则|条件|流程|记录|原因|情况|费用|期限|方式|方法|建议|推荐|清单|理由|方案|指南))"
)

_ABOUT_ACTIONS = re.compile(
    r"\b(?:status|polic(?:y|ies)|rules?|conditions?|history|draft|template|how to|whether)\b"
    r"|\bthe (?:user|customer|client)\b|\b(?:book|order|text|mail|message|post)s? of\b"
    r"|^\s*order \S*\d\S*\s*[:：]|(?:告诉|告知|通知)(?:用户|客户|您|你|我)|是否|能否|怎么|如何",
    re.IGNORECASE,
)
"""Words of a task that only looks at actions, or only tells the user something."""


def asks_action(task: str) -> bool:
    """Whether a step's task is to change something in the world, and not to look or to tell."""
    if _ABOUT_ACTIONS.search(task):
        return False
    return bool(_ASKS_ACTION.match(task) or _ASKS_ACTION_ZH.match(task))
