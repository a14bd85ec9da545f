"""What the notebooks ask, and the replies of a capable, honest model to it."""

from __future__ import annotations

from dataclasses import dataclass

from order_scene import ARRIVED, MISSING
from scripted_replies import messages_of, text_of
from scripted_server import (
    Entry,
    JsonObject,
    Reply,
    ScriptedServer,
    call_then_say,
    plan,
    structured,
    verdict,
)


@dataclass(frozen=True, kw_only=True)
class Asked:
    """One goal: the word that tells it from the others, and what the model makes of it."""

    word: str
    tool: str
    args: dict[str, object]
    step: str
    says: str
    answer: str


GOALS = (
    Asked(
        word="99999",
        tool="query_order",
        args={"order_id": "99999"},
        step="查询订单 99999 的状态",
        says=MISSING.says,
        answer=MISSING.answer,
    ),
    Asked(
        word="10001",
        tool="query_order",
        args={"order_id": "10001"},
        step="查询订单 10001 的状态",
        says=ARRIVED.says,
        answer=ARRIVED.answer,
    ),
    Asked(
        word="lamp",
        tool="stock",
        args={"item": "lamp"},
        step="Find out how many lamps are in stock",
        says="There are 3 lamps in stock.",
        answer="There are 3 lamps in stock.",
    ),
    Asked(
        word="SF2606001",
        tool="query_logistics",
        args={"tracking_no": "SF2606001"},
        step="查询快递 SF2606001 的物流记录",
        says="快递 SF2606001 已于 2026-06-05 11:05:00 在杭州营业点签收。",
        answer="您的快递 SF2606001 已于 2026-06-05 11:05 在杭州营业点签收。",
    ),
)


def script_notebooks(server: ScriptedServer) -> None:
    """Gives every role the replies for all goals of the notebooks."""

    def asked(body: JsonObject) -> Asked:
        # The one that is named first: what tools return for one goal may name that of another.
        text = "\n".join(text_of(message) for message in messages_of(body))
        return min((g for g in GOALS if g.word in text), key=lambda goal: text.index(goal.word))

    def planner(body: JsonObject) -> Reply:
        goal = asked(body)
        return plan({"description": goal.step, "tool": goal.tool}, brief=goal.step)

    def executor(body: JsonObject) -> Reply:
        goal = asked(body)
        return call_then_say(goal.says, goal.tool, **goal.args)(body)

    def synthesizer(body: JsonObject) -> str:
        return asked(body).answer

    nothing = {"analysis": "no other way", "steps": [], "given_up": [1], "drop": []}
    entries: dict[str, Entry] = {
        "planner": planner,
        "executor": executor,
        "reflector": verdict("PASS", "it stands in the evidence", quote=""),
        "replanner": structured(nothing),
        "synthesizer": synthesizer,
        "reviewer": verdict("PASS", "the key facts are there", quote=""),
    }
    for role, entry in entries.items():
        server.script(role, entry)
