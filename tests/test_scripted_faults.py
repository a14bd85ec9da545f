"""Each fault of an endpoint reaches the real client as it would from a real one."""

import json
from collections.abc import Iterator

import openai
import pytest
from scripted_client import ask, client
from scripted_server import FAULTS, ScriptedServer, error, verdict


@pytest.fixture
def server() -> Iterator[ScriptedServer]:
    with ScriptedServer() as running:
        yield running


RAISES: dict[str, type[Exception]] = {
    "rate limited": openai.RateLimitError,
    "rate limited for too long": openai.RateLimitError,
    "quota used up": openai.RateLimitError,
    "server error": openai.InternalServerError,
    "server error as html": openai.InternalServerError,
    "unavailable as html": openai.InternalServerError,
    "bad request": openai.BadRequestError,
    "wrong key": openai.AuthenticationError,
    "unknown model": openai.NotFoundError,
    "bad json": json.JSONDecodeError,
    "empty body": json.JSONDecodeError,
    "html page": ValueError,
    "no choice": IndexError,
    "null choices": TypeError,
    "missing choices": TypeError,
    "error with 200": ValueError,
    "cut body": openai.APIConnectionError,
    "dropped": openai.APIConnectionError,
    "hang": openai.APITimeoutError,
}
ANSWERS: dict[str, tuple[str, str | None]] = {
    "null content": ("", "stop"),
    "empty content": ("", "stop"),
    "cut by length": ("The answer is", "length"),
    "content filter": ("", "content_filter"),
    "no finish reason": ("hello", None),
    "bad tool arguments": ("", "tool_calls"),
    "plain text type": ("hello", "stop"),
}


def test_every_fault_is_in_one_of_the_tables() -> None:
    assert RAISES.keys() | ANSWERS.keys() == FAULTS.keys()
    assert not RAISES.keys() & ANSWERS.keys()


@pytest.mark.parametrize("name", RAISES)
def test_a_fault_that_the_client_raises(server: ScriptedServer, name: str) -> None:
    server.script("planner", FAULTS[name])
    timeout = 0.3 if name == "hang" else 20.0
    with pytest.raises(RAISES[name]):
        client(server.base_url, timeout=timeout).invoke(ask("planner"))
    assert server.count("planner") == 1


@pytest.mark.parametrize("name", ANSWERS)
def test_a_fault_that_the_client_takes_for_an_answer(server: ScriptedServer, name: str) -> None:
    server.script("planner", FAULTS[name])
    answer = client(server.base_url).invoke(ask("planner"))
    assert (answer.text, answer.response_metadata["finish_reason"]) == ANSWERS[name]
    assert bool(answer.invalid_tool_calls) == (name == "bad tool arguments")


def test_retry_after_is_sent(server: ScriptedServer) -> None:
    server.script("planner", FAULTS["rate limited for too long"])
    with pytest.raises(openai.RateLimitError) as caught:
        client(server.base_url, retries=2).invoke(ask("planner"))
    assert caught.value.response.headers["retry-after"] == "300"
    assert server.count() == 1


def test_a_quota_error_names_its_code(server: ScriptedServer) -> None:
    server.script("planner", error(429, "no money", code="insufficient_quota"))
    with pytest.raises(openai.RateLimitError, match="no money") as caught:
        client(server.base_url).invoke(ask("planner"))
    assert caught.value.code == "insufficient_quota"


def test_the_critics_endpoint_fails_on_its_own(server: ScriptedServer) -> None:
    server.script("reflector", verdict("PASS"))
    server.script("reflector", verdict("RETRY"), endpoint="critic")
    main, critic = client(server.base_url), client(server.critic_url)
    assert "PASS" in main.invoke(ask("reflector")).text
    assert "RETRY" in critic.invoke(ask("reflector")).text
    server.break_endpoint("critic")
    with pytest.raises(openai.InternalServerError):
        critic.invoke(ask("reflector"))
    assert "PASS" in main.invoke(ask("reflector")).text
    server.mend_endpoint("critic")
    assert "RETRY" in critic.invoke(ask("reflector")).text
    assert server.count("reflector", endpoint="critic") == 3
    assert server.count("reflector", endpoint="main") == 2
    assert [r.endpoint for r in server.requests if r.status == 503] == ["critic"]


def test_a_critic_without_a_script_of_its_own_uses_the_roles(server: ScriptedServer) -> None:
    server.script("reflector", verdict("PASS"))
    assert "PASS" in client(server.critic_url).invoke(ask("reflector")).text
