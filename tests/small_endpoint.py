"""A small model endpoint over real HTTP that keeps its connections open, and can dawdle."""

from __future__ import annotations

import json
import threading
from collections.abc import Iterator
from contextlib import contextmanager
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from typing import Any

REPLY: dict[str, Any] = {
    "id": "1",
    "object": "chat.completion",
    "created": 1,
    "model": "toy",
    "choices": [
        {"index": 0, "finish_reason": "stop", "message": {"role": "assistant", "content": "ok"}}
    ],
}

EVENT = {
    "id": "1",
    "object": "chat.completion.chunk",
    "created": 1,
    "model": "toy",
    "choices": [
        {"index": 0, "finish_reason": None, "delta": {"role": "assistant", "content": "ok"}}
    ],
}


class SmallEndpoint(ThreadingHTTPServer):
    """Answers every request with "ok"; what was sent is kept."""

    daemon_threads = True
    request_queue_size = 128  # the default of 5 resets connections that come all at once

    def __init__(self) -> None:
        super().__init__(("127.0.0.1", 0), _Handler)
        self.bodies: list[dict[str, Any]] = []
        self.headers: list[dict[str, str]] = []
        self.ports: list[int] = []
        """The client's port of each request: the same one twice is a connection used again."""
        self.blanks = 0
        """How many keep-alives to send before the reply, one every `pause` seconds."""
        self.pause = 0.02
        self.stopped = threading.Event()

    @property
    def base_url(self) -> str:
        return f"http://127.0.0.1:{self.server_port}/v1"


class _Handler(BaseHTTPRequestHandler):
    protocol_version = "HTTP/1.1"
    timeout = 30
    server: SmallEndpoint

    def do_POST(self) -> None:
        body = json.loads(self.rfile.read(int(self.headers["Content-Length"])))
        self.server.bodies.append(body)
        self.server.headers.append({key.lower(): value for key, value in self.headers.items()})
        self.server.ports.append(self.client_address[1])
        streamed = body.get("stream", False)
        self.send_response(200)
        self.send_header("Content-Type", "text/event-stream" if streamed else "application/json")
        self.send_header("Transfer-Encoding", "chunked")
        self.end_headers()
        try:
            for _ in range(self.server.blanks):
                self._chunk(b": still here\n\n" if streamed else b" ")
                if self.server.stopped.wait(self.server.pause):
                    return
            if streamed:
                self._chunk(f"data: {json.dumps(EVENT)}\n\ndata: [DONE]\n\n".encode())
            else:
                self._chunk(json.dumps(REPLY).encode())
            self._chunk(b"")
        except OSError:
            # The client had enough.
            self.close_connection = True

    def _chunk(self, data: bytes) -> None:
        self.wfile.write(f"{len(data):x}\r\n".encode() + data + b"\r\n")

    def log_message(self, format: str, *args: object) -> None:
        pass


@contextmanager
def small_endpoint() -> Iterator[SmallEndpoint]:
    """One that answers while the context is open."""
    with SmallEndpoint() as server:
        thread = threading.Thread(target=server.serve_forever, kwargs={"poll_interval": 0.02})
        thread.start()
        try:
            yield server
        finally:
            server.stopped.set()
            server.shutdown()
            thread.join()
