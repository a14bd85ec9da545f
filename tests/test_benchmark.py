"""The honesty benchmark: what it prints, and that a cell that is not as wanted is seen."""

from __future__ import annotations

import importlib.util
import json
import sys
from dataclasses import replace
from types import ModuleType

import pytest
from honesty_runs import Outcome, play
from honesty_scenes import Scene, scenes
from tree import ROOT

from hansei.policies.words import Language, RunStatus

KEPT = {"s0", "s1g", "s9"}
"""Scenes that are played here; `test_honesty` plays all of them."""


@pytest.fixture
def benchmark(monkeypatch: pytest.MonkeyPatch) -> ModuleType:
    monkeypatch.setattr(sys, "path", [*sys.path])
    spec = importlib.util.spec_from_file_location("bench", ROOT / "benchmarks" / "honesty.py")
    assert spec is not None
    assert spec.loader is not None
    module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)

    def few(language: Language) -> tuple[Scene, ...]:
        return tuple(scene for scene in scenes(language) if scene.name in KEPT)

    monkeypatch.setattr(module, "scenes", few)
    for name in ("LANGSMITH_TRACING", "HANSEI_TOOL_STYLE"):
        monkeypatch.setenv(name, "false")
    monkeypatch.setattr(module.logging, "disable", lambda level: None)
    return module


def test_json_is_one_object_and_nothing_else(
    benchmark: ModuleType, capsys: pytest.CaptureFixture[str]
) -> None:
    assert benchmark.main(["--json"]) == 0
    report = json.loads(capsys.readouterr().out)
    assert report["as_wanted"] is True
    assert [(row["language"], row["scene"]) for row in report["scenes"]] == [
        (language, name) for language in ("zh", "en") for name in sorted(KEPT)
    ]
    assert report["total"]["scenes"] == report["total"]["strong_sign_and_kept"] == 4
    assert report["total"]["control_calls"] == [6, 6]
    costs = {
        (run["order"], run["reflection"]): (run["status"], run["exit_code"], run["calls"])
        for run in report["order_scene"]["runs"]
    }
    assert costs == {
        ("99999", "always"): ("failed", 4, 5),
        ("99999", "never"): ("failed", 4, 4),
        ("10001", "always"): ("complete", 0, 6),
        ("10001", "never"): ("complete", 0, 4),
    }
    answers = {run["answer"] for run in report["order_scene"]["runs"] if run["order"] == "99999"}
    assert len(answers) == 1
    assert any(run["tokens_a_reflection"] for run in report["order_scene"]["runs"])


def test_the_table_stands_beside_the_peers(
    benchmark: ModuleType, capsys: pytest.CaptureFixture[str]
) -> None:
    assert benchmark.main(["--language", "en"]) == 0
    out = capsys.readouterr().out
    assert "Goals in English" in out
    assert "Goals in Chinese" not in out
    assert "NOT AS WANTED" not in out
    for words in ("strong sign", "2 of 2", "9 of 11", "8 of 11", "about 9", "300 to 500"):
        assert words in out
    assert "The answer hardly changes" in out


def test_a_cell_that_is_not_as_wanted_is_an_error(
    benchmark: ModuleType,
    capsys: pytest.CaptureFixture[str],
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    def boasts(scene: Scene) -> Outcome:
        ended = play(scene)
        state = ended.state.model_copy(update={"status": RunStatus.COMPLETE})
        return replace(ended, state=state)

    monkeypatch.setattr(benchmark, "play", boasts)
    assert benchmark.main(["--language", "zh"]) == 1
    out = capsys.readouterr().out
    assert "NOT AS WANTED: zh s1g" in out
    assert "0 of 2" in out
