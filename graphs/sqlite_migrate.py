"""Migrate a SQLite file: a copy beside it first, then one transaction."""

import sqlite3
from collections.abc import Mapping
from contextlib import closing
from pathlib import Path

from hansei.graphs.migration_plan import (
    Done,
    Place,
    Plan,
    all_or_nothing,
    plan_of,
    refuse_runs,
    rename,
)
from hansei.graphs.packing import KINDS, inflated, squeezed
from hansei.graphs.run_table import RunTable
from hansei.graphs.sqlite_saver import BUSY_TIMEOUT, for_the_operator
from hansei.graphs.stored_values import packed, unpacked
from hansei.graphs.tables import SqliteTables
from hansei.policies.databases import MARK
from hansei.policies.migrations import Migration
from hansei.policies.narrow import as_mapping


def migrate_sqlite(path: Path, registry: Mapping[int, Migration], version: int) -> Done:
    """Migrate a file; see `migrate`."""
    place = str(path)
    with for_the_operator(path), closing(_opened(path)) as reader, closing(_opened(path)) as writer:
        tables = SqliteTables(reader)
        plan = plan_of(tables, place=place, alone=True, registry=registry, version=version)
        if not plan.migrations:
            return Done(plan.found, version)
        runs = RunTable(tables)
        writer.isolation_level = None
        # From here on nobody else can write, so no run can begin.
        writer.execute("BEGIN IMMEDIATE")
        backup = _free_name(path.with_name(f"{path.name}.v{plan.found}.bak"))

        def undo() -> None:
            writer.execute("ROLLBACK")
            backup.unlink(missing_ok=True)

        with all_or_nothing(undo, place=place):
            refuse_runs(runs.rows(), place=place)
            with closing(sqlite3.connect(backup)) as copy:
                reader.backup(copy)
            count = _rewrite(writer, plan)
            writer.execute("COMMIT")
        return Done(plan.found, version, count, backup)


def _opened(path: Path) -> sqlite3.Connection:
    return sqlite3.connect(path, timeout=BUSY_TIMEOUT, check_same_thread=False)


def _free_name(wanted: Path) -> Path:
    name, number = wanted, 1
    while name.exists():
        number += 1
        name = wanted.with_name(f"{wanted.name}.{number}")
    return name


def _rewrite(connection: sqlite3.Connection, plan: Plan) -> int:
    rows = connection.execute(
        "SELECT rowid, thread_id, checkpoint_ns FROM checkpoints WHERE type IN (?, ?)", KINDS
    ).fetchall()
    # One row at a time: all of them together may be larger than the memory.
    for row, thread, namespace in rows:
        plan.look_at((thread, namespace), _held(connection, row).get("channel_values"))
    for row, thread, namespace in rows:
        changed = _checkpoint(plan, (thread, namespace), _held(connection, row))
        connection.execute(
            "UPDATE checkpoints SET type = ?, checkpoint = ? WHERE rowid = ?",
            (*squeezed(packed(changed)), row),
        )
    _rewrite_writes(connection, plan)
    connection.execute(f"UPDATE {MARK} SET state_version = ?", (plan.version,))  # noqa: S608 - a fixed name
    return len(rows)


def _held(connection: sqlite3.Connection, row: int) -> dict[str, object]:
    kind, data = connection.execute(
        "SELECT type, checkpoint FROM checkpoints WHERE rowid = ?", (row,)
    ).fetchone()
    found = as_mapping(unpacked(inflated(kind, data)))
    return {str(name): value for name, value in found.items()}


def _checkpoint(plan: Plan, place: Place, checkpoint: dict[str, object]) -> dict[str, object]:
    values: dict[str, object] = {}
    names: dict[str, str | None] = {}
    for old, value in as_mapping(checkpoint.get("channel_values")).items():
        done = plan.channel(place, str(old), value)
        names[str(old)] = done[0] if done else None
        values.update([done] if done else [])
    checkpoint["channel_values"] = values
    rename(checkpoint, names)
    return checkpoint


def _rewrite_writes(connection: sqlite3.Connection, plan: Plan) -> None:
    rows = connection.execute(
        "SELECT rowid, thread_id, checkpoint_ns, channel FROM writes WHERE type IN (?, ?)", KINDS
    ).fetchall()
    for row, thread, namespace, channel in rows:
        kind, data = connection.execute(
            "SELECT type, value FROM writes WHERE rowid = ?", (row,)
        ).fetchone()
        done = plan.channel((thread, namespace), channel, unpacked(inflated(kind, data)))
        if done is None:
            connection.execute("DELETE FROM writes WHERE rowid = ?", (row,))
        else:
            connection.execute(
                "UPDATE writes SET channel = ?, type = ?, value = ? WHERE rowid = ?",
                (done[0], *squeezed(packed(done[1])), row),
            )
