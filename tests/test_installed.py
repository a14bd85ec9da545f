"""The wheel and the sdist, each installed into an environment of its own, work outside the tree.

The environment holds what they declare and nothing else, so that what is not declared is missed. It
is linked from this one, since tests have no network.
"""

from __future__ import annotations

import json
import os
import shutil
import subprocess
import sys
import sysconfig
import venv
from collections.abc import Iterator
from importlib.metadata import Distribution, distribution
from pathlib import Path

import pytest
from cli_helpers import PATIENCE
from cli_scenes import TOOLS
from packaging.requirements import Requirement
from packaging.utils import canonicalize_name
from scripted_server import ScriptedServer
from tree import ROOT, files, pyproject

BUILDS = ("wheel", "sdist")

IMPORTS = """
import importlib, json, pkgutil, sys
import hansei

names = [m.name for m in pkgutil.walk_packages(hansei.__path__, "hansei.")]
skipped = json.loads(sys.argv[1])
for name in names:
    if not name.endswith("__main__") and name not in skipped:
        importlib.import_module(name)
missing = [name for name in hansei.__all__ if not hasattr(hansei, name)]
print(json.dumps({"place": hansei.__file__, "missing": missing, "modules": len(names)}))
"""

NEEDS_AN_EXTRA = (
    "hansei.graphs.postgres_async",
    "hansei.graphs.postgres_fence",
    "hansei.graphs.postgres_migrate",
    "hansei.graphs.postgres_saver",
    "hansei.graphs.postgres_tables",
    "hansei.graphs.studio_threads",
)
"""Modules that are only reached where an extra is installed."""


@pytest.fixture(scope="module")
def built(tmp_path_factory: pytest.TempPathFactory) -> dict[str, Path]:
    """The sdist, and the wheel that is made of it, built offline from what git has."""
    source = tmp_path_factory.mktemp("tree")
    for path in files():
        (source / path).parent.mkdir(parents=True, exist_ok=True)
        shutil.copyfile(ROOT / path, source / path)
    target = tmp_path_factory.mktemp("dist")
    done = subprocess.run(
        [sys.executable, "-m", "build", "--no-isolation", "--outdir", str(target), str(source)],
        capture_output=True,
        text=True,
        check=False,
    )
    assert done.returncode == 0, done.stdout + done.stderr
    (wheel,), (sdist,) = target.glob("*.whl"), target.glob("*.tar.gz")
    return {"wheel": wheel, "sdist": sdist}


def declared() -> list[Distribution]:
    """What the library declares, and all that this needs in turn, as it is installed here."""
    found: dict[str, Distribution] = {}
    waiting = [Requirement(text) for text in pyproject()["project"]["dependencies"]]
    # The build backend, since nothing is fetched for a build.
    waiting.append(Requirement("setuptools"))
    while waiting:
        one = waiting.pop()
        extras = one.extras or {""}
        name = canonicalize_name(one.name)
        key = f"{name}{sorted(extras)}"
        if key in found or not _applies(one, {""}):
            continue
        found[key] = distribution(name)
        for text in found[key].requires or []:
            needed = Requirement(text)
            if _applies(needed, extras):
                waiting.append(needed)
    return list(found.values())


def _applies(one: Requirement, extras: set[str]) -> bool:
    if one.marker is None:
        return True
    return any(one.marker.evaluate({"extra": extra}) for extra in extras)


def link(into: Path, dist: Distribution) -> None:
    """Put the files of an installed distribution into another environment."""
    home = Path(sysconfig.get_path("purelib"))
    for file in dist.files or []:
        place, target = home / file, into / file
        if ".." in file.parts or target.exists() or not place.is_file():
            continue
        target.parent.mkdir(parents=True, exist_ok=True)
        target.symlink_to(place)
        compiled = target.parent / "__pycache__"
        if not compiled.exists() and (place.parent / "__pycache__").is_dir():
            compiled.symlink_to(place.parent / "__pycache__")


@pytest.fixture(scope="module", params=BUILDS)
def python(
    request: pytest.FixtureRequest, built: dict[str, Path], tmp_path_factory: pytest.TempPathFactory
) -> Path:
    """The interpreter of an environment in which the build is installed."""
    place = tmp_path_factory.mktemp("env")
    venv.create(place, with_pip=True)
    (site,) = (place / "lib").glob("python*/site-packages")
    for old in [*site.glob("setuptools*"), site / "pkg_resources", site / "_distutils_hack"]:
        shutil.rmtree(old, ignore_errors=True)  # Python 3.11 brings one of its own
    for dist in declared():
        link(site, dist)
    interpreter = place / "bin" / "python"
    install = ["install", "--quiet", "--no-deps", "--no-index", "--no-build-isolation"]
    done = run([interpreter, "-m", "pip", *install, built[request.param]], home=place)
    assert done.returncode == 0, done.stdout + done.stderr
    return interpreter


def run(command: list[Path | str], *, home: Path, **env: str) -> subprocess.CompletedProcess[str]:
    """Runs a program at the root of the disk, with nothing of this environment in its own."""
    kept = {name: os.environ[name] for name in ("PATH", "LANG") if name in os.environ}
    return subprocess.run(
        [str(part) for part in command],
        cwd="/",
        env={**kept, "HOME": str(home), "XDG_STATE_HOME": str(home), **env},
        capture_output=True,
        text=True,
        timeout=PATIENCE,
        check=False,
    )


@pytest.fixture
def server() -> Iterator[ScriptedServer]:
    with ScriptedServer() as running:
        running.script_defaults()
        yield running


def test_every_module_can_be_imported(python: Path, tmp_path: Path) -> None:
    done = run([python, "-c", IMPORTS, json.dumps(NEEDS_AN_EXTRA)], home=tmp_path)
    assert done.returncode == 0, done.stderr
    found = json.loads(done.stdout)
    assert Path(found["place"]).is_relative_to(python.parent.parent)
    assert found["missing"] == []
    assert found["modules"] > 100


def test_the_command_tells_its_help(python: Path, tmp_path: Path) -> None:
    done = run([python.parent / "hansei", "--help"], home=tmp_path)
    assert done.returncode == 0, done.stderr
    assert "Usage: hansei" in done.stdout


def test_the_command_runs_a_goal(python: Path, tmp_path: Path, server: ScriptedServer) -> None:
    tools, db = tmp_path / "my_tools.py", tmp_path / "runs.db"
    tools.write_text(TOOLS)
    asked = ["run", "look it up", "--tools", str(tools), "--db", str(db), "--json"]
    done = run([python.parent / "hansei", *asked], home=tmp_path, OPENAI_BASE_URL=server.base_url)
    assert (done.returncode, done.stderr) == (0, "")
    data = json.loads(done.stdout)
    assert (data["status"], data["verified"], data["answer"]) == ("complete", True, "It is 42.")
    shown = run([python, "-m", "hansei", "threads", "--db", str(db), "--json"], home=tmp_path)
    assert [row["goal"] for row in json.loads(shown.stdout)["threads"]] == ["look it up"]


def test_a_missing_extra_is_told_in_a_sentence(python: Path, tmp_path: Path) -> None:
    servers = tmp_path / "servers.json"
    servers.write_text('{"mcpServers": {"stock": {"command": "python"}}}')
    asked = ["run", "look it up", "--tools", f"mcp:{servers}"]
    done = run([python.parent / "hansei", *asked], home=tmp_path)
    assert (done.returncode, done.stdout) == (2, "")
    assert "pip install 'hansei[mcp]'" in done.stderr
