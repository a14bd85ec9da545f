"""The in-process model: alone, and side by side with the real client."""

from collections.abc import Iterator

import openai
import pytest
from langchain_core.language_models import BaseChatModel
from langchain_core.messages import HumanMessage, ToolMessage
from langchain_openai import ChatOpenAI
from scripted_client import Verdict, ask, client, lookup
from scripted_model import ScriptedChatModel
from scripted_script import Script
from scripted_server import (
    FAULTS,
    Call,
    JsonObject,
    Reply,
    ScriptedServer,
    call_then_say,
    error,
    rate_limited,
    tool_call,
    verdict,
    verdict_data,
)


@pytest.fixture
def model() -> Iterator[ScriptedChatModel]:
    with Script() as book:
        yield ScriptedChatModel(book=book)


def test_replies_come_in_order_and_are_recorded(model: ScriptedChatModel) -> None:
    model.script("planner", "one", "two")
    assert [model.invoke(ask("planner")).text for _ in range(3)] == ["one", "two", "two"]
    assert model.count("planner") == 3
    assert model.requests[0].role == "planner"
    assert model.prompts("planner")[0] == "system: [hansei:planner v1]\nBe brief.\n\nuser: go"
    model.reset(keep_scripts=True)
    assert model.count() == 0


async def test_async_and_streams_work(model: ScriptedChatModel) -> None:
    model.script("planner", Reply("one", delay=0.001), "two", "three", "four")
    assert (await model.ainvoke(ask("planner"))).text == "one"
    assert "".join([chunk.text async for chunk in model.astream(ask("planner"))]) == "two"
    assert "".join(chunk.text for chunk in model.stream(ask("planner"))) == "three"
    assert model.invoke(ask("planner")).text == "four"


def test_tools_are_recorded_and_called(model: ScriptedChatModel) -> None:
    model.script("executor", call_then_say("done", "lookup", q="x"))
    bound = model.bind_tools([lookup], parallel_tool_calls=False)
    first = bound.invoke(ask("executor"))
    assert [(call["name"], call["args"]) for call in first.tool_calls] == [("lookup", {"q": "x"})]
    told = ToolMessage("x", tool_call_id=first.tool_calls[0]["id"])
    assert bound.invoke([*ask("executor"), first, told]).text == "done"
    assert model.requests[0].body["parallel_tool_calls"] is False


@pytest.mark.parametrize("method", ["json_schema", "function_calling", "json_mode"])
@pytest.mark.parametrize("raw", [False, True])
def test_a_structured_reply_is_parsed(model: ScriptedChatModel, method: str, raw: bool) -> None:
    model.script("reflector", verdict("RETRY", "empty"))
    typed = model.with_structured_output(Verdict, method=method, include_raw=raw)
    answer = typed.invoke(ask("reflector"))
    parsed = answer["parsed"] if isinstance(answer, dict) else answer
    assert isinstance(parsed, Verdict)
    assert parsed.model_dump() == verdict_data("RETRY", "empty")
    assert isinstance(answer, dict) == raw


def test_a_schema_as_a_dict_gives_a_dict(model: ScriptedChatModel) -> None:
    model.script("reflector", verdict("PASS"))
    for method in ("json_schema", "function_calling", "json_mode"):
        schema = {"title": "Verdict", "description": "v", **Verdict.model_json_schema()}
        typed = model.with_structured_output(schema, method=method)
        assert typed.invoke(ask("reflector")) == verdict_data("PASS")


def test_prose_is_a_parsing_error_or_none(model: ScriptedChatModel) -> None:
    model.script("reflector", "looks good to me")
    by_schema = model.with_structured_output(Verdict, include_raw=True).invoke(ask("reflector"))
    assert isinstance(by_schema, dict)
    assert by_schema["parsed"] is None
    assert isinstance(by_schema["parsing_error"], ValueError)
    by_call = model.with_structured_output(Verdict, method="function_calling")
    assert by_call.invoke(ask("reflector")) is None


def test_an_unknown_method_or_a_missing_schema_is_refused(model: ScriptedChatModel) -> None:
    with pytest.raises(ValueError, match="unknown method"):
        model.with_structured_output(Verdict, method="telepathy")
    with pytest.raises(ValueError, match="no schema"):
        model.with_structured_output(None, method="function_calling")


def test_a_given_exception_is_raised_once(model: ScriptedChatModel) -> None:
    model.script("planner", Reply(fail_with=OSError("disk full")), "ok")
    with pytest.raises(OSError, match="disk full"):
        model.invoke(ask("planner"))
    assert model.invoke(ask("planner")).text == "ok"


async def test_a_given_exception_is_raised_from_async_too(model: ScriptedChatModel) -> None:
    model.script("planner", Reply(fail_with=RuntimeError("boom")))
    with pytest.raises(RuntimeError, match="boom"):
        await model.ainvoke(ask("planner"))


def test_http_errors_are_the_clients_errors(model: ScriptedChatModel) -> None:
    model.script("planner", error(503, "down"), rate_limited("7"), FAULTS["unavailable as html"])
    with pytest.raises(openai.InternalServerError, match="down"):
        model.invoke(ask("planner"))
    with pytest.raises(openai.RateLimitError) as caught:
        model.invoke(ask("planner"))
    assert caught.value.response.headers["retry-after"] == "7"
    assert caught.value.code == "rate_limit_exceeded"
    with pytest.raises(openai.InternalServerError, match="Bad gateway"):
        model.invoke(ask("planner"))


def test_a_hang_and_a_dropped_connection_end_at_once(model: ScriptedChatModel) -> None:
    model.script("planner", FAULTS["hang"], FAULTS["dropped"])
    with pytest.raises(openai.APITimeoutError):
        model.invoke(ask("planner"))
    with pytest.raises(openai.APIConnectionError):
        model.invoke(ask("planner"))


def test_bytes_need_the_server(model: ScriptedChatModel) -> None:
    model.script("planner", FAULTS["bad json"])
    with pytest.raises(TypeError, match="raw bytes"):
        model.invoke(ask("planner"))
    assert "raw bytes" in model.book.complaints[0]
    model.reset()


def test_an_unscripted_role_is_named(model: ScriptedChatModel) -> None:
    with pytest.raises(openai.InternalServerError, match="role 'reviewer'"):
        model.invoke(ask("reviewer"))
    with pytest.raises(AssertionError, match="role 'reviewer'"):
        model.book.check()
    model.reset()


def test_a_failing_function_is_named(model: ScriptedChatModel) -> None:
    def fails(body: JsonObject) -> str:
        raise KeyError("nope")

    model.script("planner", fails)
    with pytest.raises(KeyError):
        model.invoke(ask("planner"))
    assert "nope" in model.book.complaints[0]
    model.reset()


def test_the_critic_shares_the_script_and_fails_on_its_own(model: ScriptedChatModel) -> None:
    critic = model.as_critic()
    model.script("reflector", "main")
    model.script("reflector", "critic", endpoint="critic")
    assert critic.invoke(ask("reflector")).text == "critic"
    model.book.break_endpoint("critic")
    with pytest.raises(openai.InternalServerError):
        critic.invoke(ask("reflector"))
    assert model.invoke(ask("reflector")).text == "main"
    assert model.count("reflector", endpoint="critic") == 2


def test_what_was_bound_is_not_in_the_models_repr(model: ScriptedChatModel) -> None:
    assert "book" not in repr(model)


SAME = {
    "text": Reply("hello"),
    "tool call": tool_call("lookup", q="潮汐"),
    "two calls": Reply("both", [Call("lookup", {"q": "a"}, "c1"), Call("lookup", "{bad", "c2")]),
    "no usage": Reply("hello", usage=None),
    "null": Reply(None),
    "length": FAULTS["cut by length"],
    "filter": FAULTS["content filter"],
    "no finish reason": FAULTS["no finish reason"],
    "logprobs": Reply("hi", logprobs=[-0.5]),
    "verdict": verdict("PASS"),
}
WAYS = ["plain", "tools", "forced", "json_schema", "json_object"]


def outcome(model: BaseChatModel, way: str) -> object:
    """What a caller can see of one answer, or the exception's type."""
    asked = model.bind_tools([lookup]) if way == "tools" else model.bind()
    if way == "forced":
        asked = model.bind_tools([lookup], tool_choice="lookup")
    if way.startswith("json"):
        form: JsonObject = {"type": way}
        if way == "json_schema":
            form["json_schema"] = {"name": "Verdict", "schema": Verdict.model_json_schema()}
        asked = model.bind(response_format=form)
    try:
        answer = asked.invoke([*ask("planner"), HumanMessage("as json")], stop=["END"])
    except (openai.OpenAIError, ValueError) as failure:
        return type(failure)
    calls = [(call["name"], call["args"]) for call in answer.tool_calls]
    invalid = [
        (call["name"], call["args"], call["id"], call["error"])
        for call in answer.invalid_tool_calls
    ]
    usage = answer.usage_metadata and answer.usage_metadata["total_tokens"]
    logprobs = (answer.response_metadata.get("logprobs") or {}).get("content")
    finish = answer.response_metadata["finish_reason"]
    return (answer.text, calls, invalid, usage, logprobs and logprobs[0]["logprob"], finish)


@pytest.fixture(scope="module")
def pair() -> Iterator[tuple[ScriptedServer, ChatOpenAI, ScriptedChatModel]]:
    with ScriptedServer() as server:
        yield server, client(server.base_url), ScriptedChatModel(book=server, model_name="stub")


@pytest.mark.parametrize("way", WAYS)
@pytest.mark.parametrize("name", SAME)
def test_it_looks_the_same_as_the_real_client(
    pair: tuple[ScriptedServer, ChatOpenAI, ScriptedChatModel], name: str, way: str
) -> None:
    server, real, quick = pair
    server.reset()
    server.script("planner", SAME[name])
    assert outcome(quick, way) == outcome(real, way)
    bodies = [dict(record.body) for record in server.requests]
    bodies[1].pop("stream", None)
    assert bodies[0] == bodies[1]


def test_a_whole_conversation_is_sent_in_the_same_form() -> None:
    with ScriptedServer() as server:
        server.script("executor", SAME["two calls"], "ok", "ok")
        real = client(server.base_url)
        first = real.invoke(ask("executor"))
        told = [ToolMessage("1", tool_call_id="c1"), ToolMessage("2", tool_call_id="c2")]
        for model in (real, ScriptedChatModel(book=server, model_name="stub")):
            model.invoke([*ask("executor"), first, *told])
        sent, quick = (record.body["messages"] for record in server.requests[1:])
        assert quick == sent
