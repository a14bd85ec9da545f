"""The planner: from a goal to steps, linted before the first of them runs."""

import time
from collections.abc import Iterable, Sequence
from functools import lru_cache
from uuid import uuid4

from langchain_core.messages import AIMessage, AnyMessage, HumanMessage
from langgraph.types import Overwrite
from pydantic import JsonValue

from hansei.nodes.asking import Asked, ask_structured, closed_schema
from hansei.nodes.effects import Body
from hansei.nodes.kit import Kit, tool_list
from hansei.nodes.prompting import LANGUAGE_NAMES, render, shown_turns
from hansei.policies.budget import budget_told
from hansei.policies.conditions import bind_conditions, merge_conditions
from hansei.policies.drafts import PlanDraft
from hansei.policies.errors import EndpointError
from hansei.policies.fencing import shown
from hansei.policies.follow_up import Turn, earlier_turns
from hansei.policies.goals import MAX_GOAL, choose_goal
from hansei.policies.language import asked_language, speaks
from hansei.policies.lint import LintContext, Linted, correct, is_small_talk, lint
from hansei.policies.own_words import in_language
from hansei.policies.phrases import say
from hansei.policies.planning import cut_steps, number_steps
from hansei.policies.progress import planned
from hansei.policies.records import Waiting
from hansei.policies.settings import Settings, worst_case_calls
from hansei.policies.state import AgentState
from hansei.policies.words import AcceptedReason, AnswerStatus, Language, RunStatus

Update = dict[str, object]


def step_fields(tools: Iterable[str], *, first: int) -> dict[str, JsonValue]:
    """What a step may say, as narrow as it is known: numbers from `first`, tools that exist."""
    return {
        "id": {"type": "integer", "minimum": first},
        "tool": {"enum": [*tools, None]},
        "depends_on": {"type": "array", "items": {"type": "integer", "minimum": 1}},
        "concerns": {"type": "array", "items": {"type": "integer", "minimum": 1}},
    }


@lru_cache(maxsize=32)  # agents of one process with tools or limits of their own
def plan_schema(tools: tuple[str, ...], max_steps: int) -> dict[str, JsonValue]:
    """The schema of a first plan; the same one each time, since a model is bound to it."""
    return closed_schema(
        PlanDraft,
        title="plan",
        fields=step_fields(tools, first=1),
        omit=frozenset({"stands_in_for"}),
        most={"steps": max_steps},
    )


def plan(state: AgentState, kit: Kit, settings: Settings) -> Body[Update]:
    """Make a plan, or answer at once where there is no work."""
    goal, asked = choose_goal(state)
    # A goal that was given beside the messages came after all of them.
    earlier = earlier_turns(state.messages, asked=asked if asked != state.asked else "", goal=goal)
    language = _language(goal, earlier, settings)
    context = LintContext(
        goal=goal,
        tools=frozenset(kit.tools),
        max_steps=settings.max_steps,
        language=language,
        earlier=earlier,
    )
    messages = render(
        "planner",
        language,
        tools=tool_list(kit),
        goal=shown(goal, cap=MAX_GOAL),
        max_steps=settings.max_steps,
        history=shown_turns(earlier),
        settings=settings,
        answer_language=LANGUAGE_NAMES[language][language],
    )
    reply = yield from ask_structured(
        "planner",
        messages,
        PlanDraft,
        plan_schema(tuple(kit.tools), settings.max_steps),
        repairs=settings.max_repairs,
        language=language,
        check=lambda draft: lint(draft, context),
        last_resort=lambda text: _spoken(text, goal),
    )
    if reply.failure:
        msg = f"The planner's model failed: {reply.failure}. {reply.advice}."
        raise EndpointError(msg)
    question, asked = _question(state, goal, asked)
    decided = _decide(reply, goal, context, settings, held=state.gates.plan)
    answer = decided.get("answer")
    told = [AIMessage(content=answer)] if isinstance(answer, str) else []
    return {
        "goal": goal,
        "asked": asked,
        "asked_goal": goal,
        "language": language,
        "bound": worst_case_calls(settings),
        **decided,
        "messages": [*question, *told],
    }


def _language(goal: str, earlier: Sequence[Turn], settings: Settings) -> Language:
    """The answer's language; a goal without words ("10002?") goes on in the earlier one."""
    if settings.language != "auto":
        return settings.language
    questions = [turn.text for turn in earlier if turn.speaker == "user"]
    return asked_language(next((text for text in [goal, *questions[::-1]] if speaks(text)), goal))


def _decide(
    reply: Asked[PlanDraft], goal: str, context: LintContext, settings: Settings, *, held: bool
) -> Update:
    language = context.language
    if reply.refused:
        return {"exhausted": budget_told(reply.refused, language)}
    draft = reply.value
    if is_small_talk(goal):
        # There is no work in it, whatever steps a model makes up.
        said = draft.answer.strip() if draft is not None else ""
        return _direct([said or say("hello", language)])
    if draft is None:
        return _failed(say("planner_unreadable", language, reason=reply.reason), language)
    linted = correct(draft, context)
    if isinstance(linted, str):
        return _failed(
            say("planner_unreadable", language, reason=in_language(linted, language)), language
        )
    if not linted.steps:
        return _direct([draft.answer.strip(), say("direct", language)])
    return _planned(draft, linted, context, settings, held=held)


def _planned(
    draft: PlanDraft, linted: Linted, context: LintContext, settings: Settings, *, held: bool
) -> Update:
    goal, language = context.goal, context.language
    before = [turn.text for turn in context.earlier if turn.speaker == "user"]
    steps, ids = number_steps(linted.steps, first=1)
    rest = cut_steps(linted.cut, first=len(steps) + 1, limit=settings.max_steps, language=language)
    conditions = (
        merge_conditions(goal, linted.conditions, ids, earlier=before)
        if settings.conditions
        else []
    )
    by_id = {step.id: step for step in [*steps, *rest]}
    order = list(by_id)
    asks = Waiting(kind="plan", steps=[s.id for s in steps], since=time.time()) if held else None
    move = planned(by_id, order, settings, asks=asks)
    return {
        "steps": Overwrite({**by_id, **move.steps}),
        "order": order,
        "dispatch": move.dispatch,
        "waiting": move.waiting,
        "conditions": bind_conditions(conditions, steps),
        "brief": draft.brief.strip(),
        "notes": linted.notes,
    }


def _spoken(text: str, goal: str) -> PlanDraft | None:
    """A greeting answered in prose is an answer; any other prose is no plan."""
    if is_small_talk(goal) and text.strip() and "{" not in text:
        return PlanDraft(steps=[], answer=text.strip())
    return None


def _direct(parts: Sequence[str]) -> Update:
    """An answer without work. Nobody verified it, and the state says so."""
    return {
        "answer": "\n\n".join(parts),
        "answer_status": AnswerStatus.ACCEPTED,
        "answer_reason": AcceptedReason.NOT_REVIEWED.value,
        "status": RunStatus.COMPLETE,
    }


def _failed(reason: str, language: Language) -> Update:
    answer = f"{say('nothing_done', language)}{'' if language == 'zh' else ' '}{reason}"
    return {
        "answer": answer,
        "answer_status": AnswerStatus.ACCEPTED,
        "answer_reason": AcceptedReason.NOT_JUDGED.value,
        "status": RunStatus.FAILED,
        "reason": reason,
    }


def _question(state: AgentState, goal: str, asked: str) -> tuple[list[AnyMessage], str]:
    """The message to add for a goal that was not given as one, and the id of the goal's message."""
    if asked and asked != state.asked:
        return [], asked
    message = HumanMessage(content=goal, id=str(uuid4()))
    return [message], str(message.id)
