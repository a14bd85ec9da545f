"""What a tool returned as text, as the data that it is written in."""

import ast
import json
import re
import string
from typing import Final, cast

from pydantic import JsonValue

_LONGEST_REPR: Final = 20_000
"""Characters of Python notation that is read as data; longer is taken as plain text."""


_FENCED = re.compile(r"```(?:json)?[ \t]*\n(?P<body>(?:(?!```).)*)```", re.DOTALL | re.IGNORECASE)
"""A whole text that is one block of JSON between backticks."""


_UNSEEN: Final = string.whitespace + "\x00\u00a0\u200b\u200c\u200d\u200e\u200f\u2060\u3000\ufeff"
"""Blanks, and marks of a file's start or of a text's direction, which nobody sees."""

_LABEL: Final = re.compile(
    r"\A(?:data|result|response|output|body|返回|结果|响应)\s*[:：]\s*(?=[{\[])", re.IGNORECASE
)
"""What stands before the data and only says that it follows."""

_BYTES: Final = re.compile(
    r"""(?:bytearray\()?
        (?P<bytes>b'(?:[\ -&(-\[\]-~]|\\(?:[\\'nrt]|x[0-9a-f]{2}))*'
        |b"(?:[\ !\#-\[\]-~]|\\(?:[\\"nrt]|x[0-9a-f]{2}))*")
        \)?""",
    re.VERBOSE,
)
"""Bytes as Python shows them."""


_NEXT: Final = re.compile(r"[\s,;]*")
"""What stands between objects of a stream."""


def decoded(output: str) -> JsonValue:
    """Gives the data that `output` is written in, or `output` itself as text."""
    value = _decoded(output)
    if isinstance(value, str) and value.lstrip()[:1] in {"{", "["}:
        return _decoded(value)  # JSON that was put into JSON as a text
    return value


def _decoded(output: str) -> JsonValue:
    text = _LABEL.sub("", output.strip().strip(_UNSEEN), count=1)
    if fence := _FENCED.fullmatch(text):
        text = fence["body"].strip()
    try:
        return cast("JsonValue", json.loads(text, strict=False))
    except (ValueError, RecursionError):
        pass  # not JSON: an ordinary case, the text itself is the answer
    if len(text) > _LONGEST_REPR:
        return text
    if shown := _BYTES.fullmatch(text):
        value: bytes = ast.literal_eval(shown["bytes"])
        return _decoded(value.decode("utf-8", "replace"))
    if (text.startswith("{'") and text.endswith("}")) or (
        text.startswith("[{'") and text.endswith("}]")
    ):
        # A dict, or a list of them, that somebody put through str().
        import json_repair  # takes 30 ms to import, and few tools answer so

        try:
            data = cast("JsonValue", json_repair.loads(text, skip_json_loads=True))
        except (ValueError, RecursionError):
            return text  # nested too deeply for the repair
        return data if isinstance(data, dict | list) else text
    return text


def json_run(text: str) -> tuple[list[dict[str, JsonValue]], str]:
    """Gives the JSON objects that a text begins with, one after another, and what follows them."""
    decoder = json.JSONDecoder(strict=False)
    values: list[dict[str, JsonValue]] = []
    place = 0
    while text.startswith("{", place):
        try:
            value, end = cast("tuple[JsonValue, int]", decoder.raw_decode(text, place))
        except (ValueError, RecursionError):
            break
        if not isinstance(value, dict) or not value:
            break
        values.append(value)
        behind = _NEXT.match(text, end)
        place = behind.end() if behind else end
    return values, text[place:].strip()
