"""Who asked, what is answered, and what was asked: the part without a transport.

`ScriptedServer` puts it behind HTTP, `ScriptedChatModel` into the process.
"""

import itertools
import re
import threading
from collections import deque
from collections.abc import Callable, Mapping
from dataclasses import dataclass, replace
from time import monotonic
from types import TracebackType
from typing import Literal, Self, Unpack

from scripted_modes import Modes, refusal, shaped
from scripted_replies import (
    Entry,
    JsonObject,
    Reply,
    default_replies,
    error,
    messages_of,
    text_of,
)

Endpoint = Literal["main", "critic"]

_MARKER = re.compile(r"\s*\[hansei:(\w+)")


@dataclass
class Recorded:
    """One request. `time` is `time.monotonic()`; `reply` is `None` until it is chosen."""

    role: str
    endpoint: Endpoint
    path: str
    body: JsonObject
    headers: Mapping[str, str]
    time: float
    reply: Reply | None = None

    @property
    def status(self) -> int:
        """The HTTP status that was answered, 0 if none was."""
        return self.reply.status if self.reply else 0

    @property
    def prompt(self) -> str:
        """The full text of the messages."""
        return "\n\n".join(f"{m.get('role')}: {text_of(m)}" for m in messages_of(self.body))


def role_from_marker(body: JsonObject) -> str:
    """The word after `[hansei:` at the start of the first system message, else "other"."""
    for message in messages_of(body):
        if message.get("role") in ("system", "developer"):
            found = _MARKER.match(text_of(message))
            return found.group(1) if found else "other"
    return "other"


class Script:
    """Thread-safe: the replies of each role, and everything that was asked.

    Used as a context manager it raises at the end if a request had no scripted
    reply or a reply's function failed, since the library under test may well
    have survived that.

    Args:
        role_of: Maps a request's body to the role that asks.
        modes: See `Modes`; `self.modes` may be changed at any time.
    """

    def __init__(
        self,
        *,
        role_of: Callable[[JsonObject], str] = role_from_marker,
        **modes: Unpack[Modes],
    ) -> None:
        self.role_of = role_of
        self.modes: Modes = modes
        self.ids = itertools.count(1)
        self._lock = threading.Lock()
        self._scripts: dict[tuple[str, Endpoint | None], deque[Entry]] = {}
        self._broken: dict[Endpoint, Reply] = {}
        self._requests: list[Recorded] = []
        self._complaints: list[str] = []

    def script(self, role: str, *replies: Entry, endpoint: Endpoint | None = None) -> None:
        """Sets a role's replies, in order, the last one for ever; replaces what was left.

        Args:
            role: Who asks.
            replies: At least one.
            endpoint: For this endpoint only; it goes before a script for both.
        """
        if not replies:
            raise ValueError(f"a script for {role!r} needs at least one reply")
        with self._lock:
            self._scripts[role, endpoint] = deque(replies)

    def script_defaults(self) -> None:
        """Gives every role without a script the reply of a run in which all goes well."""
        with self._lock:
            for role, entry in default_replies().items():
                self._scripts.setdefault((role, None), deque([entry]))

    def break_endpoint(self, endpoint: Endpoint, reply: Reply | None = None) -> None:
        """Answers everything there with `reply` (503 if not said) and leaves scripts alone."""
        with self._lock:
            self._broken[endpoint] = error(503) if reply is None else reply

    def mend_endpoint(self, endpoint: Endpoint) -> None:
        """Ends what `break_endpoint` began."""
        with self._lock:
            self._broken.pop(endpoint, None)

    def reset(self, *, keep_scripts: bool = False) -> None:
        """Forgets requests, complaints, breaks and, unless kept, what is left of the scripts."""
        with self._lock:
            self._requests.clear()
            self._complaints.clear()
            self._broken.clear()
            if not keep_scripts:
                self._scripts.clear()

    @property
    def requests(self) -> list[Recorded]:
        """A copy of the list of requests, in the order of arrival."""
        with self._lock:
            return list(self._requests)

    @property
    def complaints(self) -> list[str]:
        """A copy of the list of the test's own mistakes: roles without a script and the like."""
        with self._lock:
            return list(self._complaints)

    def asked(self, role: str | None = None, *, endpoint: Endpoint | None = None) -> list[Recorded]:
        """The requests of a role at an endpoint, `None` for any."""
        return [
            r for r in self.requests if role in (None, r.role) and endpoint in (None, r.endpoint)
        ]

    def count(self, role: str | None = None, *, endpoint: Endpoint | None = None) -> int:
        """How many requests there were, repeats and refused ones included."""
        return len(self.asked(role, endpoint=endpoint))

    def prompts(self, role: str, *, endpoint: Endpoint | None = None) -> list[str]:
        """The full text of the messages of each request of a role."""
        return [r.prompt for r in self.asked(role, endpoint=endpoint)]

    def complain(self, complaint: str) -> None:
        """Notes a mistake of the test; see `check`."""
        with self._lock:
            self._complaints.append(complaint)

    def check(self) -> None:
        """Raises AssertionError if anything was asked that the test did not provide for."""
        if complaints := self.complaints:
            raise AssertionError("; ".join(dict.fromkeys(complaints)))

    def __enter__(self) -> Self:
        return self

    def __exit__(
        self,
        exc_type: type[BaseException] | None,
        exc: BaseException | None,
        trace: TracebackType | None,
    ) -> None:
        if exc_type is None:
            self.check()

    def answer(
        self,
        body: JsonObject,
        *,
        endpoint: Endpoint = "main",
        path: str = "",
        headers: Mapping[str, str] | None = None,
    ) -> Reply:
        """Records a request and chooses its reply. A refused request uses up no reply."""
        role = self.role_of(body)
        record = Recorded(role, endpoint, path, body, dict(headers or {}), monotonic())
        with self._lock:
            self._requests.append(record)
            fixed = self._broken.get(endpoint) or refusal(body, self.modes)
            entry = fixed or self._next(role, endpoint)
        if callable(entry):
            try:
                entry = entry(body)
            except BaseException as failure:
                self.complain(f"the reply's function for role {role!r} failed: {failure!r}")
                raise
        reply = Reply(entry) if isinstance(entry, str) else entry
        record.reply = shaped(reply, body, self.modes)
        return record.reply

    def _next(self, role: str, endpoint: Endpoint) -> Entry:
        queue = self._scripts.get((role, endpoint)) or self._scripts.get((role, None))
        if queue is None:
            complaint = f"no reply is scripted for role {role!r} at the {endpoint} endpoint"
            self._complaints.append(complaint)
            return replace(error(500, complaint), headers={"x-should-retry": "false"})
        return queue.popleft() if len(queue) > 1 else queue[0]
