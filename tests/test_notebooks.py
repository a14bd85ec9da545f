"""The notebooks: they run without a network, and what is committed comes from their code."""

from __future__ import annotations

import html
import json
import re
import subprocess
import sys
from pathlib import Path

import nbformat
import pytest
from cli_helpers import PATIENCE, WITHOUT_EXTRA, environment
from nbformat import NotebookNode
from notebook_script import script_notebooks
from run_notebooks import EXECUTED, FOLDER, code_of, load
from scripted_server import ScriptedServer

RUN = FOLDER / "run_notebooks.py"
NAMES = ("01_quickstart.ipynb", "02_step_through_checkpoints.ipynb")


def code_cells(notebook: NotebookNode) -> dict[str, NotebookNode]:
    return {cell.id: cell for cell in notebook.cells if cell.cell_type == "code"}


def texts(cell: NotebookNode) -> str:
    """All that a cell shows as text."""
    shown = []
    for output in cell.outputs:
        data = output.get("data", {})
        shown.append(output.get("text") or data.get("text/html") or data.get("text/plain") or "")
    return "\n".join(shown)


def rows(cell: NotebookNode) -> list[list[str]]:
    """The cells of the table that a cell shows, the head first."""
    return [
        [html.unescape(c) for c in re.findall(r"<t[dh][^>]*>(.*?)</t[dh]>", row, re.DOTALL)]
        for row in re.findall(r"<tr>(.*?)</tr>", texts(cell), re.DOTALL)
    ]


def columns(cell: NotebookNode) -> dict[str, tuple[str, str]]:
    """A table that compares two things: the first cell of each row, and the other two."""
    return {name: (left, right) for name, left, right in rows(cell)[1:]}


def run(*notebooks: Path, home: Path, url: str) -> subprocess.CompletedProcess[str]:
    """Executes notebooks in kernels without the extra `local` and without a network."""
    (home / "sitecustomize.py").write_text(WITHOUT_EXTRA, "utf-8")
    values = {"PYTHONPATH": str(home), "OPENAI_BASE_URL": url, "OPENAI_API_KEY": "none"}
    return subprocess.run(
        [
            sys.executable,
            str(FOLDER / "run_notebooks.py"),
            "--into",
            str(home),
            *map(str, notebooks),
        ],
        cwd=home,
        env=environment(home, **values),
        capture_output=True,
        text=True,
        timeout=PATIENCE,
        check=False,
    )


def executed(name: str, home: Path) -> dict[str, NotebookNode]:
    """The code cells of a notebook after a run against the scripted model."""
    with ScriptedServer() as server:
        script_notebooks(server)
        done = run(FOLDER / name, home=home, url=server.base_url)
    assert done.returncode == 0, done.stderr
    notebook = load(home / name)
    assert faults(notebook) == []
    return code_cells(notebook)


def faults(notebook: NotebookNode) -> list[str]:
    """What no reader should see: cells that raised or warned, were not run, or not in order."""
    cells = code_cells(notebook)
    found = [
        f"{name}: {output.get('name') or output.output_type}"
        for name, cell in cells.items()
        for output in cell.outputs
        if output.output_type == "error" or output.get("name") == "stderr"
    ]
    counts = [cell.execution_count for cell in cells.values()]
    return found + ([] if counts == list(range(1, len(counts) + 1)) else [f"counts: {counts}"])


def test_the_quickstart_says_what_it_must(tmp_path: Path) -> None:
    cells = executed(NAMES[0], tmp_path)
    assert {row[2] for row in rows(cells["shop"])[1:]} == {"read"}
    assert "99999" in texts(cells["lost"])
    assert texts(cells["lost-status"]).split() == ["status", "failed", "verified", "False"]
    ((_, call, output),) = rows(cells["evidence"])[1:]
    assert call == 'query_order({"order_id":"99999"})'
    assert "查询中" in output
    ((_, _, verdict, status, why),) = rows(cells["steps"])[1:]
    assert (verdict, status) == ("REPLAN by rule", "failed")
    assert "查询中" in why
    assert texts(cells["cost"]).startswith("5 model calls, of at most 264\n")
    assert [int(row[1]) for row in rows(cells["cost"])[1:]] == [1, 2, 1, 1]
    bounds = [int(row[1]) for row in rows(cells["bound"])[1:]]
    assert bounds == [264, *sorted(set(bounds[1:-1]), reverse=True), 20]
    assert "签收" in texts(cells["arrived"])
    for name in ("arrived-steps", "own-steps"):
        assert texts(cells[name]).startswith("complete - verified: True - 6 model calls\n")
        assert [row[2:4] for row in rows(cells[name])[1:]] == [["PASS by critic", "verified"]]
    assert texts(cells["own"]) == "There are 3 lamps in stock.\n"
    assert [row[1:] for row in rows(cells["status"])[1:]] == [
        ["failed", "False", "tell the customer honestly, and try again later"],
        ["complete", "True", "send the answer"],
        ["complete", "True", "send the answer"],
    ]


def test_stepping_through_says_what_it_must(tmp_path: Path) -> None:
    cells = executed(NAMES[1], tmp_path)
    assert texts(cells["run"]).startswith("failed\n")
    history = rows(cells["history"])[1:]
    assert [row[0] for row in history] == [str(i) for i in range(1, len(history) + 1)]
    assert [row[1] for row in history] == [
        *("__start__", "begin", "planner", "executor", "tools", "executor", "reflector"),
        *("replanner", "synthesizer", "reflector", "-"),
    ]
    assert history[7][2:] == ["1 failed", "step 1: REPLAN by rule"]

    verdict = columns(cells["verdict"])
    assert verdict["next"] == ("reflector", "replanner")
    assert verdict["how it stands"] == ("finished", "failed")
    assert (verdict["verdict"], verdict["by"]) == (("", "REPLAN"), ("", "rule"))
    assert "查询中" in verdict["why"][1]

    assert texts(cells["fork"]).startswith("failed\n")
    branches = columns(cells["branches"])
    assert branches["verdicts on step 1"] == (
        "REPLAN by rule",
        "REPLAN by rule, RETRY by human, REPLAN by rule",
    )
    assert branches["attempts at step 1"] == ("1", "2")
    tree = rows(cells["tree"])[1:]
    assert (tree[0][:3]) == [str(len(history) + 1), "8", "update"]
    assert [row[1] for row in tree[1:]] == [row[0] for row in tree[:-1]]
    assert "step 1: RETRY by human" in [row[5] for row in tree]

    leave = texts(cells["leave"])
    assert "1. 查询快递 SF2606001 的物流记录  [query_logistics]" in leave
    events = [line.split()[0] for line in texts(cells["watch"]).splitlines()]
    assert events[:3] == ["begin", "call", "output"]
    assert events[-1] == "end"
    assert texts(cells["end"]).startswith("complete - verified: True\n")

    assert "replanner -. &nbsp;new steps&nbsp; .-> executor;" in texts(cells["graph"])
    (picture,) = cells["picture"].outputs
    assert picture.data["image/png"].startswith("iVBORw0KGgo")


def test_a_cell_that_reaches_for_the_network_or_raises_fails(tmp_path: Path) -> None:
    source = "import socket\nsocket.create_connection(('192.0.2.1', 9), timeout=0.2)"
    cell = {"cell_type": "code", "id": "away", "metadata": {}, "source": source, "outputs": []}
    notebook = {"nbformat": 4, "nbformat_minor": 5, "metadata": {}, "cells": [cell]}
    path = tmp_path / "away.ipynb"
    path.write_text(json.dumps(notebook), "utf-8")
    home = tmp_path / "home"
    home.mkdir()
    done = run(path, home=home, url="http://127.0.0.1:9/v1")
    assert done.returncode == 1
    assert "reached out to ('192.0.2.1', 9)" in done.stderr
    assert not (home / path.name).exists()


def test_all_notebooks_are_tested() -> None:
    assert tuple(sorted(path.name for path in FOLDER.glob("*.ipynb"))) == NAMES


@pytest.mark.parametrize("name", NAMES)
def test_what_is_committed_is_executed(name: str) -> None:
    notebook = load(FOLDER / name)
    nbformat.validate(notebook)
    assert faults(notebook) == []
    silent = {name for name, cell in code_cells(notebook).items() if not cell.outputs}
    assert silent <= {"table", "close"}


@pytest.mark.parametrize("name", NAMES)
def test_what_is_committed_comes_from_the_code_above_it(name: str) -> None:
    notebook = load(FOLDER / name)
    assert notebook.metadata[EXECUTED] == code_of(notebook), "run `make notebooks`"


@pytest.mark.parametrize("name", NAMES)
def test_what_is_committed_tells_nothing_of_the_machine(name: str) -> None:
    text = (FOLDER / name).read_text("utf-8")
    for mark in ("/tmp/", "/root/", "/home/", "/Users/", ".venv", "iopub.", "Warning"):
        assert mark not in text, mark


@pytest.mark.parametrize("name", NAMES)
def test_every_heading_has_a_chinese_line(name: str) -> None:
    notebook = load(FOLDER / name)
    told = "\n".join(cell.source for cell in notebook.cells if cell.cell_type == "markdown")
    below = re.findall(r"^#+ .+\n\n(.+)$", told, re.MULTILINE)
    assert len(below) == len(re.findall(r"^#+ ", told, re.MULTILINE)) > 5
    assert [line for line in below if not re.search(r"[\u4e00-\u9fff]", line)] == []
