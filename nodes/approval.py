"""A human's leave: for a plan, for a replan, and for single calls before they are made."""

import time
from collections.abc import Mapping, Sequence

from pydantic import JsonValue

from hansei.nodes.effects import Body, ask_human
from hansei.nodes.kit import Kit
from hansei.policies.approvals import (
    Check,
    Decision,
    plan_question,
    read_decisions,
    tools_question,
)
from hansei.policies.argument_schema import fitting_arguments
from hansei.policies.conditions import bind_conditions
from hansei.policies.drafts import PlanDraft, StepDraft
from hansei.policies.lint import LintContext, correct, lint
from hansei.policies.phrases import say
from hansei.policies.planning import number_steps
from hansei.policies.progress import advance
from hansei.policies.provenance import canonical
from hansei.policies.records import Step, ToolCall, Waiting
from hansei.policies.settings import Settings
from hansei.policies.state import AgentState, StepTask
from hansei.policies.words import Language, StepStatus
from hansei.tools.outcome import OutcomeStatus

Update = dict[str, object]


def approve(state: AgentState, kit: Kit, settings: Settings) -> Body[Update]:
    """Ask whether what was planned may be done, and go on by the answer.

    An edited plan goes through the same lint as a model's. One that is rejected is not done, and
    what it was to make good stays failed.
    """
    waiting = state.waiting or Waiting()
    steps = [state.steps[i] for i in waiting.steps if i in state.steps]
    known = {str(i): i for i in state.steps if i not in waiting.steps}
    context = LintContext(
        goal=state.goal,
        tools=frozenset(kit.tools),
        max_steps=settings.max_steps,
        known=frozenset(known),
        language=state.language,
        # A human who leaves a condition of the goal out has a reason.
        whole=False,
    )
    (decision,) = yield from _ask(
        plan_question(waiting.kind, steps, state.language),
        1,
        state.language,
        lambda found: _plan_problem(found[0], context),
    )
    conditions = state.conditions
    if decision.type == "reject":
        reason = _why_not(decision, state.language)
        refused = {"status": StepStatus.FAILED, "reason": reason}
        changed = {step.id: step.model_copy(update=refused) for step in steps}
    elif decision.steps is not None:
        changed = _edited(state, steps, decision.steps, context, known)
        unbound = [c.model_copy(update={"steps": []}) for c in conditions]
        working = [s for s in changed.values() if s.status is StepStatus.PENDING]
        conditions = bind_conditions(unbound, working) if waiting.kind == "plan" else conditions
    else:
        changed = {}
    order = [*state.in_order, *(i for i in changed if i not in state.steps)]
    move = advance({**state.steps, **changed}, order, settings)
    return {
        "steps": {**changed, **move.steps},
        "order": order,
        "dispatch": move.dispatch,
        "conditions": conditions,
        "waiting": None,
        # The time that a human has taken to think is not the run's.
        "started_at": state.started_at + max(0.0, time.time() - waiting.since),
    }


def _plan_problem(decision: Decision, context: LintContext) -> str:
    if decision.type != "edit":
        return ""
    if decision.steps is None:
        return say("decision_wrong_kind", context.language)
    draft = PlanDraft(steps=_numbered(decision.steps))
    fixed = correct(draft, context)
    problems = [*lint(draft, context), *([fixed] if isinstance(fixed, str) else [])]
    if not problems:
        return ""
    return say("decision_steps", context.language, problem="; ".join(problems))


def _numbered(drafts: Sequence[StepDraft]) -> list[StepDraft]:
    """The steps with numbers where they have none: by their places."""
    return [
        draft if draft.id else draft.model_copy(update={"id": f"new {i}"})
        for i, draft in enumerate(drafts, start=1)
    ]


def _edited(
    state: AgentState,
    asked: Sequence[Step],
    drafts: Sequence[StepDraft],
    context: LintContext,
    known: Mapping[str, int],
) -> dict[int, Step]:
    """The human's own steps in place of those that were asked about. Ids keep growing (P1)."""
    fixed = correct(PlanDraft(steps=_numbered(drafts)), context)
    own = [] if isinstance(fixed, str) else fixed.steps
    fresh, _ = number_steps(own, first=max(state.steps) + 1, known=known)
    made_good = sorted({i for step in asked for i in step.stands_in_for})
    taken_out = {"status": StepStatus.REPLACED}
    return {
        **{step.id: step.model_copy(update=taken_out) for step in asked},
        **{step.id: step.model_copy(update={"stands_in_for": made_good}) for step in fresh},
    }


def approved_calls(
    places: Sequence[int], task: StepTask, kit: Kit
) -> Body[tuple[StepTask, dict[int, ToolCall]]]:
    """Ask for the calls of a round that must not be made without leave.

    Args:
        places: Calls of the last round that are about to be made.
        task: The step.
        kit: The tools.

    Returns:
        The task with the calls as they were allowed, and those that were not, settled.
    """
    calls = list(task.step.last_attempt.rounds[-1].calls)
    asked = [i for i in places if calls[i].name in task.gated]
    if not asked:
        return task, {}
    question = tools_question(task.step, [calls[i] for i in asked], task.language)
    names = [calls[i].name for i in asked]
    decisions = yield from _ask(
        question, len(asked), task.language, lambda found: _calls_problem(found, names, kit, task)
    )
    declined: dict[int, ToolCall] = {}
    for i, decision in zip(asked, decisions, strict=True):
        calls[i] = _allowed(calls[i], decision, kit)
        if decision.type == "reject":
            reason = _why_not(decision, task.language)
            told = {"outcome": OutcomeStatus.DECLINED, "reason": reason, "output": reason}
            declined[i] = calls[i].model_copy(update={**told, "size": len(reason)})
    attempt = task.step.last_attempt
    last = attempt.rounds[-1].model_copy(update={"calls": calls})
    again = attempt.model_copy(update={"rounds": [*attempt.rounds[:-1], last]})
    step = task.step.model_copy(update={"attempts": [*task.step.attempts[:-1], again]})
    return task.model_copy(update={"step": step}), declined


def _allowed(call: ToolCall, decision: Decision, kit: Kit) -> ToolCall:
    args = decision.args
    if args is None:
        return call.model_copy(update={"decision": decision.type})
    fitting = fitting_arguments(args, kit.schemas[call.name]) or args
    return call.model_copy(update={"decision": decision.type, "args": canonical(fitting)})


def _calls_problem(
    decisions: Sequence[Decision], names: Sequence[str], kit: Kit, task: StepTask
) -> str:
    for name, decision in zip(names, decisions, strict=True):
        if decision.type != "edit":
            continue
        if decision.args is None:
            return say("decision_wrong_kind", task.language)
        if decision.name not in {"", name}:
            return say("decision_tool", task.language, tool=name, other=decision.name)
        if fitting_arguments(decision.args, kit.schemas[name]) is None:
            args = canonical(decision.args)
            return say("decision_args", task.language, tool=name, args=args)
    return ""


def _why_not(decision: Decision, language: Language) -> str:
    if decision.message.strip():
        return say("rejected_because", language, reason=decision.message.strip())
    return say("rejected", language)


def _ask(
    question: dict[str, JsonValue], asked: int, language: Language, check: Check
) -> Body[list[Decision]]:
    """Ask until the answer can be used; a wrong one is asked again, with what is wrong."""
    said = str(question["question"])
    current = question
    while True:
        answer = yield from ask_human(current)
        found = read_decisions(answer, asked=asked, language=language)
        problem = found if isinstance(found, str) else check(found)
        if not isinstance(found, str) and not problem:
            return found
        told = say("asked_again", language, problem=problem)
        current = {**question, "problem": problem, "question": f"{told}\n{said}"}
