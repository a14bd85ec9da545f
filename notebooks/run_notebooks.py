"""Runs the notebooks of this folder, each in a fresh kernel, and writes their outputs into them.

`make notebooks` does so with the embedded model; the tests do it into another folder, with a
scripted one. Nothing of the machine is kept: no times, no paths, no files beside the notebooks.
"""

from __future__ import annotations

import argparse
import hashlib
import os
import sys
from collections.abc import Sequence
from pathlib import Path
from tempfile import TemporaryDirectory

import nbformat
from jupyter_client.kernelspec import KernelSpecManager
from jupyter_client.manager import AsyncKernelManager
from nbclient import NotebookClient
from nbclient.exceptions import CellExecutionError
from nbformat import NotebookNode

FOLDER = Path(__file__).resolve().parent

EXECUTED = "hansei_executed"
"""Where a notebook's metadata say which code its outputs come from."""


def load(path: Path) -> NotebookNode:
    """A notebook of the version that is written here."""
    notebook: NotebookNode = nbformat.read(path, as_version=4)  # type: ignore[no-untyped-call]
    return notebook


def code_of(notebook: NotebookNode) -> str:
    """A hash of the code: with another one the outputs would belong to other code."""
    sources = [cell.source for cell in notebook.cells if cell.cell_type == "code"]
    return hashlib.sha256("\0".join(sources).encode()).hexdigest()[:16]


def execute(notebook: NotebookNode) -> None:
    """Run all cells in order, in a folder that is gone afterwards.

    Raises:
        CellExecutionError: A cell raised.
    """
    with TemporaryDirectory() as folder:
        # This very interpreter, whatever kernels and profiles a developer has installed.
        specs = KernelSpecManager(kernel_dirs=[], ensure_native_kernel=True)
        kernel = AsyncKernelManager(
            kernel_name="python3",
            kernel_spec_manager=specs,
            transport="ipc",  # over TCP a kernel warns that others of the machine might listen
            connection_file=str(Path(folder) / "kernel.json"),
        )
        client = NotebookClient(
            notebook,
            km=kernel,
            timeout=None,  # a small model on a busy machine takes minutes for a run
            record_timing=False,
            coalesce_streams=True,
            resources={"metadata": {"path": folder}},
        )
        client.execute(env={**os.environ, "IPYTHONDIR": folder}, cleanup_kc=True)
    notebook.metadata = {
        "kernelspec": {"display_name": "Python 3", "language": "python", "name": "python3"},
        "language_info": {"name": "python"},
        EXECUTED: code_of(notebook),
    }


def main(arguments: Sequence[str] | None = None) -> int:
    """Run the notebooks that are named, or all; 1 where a cell raised."""
    parser = argparse.ArgumentParser(description=(__doc__ or "").partition("\n")[0])
    parser.add_argument("notebooks", nargs="*", type=Path, help="all of this folder if left out")
    parser.add_argument("--into", type=Path, help="write them there, and leave these as they are")
    options = parser.parse_args(arguments)
    for path in options.notebooks or sorted(FOLDER.glob("*.ipynb")):
        notebook = load(path)
        try:
            execute(notebook)
        except CellExecutionError as failure:
            sys.stderr.write(f"{path.name}: {failure}\n")
            return 1
        target = options.into / path.name if options.into else path
        nbformat.write(notebook, target)  # type: ignore[no-untyped-call]
    return 0


if __name__ == "__main__":
    sys.exit(main())
