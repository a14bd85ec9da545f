"""Changes that a run made although no completed step stands for them.

A refund goes through, then a check rejects the step: the step is not done, the refund is. An
answer that only says "not done, try again" invites a second refund.
"""

from collections import Counter
from collections.abc import Iterable, Sequence

from hansei.policies.joining import listed
from hansei.policies.phrases import say
from hansei.policies.provenance import calls_of, standing_calls
from hansei.policies.records import Step, ToolCall
from hansei.policies.words import USABLE, Language
from hansei.tools.outcome import OutcomeStatus

SHOWN_ARGS = 80
"""Characters of a call's arguments that an answer shows: enough for an id and an amount."""


def changes_of(step: Step) -> list[ToolCall]:
    """The calls of a step that changed something, whatever became of the step."""
    return [call for call in _made(step) if call.outcome is OutcomeStatus.OK]


def open_changes_of(step: Step) -> list[ToolCall]:
    """Calls that may have changed something: they raised, or answered with nothing to go by.

    A tool that says itself that it failed is believed; one that breaks off may have done its work.
    """
    unsure = {OutcomeStatus.SHELL, OutcomeStatus.EMPTY, OutcomeStatus.UNKNOWN}
    return [
        call
        for call in _made(step)
        if call.outcome in unsure or (call.raised and call.outcome is OutcomeStatus.ERROR)
    ]


def _made(step: Step) -> list[ToolCall]:
    return [call for call in calls_of(step) if call.changes and not call.from_record]


def may_have_changed(steps: Iterable[Step]) -> list[ToolCall]:
    """Calls of any step that may have changed something, and no later one that surely did."""
    every = list(steps)
    sure = {(c.name, c.args) for step in every for c in changes_of(step)}
    found = {(c.name, c.args): c for step in every for c in open_changes_of(step)}
    return [call for key, call in found.items() if key not in sure]


def left_behind(steps: Sequence[Step]) -> list[ToolCall]:
    """Changes that were made more often than completed steps rest on them, each once."""
    vouched = Counter(
        key
        for step in steps
        if step.status in USABLE
        for key in {(call.name, call.args) for call in standing_calls(step)}
    )
    made = {(c.name, c.args): c for step in steps for c in changes_of(step)}
    times = Counter((c.name, c.args) for step in steps for c in changes_of(step))
    return [call for key, call in made.items() if times[key] > vouched[key]]


def shown_calls(calls: Iterable[ToolCall], language: Language) -> str:
    """Calls as an answer shows them: the tool's name and the beginning of its arguments."""
    shown = (
        f"{c.name} {c.args if len(c.args) <= SHOWN_ARGS else c.args[:SHOWN_ARGS] + '…'}"
        for c in calls
    )
    return listed(shown, language)


def carried_out_notes(
    steps: Sequence[Step], language: Language, *, human_asked: bool = False
) -> list[str]:
    """Sentences that tell the changes nobody vouches for, sure ones and possible ones.

    Args:
        steps: All steps.
        language: The language of the sentences.
        human_asked: A note of its own asks a human about what was lost in a crash.
    """
    unsure = [
        c
        for c in may_have_changed(steps)
        if not (human_asked and c.outcome is OutcomeStatus.UNKNOWN)
    ]
    told = {"carried_out": left_behind(steps), "maybe_carried_out": unsure}
    return [
        say(key, language, calls=shown_calls(calls, language))
        for key, calls in told.items()
        if calls
    ]
