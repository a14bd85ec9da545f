"""From the states of one version to those of the next: pure functions on plain data.

A migration sees one object at a time, from the inside out: each object of hansei's own types, by
the name of its class, and each channel of a state, as an object of the kind `AgentState` with that
one channel. It returns what the next version would have written instead. Nothing is revived for it,
since the classes of an earlier version are no longer there. A model that stands in another one, as
an attempt in a step, was written as a part of that one's data, and is found there; so is an enum in
a model, as its text.
"""

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, replace
from typing import cast

from hansei.policies.errors import OperatorError
from hansei.policies.narrow import as_list, as_mapping
from hansei.policies.state import AgentState

STATE = AgentState.__name__
"""The kind under which a migration sees a channel."""

VERSION_CHANNEL = "state_version"
"""The channel with the version of a state; it needs no migration of its own."""

_OWN_MODULES = "hansei."


@dataclass(frozen=True)
class Record:
    """One object of a state, as plain data.

    Attributes:
        kind: Name of its class, as in `Step`.
        data: Its fields by name; of an enum its value.
        module: Where the class is.
        envelope: What stands beside it in the row; kept as it is.
    """

    kind: str
    data: object
    module: str = ""
    envelope: tuple[object, ...] = ()


Migration = Callable[[Record], Record]

MIGRATIONS: Mapping[int, Migration] = {}
"""By the version that each begins with; each leads to the next one."""


def way(found: int, wanted: int, registry: Mapping[int, Migration]) -> list[Migration]:
    """The migrations that lead from one version to another.

    Raises:
        OperatorError: There is no such way.
    """
    missing = [version for version in range(found, wanted) if version not in registry]
    if found > wanted:
        msg = f"states of version {found} are newer than version {wanted}; a newer hansei is needed"
        raise OperatorError(msg)
    if missing:
        msg = (
            f"nothing leads from states of version {missing[0]} to version {missing[0] + 1}; "
            "use the hansei that wrote them"
        )
        raise OperatorError(msg)
    return [registry[version] for version in range(found, wanted)]


def migrated(value: object, migrations: Sequence[Migration]) -> object:
    """A value with every object of ours in it brought to the version that is led to."""
    for migration in migrations:
        value = _inside_out(value, migration)
    return value


def migrated_channel(
    name: str, value: object, migrations: Sequence[Migration], *, version: int
) -> tuple[str, object] | None:
    """A channel of a state: its name and value in the wanted version, or `None` where it is gone.

    Args:
        name: The channel.
        value: What it holds.
        migrations: What leads to the wanted version.
        version: The wanted version.

    Raises:
        OperatorError: A migration has made several channels of one, which a checkpoint cannot
            tell apart by their versions.
    """
    if name == VERSION_CHANNEL:
        return name, version
    for migration in migrations:
        done = migration(Record(STATE, {name: _inside_out(value, migration)}))
        channels = [(str(key), held) for key, held in as_mapping(done.data).items()]
        if len(channels) > 1:
            msg = f"the migration makes {len(channels)} channels of {name}"
            raise OperatorError(msg)
        if not channels:
            return None
        ((name, value),) = channels
    return name, value


def _inside_out(value: object, migration: Migration) -> object:
    if isinstance(value, Record):
        inner = replace(value, data=_inside_out(value.data, migration))
        return migration(inner) if inner.module.startswith(_OWN_MODULES) else inner
    if isinstance(value, Mapping):
        return {k: _inside_out(v, migration) for k, v in as_mapping(cast("object", value)).items()}
    if isinstance(value, list):
        return [_inside_out(each, migration) for each in as_list(cast("object", value))]
    return value
