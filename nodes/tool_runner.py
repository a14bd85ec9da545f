"""The tools: run what a round asked for, each call at most as often as it should."""

import json
from collections.abc import Mapping, Sequence
from dataclasses import replace

from pydantic import JsonValue

from hansei.nodes.approval import approved_calls
from hansei.nodes.call_record import as_journaled, key_of, recorded
from hansei.nodes.effects import (
    Body,
    RequestedCall,
    RunTool,
    ask_recall,
    ask_remember,
    ask_tool,
    side_by_side,
)
from hansei.nodes.executor import Turn, fault, whole_output
from hansei.nodes.journal import journaled
from hansei.nodes.kit import Kit
from hansei.policies.attempts import settled, unknown, with_rounds
from hansei.policies.carried_out import shown_calls
from hansei.policies.effect_keys import read_entry
from hansei.policies.fencing import scanned
from hansei.policies.phrases import say
from hansei.policies.provenance import calls_of, from_record, invented
from hansei.policies.records import ToolCall
from hansei.policies.settings import Settings
from hansei.policies.state import StepTask
from hansei.policies.words import Fault, VerdictSource
from hansei.tools.outcome import OutcomeStatus

MAX_CRASHES = 3
"""Times that a round of calls may end the process: LangGraph counts none, and would go on for ever
with a step that kills whoever resumes it."""


def entry_of(task: StepTask) -> str:
    """The key under which a round of calls is entered, and left when it is over."""
    attempt = task.step.last_attempt
    return f"{task.run_id} {task.step.id} {attempt.number} {len(attempt.rounds)}"


def run_tools(task: StepTask, kit: Kit, settings: Settings) -> Body[Turn]:
    """Run one round of calls, unless it has killed the process too often already."""
    attempt = task.step.last_attempt
    place = entry_of(task)
    crashes = int((yield from ask_recall(place, shelf="entries")) or 0)
    if crashes >= MAX_CRASHES:
        names = ", ".join(dict.fromkeys(call.name for call in attempt.rounds[-1].calls))
        reason = say("fault_crashes", task.language, calls=names, times=str(crashes))
        return fault(task.step, Fault.CRASHES, reason)
    yield from ask_remember(place, str(crashes + 1), shelf="entries")
    turn = yield from _run_round(task, kit, settings)
    yield from ask_remember(place, "", shelf="entries")
    return turn


def _run_round(task: StepTask, kit: Kit, settings: Settings) -> Body[Turn]:
    """Run the calls of the last round that have no outcome yet.

    Calls that only read run side by side; calls that change something run one after the
    other, in the order in which they were asked for.
    """
    step, attempt = task.step, task.step.last_attempt
    current = attempt.rounds[-1]
    earlier = [c for c in calls_of(step) if c.outcome is not None]
    # A human who wants a step done again wants it looked up again, not told again.
    anew = bool(step.verdicts) and step.verdicts[-1].source is VerdictSource.HUMAN
    earlier_lookups = earlier
    if anew:
        earlier_lookups = [c for c in attempt.calls if c.outcome is not None]
        earlier = [c for c in earlier if c.outcome is not OutcomeStatus.DECLINED]
    sources = (yield from _sources(task)) if settings.provenance else None
    done: dict[int, ToolCall] = {}
    todo: list[int] = []
    twins: dict[int, int] = {}
    for i, call in enumerate(current.calls):
        if call.outcome is not None:
            done[i] = call
            continue
        answered = yield from _lost_tool(i, task, kit)
        known = earlier if call.name in kit.effects else earlier_lookups
        answered = answered or _without_running(call, task, known, kit, sources)
        if answered is not None:
            done[i] = answered
        elif twin := [j for j in todo if _same(call, current.calls[j])]:
            # Asked for twice in one round: the second is answered like the first, below.
            twins[i] = twin[0]
        else:
            todo.append(i)
    # Keys are made of the calls as they were asked for, so that an edit cannot lose what began.
    keys = {i: key_of(i, task) for i in todo if current.calls[i].name in kit.effects}
    task, begun = yield from as_journaled(task, keys)
    asked = [i for i in todo if i not in begun]
    task, declined = yield from approved_calls(asked, task, kit)
    step, attempt, current = task.step, task.step.last_attempt, task.step.last_attempt.rounds[-1]
    done |= declined
    reads = [i for i in todo if i not in done and current.calls[i].name not in kit.effects]
    results = yield from side_by_side([_run(i, task, kit, keys) for i in reads])
    done |= dict(zip(reads, results, strict=True))
    done |= yield from _one_by_one([i for i in todo if i not in done], task, kit, keys)
    for i, first in twins.items():
        done[i] = _answered_by(current.calls[i], done[first])
    turn = current.model_copy(update={"calls": [done[i] for i in range(len(current.calls))]})
    onward = with_rounds(step, [*attempt.rounds[:-1], turn])
    lost = [call for call in turn.calls if call.outcome is OutcomeStatus.UNKNOWN]
    if lost:
        reason = say("fault_unknown", task.language, reason=shown_calls(lost))
        return fault(onward, Fault.UNKNOWN_EFFECT, reason)
    return Turn(onward, "executor")


def _lost_tool(place: int, task: StepTask, kit: Kit) -> Body[ToolCall | None]:
    """A call whose tool is there no more, although an earlier process has begun it."""
    call = task.step.last_attempt.rounds[-1].calls[place]
    if call.name in kit.tools:
        return None
    found = read_entry((yield from ask_recall(key_of(place, task), shelf="journal")))
    return None if found is None else unknown(call)


def _one_by_one(
    places: Sequence[int], task: StepTask, kit: Kit, keys: Mapping[int, str]
) -> Body[dict[int, ToolCall]]:
    """Make calls that change something, in order; none after one that is lost in the dark."""
    calls = task.step.last_attempt.rounds[-1].calls
    done: dict[int, ToolCall] = {}
    for i in places:
        if any(call.outcome is OutcomeStatus.UNKNOWN for call in done.values()):
            told = "not run: the call before it may or may not have gone through"
            done[i] = settled(calls[i], OutcomeStatus.REFUSED, told)
        else:
            done[i] = yield from _run(i, task, kit, keys)
    return done


def _same(one: ToolCall, other: ToolCall) -> bool:
    return one.name == other.name and one.args == other.args


def _answered_by(call: ToolCall, old: ToolCall) -> ToolCall:
    return old.model_copy(update={"id": call.id, "from_record": True})


def _without_running(
    call: ToolCall,
    task: StepTask,
    earlier: Sequence[ToolCall],
    kit: Kit,
    sources: Sequence[str] | None,
) -> ToolCall | None:
    """The outcome of a call that must not run, or need not run again.

    Args:
        call: The call.
        task: The step and what it is bound to.
        earlier: Calls of the step that have an outcome.
        kit: The tools.
        sources: Where ids in arguments may come from; None: nobody asks.
    """
    if call.name not in kit.tools:
        known = ", ".join(kit.tools) or "none"
        return settled(call, OutcomeStatus.ERROR, f"there is no tool {call.name}; tools: {known}")
    once = call.name in kit.once
    if call.name not in kit.volatile or (once and call.name in kit.acts):
        old = from_record(call, earlier, task.given_up, once=once)
        if old is not None:
            return _answered_by(call, old)
    if sources is not None:
        unknown = invented(_args(call), sources)
        if unknown:
            told = (
                f"not run: {', '.join(unknown)} stands neither in the task nor in any result; "
                "use only what is given there"
            )
            return settled(call, OutcomeStatus.REFUSED, told)
    return None


def _sources(task: StepTask) -> Body[list[str]]:
    """Everything an argument may come from: goal, earlier turns, step, inputs, tools' outputs.

    Long outputs are read back whole: an id of which the state only holds what stands before it
    was shown to the model all the same. A call that failed or was refused shows no id: its text
    may only say the argument again.
    """
    found = [task.goal, *task.earlier, task.step.description]
    for item in task.inputs:
        found += [item.description, item.result, item.evidence]
        for ref in item.refs:
            found.append(scanned((yield from ask_recall(ref)) or ""))
    for call in [*task.given_up, *calls_of(task.step)]:
        if call.outcome is OutcomeStatus.OK:
            found.append(scanned((yield from whole_output(call))))
    return found


def _run(place: int, task: StepTask, kit: Kit, keys: Mapping[int, str]) -> Body[ToolCall]:
    """Make one call of the last round; one that changes something goes through the journal."""
    call = task.step.last_attempt.rounds[-1].calls[place]
    request = RequestedCall(id=call.id, name=call.name, args=_args(call))
    run = RunTool(tool=kit.tools[call.name], call=request)
    if call.name in kit.effects:
        key = keys[place]
        once = call.name in kit.once
        reply = yield from journaled(replace(run, key=key), args=call.args, once=once)
    else:
        reply = yield from ask_tool(run)
    return (yield from recorded(call, reply, kit))


def _args(call: ToolCall) -> dict[str, JsonValue]:
    value: JsonValue = json.loads(call.args)
    return value if isinstance(value, dict) else {}
