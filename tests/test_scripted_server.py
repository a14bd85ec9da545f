"""The scripted endpoint, asked by the real client."""

import json
import socket
import threading
from collections.abc import Iterator
from concurrent.futures import ThreadPoolExecutor

import openai
import pytest
from langchain_core.messages import (
    HumanMessage,
    SystemMessage,
    ToolMessage,
)
from scripted_client import ask, client, lookup
from scripted_server import (
    Call,
    JsonObject,
    Reply,
    ScriptedServer,
    call_then_say,
    plan_data,
    tool_call,
)


@pytest.fixture
def server() -> Iterator[ScriptedServer]:
    with ScriptedServer() as running:
        yield running


def test_each_role_gets_its_own_replies_in_order_and_the_last_for_ever(
    server: ScriptedServer,
) -> None:
    server.script("planner", "one", "two")
    server.script("executor", "work")
    model = client(server.base_url)
    assert [model.invoke(ask("planner")).text for _ in range(3)] == ["one", "two", "two"]
    assert model.invoke(ask("executor")).text == "work"
    assert (server.count("planner"), server.count("executor"), server.count()) == (3, 1, 4)


def test_a_request_without_a_marker_is_other(server: ScriptedServer) -> None:
    server.script("other", "hello")
    model = client(server.base_url)
    assert model.invoke("hi").text == "hello"
    assert model.invoke([SystemMessage("x [hansei:planner]"), HumanMessage("hi")]).text == "hello"


def test_the_role_can_be_told_in_another_way() -> None:
    def by_model(body: JsonObject) -> str:
        return str(body["model"])

    with ScriptedServer(role_of=by_model) as server:
        server.script("stub", "by name")
        assert client(server.base_url).invoke(ask("planner")).text == "by name"


def test_a_request_is_recorded_as_it_was_sent(server: ScriptedServer) -> None:
    server.script("planner", "ok")
    client(server.base_url).invoke(ask("planner", "查一下订单"), temperature=0.3)
    [record] = server.requests
    assert record.role == "planner"
    assert record.path == "/v1/chat/completions"
    assert record.body["temperature"] == 0.3
    assert record.headers["authorization"] == "Bearer none"
    assert record.status == 200
    assert record.time > 0
    assert server.prompts("planner") == [
        "system: [hansei:planner v1]\nBe brief.\n\nuser: 查一下订单"
    ]


def test_usage_and_finish_reason_are_the_conventional_ones(server: ScriptedServer) -> None:
    server.script("planner", "ok", Reply("x", usage={"prompt_tokens": 1, "completion_tokens": 2}))
    model = client(server.base_url)
    answer = model.invoke(ask("planner"))
    assert answer.usage_metadata is not None
    assert answer.usage_metadata["total_tokens"] == 120
    assert answer.response_metadata["finish_reason"] == "stop"
    second = model.invoke(ask("planner")).usage_metadata
    assert second is not None
    assert (second["input_tokens"], second["output_tokens"]) == (1, 2)


def test_a_tool_call_arrives_and_its_result_is_recorded(server: ScriptedServer) -> None:
    server.script("executor", call_then_say("High tide is at 9.", "lookup", q="tides"))
    model = client(server.base_url).bind_tools([lookup])
    asked = ask("executor")
    first = model.invoke(asked)
    assert [(call["name"], call["args"]) for call in first.tool_calls] == [
        ("lookup", {"q": "tides"})
    ]
    assert first.response_metadata["finish_reason"] == "tool_calls"
    result = ToolMessage("9", tool_call_id=first.tool_calls[0]["id"])
    assert model.invoke([*asked, first, result]).text == "High tide is at 9."
    assert 'lookup({"q":"tides"})' in server.prompts("executor")[1].replace(": ", ":")


def test_tool_call_ids_are_fresh_unless_the_test_names_them(server: ScriptedServer) -> None:
    server.script(
        "executor",
        Reply(tool_calls=[("lookup", {"q": "a"}), ("lookup", {"q": "b"})]),
        Reply(tool_calls=[Call("lookup", {"q": "a"}, "c1")]),
    )
    model = client(server.base_url)
    first = [call["id"] for call in model.invoke(ask("executor")).tool_calls]
    assert len(set(first)) == 2
    assert [call["id"] for call in model.invoke(ask("executor")).tool_calls] == ["c1"]


def test_a_function_answers_by_the_prompt(server: ScriptedServer) -> None:
    def answer(body: JsonObject) -> str:
        return "cats" if "cats" in json.dumps(body["messages"]) else "dogs"

    server.script("executor", answer)
    model = client(server.base_url)
    assert model.invoke(ask("executor", "two cats")).text == "cats"
    assert model.invoke(ask("executor", "no pets")).text == "dogs"


def test_a_script_is_replaced_and_reset_forgets_all(server: ScriptedServer) -> None:
    server.script("planner", "old", "older")
    server.script("planner", "new")
    model = client(server.base_url)
    assert model.invoke(ask("planner")).text == "new"
    server.reset(keep_scripts=True)
    assert server.requests == []
    assert model.invoke(ask("planner")).text == "new"
    server.reset()
    with pytest.raises(openai.InternalServerError):
        model.invoke(ask("planner"))
    server.reset()


def test_an_unscripted_role_fails_once_and_by_name(server: ScriptedServer) -> None:
    with pytest.raises(openai.InternalServerError, match="role 'replanner'"):
        client(server.base_url, retries=2).invoke(ask("replanner"))
    assert server.count() == 1
    with pytest.raises(AssertionError, match="role 'replanner'"):
        server.check()
    server.reset()


def test_mistakes_are_raised_at_the_end_unless_the_test_failed_already() -> None:
    def use(failure: Exception | None) -> None:
        with ScriptedServer() as server:
            server.complain("forgotten")
            if failure:
                raise failure

    with pytest.raises(AssertionError, match="forgotten"):
        use(None)
    with pytest.raises(OSError, match="mine"):
        use(OSError("mine"))


def test_an_unknown_path_is_a_mistake_of_the_test(server: ScriptedServer) -> None:
    with pytest.raises(openai.NotFoundError):
        client(server.base_url.replace("/v1", "/v2")).invoke("hi")
    assert server.complaints == ["nothing is served at /v2/chat/completions"]
    server.reset()


def test_a_failing_function_is_a_mistake_of_the_test(server: ScriptedServer) -> None:
    def fails(body: JsonObject) -> str:
        raise KeyError("nope")

    server.script("other", fails)
    with pytest.raises(openai.APIConnectionError):
        client(server.base_url).invoke("hi")
    assert "role 'other'" in server.complaints[0]
    assert "nope" in server.complaints[0]
    server.reset()


def test_an_exception_is_for_the_in_process_model_only(server: ScriptedServer) -> None:
    server.script("planner", Reply(fail_with=OSError("disk")))
    with pytest.raises(openai.APIConnectionError):
        client(server.base_url).invoke(ask("planner"))
    assert "in-process" in server.complaints[0]
    server.reset()


def test_a_script_needs_a_reply(server: ScriptedServer) -> None:
    with pytest.raises(ValueError, match="at least one reply"):
        server.script("planner")


def test_the_default_replies_let_all_go_well(server: ScriptedServer) -> None:
    server.script("synthesizer", "mine")
    server.script_defaults()
    model = client(server.base_url)
    assert json.loads(model.invoke(ask("planner")).text) == plan_data("look it up")
    assert model.bind_tools([lookup]).invoke(ask("executor")).tool_calls
    assert model.invoke(ask("executor")).text == "The result is 42."
    assert json.loads(model.invoke(ask("reflector")).text)["verdict"] == "PASS"
    assert model.invoke(ask("replanner")).text != model.invoke(ask("replanner")).text
    assert model.invoke(ask("synthesizer")).text == "mine"


def test_a_plan_takes_descriptions_and_rows() -> None:
    data = plan_data("a", {"id": 7, "description": "b", "depends_on": [1]}, covers="both")
    assert data == {
        "steps": [
            {"id": 1, "tool": None, "depends_on": [], "reflect": True, "description": "a"},
            {"id": 7, "tool": None, "depends_on": [1], "reflect": True, "description": "b"},
        ],
        "covers": "both",
    }


def test_the_client_repeats_a_request_that_failed_and_uses_up_a_reply_each(
    server: ScriptedServer,
) -> None:
    broken = Reply(status=503, headers={"retry-after-ms": "1"})
    server.script("planner", broken, broken, "ok")
    assert client(server.base_url, retries=2).invoke(ask("planner")).text == "ok"
    assert [record.status for record in server.requests] == [503, 503, 200]


def test_logprobs_and_reasoning_are_on_the_wire(server: ScriptedServer) -> None:
    server.script("planner", Reply("hi", logprobs=[-0.5, -1.5], reasoning_content="hm"))
    answer = client(server.base_url).invoke(ask("planner"))
    tokens = answer.response_metadata["logprobs"]["content"]
    assert [token["logprob"] for token in tokens] == [-0.5, -1.5]
    raw = openai.OpenAI(base_url=server.base_url, api_key="none")
    with raw:
        whole = raw.chat.completions.create(
            model="stub", messages=[{"role": "system", "content": "[hansei:planner]"}]
        )
    assert whole.choices[0].message.to_dict()["reasoning_content"] == "hm"


async def test_async_calls_and_streams_work(server: ScriptedServer) -> None:
    server.script("executor", "hello", Reply("again"))
    model = client(server.base_url)
    assert (await model.ainvoke(ask("executor"))).text == "hello"
    text = "".join([chunk.text async for chunk in model.astream(ask("executor"))])
    assert text == "again"


def test_a_reply_that_takes_long_does_not_hold_up_the_others(server: ScriptedServer) -> None:
    released = threading.Event()

    def slow(body: JsonObject) -> Reply:
        assert released.wait(20)
        return Reply("slow", delay=0.01)

    server.script("executor", slow)
    server.script("reflector", "quick")
    model = client(server.base_url)
    with ThreadPoolExecutor(1) as pool:
        waiting = pool.submit(model.invoke, ask("executor"))
        while not server.count("executor"):
            assert not waiting.done()
        assert model.invoke(ask("reflector")).text == "quick"
        assert not waiting.done()
        released.set()
        assert waiting.result().text == "slow"


def test_many_at_once_are_all_counted(server: ScriptedServer) -> None:
    server.script("executor", *(str(number) for number in range(40)))
    model = client(server.base_url)
    with ThreadPoolExecutor(16) as pool:
        texts = set(pool.map(lambda _: model.invoke(ask("executor")).text, range(40)))
    assert texts == {str(number) for number in range(40)}
    assert server.count("executor") == 40


def test_the_port_is_free_again_and_nothing_is_left_running() -> None:
    with ScriptedServer() as server:
        server.script("planner", "ok")
        client(server.base_url).invoke(ask("planner"))
        port = int(server.base_url.split(":")[2].split("/")[0])
    with socket.socket() as probe:
        assert probe.connect_ex(("127.0.0.1", port)) != 0


def test_a_tool_call_helper_takes_any_argument_name() -> None:
    assert tool_call("lookup", name="x", status=1).tool_calls == [
        ("lookup", {"name": "x", "status": 1})
    ]
