"""Where tool arguments come from (row P18), and when two calls are the same call."""

import json
import re
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from typing import Literal

from pydantic import JsonValue

from hansei.policies.records import Round, Step, ToolCall
from hansei.policies.text import identifiers, names_id
from hansei.policies.words import USABLE, Progress, StepStatus
from hansei.tools.outcome import OutcomeStatus

_ID_ARGUMENT = re.compile(
    r"(?:^|_)(?:ids?|code|sku|order|tracking|account|phone|invoice|ticket)(?:$|_)"
    r"|[a-z](?<!page)(?<!line)(?<!row)_(?:no|num|number)s?$",
    re.IGNORECASE,
)
"""Argument names that say "this is an id", so that short ones are looked at too."""

_KNOB = re.compile(
    r"^(?:k|n|no|num|number)$|^(?:num|number|no)_|(?:^|_)(?:page|line|row)_(?:no|num|number)$"
    r"|(?:^|_)(?:limit|size|count|results|offset|skip|page|top|timeout|seconds|ms|width|height"
    r"|length|chars|tokens|radius|seed|year|month|day|date|time|timestamp|ts|start|end|since|until)"
    r"(?:$|_)",
    re.IGNORECASE,
)
"""Argument names of how much and when: their numbers are the caller's choice, no claim."""

_PUBLIC_CODE = re.compile(
    r"(?:^|_)(?:(?:zip|postal|post|country|area|city|state|province|district|region|dial|dialing"
    r"|calling|currency|lang|language|locale|airport|iata|icao|station|time_?zone|colou?r|hs|iso"
    r"|http|status|stock)_?codes?|zip|plz|ad_?code|time_?zone|ticker|locale)$"
    r"|(?:邮政编码|邮编|区号|国家代码|城市代码|行政区划代码|货币代码|语言代码|机场代码|股票代码)$",
    re.IGNORECASE,
)
"""Argument names of codes on public lists: what everybody may know, and no record's own."""

_LONGEST_PUBLIC_CODE = 12
"""Characters of such a code: a postal code with its extension has ten, a city's up to nine."""

_YEAR = re.compile(r"(?:19|20)\d\d")
_ONE_WORD = re.compile(r"[^\s(){}\[\]<>=*;,\"']{1,64}")
"""What a short id looks like; a program in an argument `code` is none."""

_CAMEL = re.compile(r"(?<=[a-z0-9])(?=[A-Z])")
_DIGITS = re.compile(r"\d")


def canonical(args: Mapping[str, JsonValue]) -> str:
    """Arguments as one text that is equal when they are: sorted keys, no spaces of layout.

    Half characters become question marks: they could not be sent back to a model.
    """
    text = json.dumps(args, ensure_ascii=False, sort_keys=True, separators=(",", ":"))
    return text.encode("utf-8", "replace").decode()


def invented(args: Mapping[str, JsonValue], sources: Iterable[str]) -> list[str]:
    """Ids, numbers and codes in the arguments that stand in none of the sources.

    Args:
        args: The arguments of a call.
        sources: The goal, the step, its inputs, and the evidence so far.
    """
    known = list(sources)
    found: list[str] = []
    for name, value in _leaves(args, ""):
        found += [c for c in _claimed_ids(name, value) if not names_id(known, c)]
    return list(dict.fromkeys(found))


def _claimed_ids(name: str, value: str) -> list[str]:
    """What of one argument says that it is an id, a number or a code of something there is."""
    spelled = _CAMEL.sub("_", name)
    if _KNOB.search(spelled) and not _ID_ARGUMENT.search(spelled) and value.isdecimal():
        return []
    if _PUBLIC_CODE.search(spelled) and len(value) <= _LONGEST_PUBLIC_CODE:
        return []
    is_id = bool(_ID_ARGUMENT.search(spelled) and _ONE_WORD.fullmatch(value))
    candidates = identifiers(value)
    if not is_id:
        # A year in a search is what everybody knows; an order 2024 is not.
        return [c for c in candidates if not is_year(c)]
    return candidates or ([value] if _DIGITS.search(value) else [])


def is_year(code: str) -> bool:
    """Whether what looks like an id may as well be a year of our time."""
    return bool(_YEAR.fullmatch(code))


def same_thing(old: ToolCall, new: ToolCall, task: str) -> bool:
    """Whether a later call of a tool is about what an earlier one was about.

    It is not where it leaves out an id that the task names, or names another thing of the task
    in place of the first: looking up order 10001 says nothing about order 99999.

    Args:
        old: The earlier call.
        new: The later one.
        task: What the step is to do.
    """
    if old.name != new.name:
        return False
    later = list(_arguments(new))
    values = [value for _, value in later]
    for name, value in _arguments(old):
        if not names_id([task], value) or names_id(values, value):
            continue
        if _claimed_ids(name, value):
            return False
        instead = [v for n, v in later if n == name and v not in value and value not in v]
        if any(names_id([task], v) for v in instead):
            return False
    return True


def _arguments(call: ToolCall) -> Iterator[tuple[str, str]]:
    return _leaves(json.loads(call.args), "")


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
    call: ToolCall,
    mine: Sequence[ToolCall],
    given_up: Sequence[ToolCall],
    *,
    once: bool = False,
    same: Callable[[ToolCall, ToolCall], bool] | None = None,
) -> ToolCall | None:
    """The earlier call that answers this identical one, if it need not run again.

    A call that had a definite answer (a result, or that there is none) keeps it. One that
    failed in this step may be tried once more; one that failed in a step that was given up
    is no new way.

    Args:
        call: The call that is asked for.
        mine: Calls of this step so far, of all attempts.
        given_up: Calls of the failed steps that this step stands in for.
        once: The call must not be made twice: where the tool broke off it may have done its work.
        same: Whether two calls are the same; by default those that are written alike.
    """
    alike = same or same_call
    mine = [c for c in mine if _was_tried(c) and alike(c, call)]
    for old in reversed(mine):
        if old.outcome is not OutcomeStatus.ERROR or (once and old.raised):
            return old
    real = [c for c in mine if not c.from_record]
    if len(real) >= MAX_REAL_RUNS:
        return real[-1]
    others = [c for c in given_up if _was_tried(c) and alike(c, call)]
    return others[-1] if others else None


def same_call(one: ToolCall, other: ToolCall) -> bool:
    """Whether two calls ask the same of the same tool, as they are written."""
    return one.name == other.name and one.args == other.args


def _was_tried(call: ToolCall) -> bool:
    """Whether a call has an answer, and not only a reason why it was not made."""
    return call.outcome not in {None, OutcomeStatus.REFUSED}


def calls_of(step: Step) -> list[ToolCall]:
    """All calls of a step, of all its attempts, in order."""
    return [call for attempt in step.attempts for call in attempt.calls]


def standing_rounds(step: Step) -> list[Round]:
    """The rounds behind the last attempt's result, in order.

    Its own, and before them what earlier attempts got that it did not ask for again: a retry
    is told not to repeat what succeeded, and cannot undo what failed by keeping quiet about
    it. A call that was refused was never made, so it is left behind.
    """
    last = step.last_attempt
    earlier = [
        Round(text=item.text, calls=kept)
        for attempt in step.attempts[:-1]
        for item in attempt.rounds
        if (
            kept := [
                c
                for c in item.calls
                if _was_made(c)
                and not any(same_thing(c, again, step.description) for again in last.calls)
            ]
        )
    ]
    return [*earlier, *last.rounds]


def standing_calls(step: Step) -> list[ToolCall]:
    """The calls behind the last attempt's result, in order, each once; see `standing_rounds`."""
    calls = [call for item in standing_rounds(step) for call in item.calls]
    own = len(step.last_attempt.calls)
    earlier = {(c.name, c.args): c for c in calls[: len(calls) - own]}
    return [*earlier.values(), *calls[len(calls) - own :]]


def _was_made(call: ToolCall) -> bool:
    return call.outcome not in {OutcomeStatus.REFUSED, OutcomeStatus.DECLINED}


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
    Where something was to be changed, one of the stand-ins must change something itself: the
    one that is judged when no other has done it or still may.

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
    others = [s for s in steps.values() if s.id != step.id and targets & set(s.stands_in_for)]
    changed = any(_changes(other, effects) for other in others)
    if tools & effects and not good & effects and not changed:
        return "effect"
    return "evidence" if tools and not good else ""


def _changes(step: Step, effects: frozenset[str]) -> bool:
    """Whether a step has changed something or may still do so, or failed and spoils all anyway."""
    if step.status is StepStatus.PENDING and step.progress is not Progress.FINISHED:
        return step.tool is None or step.tool in effects
    if step.status is not StepStatus.PENDING and step.status not in USABLE:
        return step.status is not StepStatus.REPLACED
    return any(c.name in effects and c.outcome is OutcomeStatus.OK for c in calls_of(step))
