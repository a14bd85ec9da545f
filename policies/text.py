"""What a text says, as far as rules can tell: terms, ids, numbers, quotes.

Chinese and English. Words come from rjieba, likeness from rapidfuzz, Chinese numerals
from cn2an; what is here is the choice of what counts.
"""

import re
import unicodedata
from collections.abc import Iterable
from decimal import Decimal
from functools import cache
from typing import TYPE_CHECKING, Final

from hansei.policies import text_words as words
from hansei.policies.remembered import remembered
from hansei.policies.whole_words import spells, stands_whole

if TYPE_CHECKING:
    import rjieba

_SHORTEST_QUOTE: Final = 2
"""Characters a quote must have; a single one stands in any text."""

_SHORTEST_LOOSE_QUOTE: Final = 12
"""Characters from which a quote may differ a little: less, and a difference is the meaning."""

_LOOSE_QUOTE_SCORE: Final = 92.0
"""Likeness (0 to 100) of a quote that was copied with a slip of a character or two."""

_SHORTEST_ID: Final = 4
"""Characters of an id; what is shorter is an amount or an ordinal."""

_NEARBY: Final = 12
"""Characters around a number that tell whether it is an amount: room for a unit or 不超过."""

_LONGEST_ID: Final = 128
"""Characters of an id; a hash has 64, what is longer is data."""

_MOST_DIGITS: Final = 28
"""Characters of a number; longer is no amount, and more than decimals are exact to."""

_SHORTEST_AMOUNT: Final = 3
"""Digits a bare number needs to say what a text is about; 15 stands in too many texts."""

_CJK: Final = r"\u3400-\u4dbf\u4e00-\u9fff\uf900-\ufaff"
_CHUNK = re.compile(rf"[{_CJK}]+|(?:(?![{_CJK}_])\w)+(?:[-_.'’&+](?:(?![{_CJK}_])\w)+)*")
IS_CJK = re.compile(rf"[{_CJK}]")
_CODE = re.compile(
    r"(?<![\w.])(?=[\w./-]*[0-9])[A-Za-z0-9]+(?:[-_./][A-Za-z0-9]+)*(?![A-Za-z0-9])", re.ASCII
)
_DIGIT = re.compile(r"[0-9]")
LINK = re.compile(r"(?:https?|ftp)://\S+|(?<![\w.+-])[\w.+-]+@[\w-]+\.[\w.]+", re.ASCII)
_UNSEEN: Final = "\u115f\u1160\u2800\u3164\uffa0"
"""Letters and signs that are drawn as nothing; those of other kinds are not printable."""

_SEPARATORS = re.compile(r"[\s_#\-‐‑‒–—−]+")
_QUOTES = re.compile(
    r"“([^“”]+)”|‘([^‘’]+)’|「([^「」]+)」|『([^『』]+)』|\"([^\"\n]+)\"|`([^`\n]+)`"
    r"|(?<!\w)'([^'\n]+)'(?!\w)"
)
_SENTENCE_END = re.compile(
    r"(?<=[。！？；!?;])(?![。！？!?”’」』\"')）])|(?<=[。！？!?][”’」』）])"
    r"|(?<=[.!?][\"')])\s+|(?<=[.])\s+|\n+"
)
_ABBREVIATION = re.compile(
    r"(?:\b(?:[A-Za-z]|e\.g|i\.e|etc|vs|Mr|Mrs|Ms|Dr|No|approx)|^\d{1,3})\.$"
)


def tokens(text: str) -> list[str]:
    """Splits a text into words and numbers, lower-cased; ids stay whole, punctuation goes."""
    found: list[str] = []
    for chunk in _CHUNK.findall(narrow(text).lower()):
        if IS_CJK.match(chunk):
            found.extend(_chinese().cut(chunk))
        else:
            found.append(chunk.removesuffix("'s").removesuffix("’s"))
    return found


@remembered
def content_terms(text: str) -> frozenset[str]:
    """Gives the words that say what a text is about.

    Left out are stop words, measure words (两只, 一个), what only asks for something
    (帮我, 查一下, please) and single digits.
    """
    found: set[str] = set()
    plain = words.REQUEST.sub(" ", narrow(text).lower())
    for chunk in _CHUNK.findall(plain):
        if IS_CJK.match(chunk):
            found.update(word for word, kind in _chinese().tag(chunk) if _is_content(word, kind))
        else:
            word = chunk.removesuffix("'s").removesuffix("’s")
            is_small = word.isdigit() and len(word) < _SHORTEST_AMOUNT
            if len(word) > 1 and not is_small and word not in words.ENGLISH_STOP:
                found.add(word)
    return frozenset(found)


def identifiers(text: str) -> list[str]:
    """Finds what looks like an id, a code or a model number, as written, each once.

    An id has a digit and at least four characters. Dates, times, amounts with a unit or
    decimals, links and mail addresses are none. Two spellings are the same id when
    `normal_id` makes them equal.
    """
    return list(_identifiers(text))


@remembered
def _identifiers(text: str) -> tuple[str, ...]:
    plain = LINK.sub(" ", narrow(text))
    found: dict[str, str] = {}
    if not _DIGIT.search(plain):
        return ()
    for code in _CODE.finditer(plain):
        written = code.group()
        start, end = code.span()
        before, after = plain[max(0, start - _NEARBY) : start], plain[end : end + _NEARBY]
        if (
            _SHORTEST_ID <= len(written) <= _LONGEST_ID
            and any(character.isdigit() for character in written)
            and not words.NOT_AN_ID.fullmatch(written)
            and not words.AMOUNT_BEFORE.search(before)
            and not (written.isdigit() and words.AMOUNT_AFTER.match(after))
        ):
            found.setdefault(normal_id(written), written)
    return tuple(found.values())


def normal_id(text: str) -> str:
    """Gives the form in which ids are compared: no spaces, dashes, `_` or `#`, lower case."""
    return _SEPARATORS.sub("", _folded(text))


def names_id(texts: Iterable[str], code: str) -> bool:
    """Whether one of the texts holds this very id, code or number, as a whole.

    Spaces, dashes and thousands separators do not count; 9999 does not stand in 99999. A
    number also stands where the text writes it in another way (2万 for 20000).
    """
    wanted = normal_id(code)
    if not wanted:
        return False
    for text in texts:
        if spells(_folded(text), wanted):
            return True
        if wanted.isdecimal() and Decimal(wanted) in numbers(text):
            return True
    return False


def quoted(text: str) -> list[str]:
    """Gives what stands in quotation marks of any kind, in order."""
    parts = [found.group(found.lastindex or 0).strip() for found in _QUOTES.finditer(text)]
    return [part for part in parts if part]


def numbers(text: str) -> list[Decimal]:
    """Reads the numbers in a text: `1,299.00`, `1.2亿`, `3千`, `两千`, `-4`.

    Pieces of dates, times and ids are left out. Chinese numerals count with a unit
    (三百) or before a measure word (三个); 一 alone hardly ever is a number.
    """
    return list(_numbers(text))


@remembered
def _numbers(text: str) -> tuple[Decimal, ...]:
    plain = words.NO_NUMBER.sub(" ", narrow(text))
    found: list[Decimal] = []
    for match in words.NUMBER.finditer(plain):
        value: Decimal | None = None
        if match["chinese"]:
            value = _chinese_number(match["chinese"])
        elif len(match["arabic"]) <= _MOST_DIGITS:
            value = Decimal(match["arabic"].replace(",", "")) * words.SCALES[match["scale"] or ""]
        if value is not None:
            whole = value == value.to_integral()
            found.append(Decimal(int(value)) if whole else value.normalize())
    return tuple(found)


def mentions(text: str, terms: Iterable[str]) -> bool:
    """Says whether any of the terms occurs: Latin ones as whole words, also with a plural s."""
    plain = narrow(text).lower()
    for term in terms:
        wanted = narrow(term).lower().strip()
        if not wanted:
            continue
        if IS_CJK.search(wanted):
            if wanted in plain:
                return True
        elif stands_whole(plain, _singular(wanted), ("", "s", "es")):
            return True
    return False


def contains_quote(text: str, quote: str) -> bool:
    """Says whether `quote` stands in `text`, apart from spaces, width and letter case.

    From 12 characters on a slip of a character or two is forgiven, but never in a number
    or a negation: there the slip is the meaning.
    """
    plain, wanted = _squeezed(text), _squeezed(quote)
    if len(wanted) < _SHORTEST_QUOTE:
        return False
    if wanted in plain:
        return True
    if not _SHORTEST_LOOSE_QUOTE <= len(wanted) <= len(plain):
        return False
    from rapidfuzz import fuzz  # only where a quote was not copied as it stands

    best = fuzz.partial_ratio_alignment(wanted, plain, score_cutoff=_LOOSE_QUOTE_SCORE)
    if best is None or best.score < _LOOSE_QUOTE_SCORE:
        return False
    window = plain[best.dest_start : best.dest_end]
    return words.MEANING.findall(window) == words.MEANING.findall(wanted)


def similarity(a: str, b: str) -> float:
    """Says how alike two texts are, 0 to 1, by characters or by words in any order."""
    left, right = _squeezed(a), _squeezed(b)
    if left == right:
        return 1.0
    from rapidfuzz import fuzz

    by_words = fuzz.token_sort_ratio(" ".join(tokens(a)), " ".join(tokens(b)))
    return max(fuzz.ratio(left, right), by_words) / 100


def sentences(text: str) -> list[str]:
    """Splits a text at the ends of sentences and lines, Chinese and English."""
    return list(_sentences(text))


@remembered
def _sentences(text: str) -> tuple[str, ...]:
    found: list[str] = []
    held = ""
    for part in _SENTENCE_END.split(text):
        held = f"{held} {part.strip()}".strip()
        if held and not _ABBREVIATION.search(held):
            found.append(held)
            held = ""
    return (*found, held) if held else tuple(found)


def is_blank(text: str) -> bool:
    """Whether a text shows nothing: blanks, and characters that only look like none."""
    return not any(c.isprintable() and not c.isspace() and c not in _UNSEEN for c in text)


@cache
def _chinese() -> "rjieba.Jieba":
    """Loads the dictionary, about 0.2 s, when the first Chinese text comes."""
    import rjieba

    return rjieba.Jieba()


@cache
def _chinese_number(numeral: str) -> Decimal | None:
    from cn2an import cn2an  # type: ignore[import-untyped]

    try:
        return Decimal(str(cn2an(numeral, "smart")))
    except ValueError:
        return None  # characters of numerals in a row that make no number, such as 三十十


def _is_content(word: str, kind: str) -> bool:
    if word in words.CHINESE_STOP or kind[0] in words.EMPTY_KINDS:
        return False
    return len(word) > 1 or kind[0] != "v"


def narrow(text: str) -> str:
    """Gives the text in one width, without half characters that no library takes."""
    if text.isascii():
        return text
    return unicodedata.normalize("NFKC", text.encode("utf-8", "replace").decode())


def _folded(text: str) -> str:
    if text.isascii():
        return text.lower()
    return unicodedata.normalize("NFKC", text).casefold()


def _squeezed(text: str) -> str:
    return "".join(narrow(text).translate(words.PUNCTUATION).casefold().split())


def _singular(word: str) -> str:
    return word[:-1] if len(word) > 3 and word.endswith("s") and word[-2] not in "su" else word
