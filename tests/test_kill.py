"""A run whose process is killed at any point: nothing is lost, and nothing is done twice."""

import json
import subprocess
import sys
from collections import Counter
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

pytestmark = pytest.mark.skipif(sys.platform == "win32", reason="there is no fork")


class Processes:
    """Forked processes, one for each trial."""

    def __init__(self, helper: subprocess.Popen[str]) -> None:
        self._helper = helper

    def live(self, folder: Path, fatal: str = "") -> dict[str, Any] | None:
        """What one process has told, or `None` if it was killed."""
        assert self._helper.stdin is not None
        assert self._helper.stdout is not None
        self._helper.stdin.write(json.dumps({"folder": str(folder), "fatal": fatal}) + "\n")
        self._helper.stdin.flush()
        ended = json.loads(self._helper.stdout.readline())
        if ended["killed"]:
            return None
        assert ended["code"] == 0
        told: dict[str, Any] = json.loads((folder / "told.json").read_text(encoding="utf-8"))
        return told


@pytest.fixture(scope="module")
def processes() -> Iterator[Processes]:
    child = Path(__file__).with_name("kill_child.py")
    with subprocess.Popen(
        [sys.executable, str(child)], stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True
    ) as helper:
        yield Processes(helper)
        helper.communicate()


def summary(told: dict[str, Any]) -> object:
    """What a run is held to: its end, its answer, and how every step ended."""
    state = told["state"]
    steps = [(s["status"], s["result"], len(s["attempts"])) for s in state["steps"].values()]
    return state["status"], state["verified"], state["answer"], steps, state["replans"]


def ledger(folder: Path) -> list[tuple[str, str]]:
    """Every effect that really happened, with its key."""
    path = folder / "ledger"
    lines = path.read_text(encoding="utf-8").splitlines() if path.exists() else []
    return [(name, key) for name, _, key in (line.partition(" ") for line in lines)]


def test_killed_at_every_point_a_run_goes_on(processes: Processes, tmp_path: Path) -> None:
    calm = tmp_path / "calm"
    calm.mkdir()
    undisturbed = processes.live(calm)
    assert undisturbed is not None
    assert undisturbed["state"]["status"] == "complete"
    points = [f"{p} {i}" for p, n in undisturbed["reached"].items() for i in range(1, n + 1)]
    assert len(points) > 40
    unknown = 0
    for number, fatal in enumerate(points):
        folder = tmp_path / str(number)
        folder.mkdir()
        assert processes.live(folder, fatal) is None, fatal
        after = processes.live(folder)
        assert after is not None, fatal
        done = ledger(folder)
        times = Counter(name for name, _ in done)
        assert times["pay"] <= 1, fatal
        assert len({key for name, key in done if name == "mail"}) <= 1, fatal
        assert all(times[name] <= 2 for name in times), fatal
        if after["state"]["status"] == "needs_human":
            unknown += 1
            assert "pay {}" in after["state"]["answer"], fatal
            continue
        assert summary(after) == summary(undisturbed), fatal
        assert times.keys() == {"look", "pay", "mail"}, fatal
    # Between the note that it begins and the note that it is done, nobody can know.
    assert 2 <= unknown <= 4


@pytest.mark.parametrize("name", ["look", "mail"])
def test_a_step_that_keeps_killing_the_process_is_given_up(
    processes: Processes, tmp_path: Path, name: str
) -> None:
    fatal = f"always {name}"
    lives = [processes.live(tmp_path, fatal) for _ in range(4)]
    assert lives[:3] == [None] * 3
    told = lives[3]
    assert told is not None
    assert told["state"]["status"] in {"partial", "failed"}
    assert f"{name}, have ended the process 3 times" in told["state"]["answer"]
