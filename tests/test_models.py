"""Which model a role gets, from arguments, environment, `.env` and what is installed."""

from __future__ import annotations

import dataclasses
import importlib.util
import subprocess
import sys
from pathlib import Path
from typing import Any, cast

import pytest
from hypothesis import given
from hypothesis import strategies as st
from langchain_core.language_models import BaseChatModel
from langchain_core.language_models.fake_chat_models import FakeListChatModel
from langchain_openai import ChatOpenAI
from langchain_openai.chat_models.base import BaseChatOpenAI
from model_pieces import BARE
from pydantic import SecretStr
from stand_in_llama import install_stand_in, model_file

from hansei.graphs import local_model, models
from hansei.graphs.local_pieces import EMBEDDED
from hansei.graphs.models import ModelRole, chat_model, describe_model
from hansei.policies.errors import HanseiError, OperatorError, UserError

URL = "http://127.0.0.1:9/v1"
OTHER = "http://127.0.0.1:10/v1"
KEY = "sk-main-secret"
CRITIC_KEY = "sk-critic-secret"


@pytest.fixture(autouse=True)
def elsewhere(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """No `.env` of the developer's, no joined model, and nothing to serve one with."""
    monkeypatch.chdir(tmp_path)
    monkeypatch.setenv("HANSEI_CACHE", str(tmp_path / "cache"))
    monkeypatch.setattr(local_model, "find_spec", lambda _name: None)


@dataclasses.dataclass(frozen=True)
class Chosen:
    """What of a model the rules decide."""

    model: str
    url: str
    key: str


def chosen(model: BaseChatModel) -> Chosen:
    assert isinstance(model, BaseChatOpenAI)
    assert isinstance(model.openai_api_key, SecretStr)
    return Chosen(
        model.model_name, model.openai_api_base or "", model.openai_api_key.get_secret_value()
    )


OPENAI = "https://api.openai.com/v1"
DEFAULT = models.DEFAULT_MODEL
MAIN = {"OPENAI_API_KEY": KEY, "OPENAI_BASE_URL": URL, "HANSEI_MODEL": "big"}
MATRIX: list[tuple[dict[str, str], ModelRole | None, Chosen]] = [
    ({"OPENAI_API_KEY": KEY}, None, Chosen(DEFAULT, OPENAI, KEY)),
    ({"OPENAI_BASE_URL": URL}, "planner", Chosen(DEFAULT, URL, "none")),
    ({"OPENAI_API_BASE": URL}, None, Chosen(DEFAULT, URL, "none")),
    (MAIN, "executor", Chosen("big", URL, KEY)),
    (MAIN, "reflector", Chosen("big", URL, KEY)),
    (MAIN | {"HANSEI_CRITIC_MODEL": "wise"}, "reflector", Chosen("wise", URL, KEY)),
    (MAIN | {"HANSEI_CRITIC_MODEL": "wise"}, "evaluator", Chosen("wise", URL, KEY)),
    (MAIN | {"HANSEI_CRITIC_MODEL": "wise"}, "synthesizer", Chosen("big", URL, KEY)),
    (MAIN | {"HANSEI_CRITIC_MODEL": "wise"}, None, Chosen("big", URL, KEY)),
    # Another host is not shown the key that was set for the first.
    (MAIN | {"HANSEI_CRITIC_BASE_URL": OTHER}, "reflector", Chosen("big", OTHER, "none")),
    (MAIN | {"HANSEI_CRITIC_BASE_URL": OTHER}, "planner", Chosen("big", URL, KEY)),
    (
        MAIN | {"HANSEI_CRITIC_BASE_URL": URL.replace("/v1", "/critic/v1")},
        "reflector",
        Chosen("big", "http://127.0.0.1:9/critic/v1", KEY),
    ),
    (
        MAIN | {"HANSEI_CRITIC_BASE_URL": OTHER, "HANSEI_CRITIC_API_KEY": CRITIC_KEY},
        "evaluator",
        Chosen("big", OTHER, CRITIC_KEY),
    ),
    (MAIN | {"HANSEI_CRITIC_API_KEY": CRITIC_KEY}, "reflector", Chosen("big", URL, CRITIC_KEY)),
    (MAIN | {"HANSEI_CRITIC_API_KEY": CRITIC_KEY}, "planner", Chosen("big", URL, KEY)),
    ({"HANSEI_CRITIC_API_KEY": CRITIC_KEY}, "reflector", Chosen(DEFAULT, OPENAI, CRITIC_KEY)),
    (MAIN | {"HANSEI_GGUF": "/no/such.gguf"}, None, Chosen("big", URL, KEY)),
    ({"OPENAI_API_KEY": f" {KEY}\n", "OPENAI_BASE_URL": "  "}, None, Chosen(DEFAULT, OPENAI, KEY)),
]


@pytest.mark.parametrize(("environment", "role", "expected"), MATRIX)
def test_the_environment_decides(
    environment: dict[str, str],
    role: ModelRole | None,
    expected: Chosen,
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    for name, value in environment.items():
        monkeypatch.setenv(name, value)
    assert chosen(chat_model(role=role)) == expected


@pytest.mark.parametrize(
    ("arguments", "expected"),
    [
        ({"name": "mine"}, Chosen("mine", URL, KEY)),
        ({"name": "mine", "role": "reflector"}, Chosen("mine", OTHER, CRITIC_KEY)),
        ({"base_url": "http://127.0.0.1:11/v1"}, Chosen("big", "http://127.0.0.1:11/v1", KEY)),
        ({"api_key": "sk-mine"}, Chosen("big", URL, "sk-mine")),
        ({"api_key": SecretStr("sk-mine")}, Chosen("big", URL, "sk-mine")),
        ({"base_url": URL, "role": "reflector"}, Chosen("wise", URL, CRITIC_KEY)),
        (
            {"name": "mine", "base_url": URL, "api_key": "sk-mine", "role": "evaluator"},
            Chosen("mine", URL, "sk-mine"),
        ),
    ],
)
def test_arguments_win(
    arguments: dict[str, Any], expected: Chosen, monkeypatch: pytest.MonkeyPatch
) -> None:
    critic = {
        "HANSEI_CRITIC_MODEL": "wise",
        "HANSEI_CRITIC_BASE_URL": OTHER,
        "HANSEI_CRITIC_API_KEY": CRITIC_KEY,
    }
    for name, value in (MAIN | critic).items():
        monkeypatch.setenv(name, value)
    assert chosen(chat_model(**arguments)) == expected


def test_arguments_alone_are_enough() -> None:
    assert chosen(chat_model("mine", base_url=URL)) == Chosen("mine", URL, "none")
    assert chosen(chat_model("mine", api_key="sk-mine")) == Chosen("mine", OPENAI, "sk-mine")


def test_env_file_is_read_and_the_environment_wins(monkeypatch: pytest.MonkeyPatch) -> None:
    Path(".env").write_text(
        f"OPENAI_API_KEY={KEY}\nOPENAI_BASE_URL={URL}\nHANSEI_MODEL=filed\nUNRELATED=1\n"
    )
    assert chosen(chat_model()) == Chosen("filed", URL, KEY)
    monkeypatch.setenv("HANSEI_MODEL", "set")
    assert chosen(chat_model()) == Chosen("set", URL, KEY)
    # Set to nothing turns off what the file says.
    for name in ("OPENAI_API_KEY", "OPENAI_BASE_URL", "HANSEI_MODEL"):
        monkeypatch.setenv(name, "")
    with pytest.raises(OperatorError, match="No model is set"):
        chat_model()


def test_an_env_file_that_is_no_text_is_told() -> None:
    Path(".env").write_bytes(b"OPENAI_API_KEY=\xff\xfe\n")
    with pytest.raises(OperatorError, match=r"\.env"):
        chat_model()


def test_what_else_a_model_is_built_with() -> None:
    model = cast("BaseChatOpenAI", chat_model(base_url=URL))
    assert (model.temperature, model.max_tokens, model.max_retries) == (0.0, 1024, 2)
    timeout = cast("Any", model.request_timeout)
    assert (timeout.connect, timeout.read) == (5.0, 60.0)
    model = cast(
        "BaseChatOpenAI",
        chat_model(base_url=URL, temperature=0.7, timeout=2.5, max_tokens=9, max_retries=0),
    )
    assert (model.temperature, model.max_tokens, model.max_retries) == (0.7, 9, 0)
    timeout = cast("Any", model.request_timeout)
    assert (timeout.connect, timeout.read) == (2.5, 2.5)


def test_the_time_for_a_request_can_be_set(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("HANSEI_TIMEOUT", "300")
    assert cast("Any", chat_model(base_url=URL)).request_timeout.read == 300.0
    assert cast("Any", chat_model(base_url=URL, timeout=7.0)).request_timeout.read == 7.0
    monkeypatch.setenv("HANSEI_TIMEOUT", "soon")
    with pytest.raises(OperatorError, match="HANSEI_TIMEOUT must be a number above 0"):
        chat_model(base_url=URL)
    monkeypatch.setenv("HANSEI_TIMEOUT", "3")
    monkeypatch.setenv("HANSEI_TOOL_STYLE", "odd")
    with pytest.raises(OperatorError, match="HANSEI_TOOL_STYLE must be one of native, schema"):
        chat_model(base_url=URL)


def test_nothing_set_and_nothing_embedded_says_what_to_set() -> None:
    with pytest.raises(OperatorError) as caught:
        chat_model()
    assert str(caught.value) == (
        "No model is set: set OPENAI_API_KEY, or OPENAI_BASE_URL for an endpoint of your own, "
        'or run `pip install "hansei[local]"` for the embedded model.'
    )


@pytest.mark.parametrize(
    ("setting", "role"), [("HANSEI_MODEL", "planner"), ("HANSEI_CRITIC_MODEL", "reflector")]
)
def test_a_named_model_is_not_swapped_for_the_embedded_one(
    setting: str, role: ModelRole, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(local_model, "local_model_available", lambda: True)
    monkeypatch.setenv(setting, "big-one")
    with pytest.raises(OperatorError, match="The model big-one is asked for, but no endpoint"):
        chat_model(role=role)


def test_the_embedded_model_answers_when_nothing_is_set(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(local_model, "find_spec", importlib.util.find_spec)
    install_stand_in(tmp_path / "lib", monkeypatch)
    path = model_file(tmp_path, monkeypatch)
    # A model file of one's own may be called anything; one with the embedded name is that model.
    path.rename(tmp_path / EMBEDDED.file_name)
    monkeypatch.setenv("HANSEI_GGUF", str(tmp_path / EMBEDDED.file_name))
    try:
        model = chat_model(role="planner")
        critic = chat_model(EMBEDDED.model_name, role="reflector")
        assert describe_model(model) == f"{EMBEDDED.model_name} (embedded)"
        assert chosen(critic) == chosen(model)
        # The server asks for its key, so a reply says that the model has it.
        assert '"slots": 2' in str(model.invoke("hi").content)
        assert cast("Any", model).request_timeout.read == 600.0
        assert chosen(model).key not in repr(model)
        assert local_model.local_endpoint().base_url == chosen(model).url
    finally:
        local_model.stop_local_servers()


ADDRESSES = [
    "127.0.0.1:8000/v1",
    "localhost",
    "ftp://host/v1",
    "http://",
    "http://[::1/v1",
    "http://host:port/v1",
    "http://host:0/v1",
    "http://host:99999/v1",
    "http://ann:hush@host/v1?key=hush",
    "http://host/v1#hush",
]


@pytest.mark.parametrize("address", ADDRESSES)
def test_an_address_that_is_none_is_refused_and_not_repeated(address: str) -> None:
    with pytest.raises(UserError, match="http://host:8000/v1") as caught:
        chat_model(base_url=address)
    assert "hush" not in str(caught.value)


@pytest.mark.parametrize("key", ["sk-a b", "sk-\nx", "sk-…", "sk-\x00"])
def test_a_key_that_is_none_is_refused_and_not_repeated(key: str) -> None:
    with pytest.raises(UserError, match="API key") as caught:
        chat_model(api_key=key)
    assert "sk-" not in str(caught.value)


@pytest.mark.parametrize(
    ("arguments", "word"),
    [
        ({"role": "boss"}, "role"),
        ({"temperature": 2.1}, "temperature"),
        ({"temperature": float("nan")}, "temperature"),
        ({"timeout": 0.0}, "timeout"),
        ({"timeout": float("inf")}, "timeout"),
        ({"max_tokens": 0}, "max_tokens"),
        ({"max_retries": -1}, "max_retries"),
    ],
)
def test_nonsense_is_refused(arguments: dict[str, Any], word: str) -> None:
    with pytest.raises(UserError, match=f"cannot be built: {word}"):
        chat_model(base_url=URL, **arguments)


@given(secret=st.text(st.characters(min_codepoint=33, max_codepoint=126), min_size=12))
def test_no_key_is_ever_shown(secret: str) -> None:
    secret = "sk-" + secret
    model = chat_model(base_url=URL, api_key=secret)
    shown = f"{model!r} {model} {model.model_dump()!r} {describe_model(model)}"
    assert secret not in shown


def test_models_are_described_briefly() -> None:
    assert describe_model(chat_model("mine", base_url=URL)) == "mine (127.0.0.1:9)"
    assert describe_model(chat_model("mine", api_key=KEY)) == "mine (api.openai.com)"
    secretive = chat_model("mine", base_url="http://ann:hush@host.example:8000/v1")
    assert describe_model(secretive) == "mine (host.example:8000)"
    theirs = ChatOpenAI(
        model="theirs", base_url="http://ann:hush@host.example/v1", api_key=SecretStr(KEY)
    )
    assert describe_model(theirs) == "theirs (host.example)"
    assert describe_model(FakeListChatModel(responses=["hi"])) == "FakeListChatModel"


def test_importing_brings_in_no_client_and_starts_nothing() -> None:
    script = """
import hansei
import threading
heavy = {"openai", "langchain_openai", "xllamacpp", "rich.progress", "jinja2", "pydantic_settings"}
heavy |= {"rapidfuzz", "json_repair", "rjieba", "cn2an", "aiosqlite", "psycopg", "platformdirs"}
print(sorted(heavy & sys.modules.keys()), threading.active_count())
"""
    done = subprocess.run(
        [sys.executable, "-c", BARE + script], capture_output=True, text=True, check=True
    )
    assert done.stdout == "[] 1\n"
    assert done.stderr == ""


def test_every_refusal_is_a_hansei_error(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(local_model, "local_model_available", lambda: True)
    monkeypatch.setenv("HANSEI_GGUF", "no-such-file.gguf")
    with pytest.raises(HanseiError, match="HANSEI_GGUF names no-such-file"):
        chat_model()
