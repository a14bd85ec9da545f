"""A model in pieces, installed for a test the way an installer would: with lists and hashes."""

from __future__ import annotations

import base64
import hashlib
from collections.abc import Sequence
from pathlib import Path

import pytest

import hansei
from hansei.graphs.local_file import models_folder
from hansei.graphs.local_pieces import ModelSource

BARE = f"""
import sys, types
package = types.ModuleType("hansei")
package.__path__ = {list(hansei.__path__)!r}
sys.modules["hansei"] = package
"""
"""Head of a script that needs a few modules: the package's own brings in all of LangGraph."""

CONTENTS = (b"first piece, ", b"the second one, ", b"and the last")
WHOLE = b"".join(CONTENTS)


def install_pieces(site: Path, contents: Sequence[bytes] = CONTENTS) -> ModelSource:
    """Install one package a piece into a folder, which must be on `sys.path` to be found."""
    packages = []
    for number, content in enumerate(contents, start=1):
        package = f"toy-model-part{number}"
        module = package.replace("-", "_")
        file = site / module / "data" / f"part{number:02}.bin"
        file.parent.mkdir(parents=True)
        file.write_bytes(content)
        # Importing one would be a fault: the pieces are data.
        (site / module / "__init__.py").write_text("raise AssertionError('imported')\n")
        digest = base64.urlsafe_b64encode(hashlib.sha256(content).digest()).rstrip(b"=").decode()
        info = site / f"{module}-0.2.0.dist-info"
        info.mkdir()
        (info / "METADATA").write_text(f"Metadata-Version: 2.4\nName: {package}\nVersion: 0.2.0\n")
        (info / "RECORD").write_text(
            f"{module}/__init__.py,,\n"
            f"{module}/data/{file.name},sha256={digest},{len(content)}\n"
            f"{info.name}/METADATA,,\n{info.name}/RECORD,,\n"
        )
        packages.append(package)
    whole = b"".join(contents)
    return ModelSource(
        model_name="toy",
        file_name="toy.gguf",
        packages=tuple(packages),
        size=len(whole),
        sha256=hashlib.sha256(whole).hexdigest(),
    )


def piece_file(site: Path, number: int) -> Path:
    """Where a piece was installed."""
    return site / f"toy_model_part{number}" / "data" / f"part{number:02}.bin"


def left_over() -> list[str]:
    """What lies in the cache beside the model, its marker and the lock."""
    kept = {"toy.gguf", "toy.gguf.checked", "toy.gguf.lock"}
    return [path.name for path in models_folder().iterdir() if path.name not in kept]


@pytest.fixture
def site(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """A folder on `sys.path` for installed pieces; cache and working directory are fresh too."""
    folder = tmp_path / "site"
    folder.mkdir()
    monkeypatch.syspath_prepend(str(folder))
    monkeypatch.setenv("HANSEI_CACHE", str(tmp_path / "cache"))
    monkeypatch.chdir(tmp_path)
    return folder


@pytest.fixture
def source(site: Path) -> ModelSource:
    return install_pieces(site)
