"""Conditions of the goal: found by rule, and checked against results by rule (row P17)."""

import json
import re
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass
from decimal import Decimal
from typing import Literal

from hansei.policies.drafts import ConditionDraft
from hansei.policies.narrow import as_list, as_mapping
from hansei.policies.records import Condition, Step
from hansei.policies.text import (
    content_terms,
    identifiers,
    mentions,
    numbers,
    quoted,
    sentences,
)

Kind = Literal["limit", "exclusion", "identifier", "quoted", "situation"]

_NUMBER = r"(?:\d{1,3}(?:[,，]\d{3})+|\d+)(?:\.\d+)?"
"""A comma belongs to a number only before three digits: "R1，1999 元" is not 11999."""

_AMOUNT = (
    rf"(?:{_NUMBER}\s*[万千kK]?|[一二两三四五六七八九][十百千万][一二两三四五六七八九十百千万]*)"
    r"\s*(?:元|块钱|块|rmb|cny|usd|dollars?|yuan)?(?![\d０-９一二两三四五六七八九十百千万])"
    r"(?!\s*(?:天|日|小时|分钟?|秒|周|个|件|款|台|人|位|次|家|种|岁|层|页|字|公里|公斤|千?克|斤|升|毫升"
    r"|千?米|[厘毫]米|英?寸|度|年|月|点|[%％]|kg\b|k?m\b|cm\b|mm\b|g\b|l\b|ml\b))"
)
"""A sum of money: a number without a unit of anything else."""
_MONEY_EN = (
    rf"(?:[¥￥$€]\s*{_AMOUNT}|{_NUMBER}\s*k?\s*"
    r"(?:(?:rmb|cny|usd|dollars?|yuan)\b"
    r"|(?=\s*(?:$|[.,;!?)]\s|[.,;!?)]$|(?:for|per|an?|each|and|or|in|on|total|please)\b))))"
)
"""The same in English, where any noun may follow: at most 3 phones."""
_LIMIT = re.compile(
    rf"(?:预算(?:是|为|在)?|不(?:要|能|可|得)?超过|别超过|不多于|不高于|最多|低于|少于|小于|控制在)"
    rf"\s*[¥￥$€]?\s*{_AMOUNT}(?:\s*(?:以内|以下|之内))?"
    rf"|\b(?:under|below|at most|no more than|less than|within|up to|budget(?: of| is|:)?)"
    rf"\s*{_MONEY_EN}"
    rf"|[¥￥$€]?\s*{_AMOUNT}\s*(?:以内|以下|之内)",
    re.IGNORECASE,
)
"""An upper limit of money with its number. Other limits are left to the reflector."""

_EXCLUSION = re.compile(
    r"(?:(?<![要买想])(?:不要(?!忘|紧|错过|超过|高于|低于|多于|少于|太|担心|着急|客气|只|光|再|急)"
    r"|不买|不考虑|不想要)|排除(?!法|[^，。,.]{0,10}(?:故障|问题|错误|隐患|风险|异常))|除了|除去)"
    r"(?P<zh>[^\s,，。；;、！!？?的]{1,12})"
    r"|\b(?:without|except(?: for)?|excluding|other than|(?:do not|don't) want(?! to\b)|avoid|"
    r"nothing from|not from)\s+(?:(?:an?|the|any|my|too|much|added|more)\s+)*"
    r"(?P<en>[\w-]+(?:\s[A-Z][\w-]*)?)",
    re.IGNORECASE,
)

_ADDED = re.compile(r"[^。！？!?]{0,20}(?:还|也|另外|同时|再)")
"""Behind 除了 and its words: beside them, not without them."""

_HOW_TO = re.compile(r"\bhow\b[^.?!]*$", re.IGNORECASE)

_NONE_OF = (
    r"(?:无|免|零|0|不[放加用含带配]|没有?[放加]?|去掉?|非"
    r"|\b(?:no|zero|non|not|without|minus|omit(?:ting|s)?|skip(?:ping|s)?|free (?:of|from)|"
    r"contains? no|closed on|hold(?:ing)? the)\b)\W{0,2}"
    r"(?:(?:添加|额外|任何|added|any|an?|the)\s*)*"
)
_LEFT_OUT = r"(?:\W{0,2}(?:已经?|都|被)?(?:去掉|去除|不[放加用]|免了|不在)|[-‑ ]free\b)"

_SITUATION = re.compile(
    r"^(?:我家|我们家|家里|我有|我是|我在|我们有|我们是|我养|本人|"
    r"(?:i|we)\s+(?:have|own|live|work|am|are|need)\b|i'm\b|we're\b|i’m\b|my\b|our\b)",
    re.IGNORECASE,
)
"""A clause that tells about the user and asks for nothing."""

_REQUEST = re.compile(
    r"帮我|请|查|给我|推荐|对比|比较|\?|？|\bplease\b|\b(?:help|tell|find)\b", re.I
)
_CLAUSE = re.compile(r"[^,，。.;；!！?？\n]+[?？]?")
CHOOSING = re.compile(
    r"挑|选|推荐|对比|比较|建议|适合|\b(?:compare|choose|pick|select|recommend|suggest|best)\b",
    re.I,
)
"""Steps that weigh things against each other, where the user's situation belongs."""

_PRICE = re.compile(
    rf"[¥￥$€]\s*(?P<a>{_NUMBER}\s*[万千]?)"
    rf"|(?P<b>{_NUMBER}\s*[万千]?)\s*(?:元|块|rmb\b|cny\b|usd\b|dollars?\b|yuan\b)",
    re.IGNORECASE,
)
_REJECTED = re.compile(
    r"超出|超过|超预算|高于|太贵|不推荐|排除|原价|不符合|不考虑|没有选|未选|不选|避开|避免|剔除|不含|不包括|不要|除了"
    r"|\b(?:exceeds?|above|over|beyond|too expensive|not recommended?|rejected|excluded?|excluding|"
    r"left out|leaves? out|avoid(?:ed|s)?|without|except|instead of|rather than|ruled out|no)\b",
    re.IGNORECASE,
)
"""A sentence with one of these names something in order to leave it out."""

_NOT_ASKED_BEFORE = re.compile(
    r"(?:原价|市场价|划线价|指导价|官方价|定价|满|立减|优惠|节?省|减|比"
    r"|\b(?:was|were|list price|retail price|regular(?:ly| price)?|originally|rrp|msrp|down from"
    r"|sav(?:e|es|ed|ing)(?: you)?|than))[\s:：(（]*(?:是|为|了|of)?\s*$",
    re.IGNORECASE,
)
_NOT_ASKED_AFTER = re.compile(
    r"\s*(?:off\b|discount|(?:list|retail|regular|original) price)", re.IGNORECASE
)
"""Beside a price that nobody is asked to pay: the old one, a rebate, another thing's."""

_PRICE_KEYS = frozenset({"price", "amount", "total", "cost", "价格", "总价", "合计", "金额"})


@dataclass(frozen=True, slots=True)
class ConditionCheck:
    """What the rules found for one condition in one text."""

    state: Literal["met", "missing", "broken", "open"]
    """`open`: the rules cannot tell, so only the reflector's model can."""
    found: str = ""
    structured: bool = False
    """The finding rests on a structured pick, so it may veto."""


def find_conditions(goal: str) -> list[Condition]:
    """The conditions that rules can read out of a goal, numbered from 1."""
    found: list[tuple[Kind, bool, str]] = []
    by_kind: dict[Kind, list[str]] = {
        "limit": [m.group().strip() for m in _LIMIT.finditer(goal)],
        "exclusion": [m.group().strip() for m in _EXCLUSION.finditer(goal) if _excludes(m)],
        "identifier": identifiers(goal),
        "quoted": quoted(goal),
    }
    for kind, quotes in by_kind.items():
        found.extend((kind, True, quote) for quote in quotes)
    for clause in _CLAUSE.findall(goal):
        text = clause.strip()
        if _SITUATION.search(text) and not _REQUEST.search(text):
            found.append(("situation", False, text))
    taken = " ".join(quote for kind, _, quote in found if kind == "limit")
    unique = dict.fromkeys(f for f in found if f[0] != "identifier" or f[2] not in taken)
    return [
        Condition(id=i, kind=kind, hard=hard, quote=quote)
        for i, (kind, hard, quote) in enumerate(unique, start=1)
    ]


def _excludes(match: re.Match[str]) -> bool:
    """Whether the words really leave something out: not "除了 A 还要 B", nor "how to avoid A"."""
    said = match.group().lower()
    if said.startswith("除了"):
        return not _ADDED.match(match.string, match.start("zh"))
    return not (said.startswith("avoid") and _HOW_TO.search(match.string[: match.start()]))


def merge_conditions(
    goal: str,
    drafts: Iterable[ConditionDraft],
    key_to_id: dict[str, int],
    *,
    earlier: Sequence[str] = (),
) -> list[Condition]:
    """The planner's conditions and the rules', each once.

    A condition of the planner counts only when its quote stands in the goal, or in what the user
    said before (`earlier`); the rules say what kind it is. What the rules found in the goal and the
    planner did not is added. Whether something said before still holds only the planner can say.
    """
    by_rule = find_conditions(goal)
    texts = [goal, *earlier]
    known = [c for text in earlier for c in find_conditions(text)]
    merged: list[Condition] = []
    for draft in drafts:
        quote = draft.quote.strip()
        if not quote or not any(quote in t and quote != t.strip() for t in texts):
            continue
        steps = [key_to_id[key] for key in draft.concerns if key in key_to_id]
        rules = by_rule if quote in goal else known
        same = [c for c in rules if c.quote in quote or quote in c.quote]
        kind = same[0].kind if same else "situation"
        hard = bool(same and same[0].hard)
        merged.append(Condition(kind=kind, hard=hard, quote=quote, steps=steps))
        by_rule = [c for c in by_rule if c not in same or (c is not same[0] and c.kind != kind)]
    seen = {c.quote for c in merged}
    merged += [c for c in by_rule if c.quote not in seen]
    return [c.model_copy(update={"id": i}) for i, c in enumerate(merged, start=1)]


def bind_conditions(conditions: Sequence[Condition], steps: Iterable[Step]) -> list[Condition]:
    """Conditions without steps, bound to the steps that weigh things against each other."""
    choosing = [s.id for s in steps if CHOOSING.search(s.description)]
    return [
        c
        if c.steps or c.kind in {"identifier", "quoted"}
        else c.model_copy(update={"steps": choosing})
        for c in conditions
    ]


def check_condition(condition: Condition, text: str) -> ConditionCheck:
    """Check one condition against a result or an answer.

    A situation is met when its own terms occur. A limit is broken by a price above it, an
    exclusion by a sentence that names what is excluded without leaving it out.
    """
    if condition.kind == "situation":
        terms = content_terms(condition.quote)
        if not terms:
            return ConditionCheck("open")
        return ConditionCheck("met" if mentions(text, terms) else "missing")
    if condition.kind == "limit":
        return _check_limit(condition, text)
    if condition.kind == "exclusion":
        return _check_exclusion(condition, text)
    return ConditionCheck("open")


def _check_limit(condition: Condition, text: str) -> ConditionCheck:
    limits = numbers(condition.quote)
    if not limits:
        return ConditionCheck("open")
    limit = max(limits)
    picks = [price for price in _structured_prices(text) if price > limit]
    if picks:
        return ConditionCheck("broken", found=str(picks[0]), structured=True)
    for sentence in sentences(text):
        if _REJECTED.search(sentence):
            continue
        for match in _PRICE.finditer(sentence):
            before, after = sentence[: match.start()], sentence[match.end() :]
            if _NOT_ASKED_BEFORE.search(before) or _NOT_ASKED_AFTER.match(after):
                continue
            values = numbers(match.group("a") or match.group("b"))
            if values and max(values) > limit:
                return ConditionCheck("broken", found=match.group().strip())
    return ConditionCheck("met")


def _check_exclusion(condition: Condition, text: str) -> ConditionCheck:
    match = _EXCLUSION.search(condition.quote)
    if match is None:
        return ConditionCheck("open")
    term = (match.group("zh") or match.group("en") or "").strip()
    terms = content_terms(term) or frozenset({term.lower()})
    named = "|".join(re.escape(t) for t in sorted(terms, key=len, reverse=True))
    left_out = re.compile(rf"{_NONE_OF}(?:{named})|(?:{named}){_LEFT_OUT}", re.IGNORECASE)
    for sentence in sentences(text):
        if mentions(left_out.sub(" ", sentence), terms) and not _REJECTED.search(sentence):
            return ConditionCheck("broken", found=sentence[:60])
    return ConditionCheck("met")


def _structured_prices(text: str) -> list[Decimal]:
    try:
        value: object = json.loads(text)
    except (ValueError, RecursionError):
        return []
    return list(_prices(value))


def _prices(value: object) -> Iterator[Decimal]:
    for key, item in as_mapping(value).items():
        if str(key).lower() in _PRICE_KEYS and isinstance(item, int | float):
            yield Decimal(str(item))
        else:
            yield from _prices(item)
    for item in as_list(value):
        yield from _prices(item)
