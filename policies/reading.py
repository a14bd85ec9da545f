"""Reads one structured reply out of a model's text: tolerant about form, never guessing.

A model wraps its answer in thinking, fences and prose; all of that is looked through.
What it says must still be there exactly once: two different answers, an answer inside
a broken or cut value, or a word that is only nearly right are all `Unreadable`, and
the reason can go into a request for repair.
"""

import json
import re
from collections.abc import Sequence
from dataclasses import dataclass
from functools import lru_cache
from typing import Final, TypeVar

from pydantic import BaseModel, JsonValue, ValidationError
from pydantic.errors import PydanticInvalidForJsonSchema

from hansei.policies.json_scan import (
    JsonArray,
    JsonObject,
    Scan,
    decode_run,
    json_values,
    repaired,
    scan,
)

__all__ = [
    "JsonArray",
    "JsonObject",
    "Unreadable",
    "json_values",
    "read_object",
    "read_verdict_word",
    "strip_thinking",
    "without_lines_of",
]

T = TypeVar("T", bound=BaseModel)

_LONGEST_REASON: Final = 200
"""Characters of a reason: one sentence for a repair request."""

_LOOK_BACK: Final = 200
"""Characters before a labelled line in which the start of a quotation is looked for."""

_THINKING = re.compile(r"<think(?:ing)?>(?:(?!<think).)*?</think(?:ing)?>", re.DOTALL | re.I)
_THINKING_END = re.compile(r"</think(?:ing)?>", re.IGNORECASE)
_THINKING_START = re.compile(r"<think(?:ing)?>.*", re.DOTALL | re.IGNORECASE)

_FENCED = re.compile(r"```.*?(?:```|\Z)", re.DOTALL)
_JSON_LIKE = re.compile(r"""\{\s*["'“]?\w+["'”]?\s*[:：]""")
_LABEL = re.compile(
    r"""^[ \t]*(?:\#{1,6}[ \t]+)?[*_]{0,2}[ \t]*(?:final[ \t]+)?(?:verdict|结论|判定)
        [ \t]*[*_]{0,2}[ \t]*[:：][ \t]*[*_`]{0,2}[ \t]*(?P<value>.*)$""",
    re.IGNORECASE | re.MULTILINE | re.VERBOSE | re.ASCII,
)
_WORD = re.compile(r"(PASS|RETRY|REPLAN)(?![\w-])(?P<rest>.*)", re.IGNORECASE)
_OTHER_WORD = re.compile(r"(?<!\w)(?:RETRY|REPLAN)(?!\w)")
_OPEN_CHOICE = re.compile(r"\s*(?:[/|]|or\b|或)|.*[?？]", re.IGNORECASE)
_TAKEN_BACK = re.compile(r"\s*(?:is|was|would be)?\s*(?:not\b|never\b|n't|no longer\b)", re.I)
_PLAIN_END = re.compile(r"\s*(?:$|[*_`.,;:!(（，。；：！—–-])")
_NEGATION = re.compile(
    r"\b(?:not|no|never|cannot|can't|won't|don't|doesn't|isn't|unless|until|without|only\s+if"
    r"|if|fails?|failed|neither|nor)\b|n't\b|[不未没无非勿别]|除非|如果|否",
    re.IGNORECASE,
)
_PASS_IN_PROSE = re.compile(r"(?<!\w)PASS(?!\w)")
_QUOTE_AHEAD = re.compile(
    r"(?:wrote|writes?|said|says|reads|answered|page|tool|output|user|quoted?|写|说|称|输出|网页|用户)"
    r"[^\n]*[:：]\s*$",
    re.IGNORECASE,
)


@dataclass(frozen=True, slots=True)
class Unreadable:
    """No answer could be read, and why: a short plain sentence for a repair request."""

    reason: str


def strip_thinking(text: str) -> str:
    """Removes what a reasoning model thought aloud, also when one of the tags is missing."""
    if "think" not in text.lower():
        return text
    text = _THINKING.sub("", text)
    ends = list(_THINKING_END.finditer(text))
    if ends:
        text = text[ends[-1].end() :]
    return _THINKING_START.sub("", text).strip()


def read_object(
    text: str, model: type[T], *, truncated: bool = False, foreign: Sequence[str] = ()
) -> T | Unreadable:
    """Reads the one answer of the kind `model` that `text` gives.

    Args:
        text: What the model wrote.
        model: What the answer must be. Enum words count in any letter case.
        truncated: The endpoint said that the reply was cut (`finish_reason` "length").
        foreign: Texts of others that the model was shown. An object that stands in one of them
            was copied, so it is no answer of the model's own.

    Returns:
        The answer, or `Unreadable` with what to tell the model.
    """
    if truncated:
        return Unreadable("the reply was cut off at the length limit, a shorter one is needed")
    try:
        return _read(text, model, foreign)
    except RecursionError:
        return Unreadable("the JSON in the reply is nested too deeply")


def read_verdict_word(text: str) -> str | None:
    """Reads PASS, RETRY or REPLAN out of prose that has a line such as `Verdict: RETRY`.

    The last resort, so everything in doubt is None: no labelled line, lines that
    disagree, a choice (`PASS/RETRY`), fenced text, and for PASS any word that takes it
    back, in the line or elsewhere near the word.
    """
    prose = _FENCED.sub("", strip_thinking(text))
    if _JSON_LIKE.search(prose):
        return None  # a reply that tried to be JSON and is broken is not prose
    verdicts: set[str | None] = set()
    for label in _LABEL.finditer(prose):
        word = _WORD.match(label["value"])
        if _QUOTE_AHEAD.search(prose[max(0, label.start() - _LOOK_BACK) : label.start()]):
            word = None  # somebody else's verdict
        verdicts.add(_settled(word) if word else None)
    if len(verdicts) != 1:
        return None
    verdict = verdicts.pop()
    if verdict == "PASS" and not _stands_undisputed(_LABEL.sub("", prose)):
        return None
    return verdict


def _settled(word: re.Match[str]) -> str | None:
    verdict, rest = word[1].upper(), word["rest"]
    if _OPEN_CHOICE.match(rest) or _TAKEN_BACK.match(rest):
        return None
    if verdict == "PASS" and (
        not _PLAIN_END.match(rest) or _NEGATION.search(rest) or _OTHER_WORD.search(rest)
    ):
        return None
    return verdict


def _stands_undisputed(prose: str) -> bool:
    """Says whether nothing outside the labelled line speaks against a PASS."""
    if _OTHER_WORD.search(prose):
        return False
    return not any(
        _PASS_IN_PROSE.search(line) and _NEGATION.search(line) for line in prose.splitlines()
    )


def _read(text: str, model: type[T], foreign: Sequence[str]) -> T | Unreadable:
    values, end = decode_run(text)
    # A text that is JSON as a whole may speak of <think> inside a string.
    body = text if values and end == len(text) else strip_thinking(text)
    if not body.strip():
        return Unreadable("the reply is empty")
    # One value and nothing around it, as nearly every reply is, has been read by now.
    alone = len(values) == 1 and end == len(text) and text[0] in "{[" and text[-1] in "}]"
    found = Scan([(values[0], False)], [], "") if alone else scan(body)
    if found.refusal:
        return Unreadable(found.refusal)
    objects = [value for value, _ in found.values if isinstance(value, dict)]
    mended = list(repaired(found.broken))
    if not objects and not all(_says_all(value, body) for value in mended):
        return Unreadable("the JSON is broken and says a field twice")
    objects.extend(mended)
    problem = "" if objects else "the reply has no JSON object that can be read"
    copied = [_stands_in(foreign, json.dumps(o, ensure_ascii=False)) for o in objects]
    answers: list[T] = []
    for candidate, is_copy in zip(objects, copied, strict=True):
        answer = _validated(candidate, model)
        if isinstance(answer, Unreadable):
            problem = problem or answer.reason
        elif is_copy:
            problem = problem or "the JSON in the reply was copied out of the data"
        elif answer not in answers:
            answers.append(answer)
    if len(answers) > 1:
        return Unreadable("the reply gives two answers that differ, exactly one is needed")
    own = [o for o, is_copy in zip(objects, copied, strict=True) if not is_copy]
    if answers and _says_otherwise(body, own, found.broken):
        return Unreadable("the reply names another verdict than the one in its JSON")
    return answers[0] if answers else Unreadable(problem)


_VERDICT = re.compile(r"(?<![\w\"'“])(?:PASS|RETRY|REPLAN)(?![\w\"'”])")
_SEVERAL = re.compile(
    rf"{_VERDICT.pattern}(?:\s*(?:[/|,，、]|or\b|and\b|或|和)+\s*{_VERDICT.pattern})+"
)
"""Several of the words in a row: what there is to choose from, no choice."""


_FIELD = re.compile(r"""["']verdict["']\s*:\s*["'](PASS|RETRY|REPLAN)\b""", re.IGNORECASE)
"""The verdict of an object that is broken beyond reading."""


def _says_otherwise(text: str, objects: Sequence[JsonObject], broken: Sequence[str]) -> bool:
    """Whether prose around a verdict names another: the JSON may only show the format.

    A word inside quotation marks or braces is somebody's, or a value's, and does not count.
    """
    given = {str(value["verdict"]).strip().upper() for value in objects if "verdict" in value}
    prose = _SEVERAL.sub(" ", re.sub(r"\{[^{}]*\}", " ", _without_inner(text)))
    said = set(_VERDICT.findall(prose)) | {
        word.upper() for word in _FIELD.findall(" ".join(broken))
    }
    return len(given) > 1 or (bool(given) and bool(said - given))


def _without_inner(text: str) -> str:
    """The text from which braces inside braces are taken, so that the outer ones can be."""
    while text.count("{") > 1 and (less := re.sub(r"(\{[^{}]*)\{[^{}]*\}", r"\1", text)) != text:
        text = less
    return text


def _says_all(value: JsonObject, text: str) -> bool:
    """Whether a mended object holds all that a text says about its fields, each said once.

    What was broken may have lost its second half, and that half may say something else.
    """
    return all(
        len(re.findall(rf"""["'“”]{re.escape(key)}["'“”]\s*[:：]""", text)) <= 1 for key in value
    )


def without_lines_of(foreign: Sequence[str], text: str) -> str:
    """The text without the lines that stand in a text of others as well."""
    return "\n".join(
        line for line in text.splitlines() if not line.strip() or not _stands_in(foreign, line)
    )


def _stands_in(texts: Sequence[str], part: str) -> bool:
    wanted = _bare(part)
    return any(wanted in _bare(text) for text in texts)


def _bare(text: str) -> str:
    """The text without layout, escapes and kinds of quotation marks, to find copies by."""
    bare = "".join(text.split())
    for sign in "\\\"'“”‘’*_`":
        bare = bare.replace(sign, "")
    return bare.casefold()


def _validated(value: JsonObject, model: type[T]) -> T | Unreadable:
    fields = model.model_fields
    names = {name for key, field in fields.items() for name in (key, field.alias) if name}
    if names.isdisjoint(value):
        return Unreadable(f"the JSON object has none of the fields {', '.join(sorted(names))}")
    try:
        json.dumps(value, ensure_ascii=False).encode()
    except UnicodeEncodeError:
        return Unreadable("the JSON has a broken character that no text file could hold")
    try:
        return model.model_validate(value)
    except ValidationError as error:
        mended = _with_enum_words(value, error, _enum_words(model))
    try:
        return model.model_validate(mended)
    except ValidationError as error:
        first = error.errors(include_url=False, include_input=False)[0]
        place = ".".join(str(part) for part in first["loc"]) or "the object"
        return Unreadable(f"the fields do not fit: {place}: {first['msg']}"[:_LONGEST_REASON])


@lru_cache(maxsize=64)
def _enum_words(model: type[BaseModel]) -> dict[str, str]:
    """Maps the lower-case form of every enum word in the model's schema to the word."""
    try:
        todo: list[JsonValue] = [model.model_json_schema()]
    except PydanticInvalidForJsonSchema:
        return {}
    words: dict[str, str] = {}
    while todo:
        item = todo.pop()
        if isinstance(item, dict):
            allowed = item.get("enum")
            listed = allowed if isinstance(allowed, list) else [item.get("const")]
            words.update({w.lower(): w for w in listed if isinstance(w, str) and w.isascii()})
            todo.extend(item.values())
        elif isinstance(item, list):
            todo.extend(item)
    return words


def _with_enum_words(value: JsonValue, error: ValidationError, words: dict[str, str]) -> JsonValue:
    for fault in error.errors(include_url=False):
        given = fault["input"]
        if fault["type"] in {"enum", "literal_error"} and isinstance(given, str):
            word = words.get(given.strip().lower()) if given.isascii() else None
            if word is not None:
                value = _put(value, fault["loc"], word)
    return value


def _put(value: JsonValue, path: tuple[int | str, ...], word: str) -> JsonValue:
    if not path:
        return word
    head, rest = path[0], path[1:]
    if isinstance(value, dict) and isinstance(head, str) and head in value:
        return {**value, head: _put(value[head], rest, word)}
    if isinstance(value, list) and isinstance(head, int) and head < len(value):
        return [*value[:head], _put(value[head], rest, word), *value[head + 1 :]]
    return value
