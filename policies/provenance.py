"""Where tool arguments come from (row P18), and when two calls are the same call."""

import json
import re
from collections.abc import Iterable, Iterator, Mapping, Sequence
from typing import Literal

from pydantic import JsonValue

from hansei.policies.records import Round, Step, ToolCall
from hansei.policies.text import identifiers, names_id
from hansei.tools.outcome import OutcomeStatus

_ID_ARGUMENT = re.compile(
    r"(?:^|_)(?:id|ids|no|num|number|code|sku|order|tracking|account|phone|invoice|ticket)(?:$|_)",
    re.IGNORECASE,
)
"""Argument names that say "this is an id", so that short ones are looked at too."""

_DIGITS = re.compile(r"\d")


def canonical(args: Mapping[str, JsonValue]) -> str:
    """Arguments as one text that is equal when they are: sorted keys, no spaces of layout."""
    return json.dumps(args, ensure_ascii=False, sort_keys=True, separators=(",", ":"))


def invented(args: Mapping[str, JsonValue], sources: Iterable[str]) -> list[str]:
    """Ids, numbers and codes in the arguments that stand in none of the sources.

    Args:
        args: The arguments of a call.
        sources: The goal, the step, its inputs, and the evidence so far.
    """
    known = list(sources)
    found: list[str] = []
    for name, value in _leaves(args, ""):
        candidates = identifiers(value)
        if _ID_ARGUMENT.search(name) and _DIGITS.search(value) and not candidates:
            candidates = [value]
        found += [c for c in candidates if not names_id(known, c)]
    return list(dict.fromkeys(found))


def _leaves(value: JsonValue | Mapping[str, JsonValue], name: str) -> Iterator[tuple[str, str]]:
    if isinstance(value, Mapping):
        for key, item in value.items():
            yield from _leaves(item, key)
    elif isinstance(value, list):
        for item in value:
            yield from _leaves(item, name)
    elif isinstance(value, str | int | float) and not isinstance(value, bool):
        yield name, str(value)


MAX_REAL_RUNS = 2
"""Times that one identical failing call really runs in one step: the call, and one more in case
the failure was passing. Three identical calls are what users report as a loop."""


def from_record(
    call: ToolCall, mine: Sequence[ToolCall], given_up: Sequence[ToolCall]
) -> ToolCall | None:
    """The earlier call that answers this identical one, if it need not run again.

    A call that had a definite answer (a result, or that there is none) keeps it. One that
    failed in this step may be tried once more; one that failed in a step that was given up
    is no new way.

    Args:
        call: The call that is asked for.
        mine: Calls of this step so far, of all attempts.
        given_up: Calls of the failed steps that this step stands in for.
    """
    same = [c for c in mine if _same(c, call) and c.outcome is not OutcomeStatus.REFUSED]
    for old in reversed(same):
        if old.outcome is not OutcomeStatus.ERROR:
            return old
    real = [c for c in same if not c.from_record]
    if len(real) >= MAX_REAL_RUNS:
        return real[-1]
    others = [c for c in given_up if _same(c, call) and c.outcome is not OutcomeStatus.REFUSED]
    return others[-1] if others else None


def _same(old: ToolCall, call: ToolCall) -> bool:
    return old.name == call.name and old.args == call.args and old.outcome is not None


def calls_of(step: Step) -> list[ToolCall]:
    """All calls of a step, of all its attempts, in order."""
    return [call for attempt in step.attempts for call in attempt.calls]


def standing_rounds(step: Step) -> list[Round]:
    """The rounds behind the last attempt's result, in order.

    Its own, and before them what earlier attempts got from tools that it did not call again:
    a retry is told not to repeat what succeeded, and cannot undo what failed by keeping quiet
    about it. A call that was refused was never made, so it is left behind.
    """
    last = step.last_attempt
    again = {call.name for call in last.calls}
    earlier = [
        Round(text=item.text, calls=kept)
        for attempt in step.attempts[:-1]
        for item in attempt.rounds
        if (kept := [c for c in item.calls if c.name not in again and _was_made(c)])
    ]
    return [*earlier, *last.rounds]


def standing_calls(step: Step) -> list[ToolCall]:
    """The calls behind the last attempt's result, in order, each once; see `standing_rounds`."""
    calls = [call for item in standing_rounds(step) for call in item.calls]
    own = len(step.last_attempt.calls)
    earlier = {(c.name, c.args): c for c in calls[: len(calls) - own]}
    return [*earlier.values(), *calls[len(calls) - own :]]


def _was_made(call: ToolCall) -> bool:
    return call.outcome is not OutcomeStatus.REFUSED


def given_up(step: Step, steps: Mapping[int, Step]) -> list[Step]:
    """The failed steps that this step stands in for, as far back as they go, the oldest first."""
    found: dict[int, Step] = {}
    todo = list(step.stands_in_for)
    while todo:
        failed = steps.get(todo.pop())
        if failed is None or failed.id in found:
            continue
        found[failed.id] = failed
        todo += failed.stands_in_for
    return list(reversed(found.values()))


def given_up_calls(step: Step, steps: Mapping[int, Step]) -> list[ToolCall]:
    """Calls of the failed steps that this step stands in for, as far back as they go."""
    return [call for failed in given_up(step, steps) for call in calls_of(failed)]


Owed = Literal["", "evidence", "effect"]
"""What a step must show of its own: nothing, something that a tool returned, or a change made."""


def owed(step: Step, steps: Mapping[int, Step], *, effects: frozenset[str]) -> Owed:
    """What a step that stands in for failed ones owes, so that words alone make nothing good.

    Where a tool was needed and gave nothing, the stand-in needs something that a tool gave.
    Where something was to be changed, the only stand-in must change something itself; of
    several, each may be the one that does.

    Args:
        step: The step.
        steps: All steps.
        effects: Tools that change something.
    """
    failed = given_up(step, steps)
    calls = given_up_calls(step, steps)
    tools = {s.tool for s in failed if s.tool} | {call.name for call in calls}
    good = {call.name for call in calls if call.outcome is OutcomeStatus.OK}
    targets = set(step.stands_in_for)
    alone = not any(targets & set(s.stands_in_for) for s in steps.values() if s.id != step.id)
    if tools & effects and not good & effects and alone:
        return "effect"
    return "evidence" if tools and not good else ""
