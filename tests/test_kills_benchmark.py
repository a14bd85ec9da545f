"""The kill table: what a run that went wrong is counted as, and that the exit code tells of it."""

from __future__ import annotations

import importlib.util
import json
import sys
from collections.abc import Iterator
from pathlib import Path
from types import ModuleType
from typing import Any

import pytest
from kill_runs import SQLITE_SYNC, Trial
from tree import ROOT


@pytest.fixture
def kills(monkeypatch: pytest.MonkeyPatch) -> ModuleType:
    monkeypatch.setattr(sys, "path", [*sys.path])
    spec = importlib.util.spec_from_file_location("kills", ROOT / "benchmarks" / "kills.py")
    assert spec is not None
    assert spec.loader is not None
    module = importlib.util.module_from_spec(spec)
    monkeypatch.setitem(sys.modules, "kills", module)
    spec.loader.exec_module(module)
    return module


def trial(folder: Path, *ledger: str, status: str = "complete") -> Trial:
    (folder / "ledger").write_text("".join(f"{line}\n" for line in ledger), encoding="utf-8")
    return Trial(SQLITE_SYNC, folder, ["before put 1"], {"state": {"status": status}})


@pytest.mark.parametrize(
    ("wrongs", "cell"),
    [
        (["lost: pay"], "lost"),
        (["wrong: status is 'failed'"], "wrong"),
        (["repeated: 2 effects in 1 crashes"], "wrong"),
        (["twice: pay 2 times"], "twice"),
        (["two keys: mail"], "twice"),
        (["broken: page 3"], "broken"),
    ],
)
def test_what_went_wrong_is_counted(
    kills: ModuleType, tmp_path: Path, wrongs: list[str], cell: str
) -> None:
    row = kills.Row("x")
    row.add(trial(tmp_path), wrongs)
    assert (getattr(row, cell), row.failed) == (1, True)


def test_what_is_allowed_is_counted_and_is_no_failure(kills: ModuleType, tmp_path: Path) -> None:
    row = kills.Row("x")
    row.add(trial(tmp_path, "look -", "look -", "pay 1", status="needs_human"), [])
    assert (row.kills, row.repeated, row.unknown, row.failed) == (1, 1, 1, False)


@pytest.mark.parametrize("wrong", [[], ["lost: pay"]])
def test_the_table_is_printed_and_a_failure_is_an_exit_code(
    kills: ModuleType,
    tmp_path: Path,
    wrong: list[str],
    monkeypatch: pytest.MonkeyPatch,
    capsys: pytest.CaptureFixture[str],
) -> None:
    def runs(*_: Any, **__: Any) -> Iterator[tuple[Trial, list[str]]]:
        yield trial(tmp_path, "pay 1"), wrong

    for name in ("at_every_point", "at_random_moments"):
        monkeypatch.setattr(kills.kill_runs, name, runs)
    monkeypatch.setattr(kills.kill_runs, "wrongs", lambda *_: [])
    for more in ([], ["--json"]):
        monkeypatch.setattr(sys, "argv", ["kills.py", "--only", "sqlite sync", *more])
        assert kills.main() == bool(wrong)
    table, _, data = capsys.readouterr().out.rpartition("\n{")
    assert f"| sqlite sync | 1 | 2 | {2 * len(wrong)} | 0 |" in table
    assert json.loads("{" + data)["rows"][0]["points"] == 1
