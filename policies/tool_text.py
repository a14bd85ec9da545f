"""Tool calls that a model wrote as text, because nothing on its side parses them.

A call counts only where it stands as a call: the whole message, a fence, or a tag at
the start of a line. One in running prose is somebody talking about calls. And it counts
only if the tool exists and the arguments fit, since a wrong guess here runs something.
"""

import re
from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass
from itertools import islice
from typing import Final

from pydantic import JsonValue

from hansei.policies.argument_schema import ToolSchema, fitting_arguments
from hansei.policies.json_scan import JsonObject, decode_run
from hansei.policies.reading import strip_thinking

_WRAPPERS: Final = ("function", "function_call", "tool_call")
_NAME_KEYS: Final = ("name", "tool", "tool_name", "function", "action")
_ARGUMENT_KEYS: Final = ("arguments", "parameters", "args", "tool_input", "action_input")
_CALL_ONLY_KEYS: Final = frozenset({"arguments", "tool_input", "action_input"})
"""Keys that data hardly ever has: with one of them even an unknown name is a call."""

_JSON_FENCES: Final = frozenset({"", "json", "tool_call", "tool_code", "tool"})
"""Words after the backticks under which models put calls."""

_MOST_LINES: Final = 50
"""Lines that start like JSON and are looked at: a message with calls has a handful."""

_MARKUP_SIGNS: Final = re.compile(r"[\[{`<]")
"""Every call that is written as text has one of these; most results and answers have none."""

_MARK = re.compile(
    r"```[ \t]*(?P<fence>[\w+-]*)|^[ \t]*(?P<tag><tool_call>)"
    r"|(?:^|(?<=<tool_call>))[ \t]*<function=(?P<function>[^>\s]+)\s*>",
    re.MULTILINE,
)
_PARAMETER = re.compile(r"\s*<parameter=(?P<key>[^>\s]+)\s*>(?P<value>.*?)</parameter>", re.DOTALL)
_MARKUP = re.compile(r"^[ \t]*<(?:tool_call>|function=[^>\s]+\s*>)", re.MULTILINE)
_FENCE_END = re.compile(r"```(?P<label>[\w+-]*)")
_OBJECT_LINE = re.compile(r"^[ \t]*(?=[\[{])", re.MULTILINE)
_BROKEN_START = re.compile(r"\s*[\[{]")
_CALL_PARTS = re.compile(
    r"""["'](?:name|tool|tool_name|action)["']\s*:\s*["'](?P<name>[^"']+)["']""",
)
_ARGUMENT_PART = re.compile(
    r"""["'](?:arguments|parameters|args|tool_input|action_input)["']\s*:"""
)


@dataclass(frozen=True, slots=True)
class TextCall:
    """One call that was read out of text: a known tool and arguments that fit its schema."""

    name: str
    args: dict[str, JsonValue]


def read_tool_calls(text: str, known: Mapping[str, ToolSchema]) -> list[TextCall]:
    """Reads the tool calls that a message consists of, in the order they were written.

    Args:
        text: The message's text. The caller leaves out a reply that was cut.
        known: The tools that exist, each with the JSON schema of its arguments.

    Returns:
        The calls, each once. Empty if there are none, and also if one of several names an
        unknown tool or has arguments that do not fit: half of what was asked is not done.
    """
    calls: list[TextCall] = []
    if not _MARKUP_SIGNS.search(text):
        return calls
    for written in _written(strip_thinking(text)):
        call = _checked(written, known)
        if call is None:
            return []
        if call not in calls:
            calls.append(call)
    return calls


def looks_like_tool_call(text: str, known: Mapping[str, ToolSchema]) -> bool:
    """Says whether `text` is the markup of a call, valid or not, and so never a result."""
    if not _MARKUP_SIGNS.search(text):
        return False
    text = strip_thinking(text)
    if _MARKUP.search(text):
        return True
    written = [*_written(text), *_on_own_lines(text)]
    if any(item.is_plain or item.name in known for item in written):
        return True
    return any(
        part["name"] in known
        for body in _broken_bodies(text)
        if _ARGUMENT_PART.search(body)
        for part in _CALL_PARTS.finditer(body)
    )


@dataclass(frozen=True, slots=True)
class _Written:
    """A call as it stands in the text, not compared with any tool yet."""

    name: str
    args: JsonValue
    is_plain: bool
    """The shape alone says that it is a call."""
    as_text: bool = False
    """Every argument is text, whatever type it stands for."""


def _written(text: str) -> Iterator[_Written]:
    values, end = decode_run(text)
    if values and end == len(text):
        yield from _call_shapes(values)
        return
    place = 0
    last_end = text.rfind("</function>")
    while mark := _MARK.search(text, place):
        place = mark.end()
        if mark["function"]:
            if place <= last_end:
                end = text.find("</function>", place)
                yield _from_function(mark["function"], text[place:end].rstrip())
                place = end
            continue
        if mark["tag"] or mark["fence"].lower() in _JSON_FENCES:
            closing = ("</tool_call>", "<tool_call>") if mark["tag"] else ("```",)
            values, end = decode_run(text, place)
            if values and (end == len(text) or text.startswith(closing, end)):
                yield from _call_shapes(values)
                place = end
        if not mark["tag"]:
            place = _past_fence(text, place)


def _past_fence(text: str, place: int) -> int:
    end = _FENCE_END.search(text, place)
    if end is None:
        return len(text)
    # A closing fence has no label: with one, the next fence opens here.
    return end.start() if end["label"] else end.end()


def _call_shapes(values: Iterable[JsonValue]) -> Iterator[_Written]:
    for value in values:
        for item in value if isinstance(value, list) else [value]:
            several = item.get("tool_calls") if isinstance(item, dict) else None
            for one in several if isinstance(several, list) else [item]:
                call = _call_shape(one) if isinstance(one, dict) else None
                if call is not None:
                    yield call


def _call_shape(value: JsonObject) -> _Written | None:
    wrapped = next((w for key in _WRAPPERS if isinstance(w := value.get(key), dict)), None)
    value = value if wrapped is None else wrapped
    name = next((n for key in _NAME_KEYS if isinstance(n := value.get(key), str)), None)
    key = next((key for key in _ARGUMENT_KEYS if key in value), None)
    if name is None or key is None:
        return None
    return _Written(name, value[key], is_plain=wrapped is not None or key in _CALL_ONLY_KEYS)


def _from_function(name: str, body: str) -> _Written:
    args: dict[str, JsonValue] = {}
    place = 0
    while part := _PARAMETER.match(body, place):
        if part["key"] in args:
            break
        args[part["key"]] = part["value"].removeprefix("\n").removesuffix("\n")
        place = part.end()
    complete = place == len(body)
    return _Written(name, args if complete else None, is_plain=True, as_text=complete)


def _checked(written: _Written, known: Mapping[str, ToolSchema]) -> TextCall | None:
    schema = known.get(written.name)
    if schema is None:
        return None
    args = written.args
    if isinstance(args, str):
        values, end = decode_run(args)
        args = values[0] if len(values) == 1 and end == len(args) else None
    if not isinstance(args, dict):
        return None
    for candidate in (args, _decoded(args)) if written.as_text else (args,):
        fitting = fitting_arguments(candidate, schema, text_only=written.as_text)
        if fitting is not None:
            return TextCall(written.name, fitting)
    return None


def _decoded(args: JsonObject) -> JsonObject:
    decoded: JsonObject = {}
    for key, value in args.items():
        decoded[key] = value
        if isinstance(value, str) and value.lstrip()[:1] in {"[", "{"}:
            values, end = decode_run(value)
            if len(values) == 1 and end == len(value):
                decoded[key] = values[0]
    return decoded


def _on_own_lines(text: str) -> Iterator[_Written]:
    """Gives calls that stand on lines of their own among prose: not run, but not a result."""
    end = 0
    for found in islice(_OBJECT_LINE.finditer(text), _MOST_LINES):
        if found.start() < end:
            continue
        values, end = decode_run(text, found.start())
        if end == len(text) or text[end - 1] == "\n":
            yield from _call_shapes(values)


def _broken_bodies(text: str) -> Iterator[str]:
    """Gives the parts of `text` that stand where a call would stand."""
    if _BROKEN_START.match(text):
        yield text
    place = 0
    while mark := _MARK.search(text, place):
        place = mark.end()
        if mark["fence"] is not None and mark["fence"].lower() in _JSON_FENCES:
            start, place = place, _past_fence(text, place)
            yield text[start:place]
