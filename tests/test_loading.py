"""Tools by name: every form that works, and one clear sentence for every one that does not."""

from __future__ import annotations

import sys
from collections.abc import Iterator
from pathlib import Path

import pytest

from hansei.policies.errors import UserError
from hansei.tools.loading import load_tools, tool_effect

MINE = '''
"""Somebody's own tools."""
from __future__ import annotations

from langchain_core.tools import BaseTool, tool


@tool
def one(x: int) -> int:
    """One."""
    return x + 1


@tool
def two(x: int) -> int:
    """Two."""
    return x + 2


def plain(city: str, days: int = 3) -> str:
    """Tell the weather.

    Args:
        city: Where.
        days: For how long.
    """
    return f"{city}: {days}"


def today() -> str:
    """Tell the date; called by a model, not while loading."""
    CALLS.append("today")
    return "2026-11-30"


async def later(city: str) -> str:
    """Tell the weather, some time."""
    return city


def make() -> list[BaseTool]:
    return [one, two]


def make_unannotated():
    return (one, plain)


def make_one() -> BaseTool:
    return two


def make_open() -> list:
    return [two]


def make_nothing():
    return []


def make_text():
    return "no tools"


def make_trouble():
    raise RuntimeError("the service\\nis down.")


def untyped(city) -> str:
    """Tell the weather."""
    return city


def undescribed(city: str) -> str:
    return city


class Shout(BaseTool):
    name: str = "shout"
    description: str = "Say it loudly."

    def _run(self, text: str) -> str:
        return text.upper()


CALLS: list[str] = []
pair = [one, two]
row = (one, plain)
empty: list[BaseTool] = []
number = 7
'''


@pytest.fixture(autouse=True)
def folder(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Iterator[Path]:
    """A current directory with `mine.py` in it; what gets imported is forgotten afterwards."""
    # As the console script finds it: neither the directory nor "" (the same) is on the path.
    monkeypatch.setattr(sys, "path", [entry for entry in sys.path if entry])
    monkeypatch.chdir(tmp_path)
    (tmp_path / "mine.py").write_text(MINE, encoding="utf-8")
    before = set(sys.modules)
    yield tmp_path
    for name in set(sys.modules) - before:
        origin = getattr(sys.modules[name], "__file__", None)
        if origin and Path(origin).is_relative_to(tmp_path):
            del sys.modules[name]


def names(spec: str) -> list[str]:
    return [each.name for each in load_tools(spec)]


def refusal(spec: str) -> str:
    with pytest.raises(UserError) as caught:
        load_tools(spec)
    text = str(caught.value)
    assert "\n" not in text
    assert text.endswith(".")
    return text


def test_the_shop_by_its_name() -> None:
    assert names("shop") == [
        "query_order",
        "query_logistics",
        "compare_products",
        "search_products",
        "product_detail",
    ]


@pytest.mark.parametrize("where", ["mine", "mine.py", "./mine.py"])
@pytest.mark.parametrize(
    ("name", "expected"),
    [
        ("one", ["one"]),
        ("pair", ["one", "two"]),
        ("row", ["one", "plain"]),
        ("plain", ["plain"]),
        ("later", ["later"]),
        ("make", ["one", "two"]),
        ("make_one", ["two"]),
        ("make_unannotated", ["one", "plain"]),
        ("make_open", ["two"]),
        ("Shout", ["shout"]),
    ],
)
def test_a_name_in_a_module_or_file(where: str, name: str, expected: list[str]) -> None:
    assert names(f"{where}:{name}") == expected


def test_a_whole_module_gives_its_tools_and_no_functions() -> None:
    assert names("mine") == ["one", "two"]
    assert names("mine.py") == ["one", "two"]


def test_a_path_from_the_root_and_a_module_in_a_package(folder: Path) -> None:
    package = folder / "kit" / "deep"
    package.mkdir(parents=True)
    (package / "calc.py").write_text(MINE, encoding="utf-8")
    assert names(f"{package / 'calc.py'}:one") == ["one"]
    assert names("kit.deep.calc:two") == ["two"]


def test_a_file_may_import_what_lies_beside_it(folder: Path) -> None:
    aside = folder / "aside"
    aside.mkdir()
    (aside / "neighbour.py").write_text(MINE, encoding="utf-8")
    (aside / "entry.py").write_text("from neighbour import one\n", encoding="utf-8")
    assert names("aside/entry.py") == ["one"]


def test_several_specs_keep_their_order_and_are_loaded_once() -> None:
    assert names("mine:two, mine:one,mine:two") == ["two", "one"]
    # Reached by two specs, the same object is one tool.
    assert names("mine.py:one,mine.py:pair,mine.py") == ["one", "two"]
    assert names("mine:one,shop")[:2] == ["one", "query_order"]


def test_a_file_that_was_edited_is_read_again(folder: Path) -> None:
    assert names("mine.py") == ["one", "two"]
    (folder / "mine.py").write_text(
        "from langchain_core.tools import tool\n\n\n"
        '@tool\ndef changed_name(x: int) -> int:\n    """Changed."""\n    return x\n',
        encoding="utf-8",
    )
    assert names("mine.py") == ["changed_name"]


def test_a_plain_function_becomes_a_tool_that_works() -> None:
    [weather] = load_tools("mine:plain")
    assert weather.invoke({"city": "杭州", "days": 2}) == "杭州: 2"
    assert weather.description.startswith("Tell the weather")
    assert weather.args["city"]["description"] == "Where."
    assert tool_effect(weather) == "once"


def test_a_function_that_says_it_returns_no_tools_is_not_called() -> None:
    [today] = load_tools("mine:today")
    assert sys.modules["mine"].CALLS == []
    assert today.invoke({}) == "2026-11-30"
    assert sys.modules["mine"].CALLS == ["today"]


@pytest.mark.parametrize(
    ("spec", "says"),
    [
        ("", "No tools are named"),
        (" , ", "No tools are named"),
        ("nowhere_at_all", "no module 'nowhere_at_all'"),
        ("mine.deeper:one", "no module 'mine.deeper'"),
        ("nowhere.py", "no Python file nowhere.py"),
        ("./nowhere", "no Python file ./nowhere"),
        ("mine:three", "no 'three' in mine"),
        ("mine:", "'mine:' does not name tools"),
        (":one", "':one' does not name tools"),
        ("mine:one two", "does not name tools"),
        ("json", "no tool in json"),
        ("mine:number", "int where a tool is expected"),
        ("mine:empty", "the list is empty"),
        ("mine:make_nothing", "the list is empty"),
        ("mine:make_text", "str where a tool is expected"),
        ("mine:make_trouble", "RuntimeError: the service is down)"),
        ("mine:untyped", "city has no type"),
        ("mine:undescribed", "cannot become a tool"),
        ("mine.py:one,mine:one", "Two tools have the same name (one)"),
        ("shop,mine:pair,mine.py:pair", "Two tools have the same name (one, two)"),
    ],
)
def test_what_cannot_be_loaded_is_one_sentence(spec: str, says: str) -> None:
    assert says in refusal(spec)


@pytest.mark.parametrize("target", ["broken", "broken.py"])
@pytest.mark.parametrize(
    ("code", "says"),
    [
        ("import a_package_nobody_has", "ModuleNotFoundError: No module named"),
        ("raise KeyError('the key')", "KeyError: 'the key'"),
        ("raise SystemExit(3)", "SystemExit: 3"),
        ("def broken(:", "SyntaxError"),
        ("from . import sibling", "ImportError"),
        ("raise ValueError('long ' * 1000)", "ValueError: long"),
    ],
)
def test_a_module_that_fails_on_import_says_why(
    folder: Path, target: str, code: str, says: str
) -> None:
    (folder / "broken.py").write_text(code, encoding="utf-8")
    before = set(sys.modules)
    text = refusal(target)
    assert text.startswith(f"{target} fails on import (")
    assert says in text
    assert len(text) < 300
    assert not {name for name in set(sys.modules) - before if "broken" in name}


def test_a_failed_import_keeps_its_cause(folder: Path) -> None:
    (folder / "broken.py").write_text("1 / 0", encoding="utf-8")
    with pytest.raises(UserError) as caught:
        load_tools("broken")
    assert isinstance(caught.value.__cause__, ZeroDivisionError)
