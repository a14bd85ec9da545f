"""What a migration does to a database, whatever keeps its rows."""

from collections.abc import Callable, Generator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, field
from pathlib import Path

from hansei.graphs.run_table import RunRow
from hansei.graphs.state_mark import refuse_foreign, version_of
from hansei.graphs.tables import Tables
from hansei.policies.databases import MARK
from hansei.policies.errors import OperatorError, UserError
from hansei.policies.migrations import (
    VERSION_CHANNEL,
    Migration,
    migrated,
    migrated_channel,
    way,
)
from hansei.policies.narrow import as_list, as_mapping

Place = tuple[str, str]
"""A thread with one of its namespaces."""


@dataclass(frozen=True)
class Done:
    """What a migration has done.

    Attributes:
        found: Version of the states before.
        version: Version of the states now.
        checkpoints: How many checkpoints there are.
        backup: The copy from before; `None` where none was needed or the server keeps its own.
    """

    found: int
    version: int
    checkpoints: int = 0
    backup: Path | None = None


@dataclass
class Plan:
    """The migrations of one database, and what of it is ours."""

    found: int
    version: int
    migrations: Sequence[Migration]
    ours: set[Place] = field(default_factory=set[Place])
    """Where the channels are a state of ours; another graph's may have the same names."""

    def look_at(self, place: Place, channels: object) -> None:
        """Learn from a checkpoint's channels whether they are a state of ours."""
        if VERSION_CHANNEL in as_mapping(channels):
            self.ours.add(place)

    def channel(self, place: Place, name: str, value: object) -> tuple[str, object] | None:
        """A channel with its name and value of the wanted version; `None` where it is gone."""
        own = name.startswith("__") or ":" in name  # LangGraph's, not the state's
        if own or place not in self.ours:
            return name, migrated(value, self.migrations)
        return migrated_channel(name, value, self.migrations, version=self.version)


def plan_of(
    tables: Tables, *, place: str, alone: bool, registry: Mapping[int, Migration], version: int
) -> Plan:
    """What there is to do with a database.

    Raises:
        OperatorError: It is another program's, or nothing leads from its version to the wanted.
        UserError: It has no states of hansei.
    """
    refuse_foreign(tables, place=place, alone=alone)
    if MARK not in tables.columns():
        msg = f"The database {place} was never opened by hansei, so there is nothing to migrate."
        raise UserError(msg)
    found = version_of(tables, place=place)
    try:
        return Plan(found, version, way(found, version, registry))
    except OperatorError as exc:
        msg = f"The database {place} cannot be migrated: {exc}."
        raise OperatorError(msg) from exc


def refuse_runs(rows: Sequence[RunRow], *, place: str) -> None:
    """Refuse a database on which somebody works.

    Raises:
        UserError: As said.
    """
    busy = [row for row in rows if row.under_way]
    if busy:
        msg = (
            f"The thread {busy[0].name or busy[0].thread_id} has a run under way in {place}; "
            "migrate once it has ended."
        )
        raise UserError(msg)


@contextmanager
def all_or_nothing(undo: Callable[[], None], *, place: str) -> Generator[None]:
    """Undo everything when anything fails, and say that the database is as it was.

    Raises:
        OperatorError: Something failed.
    """
    try:
        yield
    except BaseException as exc:
        undo()
        if isinstance(exc, UserError) or not isinstance(exc, Exception):
            raise
        told = str(exc).partition("\n")[0].rstrip(".")
        msg = f"The database {place} could not be migrated ({told}); it is as it was."
        raise OperatorError(msg) from exc


def rename(checkpoint: dict[str, object], names: Mapping[str, str | None]) -> None:
    """Give channels their new names wherever a checkpoint speaks of their versions.

    Args:
        checkpoint: Changed in place.
        names: By the old name the new one; `None` where the channel is gone.
    """
    changed = {old: new for old, new in names.items() if old != new}
    if not changed:
        return
    checkpoint["channel_versions"] = _renamed(checkpoint.get("channel_versions"), changed)
    seen = as_mapping(checkpoint.get("versions_seen"))
    checkpoint["versions_seen"] = {node: _renamed(each, changed) for node, each in seen.items()}
    updated = [str(name) for name in as_list(checkpoint.get("updated_channels"))]
    if updated:
        told = [changed.get(name, name) for name in updated]
        checkpoint["updated_channels"] = [name for name in told if name is not None]


def _renamed(versions: object, changed: Mapping[str, str | None]) -> dict[str, object]:
    pairs = [(str(name), version) for name, version in as_mapping(versions).items()]
    named = [(changed.get(name, name), version) for name, version in pairs]
    return {name: version for name, version in named if name is not None}
