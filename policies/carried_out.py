"""Changes that a run made although no completed step stands for them.

A refund goes through, then a check rejects the step: the step is not done, the refund is. An
answer that only says "not done, try again" invites a second refund.
"""

from collections.abc import Iterable, Sequence

from hansei.policies.phrases import say
from hansei.policies.provenance import calls_of, standing_calls
from hansei.policies.records import Step, ToolCall
from hansei.policies.words import USABLE, Language
from hansei.tools.outcome import OutcomeStatus

SHOWN_ARGS = 80
"""Characters of a call's arguments that an answer shows: enough for an id and an amount."""


def changes_of(step: Step) -> list[ToolCall]:
    """The calls of a step that changed something, whatever became of the step."""
    return [
        call
        for call in calls_of(step)
        if call.changes and not call.from_record and call.outcome is OutcomeStatus.OK
    ]


def unknown_changes(steps: Iterable[Step]) -> list[ToolCall]:
    """Calls of which nobody knows whether they went through."""
    calls = [call for step in steps for call in calls_of(step)]
    return [call for call in calls if call.outcome is OutcomeStatus.UNKNOWN]


def left_behind(steps: Sequence[Step]) -> list[ToolCall]:
    """Changes that were made and that no completed step's result rests on, each once."""
    vouched = {
        (call.name, call.args)
        for step in steps
        if step.status in USABLE
        for call in standing_calls(step)
    }
    loose = [call for step in steps for call in changes_of(step)]
    found = {(c.name, c.args): c for c in loose if (c.name, c.args) not in vouched}
    return list(found.values())


def shown_calls(calls: Iterable[ToolCall]) -> str:
    """Calls as an answer shows them: the tool's name and the beginning of its arguments."""
    return ", ".join(
        f"{c.name} {c.args if len(c.args) <= SHOWN_ARGS else c.args[:SHOWN_ARGS] + '…'}"
        for c in calls
    )


def carried_out_note(steps: Sequence[Step], language: Language) -> str:
    """A sentence that tells the changes nobody vouches for; empty when there are none."""
    calls = left_behind(steps)
    return say("carried_out", language, calls=shown_calls(calls)) if calls else ""
