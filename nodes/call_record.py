"""One call's record: the key it is journaled under, what came of it, and what a crash leaves."""

import hashlib
from collections.abc import Mapping, Sequence

from hansei.nodes.effects import Body, ToolReply, ask_recall, ask_remember
from hansei.nodes.executor import with_attempt
from hansei.nodes.kit import Kit
from hansei.policies.effect_keys import JournalEntry, effect_key, read_entry
from hansei.policies.records import Step, ToolCall
from hansei.policies.state import StepTask
from hansei.tools.outcome import OutcomeStatus, ToolOutcome, read_outcome

EXCERPT = 500
"""Characters of an output that stand in the state; the whole of a longer one is in the store."""

EXCERPT_WITHOUT_STORE = 4000
"""Characters kept where there is no store: what a prompt shows of one output."""


def key_of(place: int, task: StepTask) -> str:
    """The key of a call of the last round, made of the call as the model asked for it."""
    attempt = task.step.last_attempt
    return effect_key(
        run_id=task.run_id,
        step=task.step.id,
        attempt=attempt.number,
        turn=len(attempt.rounds),
        place=place,
        call=attempt.rounds[-1].calls[place],
    )


def recorded(call: ToolCall, reply: ToolReply, kit: Kit) -> Body[ToolCall]:
    """A call with what came of it; a long output is kept whole beside the state."""
    if reply.refused:
        return settled(call, OutcomeStatus.REFUSED, reply.output)
    if reply.unknown:
        return unknown(call)
    # Half characters could neither be sent nor written to a file.
    output = kept = reply.output.encode("utf-8", "replace").decode()
    outcome = read_outcome(output, raised=reply.raised)
    if outcome.status is OutcomeStatus.EMPTY and call.name in kit.acts and not reply.raised:
        # Who does something need not return anything.
        output = kept = "done; it returned nothing"
        outcome = ToolOutcome(OutcomeStatus.OK)
    ref = ""
    if len(kept) > EXCERPT:
        key = hashlib.sha256(kept.encode("utf-8")).hexdigest()
        stored = yield from ask_remember(key, kept)
        ref = key if stored else ""
        kept = kept[: EXCERPT if stored else EXCERPT_WITHOUT_STORE]
    return call.model_copy(
        update={
            "outcome": outcome.status,
            "reason": outcome.reason,
            "doubt": outcome.doubt,
            "output": kept,
            "size": len(output),
            "ref": ref,
            "raised": reply.raised,
            "changes": call.name in kit.effects,
        }
    )


def as_journaled(
    task: StepTask, keys: Mapping[int, str]
) -> Body[tuple[StepTask, dict[int, JournalEntry]]]:
    """The round with the arguments that its begun calls were made with, and those calls.

    Nobody is asked for leave of what has begun: it was given, or none was needed.
    """
    found: dict[int, JournalEntry] = {}
    for i, key in keys.items():
        entry = read_entry((yield from ask_recall(key, shelf="journal")))
        if entry is not None:
            found[i] = entry
    if not found:
        return task, found
    attempt = task.step.last_attempt
    calls = list(attempt.rounds[-1].calls)
    for i, entry in found.items():
        calls[i] = calls[i].model_copy(update={"args": entry.args})
    last = attempt.rounds[-1].model_copy(update={"calls": calls})
    step = with_rounds(task.step, [*attempt.rounds[:-1], last])
    return task.model_copy(update={"step": step}), found


def settle_open_calls(task: StepTask, kit: Kit) -> Body[Step]:
    """A step that is taken out of its round, with what the journal knows of its calls.

    A call that went through is on record, and one that may have is unknown: whatever becomes of
    the step, neither is made again or kept quiet about.
    """
    attempt = task.step.last_attempt
    if not attempt.rounds:
        return task.step
    calls = list(attempt.rounds[-1].calls)
    for i, call in enumerate(calls):
        if call.outcome is not None or call.name not in kit.effects:
            continue
        entry = read_entry((yield from ask_recall(key_of(i, task), shelf="journal")))
        if entry is None:
            continue
        made = call.model_copy(update={"args": entry.args})
        if entry.stage == "done":
            reply = ToolReply(output=entry.output, raised=entry.raised)
            calls[i] = yield from recorded(made, reply, kit)
        else:
            calls[i] = unknown(made)
    last = attempt.rounds[-1].model_copy(update={"calls": calls})
    return with_rounds(task.step, [*attempt.rounds[:-1], last])


def unknown(call: ToolCall) -> ToolCall:
    """A call of which nobody knows whether it went through."""
    lost = settled(call, OutcomeStatus.UNKNOWN, "")
    return lost.model_copy(update={"changes": True})


def settled(call: ToolCall, outcome: OutcomeStatus, text: str) -> ToolCall:
    """A call that was not made, and why."""
    return call.model_copy(
        update={"outcome": outcome, "reason": text, "output": text, "size": len(text)}
    )


def with_rounds(step: Step, rounds: Sequence[object]) -> Step:
    """The step with other rounds in its last attempt."""
    return with_attempt(step, step.last_attempt.model_copy(update={"rounds": list(rounds)}))
