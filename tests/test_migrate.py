"""States of another version: refused with what to do, and brought up to date as a whole or not."""

from __future__ import annotations

import subprocess
import sys
from collections.abc import Iterator, Mapping
from dataclasses import replace
from pathlib import Path

import pytest
from cli_helpers import hansei, refused
from langchain_core.runnables import RunnableConfig
from stored_runs import (
    GOAL,
    THREAD,
    agent_on,
    ask,
    everything,
    finished,
    mark,
    stopped_half_way,
    undisturbed,
)

from hansei import (
    OperatorError,
    UserError,
    open_checkpointer,
)
from hansei.graphs.migrate import migrate
from hansei.graphs.packing import KINDS, inflated
from hansei.graphs.stored_values import packed, unpacked
from hansei.policies.migrations import STATE, Migration, Record
from hansei.policies.narrow import as_mapping
from hansei.policies.state import STATE_VERSION


@pytest.fixture(params=["sqlite", "postgres"])
def place(request: pytest.FixtureRequest, tmp_path: Path) -> Iterator[str]:
    """An empty database of each kind."""
    if request.param == "sqlite":
        yield str(tmp_path / "runs.db")
    else:
        yield request.getfixturevalue("postgres_url")


def swapped(old: str, new: str, fields: object) -> dict[object, object]:
    return {new if name == old else name: value for name, value in as_mapping(fields).items()}


def forth(record: Record) -> Record:
    """To a version in which a step has a task, a channel is called cover, and the status shouts."""
    if record.kind == "Step":
        return replace(record, data=swapped("description", "task", record.data))
    if record.kind == "RunStatus":
        return replace(record, kind="Standing", data=str(record.data).upper())
    if record.kind == STATE:
        return replace(record, data=swapped("brief", "cover", record.data))
    return record


def back(record: Record) -> Record:
    if record.kind == "Step":
        return replace(record, data=swapped("task", "description", record.data))
    if record.kind == "Standing":
        return replace(record, kind="RunStatus", data=str(record.data).lower())
    if record.kind == STATE:
        return replace(record, data=swapped("cover", "brief", record.data))
    return record


THERE_AND_BACK: Mapping[int, Migration] = {1: forth, 2: back}


def test_every_checkpoint_is_migrated_and_the_run_goes_on(place: str) -> None:
    stopped_half_way(place)
    count = len(ask(place, "SELECT * FROM checkpoints"))
    done = migrate(place, registry=THERE_AND_BACK, version=2)
    assert (done.found, done.version, done.checkpoints) == (1, 2, count)
    stored = repr(everything(place))
    for new in ("Standing", "cover", "task", "RUNNING"):
        assert new in stored, new
    for gone in ("RunStatus", "brief"):
        assert gone not in stored, gone
    with pytest.raises(OperatorError, match="version 2"), open_checkpointer(place):
        pass
    assert migrate(place, registry=THERE_AND_BACK, version=3).found == 2
    mark(place, STATE_VERSION)
    with open_checkpointer(place) as saver:
        assert finished(saver) == undisturbed()


def test_two_versions_at_once_are_one_migration(place: str) -> None:
    stopped_half_way(place)
    before = everything(place)
    assert migrate(place, registry=THERE_AND_BACK, version=3).checkpoints > 3
    mark(place, STATE_VERSION)
    after = everything(place)
    assert {name: len(rows) for name, rows in after.items()} == {
        name: len(rows) for name, rows in before.items()
    }
    with open_checkpointer(place) as saver:
        assert finished(saver) == undisturbed()


def test_a_file_is_copied_before(tmp_path: Path) -> None:
    place = str(tmp_path / "runs.db")
    stopped_half_way(place)
    before = everything(place)
    first = migrate(place, registry=THERE_AND_BACK, version=2).backup
    assert first == tmp_path / "runs.db.v1.bak"
    assert everything(str(first)) == before
    mark(place, 1)
    second = migrate(place, registry={1: lambda record: record}, version=2).backup
    assert second == tmp_path / "runs.db.v1.bak.2"
    with open_checkpointer(first) as saver:
        assert finished(saver) == undisturbed()


def test_a_migration_that_fails_leaves_everything_as_it_was(place: str, tmp_path: Path) -> None:
    stopped_half_way(place)
    before = everything(place)
    seen: list[str] = []

    def fails_late(record: Record) -> Record:
        seen.append(record.kind)
        if len(seen) > 40:
            raise KeyError("no such field")
        return forth(record)

    def splits(record: Record) -> Record:
        return replace(record, data={"a": 1, "b": 2}) if record.kind == STATE else record

    for migration, told in ((fails_late, "no such field"), (splits, "makes 2 channels")):
        with pytest.raises(OperatorError, match=told) as refused_with:
            migrate(place, registry={1: migration}, version=2)
        assert "it is as it was" in str(refused_with.value)
        assert everything(place) == before
    assert not list(tmp_path.glob("*.bak*"))
    with open_checkpointer(place) as saver:
        assert finished(saver) == undisturbed()


def test_a_migration_that_is_killed_leaves_everything_as_it_was(place: str) -> None:
    stopped_half_way(place)
    before = everything(place)
    code = (
        "import os, sys; from hansei.graphs.migrate import migrate\n"
        "seen = []\n"
        "def dies(record):\n"
        "    seen.append(record)\n"
        "    return record if len(seen) < 40 else os.kill(os.getpid(), 9)\n"
        "migrate(sys.argv[1], registry={1: dies}, version=2)"
    )
    killed = subprocess.run([sys.executable, "-c", code, place], check=False)
    assert killed.returncode == -9
    assert everything(place) == before


def test_a_channel_that_is_dropped_is_gone_everywhere(place: str) -> None:
    def drops(record: Record) -> Record:
        if record.kind != STATE:
            return record
        fields = {k: v for k, v in as_mapping(record.data).items() if k != "order"}
        return replace(record, data=fields)

    stopped_half_way(place)
    migrate(place, registry={1: drops}, version=2)
    mark(place, STATE_VERSION)
    with open_checkpointer(place) as saver:
        for found in saver.list(THREAD):
            assert "order" not in found.checkpoint["channel_values"]
            assert "order" not in found.checkpoint["channel_versions"]
            assert not [w for w in found.pending_writes or [] if w[1] == "order"]


def test_other_graphs_in_the_same_tables_keep_their_channels(place: str) -> None:
    stopped_half_way(place)
    with open_checkpointer(place) as saver:
        found = saver.get_tuple(THREAD)
        assert found is not None
        other: RunnableConfig = {"configurable": {"thread_id": "x", "checkpoint_ns": ""}}
        kept = {**found.checkpoint, "channel_values": {"brief": "mine"}}
        saver.put(other, kept, found.metadata, {"brief": "1"})  # type: ignore[arg-type]
    migrate(place, registry=THERE_AND_BACK, version=2)
    mark(place, STATE_VERSION)
    with open_checkpointer(place) as saver:
        found = saver.get_tuple(other)
        assert found is not None
        assert found.checkpoint["channel_values"] == {"brief": "mine"}
        assert [row.thread_id for row in saver.threads()] == ["1"]


def test_a_run_under_way_is_not_migrated_under_its_feet(place: str) -> None:
    stopped_half_way(place)
    before = everything(place)["checkpoints"]
    with open_checkpointer(place) as saver:
        with (
            saver.runs.held("2", goal="g", name="mine"),
            pytest.raises(UserError, match="thread mine has a run under way"),
        ):
            migrate(place, registry=THERE_AND_BACK, version=2)
        assert everything(place)["checkpoints"] == before
        migrate(place, registry=THERE_AND_BACK, version=2)
        # A saver that was open all the time must not write states of the old version.
        with pytest.raises(OperatorError, match="version 2"):
            agent_on(saver).invoke(GOAL, THREAD)
        assert not any(row.under_way for row in saver.runs.rows())


def test_what_is_there_already_needs_nothing(place: str, tmp_path: Path) -> None:
    stopped_half_way(place)
    before = everything(place)
    done = migrate(place)
    assert (done.found, done.version, done.backup) == (STATE_VERSION, STATE_VERSION, None)
    assert "of version 1 already" in hansei("migrate", "--db", place).stdout
    assert everything(place) == before
    assert not list(tmp_path.glob("*.bak*"))


def test_an_older_database_names_the_command_and_a_newer_one_a_newer_hansei(place: str) -> None:
    stopped_half_way(place)
    mark(place, 0)
    with (
        pytest.raises(OperatorError, match="hansei migrate --db ") as told,
        open_checkpointer(place),
    ):
        pass
    assert place in str(told.value)
    assert "nothing leads from states of version 0" in refused(hansei("migrate", "--db", place), 7)
    mark(place, 7)
    for command in (("migrate",), ("threads",), ("show", "1")):
        assert "newer hansei" in refused(hansei(*command, "--db", place), 7)


def test_what_is_no_database_of_hansei_is_told(tmp_path: Path) -> None:
    text, other, empty = (tmp_path / name for name in ("notes.txt", "shop.db", "empty.db"))
    text.write_text("milk, bread\n" * 100, encoding="utf-8")
    ask(str(other), *(f"CREATE TABLE t{n} (id INTEGER)" for n in range(5)))
    ask(str(empty), "PRAGMA user_version = 1")
    before = other.read_bytes()
    for command in (("migrate",), ("threads",)):
        assert "not a database" in refused(hansei(*command, "--db", str(text)), 7)
        told = refused(hansei(*command, "--db", str(other)), 7)
        assert "belongs to another program, which keeps tables t0, t1, t2 and 2 more" in told
        assert "no database" in refused(hansei(*command, "--db", str(tmp_path / "none.db")), 2)
    assert "nothing to migrate" in refused(hansei("migrate", "--db", str(empty)), 2)
    assert other.read_bytes() == before
    assert text.read_text(encoding="utf-8").startswith("milk")


def test_rows_are_read_and_written_without_a_change(tmp_path: Path) -> None:
    place = str(tmp_path / "runs.db")
    stopped_half_way(place)
    rows = ask(
        place, "SELECT type, checkpoint FROM checkpoints UNION ALL SELECT type, value FROM writes"
    )
    held = [inflated(str(kind), data) for kind, data in rows if isinstance(data, bytes) and data]
    assert len(held) > 20
    assert {kind for kind, _ in rows} >= {*KINDS}
    for data in held:
        assert packed(unpacked(data)) == data
