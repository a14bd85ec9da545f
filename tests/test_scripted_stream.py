"""Streams of the scripted endpoint: whole, cut short in silence, cut, and broken."""

import json
from collections.abc import Iterator

import openai
import pytest
from scripted_client import ask, client
from scripted_server import FAULTS, Reply, ScriptedServer


@pytest.fixture
def server() -> Iterator[ScriptedServer]:
    with ScriptedServer() as running:
        yield running


def test_a_stream_gives_the_same_answer(server: ScriptedServer) -> None:
    both = Reply("现在去查", [("lookup", {"q": "潮汐"})], finish_reason="tool_calls")
    server.script("executor", both)
    chunks = list(client(server.base_url).stream(ask("executor"), stream_usage=True))
    whole = chunks[0]
    for chunk in chunks[1:]:
        whole = whole + chunk
    assert len([chunk for chunk in chunks if chunk.text]) == 2
    assert whole.text == "现在去查"
    assert [(call["name"], call["args"]) for call in whole.tool_calls] == [
        ("lookup", {"q": "潮汐"})
    ]
    assert whole.response_metadata["finish_reason"] == "tool_calls"
    assert whole.usage_metadata is not None
    assert whole.usage_metadata["total_tokens"] == 120


def test_a_stream_that_ends_early_says_nothing(server: ScriptedServer) -> None:
    server.script("executor", FAULTS["no finish reason"])
    chunks = list(client(server.base_url).stream(ask("executor")))
    assert "".join(chunk.text for chunk in chunks) == "hello"
    assert not any(chunk.response_metadata.get("finish_reason") for chunk in chunks)


def test_a_stream_that_is_cut_raises(server: ScriptedServer) -> None:
    server.script("executor", FAULTS["cut body"])
    with pytest.raises(openai.APIConnectionError):
        list(client(server.base_url).stream(ask("executor")))


def test_a_stream_can_be_any_bytes(server: ScriptedServer) -> None:
    server.script("executor", Reply(raw_body=b"data: {oops\n\n"))
    with pytest.raises(json.JSONDecodeError):
        list(client(server.base_url).stream(ask("executor")))
