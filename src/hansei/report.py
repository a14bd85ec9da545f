"""A finished run as plain data: what `--json` prints."""

from collections.abc import Mapping

from pydantic import JsonValue

from hansei.graphs.run_table import RunRow
from hansei.policies.answers import reason_of
from hansei.policies.endings import undone, unvouched
from hansei.policies.joining import listed
from hansei.policies.phrases import say
from hansei.policies.records import RoleUsage, Step
from hansei.policies.state import AgentState
from hansei.policies.words import RunStatus


def run_report(state: AgentState, *, thread: str) -> dict[str, JsonValue]:
    """One JSON object for a run: status, answer, steps, reflections, usage, bound and the rest.

    Args:
        state: The state of the run.
        thread: The thread it stands on, as the user named it.
    """
    return {
        "status": state.status.value,
        "verified": state.verified,
        "goal": state.goal,
        "answer": state.answer,
        "answer_status": state.answer_status.value,
        "answer_reason": state.answer_reason,
        "reason": run_reason(state),
        "steps": [step_report(step) for step in state.ordered_steps],
        "conditions": [c.model_dump(mode="json") for c in state.conditions],
        "reflections": [r.model_dump(mode="json") for r in state.reflections],
        "answer_attempts": [a.model_dump(mode="json") for a in state.answer_attempts],
        "usage": usage_report(state.usage),
        "bound": state.bound,
        "replans": state.replans,
        "notes": list(state.notes),
        "language": state.language,
        "thread": thread,
    }


def run_reason(state: AgentState) -> str:
    """Why a run is not complete, in the user's language; empty for one that is."""
    if state.status is RunStatus.COMPLETE:
        return ""
    language = state.language
    if state.reason or state.status is RunStatus.RUNNING:
        return state.reason
    if state.needs_human:
        return say("needs_human", language, reason=state.needs_human)
    if state.exhausted:
        return say("exhausted", language, reason=state.exhausted)
    steps = state.ordered_steps
    told: list[str] = []
    for step in undone(steps):
        what, why = _bare(step.description), _bare(reason_of(step, language))
        key = "not_done" if why else "not_done_given_up"
        told.append(say(key, language, step=what, **({"reason": why} if why else {})))
    if open_parts := unvouched(steps):
        names = listed((_bare(step.description) for step in open_parts), language, between="; ")
        told.append(say("unverified", language, steps=names))
    return ("" if language == "zh" else " ").join(told) or say("answer_unverified", language)


def _bare(text: str) -> str:
    """A text without the stop that the phrase around it sets."""
    return text.strip().rstrip("。.")


def step_report(step: Step) -> dict[str, JsonValue]:
    """One step as JSON."""
    names = {
        "id",
        "description",
        "tool",
        "depends_on",
        "needs_reflection",
        "status",
        "reason",
        "attempts",
        "verdicts",
        "result",
        "stands_in_for",
    }
    return step.model_dump(mode="json", include=names)


def usage_report(usage: Mapping[str, RoleUsage]) -> dict[str, JsonValue]:
    """Calls and tokens in all and per role, and whether any count was estimated."""
    return {
        "calls": sum(u.calls for u in usage.values()),
        "input_tokens": sum(u.input_tokens for u in usage.values()),
        "output_tokens": sum(u.output_tokens for u in usage.values()),
        "estimated": any(u.estimated for u in usage.values()),
        "roles": {role: u.model_dump(mode="json") for role, u in usage.items()},
    }


def thread_report(row: RunRow, standing: str) -> dict[str, JsonValue]:
    """One thread as JSON: its name, its last goal, when that was accepted, and how it stands."""
    return {
        "thread": row.name or row.thread_id,
        "thread_id": row.thread_id,
        "goal": row.goal,
        "accepted_at": row.accepted_at,
        "under_way": row.under_way,
        "now": standing,
        "note": row.note,
    }
