"""Finds JSON values in a text that has more in it: fences, prose, a broken draft.

Values are decoded from their first bracket on by the standard decoder, so brackets in
strings and in prose do no harm. What lies inside a value, whole or broken, is never
taken for a value of its own.
"""

import json
import re
from collections import Counter
from collections.abc import Iterator
from dataclasses import dataclass, replace
from typing import Final, TypeAlias, cast

from pydantic import JsonValue

JsonObject: TypeAlias = dict[str, JsonValue]
JsonArray: TypeAlias = list[JsonValue]

_LONGEST_REPAIR: Final = 50_000
"""Characters of broken JSON given to the repair: far above a real reply, and it stays quick."""

_MOST_REPAIRS: Final = 3
"""Broken objects that are looked at: a reply holds one, a draft and a note at the very most."""

_LOOK_BACK: Final = 20
"""Characters looked at before a value: room for the end of a key."""

_MOST_FAILURES: Final = 2_000
"""Brackets in prose that look like a value and are none; each costs a look at all before it."""

_OPENER = re.compile(
    r"""\{(?=\s*(?:["'“”‘’}]|[\w$-]+\s*[:：]))|\[(?=\s*(?:["'{\[\]\d-]|true|false|null))"""
)
_SEPARATOR = re.compile(r"[\s;,]*")
_BRACKET = re.compile(r'\\.|["{}\[\]]', re.DOTALL)
_OBJECT_START = re.compile(r"""\{\s*(?:["'“”‘’]|[\w$-]+\s*[:：])""")
_ARRAY_START = re.compile(r"""\[\s*[{\["']""")
_GOES_ON = re.compile(r"""\s*(?:["'}\]]|[,:]\s*["'])""")
_STRAY_FIELD = re.compile(r"""["']\w{1,60}["']\s*:\s*["'{\[\d]""")
_KEY_BEFORE = re.compile(r"""["']\s*[:,]\s*$""")


@dataclass(frozen=True, slots=True)
class Scan:
    """What stands at the top level of a text."""

    values: list[tuple[JsonObject | JsonArray, bool]]
    """Each value, and whether it stands in a fence."""
    broken: list[str]
    """Values that are not JSON but end where they should."""
    refusal: str
    """Why nothing here can be trusted, for a repair request; empty when it can."""


_TOO_MUCH: Final = "the JSON in the reply is too deep or too large to read"
_PART: Final = "the JSON in the reply is part of something larger that cannot be read"


class _RefusedValueError(ValueError):
    """A value that decodes, but has no single meaning."""


def json_values(text: str) -> list[JsonObject | JsonArray]:
    """Finds the top-level JSON objects and arrays in `text`, in order.

    Values that stand in fences are returned alone if there are any. What cannot be
    trusted (a cut value, a field twice with different content) gives an empty list.
    """
    found = scan(text)
    if found.refusal:
        return []
    fenced = [value for value, in_fence in found.values if in_fence]
    return fenced or [value for value, _ in found.values]


def decode_run(text: str, start: int = 0) -> tuple[list[JsonObject | JsonArray], int]:
    """Decodes the values that follow each other from `start`, apart from `;`, `,` and space.

    Returns:
        The values, and the place after the last one and what separates it from the rest.
        Whatever is wrong with a value ends the run before it.
    """
    values: list[JsonObject | JsonArray] = []
    place = _skip(text, start)
    while place < len(text) and text[place] in "{[":
        try:
            value, place = _decode(text, place)
        except (ValueError, RecursionError):
            break
        values.append(value)
        place = _skip(text, place)
    return values, place


def scan(text: str) -> Scan:
    """Walks over the openers at the top level; what is inside a value is never looked at."""
    found = Scan([], [], "")
    place = failures = 0
    fenced = False
    while opener := _OPENER.search(text, place):
        start = opener.start()
        if _is_inside(text, place, start):
            return replace(found, refusal=_PART)
        fenced ^= text.count("```", place, start) % 2 == 1
        try:
            value, place = _decode(text, start)
        except json.JSONDecodeError as error:
            if not (_OBJECT_START.match(text, start) or _ARRAY_START.match(text, start)):
                place = max(start + 1, error.pos)  # a bracket in prose
                failures += 1
                if failures > _MOST_FAILURES:
                    return replace(found, refusal="the reply has too many brackets to read")
                continue
            end = _end_of_broken(text, start)
            if end is None or _GOES_ON.match(text, end):
                return replace(found, refusal="the JSON in the reply is not complete")
            found.broken.append(text[start:end])
            place = end
        except (ValueError, RecursionError) as error:
            refused = isinstance(error, _RefusedValueError)
            return replace(found, refusal=str(error) if refused else _TOO_MUCH)
        else:
            found.values.append((value, fenced))
    stray = bool(found.values) and _is_inside(text, place, len(text))
    return replace(found, refusal=_PART) if stray else found


def _is_inside(text: str, start: int, end: int) -> bool:
    """Says whether what stands between two values shows that they lie in something larger."""
    return bool(
        _STRAY_FIELD.search(text, start, min(end + 1, len(text)))
        or _KEY_BEFORE.search(text, max(start, end - _LOOK_BACK), end)
    )


def mended(source: str) -> JsonValue:
    """What the text of one broken value seems to mean.

    Raises:
        ValueError: Nothing.
        RecursionError: It is nested too deeply.
    """
    import json_repair  # takes 30 ms to import, and most replies need no repair

    return cast("JsonValue", json_repair.loads(source, skip_json_loads=True))


def repaired(broken: list[str]) -> Iterator[JsonObject]:
    """Mends broken objects: single quotes, missing or trailing commas, Python's own words.

    A repair that did more than mend the form (it dropped a second value of a field, or
    picked a word out of something longer) is left out.
    """
    for source in broken[:_MOST_REPAIRS]:
        if source[0] != "{" or len(source) > _LONGEST_REPAIR:
            continue
        try:
            value = mended(source)
        except (ValueError, RecursionError):
            continue  # nested too deeply to be repaired, so it stays broken
        if isinstance(value, dict) and _is_faithful(value, source):
            yield value


def _skip(text: str, place: int) -> int:
    found = _SEPARATOR.match(text, place)
    return found.end() if found else place


def _one_meaning(pairs: list[tuple[str, JsonValue]]) -> JsonObject:
    value = dict(pairs)
    if len(value) != len(pairs) and any(value[key] != item for key, item in pairs):
        raise _RefusedValueError("the JSON has a field twice with different values")
    return value


def _no_constant(name: str) -> JsonValue:
    raise _RefusedValueError(f"the JSON has {name}, which is not a JSON value")


_DECODER: Final = json.JSONDecoder(
    strict=False, object_pairs_hook=_one_meaning, parse_constant=_no_constant
)


def _decode(text: str, place: int) -> tuple[JsonObject | JsonArray, int]:
    return cast("tuple[JsonObject | JsonArray, int]", _DECODER.raw_decode(text, place))


def _end_of_broken(text: str, start: int) -> int | None:
    """Says how far a broken value reaches, so that nothing inside it is taken for an answer."""
    depth = 0
    in_string = False
    for found in _BRACKET.finditer(text, start):
        mark = found.group()
        if mark == '"':
            in_string = not in_string
        elif in_string or mark[0] == "\\":
            continue
        elif mark in "{[":
            depth += 1
        else:
            depth -= 1
            if depth == 0:
                return found.end()
    return None


def _is_faithful(value: JsonObject, source: str) -> bool:
    """Says whether a repair only mended the form."""
    keys: Counter[str] = Counter()
    words: set[str] = set()
    todo: list[JsonValue] = [value]
    while todo:
        item = todo.pop()
        if isinstance(item, dict):
            keys.update(item.keys())
            todo.extend(item.values())
        elif isinstance(item, list):
            todo.extend(item)
        elif isinstance(item, str) and item.strip().isidentifier():
            words.add(item.strip())
    for key, count in keys.items():
        if len(re.findall(rf"""(?<!\w){re.escape(key)}["'”’]?\s*[:：]""", source)) != count:
            return False
    return all(
        re.search(rf"""[:：,，\[]\s*["'“‘]?\s*{word}\s*["'”’]?\s*(?:[,，}}\]]|\n)""", source)
        for word in words
    )
