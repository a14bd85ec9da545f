"""Plays runs in a process of its own and prints what memory it holds; see overhead.py.

Usage: python benchmarks/overhead_child.py FIRST LAST
"""

import gc
import json
import os
import resource
import sys
from pathlib import Path
from tempfile import TemporaryDirectory

from langchain_core.runnables import RunnableConfig
from overhead_graphs import hansei_agent
from overhead_scene import GOAL, instant_model, stock_tool

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


def main(first: int, last: int) -> None:
    """Play the runs, each on a thread of its own, and print the two figures."""
    found: dict[str, float] = {}
    with TemporaryDirectory() as folder, open_checkpointer(Path(folder) / "runs.db") as saver:
        agent = hansei_agent(instant_model(), stock_tool(size=50_000), saver)
        for run in range(1, last + 1):
            config: RunnableConfig = {"configurable": {"thread_id": f"run {run}"}}
            agent.invoke(AgentInput(goal=GOAL), config, durability="sync")
            if run in (first, last):
                found["first" if run == first else "last"] = resident()
    print(json.dumps(found))


if __name__ == "__main__":
    main(int(sys.argv[1]), int(sys.argv[2]))
