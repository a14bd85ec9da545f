"""What follows from a human's decisions: whether they can be carried out, and what they change."""

from collections.abc import Mapping, Sequence

from pydantic import JsonValue

from hansei.policies.approvals import Decision
from hansei.policies.argument_schema import fitting_arguments
from hansei.policies.attempts import settled
from hansei.policies.conditions import bind_conditions
from hansei.policies.drafts import PlanDraft, StepDraft
from hansei.policies.joining import clauses
from hansei.policies.lint import LintContext, correct, lint
from hansei.policies.own_words import in_language
from hansei.policies.phrases import say
from hansei.policies.planning import number_steps
from hansei.policies.progress import advance
from hansei.policies.provenance import canonical
from hansei.policies.records import Condition, Step, ToolCall, Waiting
from hansei.policies.settings import Settings
from hansei.policies.state import AgentState
from hansei.policies.words import Language, StepStatus
from hansei.tools.outcome import OutcomeStatus

Schemas = Mapping[str, dict[str, JsonValue]]
"""JSON schema of each tool's arguments."""


def asked_about(state: AgentState) -> tuple[Waiting, list[Step]]:
    """What waits for leave, and the steps of it."""
    waiting = state.waiting or Waiting()
    return waiting, [state.steps[i] for i in waiting.steps if i in state.steps]


def plan_context(state: AgentState, settings: Settings, *, tools: frozenset[str]) -> LintContext:
    """What an edited plan is linted by: the same as a model's.

    A human who leaves a condition of the goal out has a reason.
    """
    return LintContext(
        goal=state.goal,
        tools=tools,
        max_steps=settings.max_steps,
        known=frozenset(_known(state)),
        language=state.language,
        whole=False,
    )


def plan_problem(decision: Decision, context: LintContext) -> str:
    """Why a plan cannot be edited like that; empty where it can, or is not edited."""
    if decision.type != "edit":
        return ""
    if decision.steps is None:
        return say("decision_wrong_kind", context.language)
    draft = PlanDraft(steps=_numbered(decision.steps))
    fixed = correct(draft, context)
    problems = [*lint(draft, context), *([fixed] if isinstance(fixed, str) else [])]
    if not problems:
        return ""
    return say(
        "decision_steps",
        context.language,
        problem=clauses((in_language(p, context.language) for p in problems), context.language),
    )


def decided_plan(
    state: AgentState, decision: Decision, settings: Settings, context: LintContext, *, now: float
) -> dict[str, object]:
    """The state fields that change by a decision about a plan or replan.

    One that is rejected is not done, and what it was to make good stays failed.

    Args:
        state: The state with what waits for leave.
        decision: One that has no problem.
        settings: Limits of the run.
        context: What an edited plan is linted by.
        now: Seconds since the epoch; the time that a human has taken to think is not the run's.
    """
    waiting, steps = asked_about(state)
    conditions = state.conditions
    changed: dict[int, Step] = {}
    if decision.type == "reject":
        refused = {"status": StepStatus.FAILED, "reason": _why_not(decision, state.language)}
        changed = {step.id: step.model_copy(update=refused) for step in steps}
    elif decision.steps is not None:
        changed = _edited(state, steps, decision.steps, context)
        if waiting.kind == "plan":
            conditions = _bound_anew(conditions, changed)
    order = [*state.in_order, *(i for i in changed if i not in state.steps)]
    move = advance({**state.steps, **changed}, order, settings)
    return {
        "steps": {**changed, **move.steps},
        "order": order,
        "dispatch": move.dispatch,
        "conditions": conditions,
        "waiting": None,
        "started_at": state.started_at + max(0.0, now - waiting.since),
    }


def _known(state: AgentState) -> dict[str, int]:
    """The steps that an edited one may lean on."""
    waiting, _ = asked_about(state)
    return {str(i): i for i in state.steps if i not in waiting.steps}


def _numbered(drafts: Sequence[StepDraft]) -> list[StepDraft]:
    """The steps with numbers where they have none: by their places."""
    return [
        draft if draft.id else draft.model_copy(update={"id": f"new {i}"})
        for i, draft in enumerate(drafts, start=1)
    ]


def _edited(
    state: AgentState, asked: Sequence[Step], drafts: Sequence[StepDraft], context: LintContext
) -> dict[int, Step]:
    """The human's own steps in place of those that were asked about. Ids keep growing (P1)."""
    fixed = correct(PlanDraft(steps=_numbered(drafts)), context)
    own = [] if isinstance(fixed, str) else fixed.steps
    fresh, _ = number_steps(own, first=max(state.steps) + 1, known=_known(state))
    made_good = sorted({i for step in asked for i in step.stands_in_for})
    taken_out = {"status": StepStatus.REPLACED}
    return {
        **{step.id: step.model_copy(update=taken_out) for step in asked},
        **{step.id: step.model_copy(update={"stands_in_for": made_good}) for step in fresh},
    }


def _bound_anew(conditions: Sequence[Condition], steps: Mapping[int, Step]) -> list[Condition]:
    unbound = [c.model_copy(update={"steps": []}) for c in conditions]
    return bind_conditions(unbound, [s for s in steps.values() if s.status is StepStatus.PENDING])


def calls_problem(
    decisions: Sequence[Decision], names: Sequence[str], schemas: Schemas, language: Language
) -> str:
    """Why calls cannot be edited like that; empty where they can.

    Args:
        decisions: One for each call.
        names: The tools of the calls.
        schemas: What the tools take.
        language: The language of the reason.
    """
    for name, decision in zip(names, decisions, strict=True):
        if decision.type != "edit":
            continue
        if decision.args is None:
            return say("decision_wrong_kind", language)
        if decision.name not in {"", name}:
            return say("decision_tool", language, tool=name, other=decision.name)
        if fitting_arguments(decision.args, schemas[name]) is None:
            args = canonical(decision.args)
            return say("decision_args", language, tool=name, args=args)
    return ""


def decided_call(
    call: ToolCall, decision: Decision, schemas: Schemas, language: Language
) -> ToolCall:
    """The call as it may be made, or settled where it was rejected."""
    decided = call.model_copy(update={"decision": decision.type})
    if decision.type == "reject":
        return settled(decided, OutcomeStatus.DECLINED, _why_not(decision, language))
    if decision.args is None:
        return decided
    fitting = fitting_arguments(decision.args, schemas[call.name]) or decision.args
    return decided.model_copy(update={"args": canonical(fitting)})


def _why_not(decision: Decision, language: Language) -> str:
    if decision.message.strip():
        return say("rejected_because", language, reason=decision.message.strip())
    return say("rejected", language)
