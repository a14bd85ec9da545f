"""What a scripted model answers: one reply, its helpers, and its form on the wire.

`plan_data` and `verdict_data` are the only places that know the shape of a
structured reply; adapt them when the schema changes.
"""

import itertools
import json
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from typing import NamedTuple, cast

JsonObject = dict[str, object]

USAGE: Mapping[str, int] = {"prompt_tokens": 100, "completion_tokens": 20, "total_tokens": 120}
"""Tokens reported unless a reply says otherwise; round numbers are easy to add up in a test."""

HANG = 3600.0
"""Seconds a hanging reply waits: longer than any test, and the server ends it when it closes."""


class Call(NamedTuple):
    """One tool call with an id of the test's own; a plain `(name, arguments)` gets a fresh id."""

    name: str
    arguments: Mapping[str, object] | str
    id: str


ToolCall = Call | tuple[str, Mapping[str, object] | str]


@dataclass(frozen=True)
class Reply:
    """One answer of the scripted endpoint.

    Attributes:
        content: The text; `None` is sent as null.
        tool_calls: `(name, arguments)` or `Call`; a string is sent as it is, valid JSON or not.
        finish_reason: As on the wire. `None` in a stream means it ends early but cleanly.
        status: HTTP status; from 400 on `content` is the message of an error object.
        headers: Added to the response; `Content-Type` replaces the default.
        raw_body: Sent in place of everything that would be built.
        delay: Seconds before the first byte.
        reasoning_content: The separate channel of some servers; left out when `None`.
        usage: Token counts; left out when `None`.
        drop_connection: Close without sending a byte.
        cut_body: Send the first half of the body (a stream: its first two events), then close.
        logprobs: Natural logarithms, one for each token; left out when `None`.
        structured: The content is JSON that also answers a forced tool call, as that tool's
            arguments, the way a real endpoint would.
        fail_with: The in-process model raises this; over HTTP it is a mistake of the test.
    """

    content: str | None = ""
    tool_calls: Sequence[ToolCall] = ()
    finish_reason: str | None = "stop"
    status: int = 200
    headers: Mapping[str, str] = field(default_factory=dict[str, str])
    raw_body: bytes | None = None
    delay: float = 0.0
    reasoning_content: str | None = None
    usage: Mapping[str, int] | None = field(default_factory=lambda: dict(USAGE))
    drop_connection: bool = False
    cut_body: bool = False
    logprobs: Sequence[float] | None = None
    structured: bool = False
    fail_with: Exception | None = None


Entry = Reply | str | Callable[[JsonObject], Reply | str]
"""What can stand in a script: a reply, its text, or a function of the request's body."""


def tool_call(name: str, /, **args: object) -> Reply:
    """A reply that calls one tool."""
    return Reply(None, [(name, args)], finish_reason="tool_calls")


def error(status: int, message: str = "", *, code: str | None = None) -> Reply:
    """A reply with an HTTP error status and an error object like OpenAI's."""
    text = message or f"scripted error {status}"
    return Reply(raw_body=error_body(text, code=code), status=status)


def error_body(message: str, *, code: str | None = None, param: str | None = None) -> bytes:
    """The JSON of an error object like OpenAI's."""
    kind = "invalid_request_error" if param else "scripted_error"
    details = {"message": message, "type": kind, "param": param, "code": code}
    return json.dumps({"error": details}, ensure_ascii=False).encode()


def call_then_say(text: str, name: str, /, **args: object) -> Callable[[JsonObject], Reply]:
    """Calls a tool when the last message is no tool result, else states `text`.

    It has no memory, so that it fits steps that run side by side.
    """

    def answer(body: JsonObject) -> Reply:
        messages = messages_of(body)
        done = bool(messages) and messages[-1].get("role") == "tool"
        return Reply(text) if done or not body.get("tools") else tool_call(name, **args)

    return answer


def plan_data(*steps: str | Mapping[str, object], **extra: object) -> JsonObject:
    """The JSON of a plan: each step is its description or the fields that differ."""
    rows: list[JsonObject] = []
    for number, step in enumerate(steps, start=1):
        given: Mapping[str, object] = {"description": step} if isinstance(step, str) else step
        row: JsonObject = {"id": number, "tool": None, "depends_on": [], "reflect": True}
        rows.append({**row, **given})
    return {"steps": rows, **extra}


def verdict_data(
    verdict: str, analysis: str = "ok", suggestion: str = "", **extra: object
) -> JsonObject:
    """The JSON of a verdict, the analysis before the word."""
    return {"analysis": analysis, "verdict": verdict, "suggestion": suggestion, **extra}


def structured(data: Mapping[str, object]) -> Reply:
    """A reply that holds this JSON, or calls the forced tool with it."""
    return Reply(json.dumps(data, ensure_ascii=False), structured=True)


def plan(*steps: str | Mapping[str, object], **extra: object) -> Reply:
    """A planner's reply; see `plan_data`."""
    return structured(plan_data(*steps, **extra))


def verdict(verdict: str, analysis: str = "ok", suggestion: str = "", **extra: object) -> Reply:
    """A reflector's reply; see `verdict_data`."""
    return structured(verdict_data(verdict, analysis, suggestion, **extra))


def default_replies() -> dict[str, Entry]:
    """What each role answers when a case does not script it: all goes well."""
    numbers = itertools.count(1)
    return {
        "planner": plan("look it up"),
        "executor": call_then_say("The result is 42.", "lookup", q="it"),
        "reflector": verdict("PASS"),
        "replanner": lambda _: plan(f"look it up another way, number {next(numbers)}"),
        "synthesizer": "It is 42.",
        "reviewer": verdict("PASS"),
    }


def as_object(value: object) -> JsonObject:
    """The value if it is a JSON object, else an empty one."""
    return cast(JsonObject, value) if isinstance(value, dict) else {}


def as_objects(value: object) -> list[JsonObject]:
    """The JSON objects in a list; empty for anything else."""
    items = cast(list[object], value) if isinstance(value, list) else []
    return [cast(JsonObject, item) for item in items if isinstance(item, dict)]


def messages_of(body: JsonObject) -> list[JsonObject]:
    """The messages of a request's body."""
    return as_objects(body.get("messages"))


def text_of(message: JsonObject) -> str:
    """All the text of one message, its tool calls included."""
    content = message.get("content")
    parts = [content] if isinstance(content, str) else []
    parts += [str(part.get("text", "")) for part in as_objects(content)]
    functions = [as_object(call.get("function")) for call in as_objects(message.get("tool_calls"))]
    return "\n".join(parts + [f"{f.get('name')}({f.get('arguments')})" for f in functions])


def completion(reply: Reply, body: JsonObject, ids: Iterator[int]) -> JsonObject:
    """The chat completion object for a reply; `ids` gives each part its number."""
    message: JsonObject = {"role": "assistant", "content": reply.content}
    if reply.reasoning_content is not None:
        message["reasoning_content"] = reply.reasoning_content
    if reply.tool_calls:
        message["tool_calls"] = [_wire_call(call, ids) for call in reply.tool_calls]
    choice: JsonObject = {"index": 0, "message": message, "finish_reason": reply.finish_reason}
    if reply.logprobs is not None:
        tokens: list[JsonObject] = [
            {"token": "x", "logprob": value, "bytes": None, "top_logprobs": []}
            for value in reply.logprobs
        ]
        choice["logprobs"] = {"content": tokens}
    whole: JsonObject = {
        "id": f"chatcmpl-{next(ids)}",
        "object": "chat.completion",
        "created": 0,
        "model": body.get("model", "scripted"),
        "choices": [choice],
    }
    return whole if reply.usage is None else {**whole, "usage": dict(reply.usage)}


def _wire_call(call: ToolCall, ids: Iterator[int]) -> JsonObject:
    call_id = call.id if isinstance(call, Call) else f"call_{next(ids)}"
    function: JsonObject = {"name": call[0], "arguments": _arguments(call)}
    return {"id": call_id, "type": "function", "function": function}


def _arguments(call: ToolCall) -> str:
    arguments = call[1]
    return arguments if isinstance(arguments, str) else json.dumps(arguments, ensure_ascii=False)


def stream_events(reply: Reply, body: JsonObject, ids: Iterator[int]) -> Iterator[bytes]:
    """The server-sent events for a reply: text and arguments in two pieces each."""
    whole = completion(replace(reply, tool_calls=()), body, ids)
    head = {**{k: v for k, v in whole.items() if k != "usage"}, "object": "chat.completion.chunk"}

    def event(delta: JsonObject, finish: str | None = None) -> bytes:
        choice = {"index": 0, "delta": delta, "finish_reason": finish}
        return _event({**head, "choices": [choice]})

    yield event({"role": "assistant", "content": ""})
    if reply.reasoning_content is not None:
        yield event({"reasoning_content": reply.reasoning_content})
    for piece in _halves(reply.content or ""):
        yield event({"content": piece})
    for index, call in enumerate(reply.tool_calls):
        first = {**_wire_call(call, ids), "function": {"name": call[0], "arguments": ""}}
        yield event({"tool_calls": [{**first, "index": index}]})
        for piece in _halves(_arguments(call)):
            yield event({"tool_calls": [{"index": index, "function": {"arguments": piece}}]})
    if reply.finish_reason is not None:
        yield event({}, reply.finish_reason)
    options = as_object(body.get("stream_options"))
    if reply.usage is not None and options.get("include_usage"):
        yield _event({**head, "choices": [], "usage": dict(reply.usage)})
    yield b"data: [DONE]\n\n"


def _event(data: JsonObject) -> bytes:
    return f"data: {json.dumps(data, ensure_ascii=False)}\n\n".encode()


def _halves(text: str) -> list[str]:
    middle = (len(text) + 1) // 2
    return [piece for piece in (text[:middle], text[middle:]) if piece]
