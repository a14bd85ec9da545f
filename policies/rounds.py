"""One round of calls: what is answered without a run, what was asked for twice, what is to run."""

import json
from collections.abc import Collection, Mapping, Sequence
from dataclasses import dataclass
from typing import Protocol

from pydantic import JsonValue

from hansei.policies.attempts import settled, unknown
from hansei.policies.provenance import calls_of, from_record, invented, same_call
from hansei.policies.records import Step, ToolCall
from hansei.policies.state import StepTask
from hansei.policies.words import VerdictSource
from hansei.tools.outcome import OutcomeStatus


class ToolKinds(Protocol):
    """The tools that there are, and what is known of each."""

    @property
    def tools(self) -> Mapping[str, object]:
        """All tools by name."""
        ...

    @property
    def effects(self) -> frozenset[str]:
        """Tools that change something."""
        ...

    @property
    def acts(self) -> frozenset[str]:
        """Those of them that say so themselves."""
        ...

    @property
    def once(self) -> frozenset[str]:
        """Tools whose call is not made again when nobody knows whether it went through."""
        ...

    @property
    def volatile(self) -> frozenset[str]:
        """Tools whose identical call is run again rather than answered from the record."""
        ...


class CallArguments(Protocol):
    """Calls of tools that change something, as the tools read their arguments."""

    def same(self, one: ToolCall, other: ToolCall) -> bool:
        """Whether two calls hand the same to the same tool."""
        ...

    def unknown(self, call: ToolCall) -> str:
        """What is wrong with arguments that the tool does not have; empty where there are none."""
        ...


class AsWritten:
    """Calls as they are written, where nobody knows how a tool reads them."""

    def same(self, one: ToolCall, other: ToolCall) -> bool:
        """Whether two calls are written alike."""
        return same_call(one, other)

    def unknown(self, call: ToolCall) -> str:
        """Nothing is known."""
        del call
        return ""


_AS_WRITTEN = AsWritten()


@dataclass(frozen=True)
class Sorted:
    """The places of a round by what becomes of them."""

    done: Mapping[int, ToolCall]
    """Those with an outcome already, or that must not run."""
    todo: Sequence[int]
    """Those that are to run, in order."""
    twins: Mapping[int, int]
    """Asked for twice in one round: the place whose answer is theirs as well."""


def sort_round(
    task: StepTask,
    kinds: ToolKinds,
    sources: Sequence[str] | None,
    *,
    begun: Collection[int] = (),
    read: CallArguments = _AS_WRITTEN,
) -> Sorted:
    """Sort the calls of the last round.

    Args:
        task: The step and what it is bound to.
        kinds: The tools.
        sources: Where ids in arguments may come from (row P18); `None`: nobody asks.
        begun: Places of calls that an earlier process has begun. Whatever speaks against them
            now came too late.
        read: How the tools that change something read their arguments.
    """
    calls = task.step.round_calls
    changes, lookups = _earlier(task.step)
    done: dict[int, ToolCall] = {}
    todo: list[int] = []
    twins: dict[int, int] = {}
    for i, call in enumerate(calls):
        if call.outcome is not None:
            done[i] = call
            continue
        if i in begun:
            if call.name in kinds.tools:
                todo.append(i)
            else:
                done[i] = unknown(call)
            continue
        changing = call.name in kinds.effects
        known = _Known(changes, read) if changing else _Known(lookups, _AS_WRITTEN)
        answered = _answered(call, task, known, kinds, sources)
        if answered is not None:
            done[i] = answered
        elif twin := [j for j in todo if known.read.same(call, calls[j])]:
            twins[i] = twin[0]
        else:
            todo.append(i)
    return Sorted(done, todo, twins)


def finished(
    calls: Sequence[ToolCall], found: Sorted, run: Mapping[int, ToolCall]
) -> list[ToolCall]:
    """The calls of a round with all their outcomes.

    Args:
        calls: The calls as they stood.
        found: What `sort_round` made of them.
        run: Outcomes of those that were to run.
    """
    done = {**found.done, **run}
    done |= {i: _answered_by(calls[i], done[first]) for i, first in found.twins.items()}
    return [done[i] for i in range(len(calls))]


def _answered_by(call: ToolCall, old: ToolCall) -> ToolCall:
    """The call with the outcome of another like it."""
    return old.model_copy(update={"id": call.id, "from_record": True})


def arguments(call: ToolCall) -> dict[str, JsonValue]:
    """What a call hands to its tool; nothing where that is no object."""
    value: JsonValue = json.loads(call.args)
    return value if isinstance(value, dict) else {}


def _earlier(step: Step) -> tuple[list[ToolCall], list[ToolCall]]:
    """Calls with an outcome that answer one that changes something, and one that looks up.

    A human who wants a step done again wants it looked up again, not told again.
    """
    earlier = [c for c in calls_of(step) if c.outcome is not None]
    if not step.verdicts or step.verdicts[-1].source is not VerdictSource.HUMAN:
        return earlier, earlier
    changes = [c for c in earlier if c.outcome is not OutcomeStatus.DECLINED]
    return changes, [c for c in step.last_attempt.calls if c.outcome is not None]


@dataclass(frozen=True, slots=True)
class _Known:
    """Earlier calls that may answer one, and how they are compared with it."""

    earlier: Sequence[ToolCall]
    read: CallArguments


def _answered(
    call: ToolCall,
    task: StepTask,
    known: _Known,
    kinds: ToolKinds,
    sources: Sequence[str] | None,
) -> ToolCall | None:
    """The outcome of a call that must not run, or need not run again."""
    if call.name not in kinds.tools:
        names = ", ".join(kinds.tools) or "none"
        return settled(call, OutcomeStatus.ERROR, f"there is no tool {call.name}; tools: {names}")
    if odd := known.read.unknown(call):
        return settled(call, OutcomeStatus.REFUSED, odd)
    once = call.name in kinds.once
    if call.name not in kinds.volatile or (once and call.name in kinds.acts):
        old = from_record(call, known.earlier, task.given_up, once=once, same=known.read.same)
        if old is not None:
            return _answered_by(call, old)
    made_up = [] if sources is None else invented(arguments(call), sources)
    if not made_up:
        return None
    told = (
        f"not run: {', '.join(made_up)} stands neither in the task nor in any result; "
        "use only what is given there"
    )
    return settled(call, OutcomeStatus.REFUSED, told)
