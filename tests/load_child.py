"""Several processes with several runs each on one database, all at once.

Usage: python load_child.py PLACE PROCESSES RUNS. Prints one line of JSON for each process: the
status of each of its runs, or what went wrong.
"""

from __future__ import annotations

import gc
import json
import os
import sys
from pathlib import Path

from broken_runs import made, scripted
from langchain_core.runnables import RunnableConfig
from scripted_replies import call_then_say
from scripted_server import plan

from hansei import AgentInput, create_plan_execute_agent, open_checkpointer
from hansei.graphs.agent import Agent
from hansei.graphs.checkpoints import Checkpointer


def pay() -> str:
    return "paid"


def agent_on(saver: Checkpointer | None) -> Agent:
    steps = plan({"description": "pay the bill", "tool": "pay"})
    model = scripted(steps, call_then_say("The bill is paid.", "pay"), answer="It is paid.")
    return create_plan_execute_agent(model, [made(pay, "once")], checkpointer=saver)


def live(place: str, name: str, runs: int) -> list[str]:
    """The status of each run of one process."""
    with open_checkpointer(place) as saver:
        agent = agent_on(saver)
        found: list[str] = []
        for number in range(runs):
            config: RunnableConfig = {"configurable": {"thread_id": f"{name}.{number}"}}
            state = agent.invoke(AgentInput(goal="Pay the bill"), config, durability="sync")
            found.append(str(state["status"]))
        return found


def main() -> None:
    place, processes, runs = sys.argv[1], int(sys.argv[2]), int(sys.argv[3])
    agent_on(None).invoke(AgentInput(goal="Pay the bill"))
    gc.freeze()
    gate, go = os.pipe()
    children: list[tuple[int, Path]] = []
    for number in range(processes):
        told = Path(f"{place}.told.{number}")
        child = os.fork()
        if child == 0:
            os.close(go)
            os.read(gate, 1)  # until all are there
            try:
                result: object = live(place, str(number), runs)
            except Exception as exc:  # noqa: BLE001 - told to the test
                result = repr(exc)
            told.write_text(json.dumps(result), encoding="utf-8")
            os._exit(0)
        children.append((child, told))
    os.close(go)
    for child, told in children:
        os.waitpid(child, 0)
        print(told.read_text(encoding="utf-8"))


if __name__ == "__main__":
    main()
