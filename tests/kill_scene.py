"""The run that is killed: it retries a step, replans another, and calls every kind of tool.

The model has no memory, since it is asked anew after each crash: what it says depends on what it is
asked, and on nothing else.
"""

from __future__ import annotations

import json
import os
from pathlib import Path

from broken_runs import scripted
from kill_points import Points
from langchain_core.runnables import RunnableConfig
from langchain_core.tools import BaseTool, StructuredTool
from scripted_model import ScriptedChatModel
from scripted_replies import Reply, messages_of, structured, text_of, tool_call
from scripted_server import plan, verdict

from hansei.nodes.kit import IDEMPOTENCY_KEY

GOAL = "Look up the bill, pay it, file it and mail the receipt"
EFFECTS = {"look": "read", "pay": "once", "file": "read", "mail": "idempotent"}
"""The tools, and what a call of each does."""

DESCRIPTIONS = {
    "look": "look up the bill",
    "pay": "pay the bill",
    "file": "find the folder of the bill",
    "mail": "mail the receipt instead",
}
PLAN = plan(
    {"description": DESCRIPTIONS["look"], "tool": "look"},
    {"description": DESCRIPTIONS["pay"], "tool": "pay", "depends_on": [1]},
    {"description": DESCRIPTIONS["file"], "tool": "file", "depends_on": [2]},
)
REPLAN = structured(
    {
        "analysis": "There is no folder.",
        "steps": [
            {
                "description": DESCRIPTIONS["mail"],
                "tool": "mail",
                "depends_on": [2],
                "stands_in_for": [3],
                "needs_reflection": True,
            }
        ],
        "given_up": [],
        "drop": [],
    }
)
ANSWER = "The bill is 42 euros and is paid. The receipt is mailed."
DRAFT = "It is about 40."
EXACT = "Say the exact amount."


def model() -> ScriptedChatModel:
    """Answers at once."""
    return scripted(PLAN, _executor, reflector=_reflector, replanner=REPLAN, answer=ANSWER)


def tools(folder: Path, points: Points) -> list[BaseTool]:
    """Each writes a line into the ledger, which is outside of anything that hansei keeps."""

    def make(name: str, effect: str) -> BaseTool:
        def call(config: RunnableConfig) -> str:
            points.reach(f"before {name}")
            points.always(name)
            key = config.get("configurable", {}).get(IDEMPOTENCY_KEY, "-")
            with (folder / "ledger").open("a", encoding="utf-8") as ledger:
                ledger.write(f"{name} {key}\n")
                ledger.flush()
                os.fsync(ledger.fileno())
            points.reach(f"after {name}")
            if name == "file":
                return json.dumps({"error": "there is no folder"})
            return json.dumps({"done": name, "amount": "42 euros"})

        return StructuredTool.from_function(
            call, name=name, description=name, metadata={"hansei": {"effect": effect}}
        )

    return [make(name, effect) for name, effect in EFFECTS.items()]


def _executor(body: dict[str, object]) -> Reply:
    messages = messages_of(body)
    asked = "\n".join(text_of(message) for message in messages)
    name = next(each for each, told in DESCRIPTIONS.items() if f"Task: {told}" in asked)
    if messages[-1].get("role") != "tool" and "have succeeded already" not in asked:
        return tool_call(name)
    if name == "look" and EXACT not in asked:
        return Reply(DRAFT)
    return Reply(f"Done: {name}, 42 euros.")


def _reflector(body: dict[str, object]) -> Reply:
    asked = text_of(messages_of(body)[-1])
    return verdict("RETRY", "too vague", EXACT) if DRAFT in asked else verdict("PASS")
