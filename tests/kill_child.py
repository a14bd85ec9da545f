"""Runs of one agent in forked processes that kill themselves at a named point.

Started once; each line on standard input is one trial as JSON: the folder of its files, and the
point at which it dies ("" for none). Each answer is one line: how the process ended, how often each
point was reached, and the state it left.
"""

import json
import os
import re
import signal
import sys
from collections import Counter
from collections.abc import Callable
from pathlib import Path
from typing import Any

from broken_runs import scripted
from langchain_core.runnables import RunnableConfig
from langchain_core.tools import BaseTool, StructuredTool
from scripted_replies import Reply, messages_of, tool_call
from scripted_server import plan

from hansei import AgentInput, AgentState, create_plan_execute_agent, open_checkpointer
from hansei.nodes.kit import IDEMPOTENCY_KEY

THREAD: RunnableConfig = {"configurable": {"thread_id": "1"}}
EFFECTS = {"look": "read", "pay": "once", "mail": "idempotent"}
PLAN = plan(
    {"description": "look up the bill", "tool": "look"},
    {"description": "pay the bill", "tool": "pay", "depends_on": [1]},
    {"description": "mail the receipt", "tool": "mail", "depends_on": [2]},
)


class Points:
    """Where a process dies: at the n-th time that it comes to a place."""

    def __init__(self, fatal: str) -> None:
        self.fatal = fatal
        self.reached: Counter[str] = Counter()

    def reach(self, place: str) -> None:
        self.reached[place] += 1
        if f"{place} {self.reached[place]}" == self.fatal:
            os.kill(os.getpid(), signal.SIGKILL)

    def around(self, place: str, method: Callable[..., Any]) -> Callable[..., Any]:
        def called(*args: Any, **kwargs: Any) -> Any:
            self.reach(f"before {place}")
            result = method(*args, **kwargs)
            self.reach(f"after {place}")
            return result

        return called


def tools(folder: Path, points: Points) -> list[BaseTool]:
    def make(name: str, effect: str) -> BaseTool:
        def call(config: RunnableConfig) -> str:
            points.reach(f"before {name}")
            if points.fatal == f"always {name}":
                os.kill(os.getpid(), signal.SIGKILL)
            key = config.get("configurable", {}).get(IDEMPOTENCY_KEY, "")
            with (folder / "ledger").open("a", encoding="utf-8") as ledger:
                ledger.write(f"{name} {key}\n")
                ledger.flush()
                os.fsync(ledger.fileno())
            points.reach(f"after {name}")
            return f"{name} is done"

        return StructuredTool.from_function(
            call, name=name, description=name, metadata={"hansei": {"effect": effect}}
        )

    return [make(name, effect) for name, effect in EFFECTS.items()]


def executor(body: dict[str, object]) -> Reply:
    messages = messages_of(body)
    # A later step is shown the earlier ones that it depends on, so the last that is named is it.
    asked = str(messages[1].get("content"))
    name = [n for n in EFFECTS if re.search(rf"\b{n} (?:up )?the", asked)][-1]
    if messages[-1].get("role") == "tool":
        return Reply(f"{name} is done")
    return tool_call(name)


def live(folder: Path, fatal: str) -> dict[str, object]:
    """One process: it begins the run, or goes on with one that was begun."""
    points = Points(fatal)
    with open_checkpointer(folder / "runs.db") as saver:
        saver.put = points.around("put", saver.put)  # type: ignore[method-assign]
        saver.put_writes = points.around("put_writes", saver.put_writes)  # type: ignore[method-assign]
        saver.store.batch = points.around("store", saver.store.batch)  # type: ignore[method-assign]
        model = scripted(PLAN, executor, answer="look is done, pay is done, mail is done.")
        agent = create_plan_execute_agent(model, tools(folder, points), checkpointer=saver)
        begun = saver.get_tuple(THREAD) is not None
        given = None if begun else AgentInput(goal="Pay the bill and mail the receipt")
        state = AgentState.model_validate(agent.invoke(given, THREAD, durability="sync"))
    return {"state": state.model_dump(mode="json"), "reached": dict(points.reached)}


def main() -> None:
    for line in sys.stdin:
        trial = json.loads(line)
        folder = Path(trial["folder"])
        child = os.fork()
        if child == 0:
            told = live(folder, trial["fatal"])
            (folder / "told.json").write_text(json.dumps(told), encoding="utf-8")
            os._exit(0)
        _, status = os.waitpid(child, 0)
        killed = os.WIFSIGNALED(status) and os.WTERMSIG(status) == signal.SIGKILL
        code = None if killed else os.waitstatus_to_exitcode(status)
        print(json.dumps({"killed": killed, "code": code}), flush=True)


if __name__ == "__main__":
    main()
