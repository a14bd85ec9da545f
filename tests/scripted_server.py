"""A model endpoint for tests: OpenAI's chat completions over real HTTP, answered by a script.

    with ScriptedServer() as server:
        server.script("planner", plan("look it up"))
        server.script("executor", tool_call("lookup", q="tides"), "High tide is at 9.")
        model = ChatOpenAI(base_url=server.base_url, api_key="none", model="scripted")

The requests of a critic with an endpoint of its own go to `server.critic_url`.
"""

import json
import sys
import threading
from collections.abc import Callable
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from types import TracebackType
from typing import Self, Unpack, cast

from scripted_faults import FAULTS, hang, html_page, rate_limited, raw_json
from scripted_modes import Modes
from scripted_replies import (
    Call,
    Entry,
    JsonObject,
    Reply,
    call_then_say,
    completion,
    error,
    error_body,
    plan,
    plan_data,
    stream_events,
    structured,
    tool_call,
    verdict,
    verdict_data,
)
from scripted_script import Endpoint, Recorded, Script, role_from_marker

__all__ = [
    "FAULTS",
    "Call",
    "Entry",
    "JsonObject",
    "Recorded",
    "Reply",
    "ScriptedServer",
    "call_then_say",
    "error",
    "hang",
    "html_page",
    "plan",
    "plan_data",
    "rate_limited",
    "raw_json",
    "role_from_marker",
    "structured",
    "tool_call",
    "verdict",
    "verdict_data",
]

_PATHS: dict[str, Endpoint] = {
    "/v1/chat/completions": "main",
    "/critic/v1/chat/completions": "critic",
}

_IDLE = 30.0
"""Seconds after which a client that connected and sent no request is let go."""

_POLL = 0.02
"""Seconds between looks whether to stop; the standard half second would be felt in every test."""


class ScriptedServer(Script):
    """The script behind HTTP on the loopback, at a free port, while the context is open."""

    def __init__(
        self,
        *,
        role_of: Callable[[JsonObject], str] = role_from_marker,
        **modes: Unpack[Modes],
    ) -> None:
        super().__init__(role_of=role_of, **modes)
        self.closing = threading.Event()
        self._http: _HttpServer
        self._thread: threading.Thread

    @property
    def base_url(self) -> str:
        """For `ChatOpenAI(base_url=…)`."""
        return f"http://127.0.0.1:{self._http.server_port}/v1"

    @property
    def critic_url(self) -> str:
        """The base URL of the second endpoint, which can fail on its own."""
        return f"http://127.0.0.1:{self._http.server_port}/critic/v1"

    def __enter__(self) -> Self:
        self._http = _HttpServer(self)
        serve, options = self._http.serve_forever, {"poll_interval": _POLL}
        self._thread = threading.Thread(target=serve, kwargs=options)
        self._thread.start()
        return self

    def __exit__(
        self,
        exc_type: type[BaseException] | None,
        exc: BaseException | None,
        trace: TracebackType | None,
    ) -> None:
        self.closing.set()
        self._http.shutdown()
        self._http.server_close()
        self._thread.join()
        super().__exit__(exc_type, exc, trace)


class _HttpServer(ThreadingHTTPServer):
    daemon_threads = False  # closing waits for every request, so that no socket is left open
    request_queue_size = 128  # the standard 5 turns away steps that run side by side

    def __init__(self, script: ScriptedServer) -> None:
        super().__init__(("127.0.0.1", 0), _Handler)
        self.script = script

    def handle_error(self, request: object, client_address: object) -> None:
        """A client that gave up is part of the tests; anything else is a mistake in one."""
        failure = sys.exception()
        if not isinstance(failure, ConnectionError):
            self.script.complain(f"a request could not be answered: {failure!r}")


class _Handler(BaseHTTPRequestHandler):
    protocol_version = "HTTP/1.1"  # chunked streams, so that a cut one can be told from a whole
    timeout = _IDLE
    disable_nagle_algorithm = True  # header and body are two writes

    @property
    def script(self) -> ScriptedServer:
        return cast(_HttpServer, self.server).script

    def do_POST(self) -> None:
        self.close_connection = True
        raw = self.rfile.read(int(self.headers.get("Content-Length", "0")))
        endpoint = _PATHS.get(self.path)
        if endpoint is None:
            self.script.complain(f"nothing is served at {self.path}")
            self._send(404, error_body(f"nothing is served at {self.path}"), {})
            return
        body = cast(JsonObject, json.loads(raw))
        headers = {name.lower(): value for name, value in self.headers.items()}
        reply = self.script.answer(body, endpoint=endpoint, path=self.path, headers=headers)
        if reply.fail_with is not None:
            raise TypeError("fail_with is for the in-process model")
        if reply.delay:
            self.script.closing.wait(reply.delay)
        if not reply.drop_connection:
            self._give(reply, body)

    def _give(self, reply: Reply, body: JsonObject) -> None:
        ids = self.script.ids
        if reply.raw_body is not None:
            payload = reply.raw_body
        elif reply.status >= 400:
            payload = error_body(reply.content or f"scripted error {reply.status}")
        elif body.get("stream"):
            self._stream(reply, body)
            return
        else:
            payload = json.dumps(completion(reply, body, ids), ensure_ascii=False).encode()
        headers = {"Content-Type": "application/json", **reply.headers}
        self._send(reply.status, payload, headers, cut=reply.cut_body)

    def _send(
        self, status: int, payload: bytes, headers: dict[str, str], *, cut: bool = False
    ) -> None:
        self._head(status, {**headers, "Content-Length": str(len(payload))})
        self.wfile.write(payload[: len(payload) // 2] if cut else payload)

    def _stream(self, reply: Reply, body: JsonObject) -> None:
        headers = {"Content-Type": "text/event-stream", **reply.headers}
        self._head(reply.status, {**headers, "Transfer-Encoding": "chunked"})
        for number, event in enumerate(stream_events(reply, body, self.script.ids)):
            if reply.cut_body and number == 2:
                return
            self.wfile.write(b"%x\r\n%b\r\n" % (len(event), event))
        self.wfile.write(b"0\r\n\r\n")

    def _head(self, status: int, headers: dict[str, str]) -> None:
        self.send_response(status)
        for name, value in headers.items():
            self.send_header(name, value)
        # One request a connection: a client that keeps its connections would keep our threads.
        self.send_header("Connection", "close")
        self.end_headers()

    def log_message(self, format: str, *args: object) -> None:
        """Says nothing: what was asked is in `requests`."""
