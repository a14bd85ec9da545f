"""Small text functions that rules share (first version)."""

import re
import unicodedata
from decimal import Decimal
from typing import Literal

import rjieba
from rapidfuzz import fuzz

_STOP = set(
    ["的", "了", "和", "与", "或", "在", "是", "我", "你", "他", "她", "它", "我们", "你们", "帮", "帮我", "帮忙", "一下", "查", "查询", "请", "给", "给我", "里", "挑", "一个", "两只", "一只", "两款", "个", "只", "款", "到", "没", "吗", "呢", "把", "也", "就", "都", "又", "及", "并", "对", "为", "这", "那", "哪", "家", "养", "有", "a", "an", "the", "of", "and", "or", "in", "on", "at", "to", "is", "are", "for", "me", "my", "please", "with", "it", "this", "that"]
)


def tokens(text: str) -> list[str]:
    out = []
    for t in rjieba.cut(text):
        t = t.strip().lower()
        if t and any(c.isalnum() for c in t):
            out.append(t)
    return out


def content_terms(text: str) -> frozenset[str]:
    return frozenset(
        t
        for t in tokens(text)
        if (t not in _STOP
        and not (len(t) == 1 and not ("\u4e00" <= t <= "\u9fff"))
        and not t.isdigit())
        or (t.isdigit() and len(t) >= 3)
    )


def normal_id(text: str) -> str:
    return re.sub(r"[\s\-_]", "", unicodedata.normalize("NFKC", text)).lower()


def identifiers(text: str) -> list[str]:
    out = []
    for m in re.finditer(r"(?<![A-Za-z0-9.])[A-Za-z0-9][A-Za-z0-9_-]*", text):
        w = m.group().strip("-_")
        if (
            len(w) >= 4
            and any(c.isdigit() for c in w)
            and not re.fullmatch(r"\d{4}-\d{1,2}-\d{1,2}.*", w)
            and not text[m.end() : m.end() + 1] == "年"
        ):
            out.append(w)
    return out


def quoted(text: str) -> list[str]:
    return [
        x
        for t in re.findall(r"“([^”]+)”|\"([^\"]+)\"|「([^」]+)」|『([^』]+)』|`([^`]+)`", text)
        for x in t
        if x
    ]


def numbers(text: str) -> list[Decimal]:
    out = []
    for m in re.finditer(r"(\d[\d,，]*(?:\.\d+)?)\s*([万千亿]?)", text):
        v = Decimal(re.sub("[,，]", "", m.group(1)))
        out.append(v * {"": 1, "千": 1000, "万": 10000, "亿": 10**8}[m.group(2)])
    return out


def mentions(text: str, terms) -> bool:
    low = text.lower()
    for t in terms:
        if re.fullmatch(r"[\x00-\x7f]+", t):
            if re.search(rf"(?<![a-z0-9]){re.escape(t)}(?![a-z0-9])", low):
                return True
        elif t in low:
            return True
    return False


def _flat(t):
    return re.sub(r"\s+", "", unicodedata.normalize("NFKC", t)).lower()


def contains_quote(text: str, quote: str) -> bool:
    q = _flat(quote)
    t = _flat(text)
    if len(q) < 2:
        return False
    if q in t:
        return True
    return len(q) >= 12 and len(q) <= len(t) and fuzz.partial_ratio(q, t) >= 92


def similarity(a: str, b: str) -> float:
    return fuzz.ratio(_flat(a), _flat(b)) / 100


def sentences(text: str) -> list[str]:
    return [s.strip() for s in re.split(r"(?<=[。！？!?；;])|\n|(?<=\.)\s", text) if s.strip()]


Lang = Literal["zh", "en"]


def language_of(text: str) -> Lang:
    cjk = sum("\u4e00" <= c <= "\u9fff" for c in text)
    words = len(re.findall(r"[A-Za-z]{2,}", text))
    return "zh" if cjk and cjk >= words else "en"


def asked_language(goal: str) -> Lang:
    if re.search(r"用?英文|英语回答|in english", goal, re.I):
        return "en"
    if re.search(r"用中文|in chinese", goal, re.I):
        return "zh"
    return language_of(goal)
