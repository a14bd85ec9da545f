"""What a tool returned as text, as the data that it is written in."""

import json
import re
from typing import Final, cast

from pydantic import JsonValue

_LONGEST_REPR: Final = 20_000
"""Characters of Python notation that is read as data; longer is taken as plain text."""


_FENCED = re.compile(r"```(?:json)?[ \t]*\n(?P<body>(?:(?!```).)*)```", re.DOTALL | re.IGNORECASE)
"""A whole text that is one block of JSON between backticks."""


def decoded(output: str) -> JsonValue:
    """Gives the data that `output` is written in, or `output` itself as text."""
    value = _decoded(output)
    if isinstance(value, str) and value.lstrip()[:1] in {"{", "["}:
        return _decoded(value)  # JSON that was put into JSON as a text
    return value


def _decoded(output: str) -> JsonValue:
    text = output.strip()
    if fence := _FENCED.fullmatch(text):
        text = fence["body"].strip()
    try:
        return cast("JsonValue", json.loads(text, strict=False))
    except (ValueError, RecursionError):
        pass  # not JSON: an ordinary case, the text itself is the answer
    if text.startswith("{'") and text.endswith("}") and len(text) <= _LONGEST_REPR:
        # A dict that somebody put through str().
        import json_repair  # takes 30 ms to import, and few tools answer so

        try:
            value = cast("JsonValue", json_repair.loads(text, skip_json_loads=True))
        except (ValueError, RecursionError):
            return text  # nested too deeply for the repair
        return value if isinstance(value, dict) else text
    return text
