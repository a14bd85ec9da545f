"""The overhead benchmark: what it prints. Nothing is asserted about how long anything takes."""

from __future__ import annotations

import json
import subprocess
import sys

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
    paces = [report["details"][saver] for saver in ("memory", "sqlite")]
    # begin, the plan, three and a judgement for each of two steps, the answer, and its review
    assert [(p["hansei_supersteps"], p["bare_supersteps"]) for p in paces] == [(12, 11)] * 2
