"""The scenes that the tests of the command line play: an endpoint, tools, and runs that fail."""

from __future__ import annotations

import json
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

import pytest
from cli_helpers import Done, hansei
from scripted_server import Reply, ScriptedServer, call_then_say, plan, structured

TOOLS = """
from langchain_core.tools import tool

@tool
def lookup(q: str) -> str:
    "Looks something up."
    return "Error: no line" if q == "gone" else "42"

lookup.metadata = {"hansei": {"effect": "read"}}
"""

GIVE_UP = structured({"analysis": "no other way", "steps": [], "given_up": [1], "drop": []})


@contextmanager
def endpoint(folder: Path, monkeypatch: pytest.MonkeyPatch) -> Iterator[ScriptedServer]:
    """An endpoint that the command finds in the environment; it runs in `folder`.

    In it are the scenes' tools, and no `.env` or database of a developer.
    """
    monkeypatch.chdir(folder)
    monkeypatch.setenv("HOME", str(folder))
    monkeypatch.setenv("XDG_STATE_HOME", str(folder))
    (folder / "my_tools.py").write_text(TOOLS)
    with ScriptedServer() as running:
        monkeypatch.setenv("OPENAI_BASE_URL", running.base_url)
        running.script_defaults()
        yield running


def run(*more: str, goal: str = "look it up", thread: str = "mine") -> Done:
    """Runs `hansei run` with the scenes' tools and a database in the current folder."""
    return hansei(
        "run", goal, "--tools", "my_tools.py", "--db", "runs.db", "--thread", thread, *more
    )


def report(done: Done, code: int = 0) -> dict[str, Any]:
    """The one object on standard output, which holds nothing else."""
    assert (done.code, done.stderr) == (code, "")
    data: dict[str, Any] = json.loads(done.stdout)
    return data


def partly_failing(server: ScriptedServer) -> None:
    """Scripts a run of two steps, of which the second fails."""
    server.script(
        "planner",
        plan(
            {"description": "Find the number", "tool": "lookup"},
            {"description": "Find the line", "tool": "lookup"},
        ),
    )

    def executor(body: dict[str, Any]) -> Reply:
        gone = "Find the line" in json.dumps(body["messages"])
        return call_then_say("Here it is.", "lookup", q="gone" if gone else "it")(body)

    server.script("executor", executor)
    server.script("replanner", GIVE_UP)
    server.script("synthesizer", "The number is 42. The line could not be found.")


def all_failing(server: ScriptedServer) -> None:
    """Scripts a run whose only step fails."""
    server.script("planner", plan({"description": "Find the line", "tool": "lookup"}))
    server.script("executor", call_then_say("Here it is.", "lookup", q="gone"))
    server.script("replanner", GIVE_UP)
    server.script("synthesizer", "The line could not be found.")
