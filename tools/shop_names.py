"""How people and small models write the names and numbers that the shop's tools take.

Pure functions: a product is found whatever the case, spacing and punctuation of its
name, with or without its brand and the kind of thing it is ("airx", "AirX 耳机",
"澄音 AirX"); an argument of the wrong type is read where its meaning is plain.
"""

import math
import re
import unicodedata
from collections.abc import Iterable, Sequence
from typing import cast

from rapidfuzz import fuzz

CATEGORY_WORDS = {
    "耳机": ("耳机", "蓝牙耳机", "无线耳机", "headphones", "earphones", "earbuds"),
    "手表": ("手表", "智能手表", "运动手表", "watch", "smartwatch"),
    "扫地机": ("扫地机", "扫地机器人", "扫拖机器人", "扫拖一体机", "robot vacuum", "vacuum"),
    "配件": ("配件", "accessory", "accessories"),
    "小家电": ("小家电", "家电", "appliance", "appliances"),
}
"""Each category of the data with the words that mean it."""

NEAR = 50.0
"""Likeness (0 to 100) from which a name is worth suggesting: "R9" reaches "R1" at 50,
"airxs" reaches "AirX" at 89; below that the names of other shops start to match."""

MOST_SUGGESTIONS = 3
"""More would crowd the context of a small model."""

_NOTHING = frozenset({"", "null", "none", "all", "全部", "不限"})
"""What models write for an argument that they mean to leave out."""

_BETWEEN_NAMES = re.compile(r"[,，、;；/|\n&]|和|与|跟|及|\bvs\b\.?|\band\b", re.IGNORECASE)

_AROUND_NAMES = " \t[]\"'“”「」《》"
"""Quotes and brackets of a list that was written as a text."""

_LABEL = re.compile(r"^(?:(?:order|tracking)[\s_]*(?:id|no|number)?\b)?[^0-9a-z]*", re.IGNORECASE)
"""What stands before a number: "order no. ", "订单号：", "#"."""

_PRICE = re.compile(
    r"[¥￥]?\s*(\d[\d,]*)(?:\.\d+)?\s*(?:元|块|cny|rmb)?\s*(?:以内|以下)?", re.IGNORECASE
)


def fold(text: str) -> str:
    """Reduce a text to what counts in a comparison: letters and digits, in one case."""
    plain = unicodedata.normalize("NFKC", text).casefold()
    return "".join(sign for sign in plain if sign.isalnum())


class NameIndex:
    """Finds products by the names that people give them.

    Args:
        products: Name, brand and category of every product.
    """

    def __init__(self, products: Iterable[tuple[str, str, str]]) -> None:
        self._names = [(name, _spellings(name, brand, kind)) for name, brand, kind in products]

    def find(self, text: str) -> str | None:
        """Return the product's own name, or None if the text names no product."""
        key = fold(text)
        return next((name for name, spelling in self._names if spelling.fullmatch(key)), None)

    def near(self, text: str) -> list[str]:
        """Return the names that may have been meant, the likeliest first."""
        key = fold(text)
        likeness = {name: _likeness(key, fold(name)) for name, _ in self._names}
        close = [name for name in likeness if likeness[name] >= NEAR]
        return sorted(close, key=lambda name: (-likeness[name], name))[:MOST_SUGGESTIONS]


def _spellings(name: str, brand: str, category: str) -> re.Pattern[str]:
    kind = "|".join(re.escape(fold(word)) for word in CATEGORY_WORDS[category])
    maker = re.escape(fold(brand))
    return re.compile(f"(?:{maker})?(?:{kind})?{re.escape(fold(name))}(?:{kind})?")


def _likeness(key: str, name: str) -> float:
    if len(key) > 1 and (key in name or name in key):
        return 100.0
    return fuzz.ratio(key, name)


def category_named(text: str) -> str | None:
    """Return the category that a text means as a whole, or None."""
    key = fold(text)
    return next((name for name, words in CATEGORY_WORDS.items() if key in map(fold, words)), None)


def has_words(query: str, text: str, *, category: str) -> bool:
    """Tell whether every word of a query occurs in a product's text.

    Chinese is written without spaces, so a word may hold its category ("降噪耳机"): then
    what is left of it must occur, and the category must be the product's.

    Args:
        query: Words with spaces or punctuation between them; empty matches all.
        text: All that is known of the product.
        category: The product's category.
    """
    known = fold(text)
    kinds = sorted((fold(word) for word in CATEGORY_WORDS[category]), key=len, reverse=True)
    return all(_occurs(fold(word), known, kinds) for word in re.split(r"[\s,，、;；]+", query))


def _occurs(word: str, known: str, kinds: Sequence[str]) -> bool:
    if word in known:
        return True
    kind = next((kind for kind in kinds if kind in word), None)
    return kind is not None and word.replace(kind, "", 1) in known


def clean_number(value: object) -> object:
    """Read an order or tracking number: 99999, "订单 99999" and "#99999" are "99999"."""
    if isinstance(value, bool):
        return value
    if isinstance(value, float) and value.is_integer():
        return str(int(value))
    if not isinstance(value, str | int):
        return value
    text = unicodedata.normalize("NFKC", str(value)).strip()
    return _LABEL.sub("", text, count=1).strip() or text


def split_names(value: object) -> object:
    """Read a list of names: "R1和R7 Pro", "R1, R7 Pro" and '["R1", "R7 Pro"]' are two."""
    if isinstance(value, str):
        return _parts(value)
    if not isinstance(value, list):
        return value
    names = cast("list[object]", value)
    parts: list[object] = []
    for name in names:
        parts.extend(_parts(name) if isinstance(name, str) else [name])
    return parts


def _parts(text: str) -> list[str]:
    parts = (part.strip(_AROUND_NAMES) for part in _BETWEEN_NAMES.split(text))
    return [part for part in parts if part]


def clean_category(value: object) -> object:
    """Read a category by any word for it; an unknown one stays as it is."""
    if not isinstance(value, str):
        return value
    if value.strip().casefold() in _NOTHING:
        return None
    return category_named(value) or value.strip()


def clean_price(value: object) -> object:
    """Read a highest price in whole CNY: "1000元以内" and 1000.5 are 1000."""
    if isinstance(value, float) and math.isfinite(value):
        return math.floor(value)
    if not isinstance(value, str):
        return value
    if value.strip().casefold() in _NOTHING:
        return None
    price = _PRICE.fullmatch(value.strip())
    return value if price is None else int(price[1].replace(",", ""))
