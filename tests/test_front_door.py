"""Wrong arguments to `create_plan_execute_agent`: one sentence that says what to write instead."""

from __future__ import annotations

import logging
from collections.abc import Callable, Mapping
from typing import Any

import pytest
from cli_helpers import one_sentence
from langchain_core.tools import tool
from scripted_model import ScriptedChatModel

from hansei import Settings, UserError, create_plan_execute_agent, open_checkpointer
from hansei.tools.shop import shop_tools

BUILD: Callable[..., object] = create_plan_execute_agent
"""The same function for code that nobody has checked."""

MODEL = ScriptedChatModel()


@tool
def look(q: str) -> str:
    """Look something up."""
    return q


def rule(data: object) -> None:
    """A check of the user's."""


WRONG: list[tuple[Mapping[str, Any], str]] = [
    ({"model": "gpt-4.1"}, "'gpt-4.1' was given; use chat_model('gpt-4.1')"),
    ({"model": None}, "model must be a chat model, and None was given; use chat_model()"),
    ({"model": ScriptedChatModel}, "the class ScriptedChatModel was given; make one"),
    (
        {"model": MODEL | (lambda reply: reply)},
        "model must be a chat model, and a RunnableSequence",
    ),
    (
        {"model": {"planer": MODEL}},
        "no role 'planer' (did you mean 'planner'?); there are: planner,",
    ),
    ({"model": {"planner": "x"}}, "the model of the planner must be a chat model"),
    ({"model": {}}, "No model is given for the role planner"),
    ({"critic": "gpt-4.1"}, "critic must be a chat model"),
    ({"settings": {"max_steps": 2}}, "settings must be a Settings, and a dict was given"),
    ({"settings": "never"}, "settings must be a Settings, and 'never' was given"),
    ({"checks": rule}, "write checks=[rule]"),
    ({"checks": None}, "checks must be a list of functions, and None was given"),
    ({"checks": "rule"}, "checks must be a list of functions, and 'rule' was given"),
    ({"checks": [rule, 1]}, "A check must be a function from CheckInput"),
    ({"tools": look}, "write tools=[look]"),
    ({"tools": None}, "tools must be a list of tools, and None was given"),
    ({"tools": "shop"}, "load_tools('shop')"),
    ({"tools": rule}, "make it a tool with @tool"),
    ({"tools": [rule]}, "is not a tool; make it one with @tool"),
    ({"checkpointer": "runs.db"}, 'use open_checkpointer("runs.db")'),
    ({"checkpointer": open_checkpointer("runs.db")}, "open it first: with open_checkpointer"),
    ({"store": {}}, "store must be a store of LangGraph, and a dict was given"),
]


@pytest.mark.parametrize(("wrong", "said"), WRONG)
def test_a_wrong_argument_is_refused(wrong: Mapping[str, Any], said: str) -> None:
    with pytest.raises(UserError) as caught:
        BUILD(**{"model": MODEL, **wrong})
    assert said in one_sentence(str(caught.value))


def test_what_typed_code_gives_is_taken() -> None:
    roles = {"planner": MODEL, "executor": MODEL, "reflector": MODEL, "synthesizer": MODEL}
    for model in (MODEL, roles):
        BUILD(model, iter(shop_tools()), critic=MODEL, settings=Settings(), checks=(rule,))
    BUILD(MODEL, tuple(shop_tools()), checkpointer=None, store=None)


@pytest.mark.parametrize(
    ("declared", "said"),
    [
        ({"efect": "read"}, "declares 'efect', which means nothing (did you mean 'effect'?)"),
        ({"effect": "read", "colour": 1}, "a tool may declare: effect, volatile."),
        ({"effect": "reed"}, "must be one of read, idempotent, once"),
    ],
)
def test_a_misspelt_declaration_is_refused(declared: dict[str, object], said: str) -> None:
    odd = look.model_copy(update={"metadata": {"hansei": declared}})
    with pytest.raises(UserError) as caught:
        BUILD(MODEL, [odd])
    assert said in one_sentence(str(caught.value))


def test_a_tool_that_declares_nothing_is_named(caplog: pytest.LogCaptureFixture) -> None:
    with caplog.at_level(logging.WARNING):
        BUILD(MODEL, [look])
    (record,) = caplog.records
    assert "No effect is declared for look" in one_sentence(record.getMessage())
