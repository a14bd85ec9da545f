"""The tree as git sees it: what the tests about packaging and files go through."""

from __future__ import annotations

import re
import subprocess
import tomllib
from pathlib import Path
from typing import Any

ROOT = Path(__file__).resolve().parent.parent
LOCKS = {
    "core": ROOT / "requirements.lock",
    "local": ROOT / "requirements-local.lock",
    "lowest": ROOT / "requirements-lowest.lock",
}

PIN = re.compile(
    r"(?P<name>[a-z0-9][a-z0-9-]*)(?:\[(?P<extras>[a-z0-9, -]+)\])?"
    r"==(?P<version>\S+)(?: ; (?P<marker>.+))? \\"
)


def files(*folders: str) -> list[Path]:
    """Files that git has or would take, relative to the root; links to folders left out."""
    listed = subprocess.run(
        ["git", "ls-files", "-z", "--cached", "--others", "--exclude-standard", "--", *folders],
        cwd=ROOT,
        check=True,
        capture_output=True,
        text=True,
    ).stdout
    names = sorted({Path(name) for name in listed.split("\0") if name})
    return [name for name in names if (ROOT / name).is_file()]


def pyproject() -> dict[str, Any]:
    """The whole of pyproject.toml."""
    return tomllib.loads((ROOT / "pyproject.toml").read_text("utf-8"))


def _pinned(lock: Path) -> list[re.Match[str]]:
    matches = (PIN.fullmatch(line) for line in lock.read_text("utf-8").splitlines())
    return [match for match in matches if match]


def pins(lock: Path) -> dict[str, str]:
    """Name and version of every package in a lock file."""
    return {match["name"]: match["version"] for match in _pinned(lock)}


def pinned_extras(lock: Path) -> dict[str, set[str]]:
    """The extras that a lock file names with its pins, by package."""
    found: dict[str, set[str]] = {}
    for match in _pinned(lock):
        found.setdefault(match["name"], set()).update(re.findall(r"[^, ]+", match["extras"] or ""))
    return found
