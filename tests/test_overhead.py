"""The overhead benchmark: what it prints. Nothing is asserted about how long anything takes."""

from __future__ import annotations

import importlib
import json
import re
import subprocess
import sys

import pytest
from tree import ROOT

FIGURES = (
    "memory_ratio",
    "sqlite_ratio",
    "parallel_ratio",
    "bytes_growth",
    "bytes_per_step",
    "import_ratio",
    "memory_growth_mb",
)


def played(*arguments: str) -> str:
    command = [sys.executable, str(ROOT / "benchmarks" / "overhead.py"), "--quick", *arguments]
    return subprocess.run(command, check=True, capture_output=True, text=True).stdout


def test_json_is_one_object_with_every_figure_and_the_settings() -> None:
    report = json.loads(played("--json"))
    for name in FIGURES:
        assert isinstance(report[name], float), name
    assert report["goals"].keys() == set(FIGURES)
    assert report["settings"]["rounds"] == 1
    assert report["bytes_per_step"] > 0
    paces = report["details"]["pace"].values()
    # begin, the plan, three and a judgement for each of two steps, the answer, and its review
    assert {(p["hansei_supersteps"], p["bare_supersteps"]) for p in paces} == {(12, 11)}


def test_the_bare_graph_sends_what_hansei_sends(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.syspath_prepend(str(ROOT / "benchmarks"))
    graphs = importlib.import_module("overhead_graphs")
    scene = importlib.import_module("overhead_scene")
    look = scene.stock_tool()
    sent = graphs.recorded(look, steps=3)
    for parsed in (True, False):
        model = scene.clientless_model(scene.Script(steps=3))
        graphs.bare_graph(model, look, sent, None, parsed=parsed).invoke({"goal": scene.GOAL})
        assert [(r.messages, r.options) for r in model.sent()] == [
            (r.messages, r.options) for r in sent
        ]


@pytest.mark.parametrize("name", ["README.md", "README.zh.md"])
def test_the_readmes_show_every_figure_beside_its_goal(
    name: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.syspath_prepend(str(ROOT / "benchmarks"))
    overhead = importlib.import_module("overhead")
    text = (ROOT / name).read_text("utf-8")
    rows = dict(re.findall(r"^\| `(\w+)` \|.*\| \D*([\d,.]+) \| [\d,.]+ \|$", text, re.MULTILINE))
    for goal in overhead.GOALS:
        assert float(rows[goal.figure].replace(",", "")) == goal.limit
