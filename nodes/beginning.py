"""The beginning of a run: nothing of an earlier question on the thread is left.

It is a node of its own, before any model is asked: a planner that fails or is killed must not leave
an old answer, verified, under a new goal.
"""

import time
from uuid import uuid4

from langgraph.types import Overwrite

from hansei.nodes.effects import Body
from hansei.nodes.kit import Kit
from hansei.policies.approvals import check_gates, gated
from hansei.policies.records import Gates, RoleUsage, Step
from hansei.policies.settings import Settings
from hansei.policies.state import STATE_VERSION, AgentState
from hansei.policies.words import AnswerStatus, RunStatus

Update = dict[str, object]


def begin(state: AgentState, kit: Kit, settings: Settings) -> Body[Update]:
    """The channels of a run, as new; goal and messages stay.

    Raises:
        UserError: Calls of a tool are to wait for leave, and there is no such tool.
    """
    del state
    yield from ()
    tools = frozenset(kit.tools)
    check_gates(settings, tools)
    gates = Gates(
        plan=settings.approve_plan,
        replans=settings.approve_replans,
        tools=gated(settings, tools=tools, effects=kit.effects),
    )
    return {
        "state_version": STATE_VERSION,
        "run_id": str(uuid4()),
        "started_at": time.time(),
        "conditions": list[object](),
        "brief": "",
        "notes": list[str](),
        "steps": Overwrite(dict[int, Step]()),
        "order": list[int](),
        "dispatch": list[int](),
        "gates": gates,
        "waiting": None,
        "verdict": None,
        "replan_due": list[int](),
        "replans": 0,
        "reflections": Overwrite(list[object]()),
        "usage": Overwrite(dict[str, RoleUsage]()),
        "bound": 0,
        "answer": "",
        "answer_status": AnswerStatus.NONE,
        "answer_reason": "",
        "answer_hint": "",
        "answer_attempts": list[object](),
        "status": RunStatus.RUNNING,
        "verified": False,
        "reason": "",
        "exhausted": "",
        "needs_human": "",
    }
