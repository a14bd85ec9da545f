"""A human's leave: for a plan, for a replan, and for single calls before they are made."""

import time
from collections.abc import Sequence

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
from hansei.policies.attempts import with_calls
from hansei.policies.decided import (
    asked_about,
    calls_problem,
    decided_call,
    decided_plan,
    plan_context,
    plan_problem,
)
from hansei.policies.phrases import say
from hansei.policies.records import ToolCall
from hansei.policies.settings import Settings
from hansei.policies.state import AgentState, StepTask
from hansei.policies.words import Language

Update = dict[str, object]


def approve(state: AgentState, kit: Kit, settings: Settings) -> Body[Update]:
    """Ask whether what was planned may be done, and go on by the answer."""
    waiting, steps = asked_about(state)
    context = plan_context(state, settings, tools=frozenset(kit.tools))
    (decision,) = yield from _ask(
        plan_question(waiting.kind, steps, state.language),
        1,
        state.language,
        lambda found: plan_problem(found[0], context),
    )
    return decided_plan(state, decision, settings, context, now=time.time())


def approved_calls(
    places: Sequence[int], task: StepTask, kit: Kit
) -> Body[tuple[StepTask, dict[int, ToolCall]]]:
    """Ask for the calls of a round that must not be made without leave.

    Args:
        places: Calls of the last round that are about to be made.
        task: The step.
        kit: The tools.

    Returns:
        The task with the calls as they were decided on, and those that were declined.
    """
    calls = task.step.round_calls
    asked = [i for i in places if calls[i].name in task.gated]
    if not asked:
        return task, {}
    language = task.language
    names = [calls[i].name for i in asked]
    decisions = yield from _ask(
        tools_question(task.step, [calls[i] for i in asked], language),
        len(asked),
        language,
        lambda found: calls_problem(found, names, kit.schemas, language),
    )
    decided = {
        i: decided_call(calls[i], decision, kit.schemas, language)
        for i, decision in zip(asked, decisions, strict=True)
    }
    declined = {i: call for i, call in decided.items() if call.outcome is not None}
    return task.model_copy(update={"step": with_calls(task.step, decided)}), declined


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
