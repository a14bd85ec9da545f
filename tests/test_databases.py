"""Whose a database is, and which way leads from one version of its states to another."""

from __future__ import annotations

from collections.abc import Mapping

import pytest

from hansei import OperatorError
from hansei.policies.databases import foreign, other_version
from hansei.policies.migrations import MIGRATIONS, Migration, way

THERE_AND_BACK: Mapping[int, Migration] = {1: lambda record: record, 2: lambda record: record}


@pytest.mark.parametrize(
    ("found", "wanted", "registry", "steps"),
    [
        (1, 1, MIGRATIONS, 0),
        (1, 3, THERE_AND_BACK, 2),
        (2, 3, THERE_AND_BACK, 1),
        (1, 2, {}, "nothing leads from states of version 1 to version 2"),
        (0, 3, THERE_AND_BACK, "nothing leads from states of version 0 to version 1"),
        (4, 3, THERE_AND_BACK, "a newer hansei is needed"),
    ],
)
def test_the_way_from_one_version_to_another(
    found: int, wanted: int, registry: Mapping[int, Migration], steps: int | str
) -> None:
    if isinstance(steps, int):
        assert len(way(found, wanted, registry)) == steps
    else:
        with pytest.raises(OperatorError, match=steps):
            way(found, wanted, registry)


def columns(*names: str) -> frozenset[str]:
    return frozenset(names)


OWN = {"hansei_meta": columns("state_version")}
LANGGRAPH = {"checkpoints": columns("thread_id", "checkpoint_ns", "checkpoint_id", "checkpoint")}
SHOP = {"orders": columns("id"), "items": columns("id")}


@pytest.mark.parametrize(
    ("tables", "alone", "said"),
    [
        ({}, True, ""),
        (OWN, True, ""),
        (LANGGRAPH, True, ""),
        (LANGGRAPH | SHOP, True, ""),
        (OWN | SHOP, True, ""),
        (SHOP, True, "another program, which keeps tables items, orders there"),
        (SHOP, False, ""),
        ({"checkpoints": columns("id")}, False, "its table checkpoints belongs to another program"),
        (OWN | {"store": columns("id")}, False, "its table store belongs to another program"),
    ],
)
def test_whose_a_database_is(tables: Mapping[str, frozenset[str]], alone: bool, said: str) -> None:
    assert said in foreign(tables, alone=alone)
    assert bool(said) is bool(foreign(tables, alone=alone))


def test_the_same_version_needs_no_advice() -> None:
    assert other_version(1, 1) == ""
    assert "migrate" in other_version(1, 2)
    assert "newer" in other_version(2, 1)
