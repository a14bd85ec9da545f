"""Arguments as a tool gets them: which calls are the same, what a tool does not have."""

from __future__ import annotations

import json
from datetime import UTC, datetime
from typing import Annotated, Any
from uuid import UUID, uuid4

import pytest
from langchain_core.tools import BaseTool, InjectedToolArg, StructuredTool, Tool
from langchain_core.utils.function_calling import convert_to_openai_tool
from pydantic import BaseModel, ConfigDict, Field, SecretStr, field_validator

from hansei.nodes.tool_arguments import ToolArguments, is_refused
from hansei.policies.provenance import canonical
from hansei.policies.records import ToolCall


def refund(order: str, currency: str = "EUR", amount: float = 10) -> str:
    """Refund an order."""
    return f"{order} {currency} {amount}"


class Line(BaseModel):
    sku: str
    number: int = 1
    key: UUID = Field(default_factory=uuid4)


class Order(BaseModel):
    model_config = ConfigDict(populate_by_name=True, str_strip_whitespace=True)

    order: str = Field(alias="orderId")
    lines: list[Line] = Field(default_factory=list[Line])
    at: datetime = Field(default_factory=lambda: datetime.now(UTC))
    pin: SecretStr = SecretStr("0")
    flag: Any = None

    @field_validator("order")
    @classmethod
    def known(cls, order: str) -> str:
        if order == "gone":
            raise RuntimeError(order)
        return order.upper()


class Open(BaseModel):
    model_config = ConfigDict(extra="allow")

    order: str


class Bare(BaseTool):
    """A tool without a model: its arguments reach it as they are."""

    name: str = "refund"
    description: str = "Refund an order."

    def _run(self, order: str, currency: str = "EUR") -> str:
        return f"{order} {currency}"


class Greedy(BaseTool):
    name: str = "refund"
    description: str = "Refund an order."

    def _run(self, order: str, **more: object) -> str:
        return f"{order} {more}"


def held(order: str, user: Annotated[str, InjectedToolArg], currency: str = "EUR") -> str:
    """Refund an order of the user's."""
    return f"{order} {user} {currency}"


def of(schema: object = None, *, function: Any = refund) -> BaseTool:
    given: dict[str, Any] = {} if schema is None else {"args_schema": schema}
    return StructuredTool.from_function(function, name="refund", description="x", **given)


REMOTE: dict[str, Any] = {
    "type": "object",
    "properties": {"order": {"type": "string"}, "currency": {"type": "string", "default": "EUR"}},
}


def reader(tool: BaseTool) -> ToolArguments:
    shown = convert_to_openai_tool(tool)["function"]["parameters"]
    return ToolArguments({tool.name: tool}, {tool.name: shown})


def call(**args: Any) -> ToolCall:
    return ToolCall(name="refund", args=canonical(args))


@pytest.mark.parametrize(
    ("tool", "one", "other"),
    [
        (of(), {"order": "1"}, {"order": "1", "currency": "EUR"}),
        (of(), {"order": "1"}, {"order": "1", "note": "dropped"}),
        (of(), {"order": "1", "amount": 10}, {"order": "1", "amount": "10.0"}),
        (of(Order), {"orderId": "a"}, {"order": " A "}),
        (of(Order), {"orderId": "a", "pin": "0"}, {"orderId": "a"}),
        (
            of(Order),
            {"orderId": "a", "lines": [{"sku": "x"}]},
            {"order": "A", "lines": [{"sku": "x"}]},
        ),
        (of(Open), {"order": "1", "a": 1}, {"a": 1.0, "order": "1"}),
        (of(function=held), {"order": "1"}, {"order": "1", "currency": "EUR"}),
        (of(REMOTE), {"order": "1"}, {"order": "1", "currency": "EUR"}),
        (Bare(), {"order": "1"}, {"order": "1", "currency": "EUR"}),
    ],
)
def test_calls_that_hand_the_same_to_the_tool_are_the_same(
    tool: BaseTool, one: dict[str, Any], other: dict[str, Any]
) -> None:
    assert reader(tool).same(call(**one), call(**other))
    assert reader(tool).same(call(**other), call(**one))


@pytest.mark.parametrize(
    ("tool", "one", "other"),
    [
        (of(), {"order": "1"}, {"order": "2"}),
        (of(), {"order": "1"}, {"order": "1", "currency": "USD"}),
        (of(), {"order": "1"}, {"order": 1}),
        (of(Order), {"orderId": "a", "pin": "1"}, {"orderId": "a", "pin": "2"}),
        (of(Order), {"orderId": "a", "flag": 1}, {"orderId": "a", "flag": True}),
        (of(Order), {"orderId": "a", "flag": [1]}, {"orderId": "a", "flag": [True]}),
        (of(Order), {"orderId": "a", "lines": [{"sku": "x"}]}, {"orderId": "a", "lines": []}),
        (of(Order), {"orderId": "a"}, {"orderId": "a", "at": "2026-01-01T00:00:00Z"}),
        (of(Open), {"order": "1"}, {"order": "1", "a": 1}),
        (of(REMOTE), {"order": "1"}, {"order": "1", "currency": None}),
        (of(REMOTE), {"order": "1"}, {"order": 1}),
        (Bare(), {"order": "1"}, {"order": 1}),
    ],
)
def test_calls_that_hand_something_else_to_the_tool_are_not(
    tool: BaseTool, one: dict[str, Any], other: dict[str, Any]
) -> None:
    assert not reader(tool).same(call(**one), call(**other))
    assert not reader(tool).same(call(**other), call(**one))


def test_calls_of_two_tools_are_never_the_same() -> None:
    assert not reader(of()).same(call(order="1"), ToolCall(name="pay", args=call(order="1").args))


@pytest.mark.parametrize(
    "tool",
    [of(), of(Order), of(function=held), of(REMOTE), Bare(), of({**REMOTE, "properties": {}})],
)
def test_an_argument_that_the_tool_does_not_have_is_told_with_those_it_has(tool: BaseTool) -> None:
    told = reader(tool).unknown(call(order="1", note="x"))
    assert told.startswith("not run: refund has no argument ")
    assert "note" in told


def test_what_is_told_names_the_arguments_there_are() -> None:
    told = reader(of()).unknown(call(order="1", note="x", why=""))
    assert told == (
        "not run: refund has no argument note, why; its arguments: order, currency, amount"
    )


def test_an_argument_that_only_the_runner_gives_is_not_the_models() -> None:
    assert "user" in reader(of(function=held)).unknown(call(order="1", user="me"))


@pytest.mark.parametrize(
    "tool",
    [
        of(Open, function=lambda **given: str(given)),
        of({**REMOTE, "additionalProperties": True}),
        of({**REMOTE, "additionalProperties": {}}),
        of({"type": "object"}),
        of({**REMOTE, "anyOf": [{"required": ["order"]}]}),
        Greedy(),
        Tool(name="refund", description="x", func=str),
    ],
)
def test_a_tool_that_takes_more_keeps_it(tool: BaseTool) -> None:
    assert reader(tool).unknown(call(order="1", note="x")) == ""


def test_an_argument_may_stand_under_each_of_its_names() -> None:
    assert [reader(of(Order)).unknown(call(**{n: "1"})) for n in ("order", "orderId")] == ["", ""]


@pytest.mark.parametrize(
    ("tool", "args", "refused"),
    [
        (of(), {"order": "1"}, False),
        (of(), {"order": 1}, True),
        (of(), {}, True),
        (of(), {"order": "1", "amount": "much"}, True),
        (of(Order), {"orderId": "gone"}, False),
        (of(function=held), {"order": "1"}, False),
        (of(function=held), {"order": 1}, True),
        (of(function=held), {}, True),
        (of(function=held), {"order": "1", "user": 1}, False),
        (of(REMOTE), {"order": 1}, False),
        (Bare(), {}, False),
    ],
)
def test_what_the_tools_own_validation_refuses(
    tool: BaseTool, args: dict[str, Any], refused: bool
) -> None:
    before = json.dumps(args)
    assert is_refused(tool, args) is refused
    assert json.dumps(args) == before
