"""The development server of LangGraph Studio with a scripted model behind it, for tests."""

from __future__ import annotations

import json
import os
import re
import socket
import subprocess
import sys
import time
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path

import httpx
from scripted_server import ScriptedServer
from tree import ROOT

PATIENCE = 300.0
"""Seconds for whatever is waited for: a start takes four, and a minute on a machine under load."""

SLOW_TOOLS = '''
import time
from langchain_core.tools import tool
from hansei.graphs.studio import served_agent

@tool
def lookup(q: str) -> str:
    """Look something up."""
    time.sleep(0.05)
    return "It is 42. " * 200

lookup.metadata = {"hansei": {"effect": "once"}}
graph = served_agent([lookup])
'''
"""A module of a user's: a plain tool that sleeps, changes something, and returns much."""


@dataclass(frozen=True)
class Studio:
    """A running server."""

    url: str
    database: Path
    log: Path
    model: ScriptedServer
    pid: int


@contextmanager
def studio(folder: Path, **environment: str) -> Iterator[Studio]:
    """Start the server with what stands in `langgraph.json` and one graph more, `slow`.

    Args:
        folder: Its working directory.
        environment: What it sees besides the address of the scripted model.
    """
    config = json.loads((ROOT / "langgraph.json").read_text("utf-8"))
    config["graphs"]["slow"] = "./slow_tools.py:graph"
    (folder / "slow_tools.py").write_text(SLOW_TOOLS, "utf-8")
    (folder / "langgraph.json").write_text(json.dumps(config), "utf-8")
    database = folder / "runs.db"
    with ScriptedServer(strict_pairing=True) as model:
        values = {"OPENAI_BASE_URL": model.base_url, "HANSEI_DB": str(database), **environment}
        with served(folder, folder / "langgraph.json", **values) as (url, pid):
            yield Studio(url, database, folder / "log", model, pid)


@contextmanager
def served(folder: Path, config: Path, **environment: str) -> Iterator[tuple[str, int]]:
    """Run `langgraph dev` in a folder, and yield its address and process once it answers."""
    command = [str(Path(sys.executable).with_name("langgraph")), "dev", "--config", str(config)]
    command += ["--no-browser", "--no-reload", "--port", str(_free_port())]
    # It tells its makers and asks for news of itself; here nobody answers.
    offline = {
        "LANGGRAPH_CLI_NO_ANALYTICS": "1",
        "HTTPS_PROXY": "http://127.0.0.1:9",
        "NO_PROXY": "127.0.0.1",
    }
    log = folder / "log"
    with log.open("w", encoding="utf-8") as told:
        process = subprocess.Popen(
            command,
            cwd=folder,
            env={**environment_of(folder), **offline, **environment},
            stdout=told,
            stderr=subprocess.STDOUT,
        )
    try:
        yield _address(process, log), process.pid
    finally:
        process.terminate()
        process.wait(PATIENCE)


def environment_of(home: Path) -> dict[str, str]:
    """This process's environment without anybody's endpoints, models and tracing."""
    foreign = ("OPENAI_", "HANSEI_", "LANGSMITH_", "LANGCHAIN_", "LANGGRAPH_")
    kept = {name: value for name, value in os.environ.items() if not name.startswith(foreign)}
    homes = ("HOME", "XDG_CACHE_HOME", "XDG_STATE_HOME", "XDG_DATA_HOME", "HANSEI_CACHE")
    return {**kept, **dict.fromkeys(homes, str(home)), "LANGSMITH_TRACING": "false"}


def _address(process: subprocess.Popen[bytes], log: Path) -> str:
    until = time.monotonic() + PATIENCE
    while time.monotonic() < until and process.poll() is None:
        found = re.search(r"API: \S*?(http://[\w.:]+)", log.read_text("utf-8"))
        if found is not None and _answers(found[1]):
            return found[1]
        time.sleep(0.1)
    raise AssertionError(log.read_text("utf-8"))


def _free_port() -> int:
    with socket.create_server(("127.0.0.1", 0)) as found:
        port: int = found.getsockname()[1]
        return port


def _answers(url: str) -> bool:
    try:
        return httpx.get(f"{url}/ok", timeout=5).status_code == 200
    except httpx.TransportError:
        return False
