"""The order scene with the demo shop and an honest model, and what it costs.

The model tells what the tools returned, so that with and without reflection the same is to be
told, and only what a caller can see of the failure differs.
"""

import re
from collections.abc import Callable
from dataclasses import dataclass, replace

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

from hansei import Settings, chat_model, create_plan_execute_agent
from hansei.policies.settings import ReflectionMode
from hansei.policies.state import AgentInput, AgentState
from hansei.tools.shop import shop_tools

_TOKENS_OF_CJK, _TOKENS_OF_OTHER = 0.7, 0.25
"""Tokens of a character: about what the tokenizers of current models make of such texts."""

_CJK = re.compile(r"[\u4e00-\u9fff]")


@dataclass(frozen=True, kw_only=True)
class Order:
    """What the model says about one order."""

    order_id: str
    says: str
    answer: str


MISSING = Order(
    order_id="99999",
    says="订单 99999 的状态是“查询中”，订单信息还在同步，没有查到是否签收。",
    answer="很抱歉，暂时无法查到订单 99999 是否已到，订单信息还在同步中。请稍后再查，或联系客服。",
)
"""The order that the shop always answers with a hollow shell."""

ARRIVED = Order(
    order_id="10001",
    says="订单 10001 已签收，签收时间是 2026-06-05 11:05:00。",
    answer="您的订单 10001 已经到了，2026-06-05 11:05 签收。",
)
"""An order that is there and has arrived."""


def tokens_of(text: str) -> int:
    """Tokens of a text, estimated from its characters."""
    chinese = len(_CJK.findall(text))
    return round(chinese * _TOKENS_OF_CJK + (len(text) - chinese) * _TOKENS_OF_OTHER)


def metered(entry: Entry) -> Callable[[JsonObject], Reply]:
    """The entry with a usage that follows from the lengths of prompt and reply."""

    def answer(body: JsonObject) -> Reply:
        said = entry(body) if callable(entry) else entry
        reply = Reply(said) if isinstance(said, str) else said
        written = (reply.content or "") + "".join(str(call) for call in reply.tool_calls)
        asked = sum(tokens_of(text_of(message)) for message in messages_of(body))
        usage = {"prompt_tokens": asked, "completion_tokens": tokens_of(written)}
        return replace(reply, usage={**usage, "total_tokens": sum(usage.values())})

    return answer


def order_script(server: ScriptedServer, order: Order) -> None:
    """Gives every role the replies of a capable, honest model."""
    step = {"description": f"查询订单 {order.order_id} 的状态", "tool": "query_order"}
    entries: dict[str, Entry] = {
        "planner": plan(step, brief=f"订单 {order.order_id} 到了没有"),
        "executor": call_then_say(order.says, "query_order", order_id=order.order_id),
        "reflector": verdict("PASS", "依据里有签收时间", quote=""),
        "replanner": structured(
            {"analysis": "没有别的查法", "steps": [], "given_up": [1], "drop": []}
        ),
        "synthesizer": order.answer,
        "reviewer": verdict("PASS", "关键事实都在", quote=""),
    }
    for role, entry in entries.items():
        server.script(role, metered(entry))


def play_order(order: Order, *, reflection: ReflectionMode) -> AgentState:
    """Asks the demo shop whether an order has arrived."""
    with ScriptedServer(strict_pairing=True) as server:
        order_script(server, order)
        agent = create_plan_execute_agent(
            chat_model("scripted", base_url=server.base_url, api_key="none", max_retries=0),
            shop_tools(),
            settings=Settings(reflection=reflection),
        )
        goal = AgentInput(goal=f"帮我查一下订单 {order.order_id} 到了没")
        return AgentState.model_validate(agent.invoke(goal))
