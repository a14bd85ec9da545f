"""Many runs on one database at once, from several processes."""

from __future__ import annotations

import json
import subprocess
import sys
from pathlib import Path


def statuses(place: Path, *, processes: int, runs: int) -> list[object]:
    """For each process the statuses of its runs, or what went wrong."""
    child = Path(__file__).with_name("load_child.py")
    done = subprocess.run(
        [sys.executable, str(child), str(place), str(processes), str(runs)],
        capture_output=True,
        text=True,
        check=True,
    )
    return [json.loads(line) for line in done.stdout.splitlines()]
