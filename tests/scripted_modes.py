"""How an endpoint is particular about requests: what it refuses, and how it bends a reply."""

import json
from dataclasses import replace
from typing import TypedDict

from scripted_replies import (
    JsonObject,
    Reply,
    as_object,
    as_objects,
    error_body,
    messages_of,
    text_of,
)

PROSE = "Sure, here is what you asked for:\n"
"""Put in front of JSON by an endpoint that ignores `response_format`."""


class Modes(TypedDict, total=False):
    """How the endpoint is particular about a request; all off unless said.

    `strict_pairing`: 400 unless each tool call is followed by exactly one tool message.
    `refuse_json_schema`: 400 for `json_schema`.
    `refuse_without_word_json`: 400 for any `response_format` unless a message says "json".
    `refuse_response_format_and_forced_tool_choice`: 400 for either.
    `prose_then_json`: `response_format` and a forced tool are ignored, JSON comes after prose.
    """

    strict_pairing: bool
    refuse_json_schema: bool
    refuse_without_word_json: bool
    refuse_response_format_and_forced_tool_choice: bool
    prose_then_json: bool


def refusal(body: JsonObject, modes: Modes) -> Reply | None:
    """The 400 that this endpoint has for a request, or `None`."""
    form = body.get("response_format")
    kind = as_object(form).get("type")
    forced = isinstance(body.get("tool_choice"), dict) or body.get("tool_choice") == "required"
    if modes.get("strict_pairing") and (fault := pairing_fault(messages_of(body))):
        return _refused(fault, "messages")
    if modes.get("refuse_json_schema") and kind == "json_schema":
        return _refused("this response_format type is not available", "response_format")
    said = any("json" in text_of(message).lower() for message in messages_of(body))
    if modes.get("refuse_without_word_json") and form is not None and not said:
        text = f"messages must contain the word 'json' to use response_format '{kind}'"
        return _refused(text, "response_format")
    if modes.get("refuse_response_format_and_forced_tool_choice"):
        if form is not None:
            return _refused("response_format is not supported", "response_format")
        if forced:
            return _refused("only tool_choice 'auto' and 'none' are supported", "tool_choice")
    return None


def pairing_fault(messages: list[JsonObject]) -> str | None:
    """Says which tool call lacks its one tool message, or which tool message has no call."""
    waiting: set[object] = set()
    for number, message in enumerate(messages):
        if message.get("role") == "tool":
            call_id = message.get("tool_call_id")
            if call_id not in waiting:
                return f"messages[{number}]: no call waits for the tool message {call_id!r}"
            waiting.remove(call_id)
            continue
        if waiting:
            return f"messages[{number}]: tool calls without a tool message: {waiting}"
        ids = [call.get("id") for call in as_objects(message.get("tool_calls"))]
        waiting = set(ids)
        if len(waiting) < len(ids):
            return f"messages[{number}]: a tool call id occurs twice: {ids}"
    return f"tool calls without a tool message: {waiting}" if waiting else None


def shaped(reply: Reply, body: JsonObject, modes: Modes) -> Reply:
    """The reply as this endpoint would give it for this request."""
    if modes.get("prose_then_json") and _is_json_object(reply.content):
        return replace(reply, content=f"{PROSE}{reply.content}", structured=False)
    name = forced_tool(body)
    if reply.structured and name is not None:
        return replace(reply, content=None, tool_calls=((name, reply.content or ""),))
    return reply


def forced_tool(body: JsonObject) -> str | None:
    """The name of the one tool that the request forces, or `None`."""
    choice, tools = body.get("tool_choice"), as_objects(body.get("tools"))
    named = tools[0] if choice == "required" and len(tools) == 1 else as_object(choice)
    name = as_object(named.get("function")).get("name")
    return name if isinstance(name, str) else None


def _refused(message: str, param: str) -> Reply:
    return Reply(raw_body=error_body(message, param=param), status=400)


def _is_json_object(text: str | None) -> bool:
    try:
        return isinstance(json.loads(text or ""), dict)
    except ValueError:
        return False
