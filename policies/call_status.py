"""What the status of a step's tool calls says about its result, before anybody reads it."""

from collections.abc import Sequence

from hansei.policies.own_words import in_language
from hansei.policies.phrases import say
from hansei.policies.provenance import same_thing, standing_rounds
from hansei.policies.records import Finding, Round, Step, ToolCall
from hansei.policies.words import FindingKind, Language
from hansei.tools.outcome import OutcomeStatus

_BAD = {
    OutcomeStatus.ERROR: "tool_error",
    OutcomeStatus.NOT_FOUND: "not_found",
    OutcomeStatus.SHELL: "shell",
    OutcomeStatus.EMPTY: "empty",
    OutcomeStatus.REFUSED: "refused",
    OutcomeStatus.DECLINED: "rejected_because",
    OutcomeStatus.UNKNOWN: "fault_unknown",
}
"""Outcomes that are not a result, and the phrase that says so."""


def call_finding(step: Step, language: Language) -> Finding | None:
    """What the tools' own status says about the calls behind a step's result.

    A bad outcome is healed when the same tool succeeded in a later round for the same thing.
    One that is not healed is a veto, unless a later round got something out of another tool:
    then it is a signal. Data that is not there asks for a replan; an empty result or a refused
    argument may be tried once more first, and so may a failed call beside others that worked.
    The first time a signal says what failed, so that the result tells it; when the retry still
    rests on the other tool, the reflector decides.

    Args:
        step: The step, with all its attempts.
        language: The language of reason and hint.
    """
    rounds = standing_rounds(step)
    unhealed = _unhealed(rounds, step.description)
    if not unhealed:
        return None
    declined = [call for _, call in unhealed if call.outcome is OutcomeStatus.DECLINED]
    if declined:
        # Nothing that was got elsewhere makes up for what a human did not allow.
        return _veto(FindingKind.VETO_REPLAN, declined[-1].reason, "")
    # The last of those that nothing else made up for, else the last.
    bare = [(i, c) for i, c in unhealed if not _later_success(rounds, i, c.name)]
    _, call = (bare or unhealed)[-1]
    outcome = call.outcome or OutcomeStatus.ERROR
    told = in_language(call.reason or call.output, language)
    reason = say(_BAD[outcome], language, reason=told)
    again = step.last_attempt.number > 1
    if not bare:
        hint = "" if again else say("hint_other_tool", language, tool=call.name, reason=reason)
        return Finding(kind=FindingKind.SIGNAL, check="tool_status", reason=reason, hint=hint)
    if outcome is OutcomeStatus.REFUSED:
        hint = say("hint_refused", language)
        return _veto(FindingKind.VETO_RETRY, reason, hint)
    if outcome is OutcomeStatus.EMPTY and not again:
        return _veto(FindingKind.VETO_RETRY, reason, say("hint_empty", language))
    others_worked = any(c.outcome is OutcomeStatus.OK for item in rounds for c in item.calls)
    if others_worked and not again:
        hint = say("hint_partial", language, tool=call.name)
        return _veto(FindingKind.VETO_RETRY, reason, f"{reason}. {hint}")
    return _veto(FindingKind.VETO_REPLAN, reason, "")


def _veto(kind: FindingKind, reason: str, hint: str) -> Finding:
    return Finding(kind=kind, check="tool_status", reason=reason, hint=hint or reason)


def _unhealed(rounds: Sequence[Round], task: str) -> list[tuple[int, ToolCall]]:
    """Bad calls that no later round made good, with the round they were in."""
    return [
        (i, call)
        for i, item in enumerate(rounds)
        for call in item.calls
        if call.outcome in _BAD
        and not any(
            later.outcome is OutcomeStatus.OK and same_thing(call, later, task)
            for after in rounds[i + 1 :]
            for later in after.calls
        )
    ]


def _later_success(rounds: Sequence[Round], position: int, tool: str) -> bool:
    return any(
        c.outcome is OutcomeStatus.OK and c.name != tool
        for item in rounds[position + 1 :]
        for c in item.calls
    )
