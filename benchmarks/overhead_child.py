"""Measures in a process of its own and prints what came out as JSON; see overhead.py.

Usage: python benchmarks/overhead_child.py paces|memory ARGUMENTS (as a JSON object)
"""

import gc
import json
import logging
import os
import resource
import sys
from collections.abc import Callable, Mapping
from pathlib import Path
from tempfile import TemporaryDirectory

from langchain_core.runnables import RunnableConfig
from overhead_graphs import hansei_agent
from overhead_pace import Figures, paces
from overhead_scene import GOAL, Script, instant_model, stock_tool

from hansei import AgentInput, open_checkpointer


def resident() -> float:
    """Megabytes of this process in memory; where the system does not say, the most it ever had."""
    gc.collect()
    try:
        pages = int(Path("/proc/self/statm").read_text("ascii").split()[1])
    except OSError:
        unit = 1 if sys.platform == "darwin" else 1024
        return resource.getrusage(resource.RUSAGE_SELF).ru_maxrss * unit / 1e6
    return pages * os.sysconf("SC_PAGE_SIZE") / 1e6


def memory(*, first: int, last: int, kept: bool) -> Figures:
    """Megabytes after some runs and after more, each on a thread of its own.

    Args:
        first: Runs before the first look.
        last: Runs before the second.
        kept: The runs are kept in a file; else there is no saver.
    """
    found: Figures = {}
    with TemporaryDirectory() as folder, open_checkpointer(Path(folder) / "runs.db") as saver:
        model, look = instant_model(Script()), stock_tool(size=50_000)
        agent = hansei_agent(model, look, saver if kept else None, steps=5)
        for run in range(1, last + 1):
            config: RunnableConfig = {"configurable": {"thread_id": f"run {run}"}}
            agent.invoke(AgentInput(goal=GOAL), config, durability="sync" if kept else None)
            if run in (first, last):
                found["first" if run == first else "last"] = resident()
    return found


KINDS: Mapping[str, Callable[..., object]] = {"paces": paces, "memory": memory}

if __name__ == "__main__":
    logging.disable(logging.WARNING)
    print(json.dumps(KINDS[sys.argv[1]](**json.loads(sys.argv[2]))))
