"""The Makefile: every verb is explained, and the demo's exit code is told apart from a fault."""

from __future__ import annotations

import os
import re
import shutil
import subprocess
import time
from pathlib import Path

import pytest
from tree import ROOT

MAKEFILE = (ROOT / "Makefile").read_text("utf-8")
VERBS = {
    *("help", "demo", "test", "test-lowest", "check", "live", "live-order"),
    *("bench", "kills", "notebooks", "lock", "clean"),
}


def run_make(folder: Path, *words: str, **env: str) -> subprocess.CompletedProcess[str]:
    """Run make in a folder, as a user's shell would: not as a part of an outer make."""
    inherited = {k: v for k, v in os.environ.items() if k not in ("MAKEFLAGS", "MAKELEVEL")}
    return subprocess.run(
        ["make", *words],
        cwd=folder,
        env={**inherited, **env},
        capture_output=True,
        text=True,
        check=False,
    )


def test_every_target_is_documented() -> None:
    targets = re.findall(r"^([A-Za-z][\w-]*)\s*:(?!=)(.*)$", MAKEFILE, re.MULTILINE)
    assert {name for name, _ in targets} == VERBS
    assert [name for name, rest in targets if not re.search(r"## \S", rest)] == []


def test_help_is_the_default_and_lists_every_target() -> None:
    done = run_make(ROOT)
    assert done.returncode == 0, done.stderr
    assert {line.split()[1] for line in done.stdout.splitlines()} == VERBS


@pytest.fixture
def scene(tmp_path: Path) -> Path:
    """A folder where everything is installed, and `hansei` ends as the variable CODE says."""
    for name in ("Makefile", "pyproject.toml", "requirements.lock", "requirements-local.lock"):
        shutil.copy2(ROOT / name, tmp_path)
    commands = tmp_path / ".venv" / "bin"
    commands.mkdir(parents=True)
    fake = commands / "hansei"
    fake.write_text('#!/bin/sh\necho "key=$OPENAI_API_KEY asked=$*"\nexit "$CODE"\n', "utf-8")
    fake.chmod(0o755)
    (commands / "python").write_text("#!/bin/sh\nexit 99\n", "utf-8")
    later = time.time() + 60
    for stamp in (".installed-core", ".installed-local"):
        (tmp_path / ".venv" / stamp).touch()
        later += 60
        os.utime(tmp_path / ".venv" / stamp, (later, later))
    return tmp_path


@pytest.mark.parametrize("code", [0, 3, 4])
def test_the_demo_takes_an_honest_end_for_success(scene: Path, code: int) -> None:
    done = run_make(scene, "demo", CODE=str(code), OPENAI_API_KEY="sk-of-the-user")
    assert done.returncode == 0, done.stderr
    first, *_, last = done.stdout.splitlines()
    assert "GB of disk" in first
    assert last.startswith(f"hansei ended with exit code {code} ")
    # The embedded model is what it shows, whatever endpoint the shell knows.
    assert "key= asked=run 帮我查一下订单 99999 到了没 --tools shop" in done.stdout


def test_the_demo_says_first_what_will_happen(scene: Path) -> None:
    done = run_make(scene, "demo", CODE="4")
    before, _, _ = done.stdout.partition("asked=run")
    for said in (
        "帮我查一下订单 99999 到了没",
        "whether order 99999 has arrived",
        'hansei run "帮我查一下订单 99999 到了没" --tools shop',
        "exit code 4",
        "Loading the model takes",
    ):
        assert said in before, said


@pytest.mark.parametrize("code", [1, 2, 5, 6, 7, 130])
def test_the_demo_fails_on_any_other_end(scene: Path, code: int) -> None:
    done = run_make(scene, "demo", CODE=str(code))
    assert done.returncode != 0
    assert f"hansei ended with exit code {code};" in done.stderr


@pytest.mark.parametrize(("code", "passes"), [(3, True), (4, True), (0, False), (7, False)])
def test_the_live_check_does_not_take_complete(scene: Path, code: int, passes: bool) -> None:
    done = run_make(scene, "live-order", CODE=str(code))
    assert (done.returncode == 0) is passes


def test_the_notebooks_are_run_with_the_embedded_model(scene: Path) -> None:
    done = run_make(scene, "--dry-run", "notebooks", "NOTEBOOKS=one.ipynb")
    (command,) = done.stdout.splitlines()
    assert "OPENAI_API_KEY= OPENAI_BASE_URL= " in command
    assert command.endswith("python notebooks/run_notebooks.py one.ipynb")


def test_without_a_usable_python_it_says_so(tmp_path: Path) -> None:
    for name in ("Makefile", "pyproject.toml", "requirements.lock"):
        shutil.copy2(ROOT / name, tmp_path)
    done = run_make(tmp_path, "test", "PYTHON=no-such-python")
    assert done.returncode != 0
    assert "No Python 3.11 or newer with venv was found" in done.stderr
    assert not (tmp_path / ".venv").exists()
