"""Endpoints that are particular about a request, and the ways to a structured reply."""

import contextlib
from collections.abc import Iterator
from typing import Literal

import openai
import pytest
from langchain_core.messages import AIMessage, BaseMessage, HumanMessage, ToolMessage
from scripted_client import Verdict, ask, client, lookup
from scripted_modes import PROSE
from scripted_server import (
    Call,
    Reply,
    ScriptedServer,
    plan,
    plan_data,
    verdict,
    verdict_data,
)

Method = Literal["json_schema", "function_calling", "json_mode"]
METHODS: tuple[Method, ...] = ("json_schema", "function_calling", "json_mode")


@pytest.fixture
def server() -> Iterator[ScriptedServer]:
    with ScriptedServer() as running:
        yield running


def test_a_verdict_comes_by_schema_by_function_and_by_json_mode(server: ScriptedServer) -> None:
    server.script("reflector", verdict("RETRY", "empty", "use page 2"))
    model = client(server.base_url)
    expected = verdict_data("RETRY", "empty", "use page 2")
    for method in METHODS:
        typed = model.with_structured_output(Verdict, method=method)
        answer = typed.invoke(ask("reflector"))
        assert isinstance(answer, Verdict)
        assert answer.model_dump() == expected
    kinds = [record.body.get("response_format") for record in server.requests]
    assert [k and k["type"] for k in kinds if k is None or isinstance(k, dict)] == [
        "json_schema",
        None,
        "json_object",
    ]


def test_required_with_one_tool_is_a_forced_call_too(server: ScriptedServer) -> None:
    server.script("planner", plan("a"))
    answer = client(server.base_url).bind_tools([lookup], tool_choice="any").invoke(ask("planner"))
    assert [call["name"] for call in answer.tool_calls] == ["lookup"]
    assert answer.tool_calls[0]["args"] == plan_data("a")


def test_prose_is_never_turned_into_a_forced_call(server: ScriptedServer) -> None:
    server.script("reflector", "The step looks good to me.")
    typed = client(server.base_url).with_structured_output(Verdict, method="function_calling")
    assert typed.invoke(ask("reflector")) is None


def test_json_schema_is_refused_and_no_reply_is_used_up() -> None:
    with ScriptedServer(refuse_json_schema=True) as server:
        server.script("reflector", verdict("PASS"), "other")
        model = client(server.base_url, retries=2)
        with pytest.raises(openai.BadRequestError, match="response_format"):
            model.with_structured_output(Verdict).invoke(ask("reflector"))
        answer = model.with_structured_output(Verdict, method="json_mode").invoke(ask("reflector"))
        assert isinstance(answer, Verdict)
        assert [record.status for record in server.requests] == [400, 200]


@pytest.mark.parametrize("method", ["json_schema", "json_mode"])
def test_the_word_json_is_wanted_in_any_case(method: Method) -> None:
    with ScriptedServer(refuse_without_word_json=True) as server:
        server.script("reflector", verdict("PASS"))
        typed = client(server.base_url).with_structured_output(Verdict, method=method)
        with pytest.raises(openai.BadRequestError, match="'json'"):
            typed.invoke(ask("reflector"))
        assert isinstance(typed.invoke(ask("reflector", "As Json, please")), Verdict)
        assert client(server.base_url).invoke(ask("reflector")).text


def test_response_format_and_forced_tools_are_refused() -> None:
    with ScriptedServer(refuse_response_format_and_forced_tool_choice=True) as server:
        server.script("reflector", verdict("PASS"))
        model = client(server.base_url)
        for method in METHODS:
            with pytest.raises(openai.BadRequestError):
                model.with_structured_output(Verdict, method=method).invoke(ask("reflector"))
        with pytest.raises(openai.BadRequestError, match="tool_choice"):
            model.bind_tools([lookup], tool_choice="any").invoke(ask("reflector"))
        assert model.bind_tools([lookup]).invoke(ask("reflector")).text


def test_json_comes_after_prose_and_plain_text_stays() -> None:
    with ScriptedServer(prose_then_json=True) as server:
        server.script("reflector", verdict("PASS"))
        server.script("synthesizer", "It is 42.")
        model = client(server.base_url)
        assert model.invoke(ask("reflector")).text.startswith(PROSE + "{")
        forced = model.bind_tools([lookup], tool_choice="any").invoke(ask("reflector"))
        assert forced.tool_calls == []
        assert forced.text.startswith(PROSE)
        assert model.invoke(ask("synthesizer")).text == "It is 42."


CALLS = AIMessage(
    "",
    tool_calls=[
        {"name": "lookup", "args": {"q": "a"}, "id": "c1"},
        {"name": "lookup", "args": {"q": "b"}, "id": "c2"},
    ],
)
DOUBLED = AIMessage("", tool_calls=[CALLS.tool_calls[0], CALLS.tool_calls[0]])
ONE, TWO = ToolMessage("1", tool_call_id="c1"), ToolMessage("2", tool_call_id="c2")


@pytest.mark.parametrize(
    ("history", "fault"),
    [
        ([CALLS, ONE, TWO], None),
        ([CALLS, TWO, ONE, HumanMessage("on")], None),
        ([CALLS, ONE], "c2"),
        ([CALLS, ONE, HumanMessage("on")], "c2"),
        ([CALLS, ONE, HumanMessage("on"), TWO], "c2"),
        ([CALLS, ONE, ONE, TWO], "c1"),
        ([CALLS, ONE, TWO, TWO], "c2"),
        ([ONE], "c1"),
        ([DOUBLED, ONE], "c1"),
        ([CALLS, CALLS, ONE, TWO], "c1"),
    ],
)
def test_strict_pairing_wants_one_tool_message_for_each_call(
    history: list[BaseMessage], fault: str | None
) -> None:
    with ScriptedServer(strict_pairing=True) as server:
        server.script("executor", "ok")
        expected = pytest.raises(openai.BadRequestError, match=fault) if fault else None
        with expected or contextlib.nullcontext():
            assert client(server.base_url).invoke([*ask("executor"), *history]).text == "ok"


def test_strict_pairing_counts_calls_that_could_not_be_read() -> None:
    with ScriptedServer(strict_pairing=True) as server:
        bad = Reply(tool_calls=[Call("lookup", '{"q": "hel', "c1")])
        server.script("executor", bad, "ok")
        model = client(server.base_url)
        first = model.invoke(ask("executor"))
        assert [call["id"] for call in first.invalid_tool_calls] == ["c1"]
        with pytest.raises(openai.BadRequestError, match="c1"):
            model.invoke([*ask("executor"), first])
        told = ToolMessage("cannot be read", tool_call_id="c1")
        assert model.invoke([*ask("executor"), first, told]).text == "ok"
