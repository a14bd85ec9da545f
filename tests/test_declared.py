"""What tools declare about themselves, and which of them are refused."""

from __future__ import annotations

import pytest
from langchain_core.tools import BaseTool, tool

from hansei.policies.errors import UserError
from hansei.tools.declared import check_tools, tool_effect, tool_is_volatile


def named(name: str, **metadata: object) -> BaseTool:
    @tool(name)
    def some(x: int) -> int:
        """Do something."""
        return x

    some.metadata = dict(metadata)
    return some


def test_tools_are_checked() -> None:
    check_tools([])
    check_tools([named("a"), named("b-2"), named("C_3")])
    for wrong in ("with space", "查询", "", "a" * 65, "dotted.name"):
        odd = named("placeholder")
        odd.name = wrong
        with pytest.raises(UserError, match="cannot be called by a model"):
            check_tools([odd])
    with pytest.raises(UserError, match=r"same name \(a, b\)"):
        check_tools([named("b"), named("a"), named("c"), named("a"), named("b")])
    with pytest.raises(UserError, match="is not a tool"):
        check_tools([named("a"), len])
    with pytest.raises(UserError, match="'sometimes'"):
        check_tools([named("a", hansei={"effect": "sometimes"})])
    with pytest.raises(UserError, match="volatile"):
        check_tools([named("a", hansei={"volatile": "yes"})])


@pytest.mark.parametrize("effect", ["read", "idempotent", "once"])
def test_a_declared_effect(effect: str) -> None:
    assert tool_effect(named("a", hansei={"effect": effect})) == effect


@pytest.mark.parametrize(
    "metadata", [{}, {"hansei": {}}, {"other": 1, "hansei": {"volatile": True}}]
)
def test_an_undeclared_effect_is_once(metadata: dict[str, object]) -> None:
    assert tool_effect(named("a", **metadata)) == "once"
    bare = named("a")
    bare.metadata = None
    assert tool_effect(bare) == "once"


@pytest.mark.parametrize("wrong", ["READ", "", None, 1, ["read"], "write"])
def test_a_wrong_effect_is_refused(wrong: object) -> None:
    with pytest.raises(UserError, match="must be one of read, idempotent, once"):
        tool_effect(named("a", hansei={"effect": wrong}))


@pytest.mark.parametrize("wrong", ["read", None, ["effect"]])
def test_metadata_that_is_no_mapping_is_refused(wrong: object) -> None:
    with pytest.raises(UserError, match="must be a mapping"):
        tool_effect(named("a", hansei=wrong))


def test_volatile_is_declared_and_off_by_default() -> None:
    assert tool_is_volatile(named("a", hansei={"volatile": True})) is True
    assert tool_is_volatile(named("a", hansei={"volatile": False})) is False
    assert tool_is_volatile(named("a", hansei={"effect": "read"})) is False
    assert tool_is_volatile(named("a")) is False
    for wrong in (1, "true", None):
        with pytest.raises(UserError, match="must be True or False"):
            tool_is_volatile(named("a", hansei={"volatile": wrong}))
