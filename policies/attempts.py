"""A step with another last attempt, other rounds, other calls; and a call that was not made."""

from collections.abc import Mapping, Sequence

from hansei.policies.records import Attempt, Round, Step, ToolCall
from hansei.tools.outcome import OutcomeStatus


def with_attempt(step: Step, attempt: Attempt) -> Step:
    """The step with its last attempt replaced."""
    return step.model_copy(update={"attempts": [*step.attempts[:-1], attempt]})


def with_rounds(step: Step, rounds: Sequence[Round]) -> Step:
    """The step with other rounds in its last attempt."""
    return with_attempt(step, step.last_attempt.model_copy(update={"rounds": list(rounds)}))


def with_calls(step: Step, calls: Mapping[int, ToolCall]) -> Step:
    """The step with other calls at some places of its last round."""
    *earlier, last = step.last_attempt.rounds
    changed = [calls.get(i, call) for i, call in enumerate(last.calls)]
    return with_rounds(step, [*earlier, last.model_copy(update={"calls": changed})])


def settled(call: ToolCall, outcome: OutcomeStatus, text: str) -> ToolCall:
    """A call that was not made, and why."""
    return call.model_copy(
        update={"outcome": outcome, "reason": text, "output": text, "size": len(text)}
    )


def unknown(call: ToolCall) -> ToolCall:
    """A call of which nobody knows whether it went through."""
    lost = settled(call, OutcomeStatus.UNKNOWN, "")
    return lost.model_copy(update={"changes": True})
