"""One call's record: the key it is journaled under, what came of it, and what a crash leaves."""

import hashlib
from collections.abc import Mapping

from hansei.nodes.effects import Body, ToolReply, ask_recall, ask_remember
from hansei.nodes.kit import Kit
from hansei.policies.attempts import settled, unknown, with_calls
from hansei.policies.effect_keys import JournalEntry, effect_key, read_entry
from hansei.policies.records import Step, ToolCall
from hansei.policies.state import StepTask
from hansei.policies.stored_text import storable
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
        call=task.step.round_calls[place],
    )


def recorded(call: ToolCall, reply: ToolReply, kit: Kit) -> Body[ToolCall]:
    """A call with what came of it; a long output is kept whole beside the state."""
    if reply.refused:
        return settled(call, OutcomeStatus.REFUSED, reply.output)
    if reply.unknown:
        return unknown(call)
    output = kept = storable(reply.output)
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
            "raised": reply.raised and not reply.misfit,
            "changes": call.name in kit.effects and not reply.misfit,
        }
    )


def begun_calls(task: StepTask, kit: Kit) -> Body[dict[int, JournalEntry]]:
    """The open calls of the last round that an earlier process has begun.

    Also those whose tool is there no more: nobody can make them again, and nobody may forget them.
    """
    found: dict[int, JournalEntry] = {}
    for i, call in enumerate(task.step.round_calls):
        if call.outcome is None and (call.name in kit.effects or call.name not in kit.tools):
            entry = read_entry((yield from ask_recall(key_of(i, task), shelf="journal")))
            if entry is not None:
                found[i] = entry
    return found


def as_journaled(task: StepTask, begun: Mapping[int, JournalEntry]) -> StepTask:
    """The round with the arguments that its begun calls were made with.

    Nobody is asked for leave of what has begun: it was given, or none was needed.
    """
    calls = task.step.round_calls
    made = {i: _as_made(calls[i], entry) for i, entry in begun.items()}
    return task.model_copy(update={"step": with_calls(task.step, made)}) if made else task


def _as_made(call: ToolCall, entry: JournalEntry) -> ToolCall:
    """The call with the arguments that it was made with, where the entry can be read."""
    return call.model_copy(update={"args": entry.args or call.args})


def settle_open_calls(task: StepTask, kit: Kit) -> Body[Step]:
    """A step that is taken out of its round, with what the journal knows of its calls.

    A call that went through is on record, and one that may have is unknown: whatever becomes of
    the step, neither is made again or kept quiet about.
    """
    if not task.step.last_attempt.rounds:
        return task.step
    known: dict[int, ToolCall] = {}
    for i, call in enumerate(task.step.round_calls):
        if call.outcome is not None or call.name not in kit.effects:
            continue
        entry = read_entry((yield from ask_recall(key_of(i, task), shelf="journal")))
        if entry is None:
            continue
        made = _as_made(call, entry)
        if entry.stage == "done":
            reply = ToolReply(output=entry.output, raised=entry.raised)
            try:
                known[i] = yield from recorded(made, reply, kit)
            except Exception:  # noqa: BLE001 - what broke on an output once breaks on it again
                known[i] = unknown(made)
        else:
            known[i] = unknown(made)
    return with_calls(task.step, known)
