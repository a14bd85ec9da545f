"""The tools: run what a round asked for, each call at most as often as it should."""

import hashlib
import json
from collections.abc import Sequence

from pydantic import JsonValue

from hansei.nodes.effects import (
    Body,
    RequestedCall,
    RunTool,
    ask_remember,
    ask_tool,
    side_by_side,
)
from hansei.nodes.executor import Turn, with_attempt
from hansei.nodes.kit import Kit
from hansei.policies.provenance import calls_of, from_record, invented
from hansei.policies.records import Step, ToolCall
from hansei.policies.settings import Settings
from hansei.policies.state import StepTask
from hansei.tools.outcome import OutcomeStatus, read_outcome

EXCERPT = 500
"""Characters of an output that stand in the state; the whole of a longer one is in the store."""

EXCERPT_WITHOUT_STORE = 4000
"""Characters kept where there is no store: what a prompt shows of one output."""


def run_tools(task: StepTask, kit: Kit, settings: Settings) -> Body[Turn]:
    """Run the calls of the last round that have no outcome yet.

    Calls that only read run side by side; calls that change something run one after the
    other, in the order in which they were asked for.
    """
    step, attempt = task.step, task.step.last_attempt
    current = attempt.rounds[-1]
    earlier = [c for c in calls_of(step) if c.outcome is not None]
    done: dict[int, ToolCall] = {}
    todo: list[int] = []
    for i, call in enumerate(current.calls):
        if call.outcome is not None:
            done[i] = call
            continue
        answered = _without_running(call, task, earlier, kit, settings)
        if answered is not None:
            done[i] = answered
        elif any(_same(call, current.calls[j]) for j in todo):
            # Asked for twice in one round: the second is answered like the first, below.
            continue
        else:
            todo.append(i)
    reads = [i for i in todo if current.calls[i].name not in kit.effects]
    results = yield from side_by_side([_run(current.calls[i], kit) for i in reads])
    done |= dict(zip(reads, results, strict=True))
    for i in todo:
        if i not in done:
            done[i] = yield from _run(current.calls[i], kit)
    for i, call in enumerate(current.calls):
        if i not in done:
            first = next(done[j] for j in todo if _same(call, current.calls[j]))
            done[i] = _answered_by(call, first)
    turn = current.model_copy(update={"calls": [done[i] for i in range(len(current.calls))]})
    rounds = [*attempt.rounds[:-1], turn]
    return Turn(_with_rounds(step, rounds), "executor")


def _with_rounds(step: Step, rounds: Sequence[object]) -> Step:
    return with_attempt(step, step.last_attempt.model_copy(update={"rounds": list(rounds)}))


def _same(one: ToolCall, other: ToolCall) -> bool:
    return one.name == other.name and one.args == other.args


def _answered_by(call: ToolCall, old: ToolCall) -> ToolCall:
    return old.model_copy(update={"id": call.id, "from_record": True})


def _without_running(
    call: ToolCall, task: StepTask, earlier: Sequence[ToolCall], kit: Kit, settings: Settings
) -> ToolCall | None:
    """The outcome of a call that must not run, or need not run again."""
    if call.name not in kit.tools:
        known = ", ".join(kit.tools) or "none"
        return _settled(call, OutcomeStatus.ERROR, f"there is no tool {call.name}; tools: {known}")
    if call.name not in kit.volatile:
        old = from_record(call, earlier, task.given_up)
        if old is not None:
            return _answered_by(call, old)
    if settings.provenance:
        unknown = invented(_args(call), _sources(task))
        if unknown:
            told = (
                f"not run: {', '.join(unknown)} stands neither in the task nor in any result; "
                "use only what is given there"
            )
            return _settled(call, OutcomeStatus.REFUSED, told)
    return None


def _settled(call: ToolCall, outcome: OutcomeStatus, text: str) -> ToolCall:
    return call.model_copy(
        update={"outcome": outcome, "reason": text, "output": text, "size": len(text)}
    )


def _sources(task: StepTask) -> list[str]:
    """Everything an argument may come from: goal, step, inputs, and what tools returned.

    A call that failed or was refused shows no id: its text may only say the argument again.
    """
    calls = [*task.given_up, *calls_of(task.step)]
    seen = [c.output for c in calls if c.outcome is OutcomeStatus.OK]
    inputs = [
        text for item in task.inputs for text in (item.description, item.result, item.evidence)
    ]
    return [task.goal, task.step.description, *inputs, *seen]


def _run(call: ToolCall, kit: Kit) -> Body[ToolCall]:
    request = RequestedCall(id=call.id, name=call.name, args=_args(call))
    reply = yield from ask_tool(RunTool(tool=kit.tools[call.name], call=request))
    # Half characters could neither be sent nor written to a file.
    output = kept = reply.output.encode("utf-8", "replace").decode()
    outcome = read_outcome(output, raised=reply.raised)
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
            "changes": call.name in kit.effects,
        }
    )


def _args(call: ToolCall) -> dict[str, JsonValue]:
    value: JsonValue = json.loads(call.args)
    return value if isinstance(value, dict) else {}
