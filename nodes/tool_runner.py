"""The tools: run what a round asked for, each call at most as often as it should."""

from collections.abc import Mapping, Sequence
from dataclasses import replace

from hansei.nodes.approval import approved_calls
from hansei.nodes.call_record import (
    as_journaled,
    begun_calls,
    key_of,
    recorded,
    settle_open_calls,
)
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
from hansei.nodes.tool_arguments import ToolArguments
from hansei.policies.attempts import settled, with_calls
from hansei.policies.carried_out import shown_calls
from hansei.policies.fencing import scanned
from hansei.policies.joining import listed
from hansei.policies.phrases import say
from hansei.policies.provenance import calls_of
from hansei.policies.records import ToolCall
from hansei.policies.rounds import arguments, finished, sort_round
from hansei.policies.settings import Settings
from hansei.policies.state import StepTask
from hansei.policies.words import Fault
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
    place = entry_of(task)
    crashes = int((yield from ask_recall(place, shelf="entries")) or 0)
    if crashes >= MAX_CRASHES:
        called = dict.fromkeys(call.name for call in task.step.round_calls)
        names = listed(called, task.language)
        reason = say("fault_crashes", task.language, calls=names, times=str(crashes))
        return (yield from broken_off(task, kit, Fault.CRASHES, reason))
    yield from ask_remember(place, str(crashes + 1), shelf="entries")
    turn = yield from _run_round(task, kit, settings)
    yield from ask_remember(place, "", shelf="entries")
    return turn


def broken_off(task: StepTask, kit: Kit, kind: Fault, reason: str) -> Body[Turn]:
    """End an attempt that something broke, with what the journal knows of its calls.

    A call that was begun and must not be made again is for a human, whatever broke the attempt.
    """
    step = yield from settle_open_calls(task, kit)
    calls = step.last_attempt.rounds[-1].calls if step.last_attempt.rounds else []
    lost = [c for c in calls if c.outcome is OutcomeStatus.UNKNOWN]
    if any(c.name in kit.once for c in lost):
        told = say("fault_unknown", task.language, reason=shown_calls(lost, task.language))
        return fault(step, Fault.UNKNOWN_EFFECT, told)
    return fault(step, kind, reason)


def _run_round(task: StepTask, kit: Kit, settings: Settings) -> Body[Turn]:
    """Run the calls of the last round that have no outcome yet.

    Calls that only read run side by side; calls that change something run one after the
    other, in the order in which they were asked for.
    """
    sources = (yield from _sources(task)) if settings.provenance else None
    begun = yield from begun_calls(task, kit)
    reader = ToolArguments(kit.tools, kit.schemas)
    found = sort_round(task, kit, sources, begun=begun, read=reader)
    todo = found.todo
    # Keys are made of the calls as they were asked for, so that an edit cannot lose what began.
    changing = frozenset(
        i for i, call in enumerate(task.step.round_calls) if call.name in kit.effects
    )
    keys = {i: key_of(i, task) for i in todo if i in changing}
    task = as_journaled(task, {i: begun[i] for i in todo if i in begun})
    task, declined = yield from approved_calls([i for i in todo if i not in begun], task, kit)
    open_calls = [i for i in todo if i not in declined]
    reads = [i for i in open_calls if i not in changing]
    results = yield from side_by_side([_run(i, task, kit, keys) for i in reads])
    changed = yield from _one_by_one([i for i in open_calls if i in changing], task, kit, keys)
    run = {**declined, **dict(zip(reads, results, strict=True)), **changed}
    calls = finished(task.step.round_calls, found, run)
    onward = with_calls(task.step, dict(enumerate(calls)))
    if lost := [call for call in calls if call.outcome is OutcomeStatus.UNKNOWN]:
        reason = say("fault_unknown", task.language, reason=shown_calls(lost, task.language))
        return fault(onward, Fault.UNKNOWN_EFFECT, reason)
    return Turn(onward, "executor")


def _one_by_one(
    places: Sequence[int], task: StepTask, kit: Kit, keys: Mapping[int, str]
) -> Body[dict[int, ToolCall]]:
    """Make calls that change something, in order; none after one that is lost in the dark."""
    calls = task.step.round_calls
    done: dict[int, ToolCall] = {}
    for i in places:
        if any(call.outcome is OutcomeStatus.UNKNOWN for call in done.values()):
            told = "not run: the call before it may or may not have gone through"
            done[i] = settled(calls[i], OutcomeStatus.REFUSED, told)
        else:
            done[i] = yield from _run(i, task, kit, keys)
    return done


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
    call = task.step.round_calls[place]
    request = RequestedCall(id=call.id, name=call.name, args=arguments(call))
    run = RunTool(tool=kit.tools[call.name], call=request)
    if call.name in kit.effects:
        key = keys[place]
        once = call.name in kit.once
        reply = yield from journaled(replace(run, key=key), args=call.args, once=once)
    else:
        reply = yield from ask_tool(run)
    return (yield from recorded(call, reply, kit))
