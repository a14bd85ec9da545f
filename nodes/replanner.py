"""The replanner: what takes the place of the steps that failed."""

import time
from collections.abc import Sequence

from pydantic import JsonValue

from hansei.nodes.asking import ask_structured, closed_schema
from hansei.nodes.effects import Body
from hansei.nodes.kit import Kit, tool_list
from hansei.nodes.planner import step_fields
from hansei.nodes.prompting import LANGUAGE_NAMES, render, shown_turns
from hansei.policies.budget import budget_told
from hansei.policies.drafts import PlanDraft, ReplanDraft, StepDraft
from hansei.policies.endings import done
from hansei.policies.fencing import one_line, shown
from hansei.policies.goals import MAX_GOAL
from hansei.policies.lint import LintContext, Linted, correct, lint, working_steps
from hansei.policies.planning import apply_replan, cut_steps, sift, waiting
from hansei.policies.progress import due, planned
from hansei.policies.records import Step, Waiting
from hansei.policies.settings import Settings
from hansei.policies.state import AgentState

Update = dict[str, object]


def replan(state: AgentState, kit: Kit, settings: Settings) -> Body[Update]:
    """Ask for a replan that differs, and put it into the plan. It may be empty."""
    steps = state.ordered_steps
    failed = [state.steps[i] for i in due(state)]
    context = LintContext(
        goal=state.goal,
        tools=frozenset(kit.tools),
        max_steps=settings.max_steps,
        known=frozenset(str(s.id) for s in [*done(steps), *waiting(state.steps)]),
        language=state.language,
        whole=False,
    )
    messages = render(
        "replanner",
        state.language,
        tools=tool_list(kit),
        goal=shown(state.goal, cap=MAX_GOAL),
        history=shown_turns(state.earlier),
        max_steps=settings.max_steps,
        first_id=max(state.steps, default=0) + 1,
        done=[_shown(s) for s in done(steps)],
        failed=[_shown(s) for s in failed],
        waiting=[_shown(s) for s in waiting(state.steps)],
        settings=settings,
        answer_language=LANGUAGE_NAMES[state.language][state.language],
    )
    reply = yield from ask_structured(
        "replanner",
        messages,
        ReplanDraft,
        _schema(state, kit, settings),
        repairs=settings.max_repairs,
        language=state.language,
        check=lambda draft: _problems(draft, state, context),
    )
    draft = reply.value or ReplanDraft(steps=[], given_up=[str(i) for i in state.replan_due])
    exhausted = budget_told(reply.refused, state.language)
    return _apply(draft, state, settings, context, effects=kit.effects, exhausted=exhausted)


def _schema(state: AgentState, kit: Kit, settings: Settings) -> dict[str, JsonValue]:
    """The schema of a replan: it can only name failed and waiting steps that there are."""
    fields = step_fields(kit.tools, first=max(state.steps, default=0) + 1)
    failed = _some_of(state.replan_due)
    left = _some_of([s.id for s in waiting(state.steps)])
    targets: dict[str, JsonValue] = {"stands_in_for": failed, "given_up": failed, "drop": left}
    return closed_schema(
        ReplanDraft,
        title="replan",
        fields={**fields, **targets},
        most={"steps": settings.max_steps},
    )


def _some_of(ids: Sequence[int]) -> JsonValue:
    if not ids:
        return {"type": "array", "items": {"type": "integer"}, "maxItems": 0}
    return {"type": "array", "items": {"enum": list(ids)}, "maxItems": len(ids)}


def _shown(step: Step) -> dict[str, object]:
    return {
        "id": step.id,
        "description": one_line(step.description),
        "tool": step.tool,
        "result": shown(step.result),
        "reason": one_line(step.reason),
    }


def _problems(draft: ReplanDraft, state: AgentState, context: LintContext) -> Sequence[str]:
    sifted = sift(working_steps(draft.steps), state.steps)
    repeated = [
        f'"{text}" repeats a step that failed; do it differently or give it up.'
        for text in sifted.refused
    ]
    plan = _as_plan(draft, working_steps(draft.steps))
    return repeated + (lint(plan, context) if plan.steps else [])


def _as_plan(draft: ReplanDraft, steps: Sequence[StepDraft]) -> PlanDraft:
    return PlanDraft(analysis=draft.analysis, steps=list(steps))


def _apply(
    draft: ReplanDraft,
    state: AgentState,
    settings: Settings,
    context: LintContext,
    *,
    effects: frozenset[str],
    exhausted: str,
) -> Update:
    sifted = sift(working_steps(draft.steps), state.steps, effects=effects)
    room = settings.max_steps - len(waiting(state.steps))
    linted = correct(_as_plan(draft, sifted.novel), context) if sifted.novel else Linted([], [])
    if isinstance(linted, str):
        linted = Linted([], [])
    room = max(0, room)
    fitting = Linted(linted.steps[:room], [], notes=linted.notes)
    replanned = apply_replan(state.steps, state.replan_due, fitting, draft, language=state.language)
    rest = cut_steps(
        [*linted.steps[room:], *linted.cut],
        first=max([*state.steps, *replanned.new]) + 1,
        limit=settings.max_steps,
        language=state.language,
    )
    new = {**replanned.steps, **{step.id: step for step in rest}}
    order = [*state.in_order, *replanned.new, *(step.id for step in rest)]
    asks = Waiting(kind="replan", steps=list(replanned.new), since=time.time())
    move = planned(
        {**state.steps, **new},
        order,
        settings,
        asks=asks if state.gates.replans else None,
        stopped=bool(exhausted),
    )
    notes = [
        *state.notes,
        *linted.notes,
        *replanned.notes,
        *(f"refused as a repetition: {text}" for text in sifted.refused),
        *(f"left out, as it is done: {text}" for text in sifted.done),
    ]
    return {
        "steps": {**new, **move.steps},
        "order": order,
        "dispatch": move.dispatch,
        "waiting": move.waiting,
        "replan_due": [],
        "exhausted": exhausted or state.exhausted,
        "notes": notes,
    }
