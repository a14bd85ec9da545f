"""Who holds a thread: one process on one machine, and whether it is still there."""

import os
import socket
from functools import cache
from pathlib import Path

from hansei.graphs.run_ends import UNSAID

UNKNOWN_START = "-"
"""Where the system does not tell when a process began."""


@cache
def machine() -> str:
    """What tells this machine from others, and one container on it from another.

    A name alone does not: two containers may share it, and a process of the one is not seen
    from the other.
    """
    boot = _read("/proc/sys/kernel/random/boot_id").strip()
    try:
        space = os.readlink("/proc/self/ns/pid")
    except OSError:
        space = ""
    return "/".join(part for part in (socket.gethostname(), boot, space) if part)


def this_process() -> str:
    """Machine, number and start of this process."""
    return f"{machine()} {os.getpid()} {process_start(os.getpid())}"


def process_start(pid: int) -> str:
    """When a process began, in ticks of the system: with its number it names one process."""
    fields = _read(f"/proc/{pid}/stat").rpartition(")")[2].split()
    return fields[19] if len(fields) > 19 else UNKNOWN_START


def is_gone(owner: str) -> bool:
    """Whether the owner's process ran on this machine and is there no more, or this one is done."""
    if owner in UNSAID:
        return True
    place, pid, started = _parts(owner)
    if place != machine() or not pid.isdigit():
        return False
    try:
        os.kill(int(pid), 0)
    except ProcessLookupError:
        return True
    except PermissionError:
        return False
    # Another process may have got the number since.
    return started != process_start(int(pid))


def is_here(owner: str) -> bool:
    """Whether the owner's process surely lives on this machine, however long it was silent."""
    place, _, started = _parts(owner)
    return place == machine() and started != UNKNOWN_START and not is_gone(owner)


def _parts(owner: str) -> tuple[str, str, str]:
    place, pid, started = (*owner.split(" "), "", "")[:3]
    return place, pid, started


def _read(file: str) -> str:
    try:
        return Path(file).read_text(encoding="utf-8", errors="replace")
    except OSError:
        return ""
