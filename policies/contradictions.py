"""What an answer says against the records of a run: a success denied, an action or an id invented.

The other side of `disclosure`, which looks for failures that an answer hides.
"""

import re
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from typing import Literal

from hansei.policies.carried_out import changes_of
from hansei.policies.claims import claimed_actions
from hansei.policies.disclosure import own_terms, owns_up
from hansei.policies.endings import done, undone
from hansei.policies.provenance import calls_of, is_year
from hansei.policies.records import Step
from hansei.policies.text import identifiers, mentions, names_id, sentences


@dataclass(frozen=True, slots=True)
class Contradiction:
    """One sentence of an answer that the records do not bear out."""

    kind: Literal["denied", "claimed", "unknown_id"]
    sentence: str
    step: Step | None = None
    """The completed step that is denied."""
    ids: tuple[str, ...] = ()
    """The ids that stand nowhere."""


def contradictions(text: str, steps: Sequence[Step], *, goal: str) -> list[Contradiction]:
    """All that an answer says against the records, in its order.

    Args:
        text: The answer.
        steps: All steps.
        goal: The user's goal; what it names may be named.
    """
    found: list[Contradiction] = []
    known = [*_told(steps), goal]
    deniable = _deniable(steps)
    for sentence in sentences(text):
        denied = _denied(sentence, steps, deniable)
        if denied is not None:
            found.append(Contradiction("denied", sentence, step=denied))
        elif _unbacked(sentence, steps):
            found.append(Contradiction("claimed", sentence))
        else:
            unknown = tuple(i for i in _named_ids(sentence) if not names_id(known, i))
            if unknown:
                found.append(Contradiction("unknown_id", sentence, ids=unknown))
    return found


def _told(steps: Iterable[Step]) -> Iterable[str]:
    for step in steps:
        yield from (step.description, step.result, step.reason)
        for attempt in step.attempts:
            yield attempt.result
        for call in calls_of(step):
            yield from (call.args, call.output)


# A success denied

_CLAUSE = re.compile(r"[，,；;。！？!?\n]|\.\s|\s[-–—]+\s|但是?|不过|\bbut\b|\balthough\b")

_NOT_DONE_EN = re.compile(
    r"\b(?:(?:could|can|was|were|is|are|has|have|did|do|does)(?: not|n['’]t)|cannot|unable to"
    r"|never|not)\b(?: \w+ly| yet)?(?: been| be| get| to)?\s+(?P<verb>[a-z]+)",
    re.IGNORECASE,
)
_FAILED_EN = re.compile(
    r"\b(?:fail(?:ed|s)|declined|rejected|refused|denied|(?:un|not )success\w*|not possible"
    r"|not go through|impossible)\b",
    re.IGNORECASE,
)
_GENERIC_VERB = frozenset(
    re.findall(
        r"\w+",
        "made make done do completed complete processed process carried carry executed execute "
        "performed perform issued issue finished finish arranged arrange managed manage",
    )
)
"""Verbs that stand for whatever a step was to do."""

_NOT_DONE_ZH = re.compile(
    r"[未没](?:能|有能)|没有?(?:办|成功|完成|退|取消|发|提交|通过|执行|做成)|失败|不成功|未成功"
    r"|被?拒绝?|办不[了成]|未(?:完成|办|退|取消|提交|执行)|无法|不能"
)
_ABOUT_LATER_ZH = re.compile(
    r"(?:无法|不能|未能|没能)再?(?:被)?(撤销|撤回|取消|更改|修改|重复|恢复|退回|退换|合并)"
)
"""What cannot be done to a thing that was done; no denial, unless it was the step's own task."""

_NO_DATA = re.compile(
    r"\b(?:could(?: not|n['’]t)|cannot|can['’]t|unable to|failed to|not able to|did(?: not|n['’]t))"
    r"\s+(?:be\s+)?(?:find|found|get|fetch|fetched|retrieve|retrieved|look(?:ed)? up|determined?"
    r"|obtain|obtained|access|accessed|query|queried)\b"
    r"|查不到|没有?查到|未能?查[到询]|未能?获取|无法(?:查|获取|得到)|找不到|没有?找到|未找到",
    re.IGNORECASE,
)
"""Words that say of something looked up that nothing came back."""

_WHOLE_DENIED = re.compile(
    r"\b(?:this|that|it|your request|what you asked for)\s+(?:could not|couldn['’]t|cannot|was not"
    r"|has not been)\s+(?:be\s+)?(?:done|made|completed|processed|carried out|possible)\b"
    r"|(?:这件事|您的请求|这个请求|此事)(?:没有?|未能?|无法)(?:办|完成|处理|做)",
    re.IGNORECASE,
)


def _deniable(steps: Sequence[Step]) -> list[tuple[Step, frozenset[str]]]:
    """The completed steps whose success can be denied, each with the terms that name it."""
    return [
        (step, own_terms(step, steps) | frozenset(identifiers(step.result)))
        for step in done(steps)
        if not owns_up(step.result)
    ]


def _denied(
    sentence: str, steps: Sequence[Step], deniable: Sequence[tuple[Step, frozenset[str]]]
) -> Step | None:
    """The completed step of which a sentence says that it was not done, or found nothing."""
    missing = undone(steps)
    of_missing = frozenset(t for s in missing for t in own_terms(s, steps))
    clauses = [c for c in _CLAUSE.split(sentence) if c.strip() and not mentions(c, of_missing)]
    for step, terms in deniable:
        changed = bool(changes_of(step))
        if changed and not missing and _WHOLE_DENIED.search(sentence):
            return step
        denies = _denies_change if changed else _denies_look
        if any(mentions(c, terms) and denies(c, step) for c in clauses):
            return step
    return None


def _denies_look(clause: str, step: Step) -> bool:
    return bool(calls_of(step)) and bool(_NO_DATA.search(clause))


def _denies_change(clause: str, step: Step) -> bool:
    said = f"{step.description} {step.result}".lower()
    words = set(re.findall(r"[a-z]+", said))
    if any(
        verb in _GENERIC_VERB or any(word[:_STEM] == verb[:_STEM] for word in words)
        for verb in (m["verb"].lower() for m in _NOT_DONE_EN.finditer(clause))
    ):
        return True
    later = _ABOUT_LATER_ZH.sub(lambda m: m.group() if m[1] in said else " ", clause)
    return bool(_FAILED_EN.search(clause) or _NOT_DONE_ZH.search(later))


_STEM = 4
"""Letters by which two forms of a verb are known as one: refund and refunded, cancel and
cancelled. Three take "the" for "then", five miss "sent" beside "send"."""


# An action invented

_KINDS = (
    r"sen[dt]|mail|post|notif|inform|message|contact|told|tell|发送|发出|寄|通知|邮件|短信|告知|催",
    r"publish|post|upload|submit|release|发布|上传|提交|申请",
    r"book|reserv|order|schedul|regist|appoint|buy|purchas|预[订定约]|下单|登记|购买|订购|安排",
    r"cancel|delet|remov|terminat|unsubscrib|active|取消|删除|退订|终止|注销|移除",
    r"refund|paid|pay|transfer|charg|money|voucher|credit|退款|支付|转账|付款|到账|扣款|退回",
    r"install|deploy|安装|部署",
    r"renam|mov(?:e|ing)|chang|updat|copy|改名|移动|修改|更新",
)
"""Words, Chinese and English, that tell of one kind of action. What a text calls mailed a tool
may call sent."""


def _unbacked(sentence: str, steps: Sequence[Step]) -> bool:
    """Whether a sentence claims an action that no call and no completed step bears out."""
    claims = claimed_actions(sentence)
    if not claims:
        return False
    results = done(steps)
    acted = " ".join(_of_change(s) for s in results if changes_of(s))
    said = " ".join(_told(results))
    unread = any(call.ref for s in results for call in calls_of(s))
    for claim in claims:
        for verb in claim.verbs:
            where = acted if claim.needs_tool else said
            if not claim.needs_tool and unread:
                continue  # a long output that is not at hand may say so
            kinds = [kind for kind in _KINDS if re.search(kind, verb, re.IGNORECASE)]
            if kinds and not any(re.search(kind, where, re.IGNORECASE) for kind in kinds):
                return True
    return False


def _of_change(step: Step) -> str:
    calls = [f"{c.name} {c.args} {c.output}" for c in changes_of(step)]
    return " ".join([step.description, step.result, *calls])


# An id invented

_ID_WORD = re.compile(
    r"(?:\b(?:order|ticket|invoice|booking|tracking|account|parcel|case|reference|refund|receipt"
    r"|confirmation|reservation|transaction)s?(?: (?:no|id|number|code))?[.:]?"
    r"|#|订单|单号|编号|票号|账号|流水号|退款号|凭证|预订号|号码)[\s:：#“\"'是为]*$",
    re.IGNORECASE,
)
"""Words that say that an id follows. Without them it may be a standard, a sum or a model."""


def _named_ids(sentence: str) -> list[str]:
    found: list[str] = []
    for written in identifiers(sentence):
        place = sentence.find(written)
        if place >= 0 and not is_year(written) and _ID_WORD.search(sentence[:place]):
            found.append(written)
    return found
