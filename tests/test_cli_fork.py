"""`hansei history` and `hansei fork`: an earlier checkpoint, another verdict, its own branch."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

import pytest
from cli_helpers import Done, hansei, refused
from cli_scenes import all_failing, endpoint, report, run
from scripted_server import ScriptedServer, verdict

DB = ("--db", "runs.db")
AGAIN = ("--tools", "my_tools.py", *DB)


@pytest.fixture
def server(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Iterator[ScriptedServer]:
    """See `endpoint`."""
    with endpoint(tmp_path, monkeypatch) as running:
        yield running


def checkpoints() -> list[dict[str, object]]:
    found: list[dict[str, object]] = report(hansei("history", "mine", *DB, "--json"))["checkpoints"]
    return found


def before(node: str) -> str:
    """The number of the first checkpoint after which a node comes."""
    return next(str(item["number"]) for item in checkpoints() if item["next"] == [node])


def fork(*arguments: str) -> Done:
    return hansei("fork", "mine", *arguments, *AGAIN)


def test_history_lists_every_checkpoint(server: ScriptedServer) -> None:
    run("--json")
    found = checkpoints()
    assert [item["number"] for item in found] == list(range(1, len(found) + 1))
    assert [item["parent"] for item in found] == list(range(len(found)))
    assert found[-1]["next"] == []
    assert found[-1]["status"] == "complete"
    assert found[-1]["verdict"] == "answer: PASS by critic"
    shown = hansei("history", "mine", *DB).stdout
    for text in ("then comes", "executor", "1 verified", "complete"):
        assert text in shown, text


def test_a_fork_with_another_verdict_leaves_the_old_branch(server: ScriptedServer) -> None:
    all_failing(server)
    old = report(run("--json"), 4)
    server.script("synthesizer", "Here it is.")
    place = before("replanner")
    end = str(len(checkpoints()))
    new = report(fork(place, "--verdict", "pass", "--why", "I know it", "--json"))
    assert (new["status"], new["verified"]) == ("complete", True)
    last = new["steps"][0]["verdicts"][-1]
    assert (last["verdict"], last["source"], last["analysis"]) == ("PASS", "human", "I know it")
    assert report(hansei("show", "mine", *DB, "--json")) == new
    assert report(hansei("show", "mine", *DB, "--checkpoint", end, "--json")) == old
    assert report(hansei("why", "mine", "1", *DB, "--checkpoint", end, "--json")) == old["steps"][0]
    branch = checkpoints()[int(end) :]
    assert branch[0]["parent"] == int(place)
    assert branch[0]["source"] == "update"


def test_a_fork_may_tell_a_step_what_to_do(server: ScriptedServer) -> None:
    run("--json")
    end = str(checkpoints()[-1]["checkpoint"])[-8:]
    new = report(fork(end, "--step", "1", "--verdict", "RETRY", "--hint", "in one word", "--json"))
    assert [a["hint"] for a in new["steps"][0]["attempts"]] == ["", "in one word"]
    server.script("synthesizer", "It is 43.")
    known = report(fork(end, "--step", "1", "--verdict", "PASS", "--result", "It is 43.", "--json"))
    assert known["steps"][0]["result"] == "It is 43."
    assert "It is 43." in hansei("why", "mine", "1", *DB).stdout


def test_a_fork_without_a_verdict_goes_there_again(server: ScriptedServer) -> None:
    first = report(run("--json"))
    server.script("reflector", verdict("RETRY", "too long", suggestion="shorter"), verdict("PASS"))
    again = report(fork(before("reflector"), "--json"))
    assert len(again["steps"][0]["attempts"]) == 2
    assert again["thread"] == first["thread"]


@pytest.mark.parametrize(
    ("arguments", "said"),
    [
        (("99",), "no checkpoint '99' on this thread; give a number (1 to"),
        (("1", "--verdict", "pass"), "no plan at that point yet"),
        (("5", "--verdict", "nope"), "no verdict 'nope'; give PASS, RETRY or REPLAN"),
        (("5", "--step", "7", "--verdict", "retry"), "There is no step 7"),
        (("5", "--step", "1"), "--step alone changes nothing"),
        (("5", "--hint", "x"), "--hint and --why belong to a verdict"),
        (("5", "--result", "x"), "--result belongs to a step"),
    ],
)
def test_nonsense_is_refused_and_nothing_changes(
    server: ScriptedServer, arguments: tuple[str, ...], said: str
) -> None:
    run("--json")
    there = checkpoints()
    assert said in refused(fork(*arguments), 2)
    assert checkpoints() == there
    threads = report(hansei("threads", *DB, "--json"))["threads"]
    assert [thread["note"] for thread in threads] == [""]


def test_the_end_of_a_run_needs_a_verdict(server: ScriptedServer) -> None:
    run("--json")
    end = str(len(checkpoints()))
    assert "nothing is left to be done" in refused(fork(end), 2)
    assert "no thread" in refused(hansei("fork", "other", "1", *AGAIN), 2)
