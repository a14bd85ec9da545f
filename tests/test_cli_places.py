"""Databases that the command line refuses, since nobody would find them again."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

import pytest
from cli_helpers import hansei, refused
from cli_scenes import endpoint
from scripted_server import ScriptedServer


@pytest.fixture
def server(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Iterator[ScriptedServer]:
    """See `endpoint`."""
    with endpoint(tmp_path, monkeypatch) as running:
        yield running


@pytest.mark.parametrize(
    ("db", "told"),
    [
        (":memory:", "A database in memory ends with the command"),
        ("file:x.db?mode=memory", "is no place for runs"),
        (" ", "names no database"),
    ],
)
def test_a_database_that_nobody_finds_again_is_refused(
    server: ScriptedServer, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, db: str, told: str
) -> None:
    before = set(tmp_path.iterdir())
    (goals := tmp_path / "goals.txt").write_text("Look it up\n", encoding="utf-8")
    commands = (
        ("run", "look it up"),
        ("batch", str(goals)),
        ("resume", "mine"),
        ("fork", "mine", "1"),
        ("show", "mine"),
        ("threads",),
        ("migrate",),
    )
    for command in commands:
        assert told in refused(hansei(*command, "--db", db), 2), command
    if db.strip():  # a blank variable counts as none
        monkeypatch.setenv("HANSEI_DB", db)
        assert told in refused(hansei("run", "look it up"), 2)
        assert told in refused(hansei("threads"), 2)
    assert set(tmp_path.iterdir()) - before == {goals}
    assert server.requests == []
