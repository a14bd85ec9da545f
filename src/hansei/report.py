"""A finished run as plain data: what `--json` prints."""

from collections.abc import Mapping

from pydantic import JsonValue

from hansei.policies.records import RoleUsage, Step
from hansei.policies.state import AgentState


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
        "reason": state.reason or state.exhausted,
        "steps": [step_report(state.steps[i]) for i in state.order if i in state.steps],
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
