"""A run whose process is killed at any point: nothing is lost, and nothing is done twice."""

from __future__ import annotations

import sys
from collections.abc import Iterator

import kill_runs
import pytest
from kill_runs import SQLITE_ASYNC, SQLITE_SYNC, Processes, Saver, Trial

pytestmark = pytest.mark.skipif(sys.platform != "linux", reason="needs fork and pidfd")


@pytest.fixture(scope="module")
def processes() -> Iterator[Processes]:
    with kill_runs.processes() as forked:
        yield forked


def undisturbed(processes: Processes, saver: Saver) -> tuple[Trial, float]:
    """The run without a crash, and how long its process lives."""
    calm = processes.trial(saver)
    seconds = processes.live(calm)
    assert kill_runs.wrongs(calm, calm) == []
    state = calm.state
    assert (state["status"], state["verified"], state["replans"]) == ("complete", True, 1)
    assert [len(step["attempts"]) for step in state["steps"].values()] == [2, 1, 1, 1]
    return calm, seconds


@pytest.mark.parametrize("half", [0, 1])
@pytest.mark.parametrize("saver", [SQLITE_SYNC, SQLITE_ASYNC], ids=lambda saver: saver.name)
def test_killed_at_every_point_a_run_goes_on(processes: Processes, saver: Saver, half: int) -> None:
    calm, _ = undisturbed(processes, saver)
    assert len(kill_runs.points_of(calm)) > 100
    unknown: list[str] = []
    for trial, wrong in kill_runs.at_every_point(processes, calm, every=2, first=half):
        assert wrong == [], trial.kills
        unknown += trial.kills if trial.unknown else []
    # Between the note that it begins and the note that it is done, nobody can know.
    assert {place.rpartition(" ")[0] for place in unknown} <= {
        "before pay",
        "after pay",
        "before store",
    }


@pytest.mark.parametrize(
    ("saver", "seed"),
    [(saver, seed) for saver in (SQLITE_SYNC, SQLITE_ASYNC) for seed in (1, 2)],
    ids=lambda value: value.name if isinstance(value, Saver) else str(value),
)
def test_killed_at_random_moments_a_run_goes_on(
    processes: Processes, saver: Saver, seed: int
) -> None:
    calm, seconds = undisturbed(processes, saver)
    for trial, wrong in kill_runs.at_random_moments(
        processes, calm, kills=25, seconds=seconds, seed=seed
    ):
        assert wrong == [], trial.kills


@pytest.mark.parametrize("awaited", [False, True])
def test_killed_at_random_moments_a_run_in_postgres_goes_on(
    processes: Processes, postgres_url: str, awaited: bool
) -> None:
    saver = Saver("postgres", awaited=awaited, url=postgres_url)
    calm, seconds = undisturbed(processes, saver)
    for trial, wrong in kill_runs.at_random_moments(
        processes, calm, kills=10, seconds=seconds, seed=3
    ):
        assert wrong == [], trial.kills


@pytest.mark.parametrize("name", ["look", "mail"])
@pytest.mark.parametrize("saver", [SQLITE_SYNC, SQLITE_ASYNC], ids=lambda saver: saver.name)
def test_a_step_that_keeps_killing_the_process_is_given_up(
    processes: Processes, saver: Saver, name: str
) -> None:
    trial = processes.trial(saver)
    for _ in range(4):
        processes.live(trial, fatal=f"always {name}")
    assert trial.kills == [f"always {name}"] * 3
    assert trial.state["status"] in {"partial", "failed"}
    reasons = [step["reason"] for step in trial.state["steps"].values()]
    assert [r for r in reasons if f"{name}, have ended the process 3 times" in r]
    assert (name, "-") not in trial.ledger
