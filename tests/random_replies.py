"""Small parts of random runs: replies that are broken, what a prompt is about, and a tape."""

import re
import threading
from collections import defaultdict
from collections.abc import Sequence

from random_scenarios import SUBJECTS, UNNAMED
from scripted_faults import hang
from scripted_replies import (
    JsonObject,
    Reply,
    error,
    messages_of,
    text_of,
)

VARIANTS = ("north", "south", "east", "west", "upper", "lower", "inner", "outer")
"""Second words of arguments, so that a call can differ from the one before."""

_FOUND = re.compile("|".join(SUBJECTS))
_RESULT = re.compile(r'from="result">("(?:[^"\\]|\\.)*")</data-')


class Tape:
    """The next entry of a list for each key: in order, and the last one for ever."""

    def __init__(self) -> None:
        self._lock = threading.Lock()
        self._places: dict[str, int] = defaultdict(int)

    def place(self, key: str) -> int:
        """How often `key` was asked for before."""
        with self._lock:
            self._places[key] += 1
            return self._places[key] - 1

    def next(self, key: str, entries: Sequence[str]) -> str:
        """The next of `entries`."""
        return entries[min(self.place(key), len(entries) - 1)]


def broken_reply(kind: str, prose: str) -> Reply | None:
    """Replies that are the same for every role."""
    if kind == "crash":
        return Reply(fail_with=RuntimeError("the client crashed"))
    fixed = {
        "down": error(503),
        "timeout": hang(),
        "dropped": Reply(drop_connection=True),
        "prose": Reply(prose),
        "junk": Reply("[[{\x00 %% }"),
        "cut off": Reply('{"analysis": "it was', finish_reason="length"),
        "two verdicts": Reply('{"verdict": "PASS"} or {"verdict": "RETRY"}'),
        "no verdict": Reply('{"analysis": "fine", "verdict": "MAYBE"}'),
    }
    return fixed.get(kind)


def prompt_of(body: JsonObject) -> str:
    """What the library itself wrote for the model, apart from the rules of the role."""
    return "\n".join(text_of(m) for m in messages_of(body) if m.get("role") == "user")


def subject_in(text: str) -> str:
    """The first subject in a text."""
    found = _FOUND.search(text)
    return found.group() if found else UNNAMED
