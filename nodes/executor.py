"""The executor: one model call on one step, which asks for tools or states the result."""

import json
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Literal

from langchain_core.messages import AIMessage, BaseMessage, HumanMessage, ToolMessage
from pydantic import JsonValue

from hansei.nodes.effects import Body, ModelCall, ModelReply, RequestedCall, ask_model, ask_recall
from hansei.nodes.kit import Kit, tool_list
from hansei.nodes.prompting import LANGUAGE_NAMES, block, render
from hansei.policies.attempts import with_attempt
from hansei.policies.budget import budget_told
from hansei.policies.fencing import capped, for_prompt, one_line, plain, sendable, shown
from hansei.policies.goals import MAX_GOAL
from hansei.policies.own_words import in_language
from hansei.policies.phrases import say
from hansei.policies.provenance import canonical
from hansei.policies.reading import strip_thinking
from hansei.policies.records import Attempt, Round, Step, ToolCall
from hansei.policies.settings import Settings
from hansei.policies.state import StepTask
from hansei.policies.text import is_blank
from hansei.policies.tool_offer import call_schema, offered, stated
from hansei.policies.tool_text import looks_like_tool_call, read_tool_calls
from hansei.policies.words import Fault, Progress
from hansei.tools.outcome import OutcomeStatus

OUTPUT_CAP = 6000
"""Characters of one tool output that the executor reads: about 3000 tokens of Chinese."""

RESULT_CAP = 6000
"""Characters of a step's stated result: ten times what a good one needs."""

Goto = Literal["tools", "executor", "reflector"]


@dataclass(frozen=True, slots=True)
class Turn:
    """The step after one turn of the executor or the tools, and where it goes."""

    step: Step
    goto: Goto


def finish(step: Step, attempt: Attempt) -> Turn:
    """The attempt is over: its step waits to be judged."""
    done = with_attempt(step, attempt)
    return Turn(done.model_copy(update={"progress": Progress.FINISHED}), "reflector")


def fault(step: Step, kind: Fault, reason: str) -> Turn:
    """The attempt ended without a result."""
    attempt = step.last_attempt.model_copy(update={"fault": kind, "fault_reason": reason})
    return finish(step, attempt)


def execute(task: StepTask, kit: Kit, settings: Settings) -> Body[Turn]:
    """One turn: ask the model, then go to the tools, once more around, or to the reflector.

    A step that an edit of the state has taken out of its place goes straight back to it.
    """
    attempt = task.step.last_attempt
    if task.step.progress is Progress.FINISHED:
        return Turn(task.step, "reflector")
    if any(call.outcome is None for item in attempt.rounds[-1:] for call in item.calls):
        return Turn(task.step, "tools")
    rounds_left = len(attempt.rounds) < settings.max_tool_rounds
    may_call = rounds_left and bool(kit.tools)
    messages = yield from _messages(task, settings)
    request = _request(task, kit, messages, may_call=may_call)
    reply = yield from ask_model(request)
    return decide(task, reply, kit, may_call=may_call, rounds_left=rounds_left)


def _request(
    task: StepTask, kit: Kit, messages: Sequence[BaseMessage], *, may_call: bool
) -> ModelCall:
    """The model call of this turn: with tools, with a schema of a call, or for words only."""
    attempt, language = task.step.last_attempt, task.language
    if may_call and kit.models["executor"].tool_style == "native":
        return ModelCall(role="executor", messages=messages, tools=tuple(kit.tools.values()))
    offer = offered(task.step, kit.schemas) if may_call else None
    if offer is not None:
        listed = [tool for tool in tool_list(kit) if tool["tool"] in offer.tools]
        asked = block("executor", "by_schema", language, tools=listed, must_call=offer.must_call)
        schema = call_schema(offer, kit.schemas)
        return ModelCall(role="executor", messages=[*messages, HumanMessage(asked)], schema=schema)
    if attempt.calls:
        messages = [*messages, HumanMessage(block("executor", "last", language))]
    return ModelCall(role="executor", messages=messages)


def decide(
    task: StepTask, reply: ModelReply, kit: Kit, *, may_call: bool, rounds_left: bool
) -> Turn:
    """Where one reply of the model leads: a pure function."""
    step, attempt, language = task.step, task.step.last_attempt, task.language
    if reply.refused:
        return fault(step, Fault.BUDGET, budget_told(reply.refused, language))
    if reply.failure:
        failure = in_language(reply.failure, language)
        return fault(step, Fault.ENDPOINT, say("fault_endpoint", language, reason=failure))
    text = stated(strip_thinking(reply.text).strip())
    text = "" if is_blank(text) else text
    calls = list(reply.calls) or _calls_in(text, kit)
    if reply.calls and looks_like_tool_call(text, kit.schemas):
        text = ""
    if calls and may_call:
        spoken = text if reply.calls else ""
        return _around(step, attempt, Round(text=spoken, calls=_recorded(calls, attempt)), "tools")
    if calls or looks_like_tool_call(text, kit.schemas):
        if rounds_left and not calls and not _nudged(attempt):
            return _around(step, attempt, Round(), "executor")
        return fault(step, Fault.ONLY_CALLS, _only_calls(attempt, task))
    if text:
        result = capped(text, RESULT_CAP)
        done = attempt.model_copy(update={"result": result, "truncated": reply.truncated})
        return finish(step, done)
    said = next((r.text for r in reversed(attempt.rounds) if r.text), "")
    if said:
        result = capped(said, RESULT_CAP)
        done = attempt.model_copy(update={"result": result, "truncated": reply.truncated})
        return finish(step, done)
    if rounds_left and not _nudged(attempt):
        return _around(step, attempt, Round(), "executor")
    return fault(step, Fault.EMPTY_REPLY, say("fault_empty_reply", language))


def _nudged(attempt: Attempt) -> bool:
    """A round without calls is a nudge; one is enough."""
    return any(not r.calls for r in attempt.rounds)


def _around(step: Step, attempt: Attempt, turn: Round, goto: Goto) -> Turn:
    rounds = [*attempt.rounds, turn]
    return Turn(with_attempt(step, attempt.model_copy(update={"rounds": rounds})), goto)


def _only_calls(attempt: Attempt, task: StepTask) -> str:
    reason = say("fault_only_calls", task.language)
    outputs = [c.output for c in attempt.calls if c.output.strip()]
    if not outputs:
        return reason
    last = in_language(plain(outputs[-1]), task.language)[:200]
    return say("after_partial_work", task.language, reason=reason, output=last)


def _calls_in(text: str, kit: Kit) -> list[RequestedCall]:
    return [
        RequestedCall(id="", name=call.name, args=dict(call.args))
        for call in read_tool_calls(text, kit.schemas)
    ]


def _recorded(calls: Sequence[RequestedCall], attempt: Attempt) -> list[ToolCall]:
    """The calls as records; those that cannot be read already have their outcome."""
    place = len(attempt.rounds) + 1
    return [
        ToolCall(
            id=sendable(call.id) or f"call_{attempt.number}_{place}_{i}",
            name=sendable(call.name),
            args=canonical(call.args),
            outcome=OutcomeStatus.ERROR if call.invalid else None,
            reason=sendable(call.invalid),
            output=sendable(call.invalid),
            size=len(call.invalid),
        )
        for i, call in enumerate(calls, start=1)
    ]


def _messages(task: StepTask, settings: Settings) -> Body[list[BaseMessage]]:
    """The conversation of this attempt, rebuilt from its record."""
    step, attempt, language = task.step, task.step.last_attempt, task.language
    retry_mode = settings.retry_mode
    failed_text = ""
    if retry_mode == "repair" and len(step.attempts) > 1:
        failed_text = shown(step.attempts[-2].result)
    finished = _finished_calls(task)
    known = {call.name for call in finished}
    messages = render(
        "executor",
        language,
        description=shown(step.description, cap=MAX_GOAL),
        tool=step.tool if settings.max_tool_rounds and step.tool not in known else None,
        goal="" if settings.goal_blind else shown(task.goal, cap=MAX_GOAL),
        inputs=[
            {"description": one_line(item.description), "result": shown(item.result)}
            for item in task.inputs
        ],
        hint=plain(attempt.hint) if retry_mode != "resample" else "",
        failed_text=failed_text,
        finished_calls=[
            one_line(f"{call.name}({call.args}) → {call.output[:200]}") for call in finished
        ],
        settings=settings,
        answer_language=LANGUAGE_NAMES[language][language],
    )
    for turn in attempt.rounds:
        if not turn.calls:
            messages.append(HumanMessage(block("executor", "nudge", language)))
            continue
        messages.append(
            AIMessage(
                content=turn.text,
                tool_calls=[
                    {"id": c.id, "name": c.name, "args": _args(c), "type": "tool_call"}
                    for c in turn.calls
                ],
            )
        )
        for call in turn.calls:
            output = yield from whole_output(call)
            bad = call.outcome is not OutcomeStatus.OK
            messages.append(
                ToolMessage(
                    content=for_prompt(output, OUTPUT_CAP) or say("empty", language),
                    tool_call_id=call.id,
                    name=call.name,
                    status="error" if bad else "success",
                )
            )
    return messages


def _finished_calls(task: StepTask) -> list[ToolCall]:
    """Successful calls of earlier attempts, and of the failed steps this one stands in for."""
    earlier = [c for a in task.step.attempts[:-1] for c in a.calls]
    done = [c for c in [*task.given_up, *earlier] if c.outcome is OutcomeStatus.OK]
    return list({(c.name, c.args): c for c in done}.values())


def whole_output(call: ToolCall) -> Body[str]:
    """The whole output of a call: from the store when it is kept there."""
    if not call.ref:
        return call.output
    found = yield from ask_recall(call.ref)
    return call.output if found is None else found


def _args(call: ToolCall) -> dict[str, JsonValue]:
    value: JsonValue = json.loads(call.args)
    return value if isinstance(value, dict) else {}
