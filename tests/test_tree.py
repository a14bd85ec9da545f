"""Rules that hold for every file of the tree."""

from __future__ import annotations

import os
import re

from tree import ROOT, files

MOST_LINES = 320
"""About 300 is what a reader holds at once; a little slack saves a split for three lines."""

# In pieces, so that this file does not name what no file may name.
REGISTRY_HOSTS = [
    "py" + "pi.org",
    "python" + "hosted.org",
    "npm" + "js.org",
    "npm" + "js.com",
    "deb." + "debian.org",
    "cra" + "tes.io",
    "golang" + ".org",
    "ana" + "conda.org",
]


def test_no_file_names_a_registry_host() -> None:
    pattern = re.compile("|".join(map(re.escape, REGISTRY_HOSTS)), re.IGNORECASE)
    named = [
        f"{path}: {match.group()}"
        for path in files()
        if (match := pattern.search((ROOT / path).read_text("utf-8", errors="replace")))
    ]
    assert named == []


def test_no_source_file_is_too_long() -> None:
    lengths = {
        str(path): len((ROOT / path).read_text("utf-8").splitlines())
        for path in files()
        if path.suffix == ".py"
    }
    assert lengths
    assert {path: length for path, length in lengths.items() if length > MOST_LINES} == {}


def test_the_links_for_the_type_checkers_are_there() -> None:
    for name in ("graphs", "nodes", "policies", "tools"):
        link = ROOT / "src" / "hansei" / name
        # A checkout without links leaves a small file with the same text in it.
        target = os.readlink(link) if link.is_symlink() else link.read_text("utf-8")
        assert target == f"../../{name}"


def test_the_ci_script_can_be_run() -> None:
    assert os.access(ROOT / ".ci" / "run", os.X_OK)
