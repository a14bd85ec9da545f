"""What happens in a run, as small plain events: what the stream mode `custom` gives."""

from collections.abc import Mapping
from typing import Literal, NotRequired

from typing_extensions import TypedDict

from hansei.policies.narrow import as_list, as_mapping
from hansei.policies.records import Reflection, Step, Waiting
from hansei.policies.state import AgentState
from hansei.policies.words import TERMINAL, RunStatus

SHOWN = 500
"""Characters of a text in an event: what the state keeps of a tool's output."""


class PlannedStep(TypedDict):
    """A step as an event shows it."""

    id: int
    description: str
    tool: str | None
    depends_on: list[int]
    in_place_of: list[int]


class ProgressEvent(TypedDict):
    """One thing that happened.

    `event` says what: `plan` and `replan` bring `steps`; `leave` says that a human is about to be
    asked; `begin`, `call`, `output`, `result`, `broken` and `settled` are about a `step`; a
    `verdict` is about a step or, as step 0, about the answer; `end` is the last of a run. Of a
    text only the beginning is told.
    """

    event: Literal[
        "plan",
        "replan",
        "leave",
        "begin",
        "call",
        "output",
        "result",
        "broken",
        "verdict",
        "settled",
        "end",
    ]
    step: NotRequired[int]
    steps: NotRequired[list[PlannedStep]]
    attempt: NotRequired[int]
    tool: NotRequired[str]
    args: NotRequired[str]
    outcome: NotRequired[str]
    text: NotRequired[str]
    verdict: NotRequired[str | None]
    source: NotRequired[str]
    hint: NotRequired[str]
    status: NotRequired[str]
    verified: NotRequired[bool]


def run_events(before: AgentState, update: Mapping[str, object]) -> list[ProgressEvent]:
    """What an update of the whole state says has happened, in order.

    Args:
        before: The state that the node was given.
        update: What it returns.
    """
    events: list[ProgressEvent] = []
    given = update.get("steps")
    # A plan replaces what was there, so its steps come wrapped.
    changed = as_mapping(getattr(given, "value", given)).values()
    steps = [step for step in changed if isinstance(step, Step)]
    new = [s for s in steps if s.id not in before.steps]
    if new:
        kind: Literal["plan", "replan"] = "replan" if before.steps else "plan"
        events.append({"event": kind, "steps": [_planned(step) for step in new]})
    links = as_list(update.get("reflections"))
    events += [_verdict(link) for link in links if isinstance(link, Reflection)]
    for step in steps:
        old = before.steps.get(step.id)
        if step.status in TERMINAL and (old is None or old.status is not step.status):
            reason = step.reason[:SHOWN]
            events.append(
                {"event": "settled", "step": step.id, "status": step.status.value, "text": reason}
            )
    if isinstance(update.get("waiting"), Waiting):
        events.append({"event": "leave"})
    begun = as_list(update.get("dispatch"))
    events += [_begun(step) for step in steps if step.id in begun]
    status = update.get("status")
    if isinstance(status, RunStatus) and status is not RunStatus.RUNNING:
        events.append(
            {
                "event": "end",
                "status": status.value,
                "verified": update.get("verified") is True,
                "text": str(update.get("answer") or ""),
            }
        )
    return events


def _begun(step: Step) -> ProgressEvent:
    return {"event": "begin", "step": step.id, "attempt": len(step.attempts)}


def _verdict(link: Reflection) -> ProgressEvent:
    return {
        "event": "verdict",
        "step": link.step,
        "verdict": link.verdict.value if link.verdict else None,
        "source": link.source.value,
        "text": link.analysis[:SHOWN],
        "hint": link.suggestion[:SHOWN],
    }


def _planned(step: Step) -> PlannedStep:
    return {
        "id": step.id,
        "description": step.description,
        "tool": step.tool,
        "depends_on": list(step.depends_on),
        "in_place_of": list(step.stands_in_for),
    }


def turn_events(before: Step, after: Step) -> list[ProgressEvent]:
    """What one turn of a step's executor or tools has brought.

    Args:
        before: The step that the node was given.
        after: The step as it returns it.
    """
    known, attempt = before.last_attempt, after.last_attempt
    events: list[ProgressEvent] = []
    done = {call.id for call in known.calls if call.outcome is not None}
    asked = {call.id for call in known.calls}
    for call in attempt.calls:
        if call.id not in asked:
            events.append({"event": "call", "step": after.id, "tool": call.name, "args": call.args})
        if call.outcome is not None and call.id not in done:
            events.append(
                {
                    "event": "output",
                    "step": after.id,
                    "tool": call.name,
                    "outcome": call.outcome.value,
                    "text": call.output[:SHOWN],
                }
            )
    if attempt.fault and not known.fault:
        events.append({"event": "broken", "step": after.id, "text": attempt.fault_reason[:SHOWN]})
    elif attempt.result and not known.result:
        events.append({"event": "result", "step": after.id, "text": attempt.result[:SHOWN]})
    return events
