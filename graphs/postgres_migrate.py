"""Migrate a Postgres database in one transaction.

Imported only where the extra `postgres` is installed.
"""

from collections.abc import Mapping
from typing import LiteralString, cast

import psycopg
from psycopg import Connection
from psycopg.rows import TupleRow
from psycopg.types.json import Jsonb

from hansei.graphs.migration_plan import (
    Done,
    Place,
    Plan,
    all_or_nothing,
    plan_of,
    refuse_runs,
    rename,
)
from hansei.graphs.postgres_tables import (
    PATIENCE,
    PostgresTables,
    for_the_operator,
    opened_pool,
    set_up,
)
from hansei.graphs.run_table import RunTable
from hansei.graphs.stored_values import packed, unpacked
from hansei.policies.migrations import Migration
from hansei.policies.narrow import as_mapping
from hansei.policies.places import shown

Names = dict[tuple[str, str, str, str], str | None]
"""By thread, namespace, channel and version of a value: the name of its channel now."""

_BLOBS = (
    "SELECT thread_id, checkpoint_ns, channel, version FROM checkpoint_blobs WHERE type = 'msgpack'"
)
_BLOB = (
    "SELECT blob FROM checkpoint_blobs "
    "WHERE thread_id = %s AND checkpoint_ns = %s AND channel = %s AND version = %s"
)
_BLOB_GONE = (
    "DELETE FROM checkpoint_blobs "
    "WHERE thread_id = %s AND checkpoint_ns = %s AND channel = %s AND version = %s"
)
_BLOB_CHANGED = (
    "UPDATE checkpoint_blobs SET channel = %s, blob = %s "
    "WHERE thread_id = %s AND checkpoint_ns = %s AND channel = %s AND version = %s"
)
_WRITES = (
    "SELECT thread_id, checkpoint_ns, checkpoint_id, task_id, idx, channel "
    "FROM checkpoint_writes WHERE type = 'msgpack'"
)
_WRITE = (
    "SELECT blob FROM checkpoint_writes WHERE thread_id = %s AND checkpoint_ns = %s "
    "AND checkpoint_id = %s AND task_id = %s AND idx = %s"
)
_WRITE_GONE = (
    "DELETE FROM checkpoint_writes WHERE thread_id = %s AND checkpoint_ns = %s "
    "AND checkpoint_id = %s AND task_id = %s AND idx = %s"
)
_WRITE_CHANGED = (
    "UPDATE checkpoint_writes SET channel = %s, blob = %s WHERE thread_id = %s "
    "AND checkpoint_ns = %s AND checkpoint_id = %s AND task_id = %s AND idx = %s"
)


def migrate_postgres(url: str, registry: Mapping[int, Migration], version: int) -> Done:
    """Migrate a database; see `migrate`. The server's own backups are the copy from before."""
    place = shown(url)
    with for_the_operator(url), set_up(url), opened_pool(url) as pool:
        tables = PostgresTables(pool)
        plan = plan_of(tables, place=place, alone=False, registry=registry, version=version)
        if not plan.migrations:
            return Done(plan.found, version)
        runs = RunTable(tables)
        with psycopg.connect(url, connect_timeout=int(PATIENCE)) as connection:
            # From here on no run can begin; who looks at the table still can.
            connection.execute("LOCK TABLE hansei_runs IN EXCLUSIVE MODE")
            with all_or_nothing(connection.rollback, place=place):
                refuse_runs(runs.rows(), place=place)
                count = _rewrite(connection, plan)
                connection.commit()
        return Done(plan.found, version, count)


def _rewrite(connection: Connection[TupleRow], plan: Plan) -> int:
    rows = connection.execute(
        "SELECT thread_id, checkpoint_ns, checkpoint_id FROM checkpoints"
    ).fetchall()
    # One row at a time: all of them together may be larger than the memory.
    for key in rows:
        plan.look_at((key[0], key[1]), _held(connection, key).get("channel_values"))
    names = _rewrite_blobs(connection, plan)
    for key in rows:
        before = _held(connection, key)
        checkpoint = _checkpoint(connection, plan, names, key)
        if checkpoint != before:
            connection.execute(
                "UPDATE checkpoints SET checkpoint = %s "
                "WHERE thread_id = %s AND checkpoint_ns = %s AND checkpoint_id = %s",
                (Jsonb(checkpoint), *key),
            )
    _rewrite_writes(connection, plan)
    connection.execute("UPDATE hansei_meta SET state_version = %s", (plan.version,))
    return len(rows)


def _held(connection: Connection[TupleRow], key: TupleRow) -> dict[str, object]:
    found = _one(
        connection,
        "SELECT checkpoint FROM checkpoints "
        "WHERE thread_id = %s AND checkpoint_ns = %s AND checkpoint_id = %s",
        key,
    )
    return {str(name): value for name, value in as_mapping(found).items()}


def _checkpoint(
    connection: Connection[TupleRow], plan: Plan, blobs: Names, key: TupleRow
) -> dict[str, object]:
    """A checkpoint: its short values stand in it, all others beside it by channel and version."""
    place: Place = (key[0], key[1])
    checkpoint = _held(connection, key)
    versions = {str(name): str(v) for name, v in as_mapping(checkpoint["channel_versions"]).items()}
    names: dict[str, str | None] = {
        channel: blobs[(*place, channel, version)]
        for channel, version in versions.items()
        if (*place, channel, version) in blobs
    }
    values: dict[str, object] = {}
    for old, value in as_mapping(checkpoint.get("channel_values")).items():
        done = plan.channel(place, str(old), value)
        names[str(old)] = done[0] if done else None
        if done is not None and (done[1] is None or isinstance(done[1], str | int | float)):
            values.update([done])
        elif done is not None:
            connection.execute(
                "INSERT INTO checkpoint_blobs VALUES (%s, %s, %s, %s, 'msgpack', %s) "
                "ON CONFLICT DO NOTHING",
                (*place, done[0], versions[str(old)], packed(done[1])),
            )
    checkpoint["channel_values"] = values
    rename(checkpoint, names)
    return checkpoint


def _rewrite_blobs(connection: Connection[TupleRow], plan: Plan) -> Names:
    names: Names = {}
    keys = connection.execute(_BLOBS).fetchall()
    for key in keys:
        before = unpacked(_bytes(_one(connection, _BLOB, key)))
        done = plan.channel((key[0], key[1]), key[2], before)
        names[(key[0], key[1], key[2], key[3])] = done[0] if done else None
        if done is None:
            connection.execute(_BLOB_GONE, key)
        elif done != (key[2], before):
            connection.execute(_BLOB_CHANGED, (done[0], packed(done[1]), *key))
    return names


def _rewrite_writes(connection: Connection[TupleRow], plan: Plan) -> None:
    keys = connection.execute(_WRITES).fetchall()
    for *key, channel in keys:
        before = unpacked(_bytes(_one(connection, _WRITE, key)))
        done = plan.channel((key[0], key[1]), channel, before)
        if done is None:
            connection.execute(_WRITE_GONE, key)
        elif done != (channel, before):
            connection.execute(_WRITE_CHANGED, (done[0], packed(done[1]), *key))


def _one(
    connection: Connection[TupleRow], statement: LiteralString, key: "TupleRow | list[object]"
) -> object:
    found = connection.execute(statement, key).fetchone()
    return None if found is None else cast("object", found[0])


def _bytes(data: object) -> bytes:
    if not isinstance(data, bytes):
        raise TypeError(type(data).__name__)
    return data
