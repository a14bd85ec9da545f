"""Replies of endpoints that fail, by name, to be used one by one or all in a table."""

import json
from collections.abc import Mapping

from scripted_replies import HANG, Reply, error, error_body

PAGE = b"<html><body><h1>Bad gateway</h1></body></html>"


def rate_limited(retry_after: str = "1") -> Reply:
    """429 with a Retry-After header: seconds, or a date as HTTP writes it."""
    body = error_body("rate limit reached", code="rate_limit_exceeded")
    return Reply(raw_body=body, status=429, headers={"Retry-After": retry_after})


def html_page(status: int) -> Reply:
    """A gateway's HTML page in place of JSON."""
    return Reply(raw_body=PAGE, status=status, headers={"Content-Type": "text/html"})


def raw_json(data: object) -> Reply:
    """Any JSON with status 200."""
    return Reply(raw_body=json.dumps(data, ensure_ascii=False).encode())


def hang() -> Reply:
    """The connection is accepted and no byte is sent until the server closes."""
    return Reply(delay=HANG, drop_connection=True)


FAULTS: Mapping[str, Reply] = {
    "rate limited": rate_limited("1"),
    "rate limited for too long": rate_limited("300"),
    "quota used up": error(429, code="insufficient_quota"),
    "server error": error(500),
    "server error as html": html_page(500),
    "unavailable as html": html_page(503),
    "bad request": error(400),
    "wrong key": error(401),
    "unknown model": error(404),
    "bad json": Reply(raw_body=b'{"choices": [{"mess'),
    "empty body": Reply(raw_body=b""),
    "html page": html_page(200),
    "no choice": raw_json({"id": "x", "object": "chat.completion", "choices": []}),
    "null choices": raw_json({"id": "x", "object": "chat.completion", "choices": None}),
    "missing choices": raw_json({"id": "x", "object": "chat.completion"}),
    "error with 200": raw_json({"error": {"message": "upstream failed", "code": 502}}),
    "null content": Reply(None),
    "empty content": Reply(""),
    "cut by length": Reply("The answer is", finish_reason="length"),
    "content filter": Reply("", finish_reason="content_filter"),
    "no finish reason": Reply("hello", finish_reason=None),
    "bad tool arguments": Reply(None, [("lookup", '{"q": "hel')], finish_reason="tool_calls"),
    "plain text type": Reply("hello", headers={"Content-Type": "text/plain"}, usage=None),
    "cut body": Reply("hello", cut_body=True),
    "dropped": Reply(drop_connection=True),
    "hang": hang(),
}
