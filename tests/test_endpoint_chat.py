"""What the model does on the wire: event loops, deadlines, names, secrets, proxies."""

from __future__ import annotations

import asyncio
import base64
import gc
import threading
from collections.abc import Iterator
from concurrent.futures import ThreadPoolExecutor
from importlib import import_module

import openai
import pytest
from small_endpoint import SmallEndpoint, small_endpoint

from hansei.graphs.endpoint_chat import (
    EndpointChat,
    OpenAIChat,
    endpoint_chat,
    is_loopback,
    is_openai,
)

SECRET = "sk-very-secret"

_HTTPX = import_module(openai.DefaultHttpxClient.__bases__[0].__module__.split(".")[0])
BROKEN_STREAM = (openai.APIConnectionError, _HTTPX.TransportError)
"""What breaks off a stream: a newer client of OpenAI's turns the second into the first."""


@pytest.fixture
def server() -> Iterator[SmallEndpoint]:
    with small_endpoint() as running:
        yield running


def build(
    base_url: str, *, timeout: float = 20.0, proxy: str | None = None, retries: int = 0
) -> EndpointChat | OpenAIChat:
    return endpoint_chat(
        model="toy",
        base_url=base_url,
        api_key=SECRET,
        temperature=0.0,
        timeout=timeout,
        max_tokens=33,
        max_retries=retries,
        proxy=proxy,
    )


def test_every_asyncio_run_works(server: SmallEndpoint) -> None:
    model = build(server.base_url)
    assert [asyncio.run(model.ainvoke("hi")).content for _ in range(4)] == ["ok"] * 4


def test_a_new_model_in_a_new_loop_works_too(server: SmallEndpoint) -> None:
    replies = [asyncio.run(build(server.base_url).ainvoke("hi")).content for _ in range(4)]
    assert replies == ["ok"] * 4


def test_loops_in_threads_share_one_model(server: SmallEndpoint) -> None:
    model = build(server.base_url)
    together = threading.Barrier(4)

    async def some() -> list[object]:
        replies = await asyncio.gather(*(model.ainvoke("hi") for _ in range(5)))
        return [reply.content for reply in replies]

    def one(_number: int) -> list[object]:
        together.wait()
        return asyncio.run(some())

    with ThreadPoolExecutor(4) as pool:
        assert list(pool.map(one, range(4))) == [["ok"] * 5] * 4


def test_async_streams_work_in_every_loop(server: SmallEndpoint) -> None:
    model = build(server.base_url)

    async def read() -> str:
        return "".join([str(chunk.content) async for chunk in model.astream("hi")])

    assert [asyncio.run(read()) for _ in range(3)] == ["ok"] * 3


def test_sync_calls_use_their_connection_again_and_close_it(server: SmallEndpoint) -> None:
    model = build(server.base_url)
    assert [model.invoke("hi").content for _ in range(3)] == ["ok"] * 3
    assert len(set(server.ports)) == 1
    # An open connection that is lost would be a ResourceWarning, which is an error here.
    del model
    gc.collect()


def test_keep_alives_do_not_lift_the_deadline(server: SmallEndpoint) -> None:
    server.blanks = 500
    model = build(server.base_url, timeout=0.2)
    with pytest.raises(openai.APITimeoutError):
        model.invoke("hi")
    with pytest.raises(openai.APITimeoutError):
        asyncio.run(model.ainvoke("hi"))


def test_keep_alives_do_not_lift_the_deadline_of_a_stream(server: SmallEndpoint) -> None:
    server.blanks = 500
    model = build(server.base_url, timeout=0.2)
    with pytest.raises(BROKEN_STREAM):
        list(model.stream("hi"))

    async def read() -> None:
        async for _ in model.astream("hi"):
            pass

    with pytest.raises(BROKEN_STREAM):
        asyncio.run(read())


def test_a_slow_reply_within_its_time_is_taken(server: SmallEndpoint) -> None:
    server.blanks = 5
    assert build(server.base_url).invoke("hi").content == "ok"


def test_each_retry_has_the_whole_time(server: SmallEndpoint) -> None:
    server.blanks = 500
    with pytest.raises(openai.APITimeoutError):
        build(server.base_url, timeout=0.2, retries=1).invoke("hi")
    assert len(server.bodies) == 2


def test_the_limit_has_the_name_that_every_server_knows(server: SmallEndpoint) -> None:
    model = build(server.base_url)
    model.invoke("hi")
    model.invoke("hi", max_tokens=44)
    asyncio.run(model.ainvoke("hi"))
    list(model.stream("hi"))
    assert [body["max_tokens"] for body in server.bodies] == [33, 44, 33, 33]
    assert not any("max_completion_tokens" in body for body in server.bodies)


@pytest.mark.parametrize(
    ("base_url", "name"),
    [
        ("https://api.openai.com/v1", "max_completion_tokens"),
        ("https://mine.openai.azure.com/openai/v1", "max_completion_tokens"),
        ("https://openai.com.example.org/v1", "max_tokens"),
        ("http://127.0.0.1:1/v1", "max_tokens"),
    ],
)
def test_openai_gets_its_own_name_for_the_limit(base_url: str, name: str) -> None:
    payload = build(base_url)._get_request_payload("hi")
    assert payload[name] == 33
    assert len({"max_tokens", "max_completion_tokens"} & payload.keys()) == 1


def test_a_temperature_of_none_is_not_sent(server: SmallEndpoint) -> None:
    build(server.base_url).invoke("hi")
    model = endpoint_chat(
        model="toy",
        base_url=server.base_url,
        api_key=SECRET,
        temperature=None,
        timeout=20.0,
        max_tokens=33,
        max_retries=0,
    )
    model.invoke("hi")
    assert [body.get("temperature") for body in server.bodies] == [0.0, None]


def test_user_and_password_are_sent_and_not_shown(server: SmallEndpoint) -> None:
    url = server.base_url.replace("http://", "http://ann:p%40ss-word@")
    model = build(url)
    model.invoke("hi")
    asyncio.run(model.ainvoke("hi"))
    expected = "Basic " + base64.b64encode(b"ann:p@ss-word").decode()
    assert [headers["authorization"] for headers in server.headers] == [expected] * 2
    shown = f"{model!r} {model} {model.model_dump()} {model.where} {model.openai_api_base}"
    assert "ss-word" not in shown
    assert "ann" not in shown
    assert SECRET not in shown


def test_a_key_is_sent_as_bearer_and_not_in_errors(server: SmallEndpoint) -> None:
    model = build(server.base_url)
    model.invoke("hi")
    assert server.headers[0]["authorization"] == f"Bearer {SECRET}"
    server.shutdown()
    server.server_close()
    with pytest.raises(openai.APIConnectionError) as caught:
        asyncio.run(model.ainvoke("hi"))
    assert SECRET not in f"{caught.value!r} {caught.value.__cause__!r}"


def test_this_machine_is_not_asked_through_a_proxy(
    server: SmallEndpoint, monkeypatch: pytest.MonkeyPatch
) -> None:
    for name in ("HTTP_PROXY", "http_proxy", "ALL_PROXY", "all_proxy", "OPENAI_PROXY"):
        monkeypatch.setenv(name, "http://127.0.0.1:1")
    model = build(server.base_url, proxy="http://127.0.0.1:1")
    assert model.invoke("hi").content == "ok"
    assert asyncio.run(model.ainvoke("hi")).content == "ok"


def test_others_are_asked_through_the_proxy_that_is_set(server: SmallEndpoint) -> None:
    # The small endpoint takes what a proxy gets, a request with the whole address in it.
    model = build("http://model.example/v1", proxy=server.base_url.removesuffix("/v1"))
    assert model.invoke("hi").content == "ok"
    assert asyncio.run(model.ainvoke("hi")).content == "ok"
    assert [headers["host"] for headers in server.headers] == ["model.example"] * 2


@pytest.mark.parametrize(
    ("host", "expected"),
    [
        ("127.0.0.1", True),
        ("127.8.8.8", True),
        ("::1", True),
        ("localhost", True),
        ("my.localhost", True),
        ("10.0.0.1", False),
        ("localhost.example.org", False),
        ("", False),
    ],
)
def test_what_is_this_machine(host: str, expected: bool) -> None:
    assert is_loopback(host) is expected


def test_what_is_openai() -> None:
    assert is_openai("https://api.openai.com/v1")
    assert not is_openai("https://api.openai.com.example.org/v1")
    assert not is_openai("https://notopenai.com/v1")
