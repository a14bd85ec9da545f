"""Bad input and missing things: one clear sentence, the right exit code, no traceback."""

from __future__ import annotations

import logging
import socket
import sys
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import pytest
from cli_helpers import hansei, one_sentence, refused
from cli_scenes import endpoint
from scripted_model import ScriptedChatModel
from scripted_server import Reply, ScriptedServer

from hansei import (
    AgentInput,
    EndpointError,
    Settings,
    UserError,
    create_plan_execute_agent,
)
from hansei.graphs.models import chat_model
from hansei.tools.shop import shop_tools

MEGABYTE = "x" * 1_000_000

TWO_OF_ONE_NAME = """
from langchain_core.tools import tool

@tool
def look(q: str) -> str:
    "Looks."
    return q

first = look
second = look.model_copy()
"""


@pytest.fixture(autouse=True)
def server(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Iterator[ScriptedServer]:
    """See `endpoint`."""
    with endpoint(tmp_path, monkeypatch) as running:
        yield running


# the goal


@pytest.mark.parametrize("goal", ["", "   ", "\n\t"])
def test_an_empty_goal_is_refused_by_the_command(goal: str, server: ScriptedServer) -> None:
    said = refused(hansei("run", goal, "--json"), 2)
    assert said == "The goal is empty; say in a sentence what is to be done."
    assert server.count() == 0


def test_an_empty_goal_on_stdin_is_refused(server: ScriptedServer) -> None:
    assert "The goal is empty" in refused(hansei("run", "-", "--json", stdin=""), 2)
    assert server.count() == 0


@pytest.mark.parametrize("given", [{"goal": ""}, {"goal": "  "}, {}, {"messages": []}])
def test_an_empty_goal_is_refused_by_the_library(given: Any) -> None:
    agent = create_plan_execute_agent(ScriptedChatModel(), shop_tools())
    with pytest.raises(UserError, match="The goal is empty"):
        agent.invoke(given)


@pytest.mark.parametrize("given", [{"gaol": "look it up"}, {}, {"messages": []}])
def test_where_the_goal_must_stand_is_said(given: Any) -> None:
    agent = create_plan_execute_agent(ScriptedChatModel(), shop_tools())
    with pytest.raises(UserError) as caught:
        agent.invoke(given)
    assert '{"goal": "…"} or {"messages": […]}' in one_sentence(str(caught.value))
    assert "other keys are not read" in str(caught.value)


def test_a_misspelt_key_of_the_input_is_named() -> None:
    build: Callable[..., AgentInput] = AgentInput
    with pytest.raises(UserError, match=r"no input field 'gaol' \(did you mean 'goal'\?\)"):
        build(gaol="look it up")


def test_a_goal_that_is_no_text_is_refused() -> None:
    model = ScriptedChatModel()
    wrong: Any = {"goal": 3}
    with pytest.raises(UserError, match="'goal' cannot be 3: it must be text"):
        create_plan_execute_agent(model, shop_tools()).invoke(wrong)
    assert model.count() == 0


def test_a_goal_of_a_megabyte_is_refused_by_the_command(server: ScriptedServer) -> None:
    said = refused(hansei("run", "-", "--json", stdin=MEGABYTE), 2)
    assert "1000000 characters" in said
    assert "20000" in said
    assert server.count() == 0


def test_a_goal_of_a_megabyte_is_refused_by_the_library() -> None:
    model = ScriptedChatModel()
    agent = create_plan_execute_agent(model, shop_tools())
    with pytest.raises(UserError, match="1000000 characters"):
        agent.invoke(AgentInput(goal=MEGABYTE))
    assert model.count() == 0


# the tools


def test_a_module_that_is_not_there_is_refused(server: ScriptedServer) -> None:
    said = refused(hansei("run", "look it up", "--tools", "no_such_module_here:x", "--json"), 2)
    assert "There is no module 'no_such_module_here'" in said


def test_a_file_that_is_not_there_is_refused(server: ScriptedServer) -> None:
    said = refused(hansei("run", "look it up", "--tools", "nothing/here.py", "--json"), 2)
    assert "There is no Python file nothing/here.py" in said


def test_a_module_without_tools_is_refused(server: ScriptedServer, tmp_path: Path) -> None:
    (tmp_path / "empty_tools.py").write_text("ANSWER = 42\n")
    said = refused(hansei("run", "look it up", "--tools", "empty_tools.py", "--json"), 2)
    assert "There is no tool in empty_tools.py" in said


def test_a_file_that_fails_on_import_is_refused(server: ScriptedServer, tmp_path: Path) -> None:
    (tmp_path / "broken_tools.py").write_text("raise RuntimeError('no luck')\n")
    said = refused(hansei("run", "look it up", "--tools", "broken_tools.py", "--json"), 2)
    assert "no luck" in said


def test_two_tools_of_one_name_are_refused(server: ScriptedServer, tmp_path: Path) -> None:
    (tmp_path / "double.py").write_text(TWO_OF_ONE_NAME)
    said = refused(hansei("run", "look it up", "--tools", "double.py", "--json"), 2)
    assert "Two tools have the same name (look)" in said
    assert server.count() == 0


def test_a_misspelt_declaration_is_refused_before_a_model_is_looked_for(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("OPENAI_BASE_URL", "no address")
    tools = (tmp_path / "my_tools.py").read_text()
    (tmp_path / "my_tools.py").write_text(tools.replace('"effect"', '"efect"'))
    said = refused(hansei("run", "look it up", "--tools", "my_tools.py", "--json"), 2)
    assert "did you mean 'effect'?" in said


def test_two_tools_of_one_name_are_refused_by_the_library() -> None:
    with pytest.raises(UserError, match=r"Two tools have the same name \(query_order\)"):
        create_plan_execute_agent(ScriptedChatModel(), [*shop_tools(), shop_tools()[0]])


# the settings

WRONG_SETTINGS = [
    ("max_steps=0", "max_steps"),
    ("max_steps=many", "max_steps"),
    ("max_steps=2.5", "max_steps"),
    ("max_step_retries=-1", "max_step_retries"),
    ("max_parallel=0", "max_parallel"),
    ("call_budget=-1", "call_budget"),
    ("token_budget=0", "token_budget"),
    ("deadline=0", "deadline"),
    ("deadline=NaN", "deadline"),
    ("language=fr", "language"),
    ("retry_mode=often", "retry_mode"),
    ("goal_blind=perhaps", "goal_blind"),
    ("speed=9", "speed"),
    ("max_steps", "name=value"),
]


@pytest.mark.parametrize(("assignment", "named"), WRONG_SETTINGS)
def test_a_setting_that_cannot_be_is_refused(
    assignment: str, named: str, server: ScriptedServer
) -> None:
    said = refused(hansei("run", "look it up", "--set", assignment, "--json"), 2)
    assert named in said
    assert server.count() == 0


def test_a_reflection_that_does_not_exist_is_refused(server: ScriptedServer) -> None:
    said = refused(hansei("run", "look it up", "--reflection", "sometimes", "--json"), 2)
    assert "'reflection' cannot be 'sometimes'" in said
    assert "on_signal" in said


@pytest.mark.parametrize(
    "given",
    [
        {"max_steps": 0},
        {"max_step_retries": -1},
        {"max_tool_rounds": 1.5},
        {"max_parallel": True},
        {"call_budget": -1},
        {"deadline": 0},
        {"deadline": float("nan")},
        {"reflection": "sometimes"},
        {"language": "fr"},
        {"speed": 9},
    ],
)
def test_a_setting_that_cannot_be_is_refused_by_the_library(given: dict[str, object]) -> None:
    (name,) = given
    with pytest.raises(UserError, match=name):
        Settings.model_validate(given)


def test_a_setting_of_one_run_that_cannot_be_is_refused() -> None:
    model = ScriptedChatModel()
    wrong: Any = {"max_steps": 0}
    agent = create_plan_execute_agent(model, shop_tools())
    with pytest.raises(UserError, match="'max_steps' cannot be 0: it must be a whole number"):
        agent.invoke(AgentInput(goal="look it up"), context=wrong)
    assert model.count() == 0


# the model


@pytest.mark.parametrize("address", ["no address", "ftp://host/v1", "http://", "http://h/v1?key=1"])
def test_an_address_that_is_none_is_refused(address: str, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("OPENAI_BASE_URL", address)
    said = refused(hansei("run", "look it up", "--json"), 2)
    assert "http://host:8000/v1" in said


def test_no_key_and_no_local_model_is_said(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.delenv("OPENAI_BASE_URL")
    monkeypatch.setitem(sys.modules, "xllamacpp", None)
    said = refused(hansei("run", "look it up", "--json"), 7)
    assert "OPENAI_API_KEY" in said
    assert "hansei[local]" in said


@pytest.fixture
def nobody_there() -> str:
    """An address of this machine at which nobody listens."""
    with socket.socket() as probe:
        probe.bind(("127.0.0.1", 0))
        port: int = probe.getsockname()[1]
    return f"http://127.0.0.1:{port}/v1"


def test_an_endpoint_that_is_not_there_is_said(
    nobody_there: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("OPENAI_BASE_URL", nobody_there)
    said = refused(hansei("run", "look it up", "--json"), 7)
    assert "cannot be reached" in said
    assert "OPENAI_BASE_URL" in said


def test_an_endpoint_that_is_not_there_is_an_error_of_the_library(nobody_there: str) -> None:
    model = chat_model(base_url=nobody_there, max_retries=0)
    agent = create_plan_execute_agent(model, shop_tools())
    with pytest.raises(EndpointError, match="cannot be reached"):
        agent.invoke(AgentInput(goal="look it up"))


@pytest.mark.parametrize(
    ("status", "advice"),
    [
        (401, "OPENAI_API_KEY"),
        (404, "HANSEI_MODEL"),
        (429, "rate limit"),
        (500, "fault of its own"),
    ],
)
def test_what_to_do_about_an_endpoint_that_fails_is_said(
    status: int, advice: str, server: ScriptedServer, monkeypatch: pytest.MonkeyPatch
) -> None:
    server.script("planner", Reply("sk-secret is wrong", status=status))
    line = refused(hansei("run", "look it up", "--json"), 7)
    assert f"HTTP {status}" in line
    assert advice in line
    assert "secret" not in line


def test_an_endpoint_that_is_none_is_said(server: ScriptedServer) -> None:
    server.script("planner", Reply(raw_body=b"<html>hello</html>"))
    assert "no OpenAI-compatible API" in refused(hansei("run", "look it up", "--json"), 7)


def test_an_exception_of_a_model_of_the_users_is_told_as_that(
    caplog: pytest.LogCaptureFixture,
) -> None:
    model = ScriptedChatModel()
    model.script("planner", Reply(fail_with=RuntimeError("sk-secret: out of memory")))
    with caplog.at_level(logging.INFO), pytest.raises(EndpointError) as caught:
        create_plan_execute_agent(model, shop_tools()).invoke(AgentInput(goal="look it up"))
    line = one_sentence(str(caught.value))
    assert "RuntimeError" in line
    assert "handed in" in line
    assert "OPENAI" not in line
    assert "secret" not in line + caplog.text


# the database


def test_a_database_that_is_none_is_said(server: ScriptedServer, tmp_path: Path) -> None:
    (tmp_path / "notes.txt").write_text("no database at all, only words\n" * 50)
    said = refused(hansei("run", "look it up", "--db", "notes.txt", "--json"), 7)
    assert "notes.txt cannot be used" in said
    assert server.count() == 0
