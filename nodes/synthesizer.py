"""The synthesizer: writes the answer from results and failures, without seeing the goal."""

from hansei.nodes.effects import Body, ModelCall, ask_model
from hansei.nodes.kit import Kit
from hansei.nodes.prompting import LANGUAGE_NAMES, render, shown_failure
from hansei.policies.budget import budget_told
from hansei.policies.cleaning import clean_answer
from hansei.policies.endings import done, undone
from hansei.policies.fencing import one_line, plain, shown
from hansei.policies.follow_up import said
from hansei.policies.goals import MAX_GOAL
from hansei.policies.progress import advance
from hansei.policies.records import AnswerAttempt
from hansei.policies.settings import Settings
from hansei.policies.state import AgentState
from hansei.policies.tool_text import looks_like_tool_call
from hansei.policies.words import AnswerStatus

Update = dict[str, object]


def synthesize(state: AgentState, kit: Kit, settings: Settings) -> Body[Update]:
    """Write one draft of the answer. A text that cannot be had is an empty draft."""
    # Nothing waits any more, unless somebody has edited steps on which others depend.
    settled = advance(state.steps, state.in_order, settings, stopped=True).steps
    steps = state.model_copy(update={"steps": {**state.steps, **settled}}).ordered_steps
    results, missing = done(steps), undone(steps)
    name = "synthesizer" if results else "synthesizer_failed"
    messages = render(
        name,
        state.language,
        goal="" if settings.goal_blind else shown(state.goal, cap=MAX_GOAL),
        brief=one_line(state.brief),
        hint=plain(state.answer_hint),
        done=[{"description": one_line(s.description), "result": shown(s.result)} for s in results],
        undone=[shown_failure(s, state.language) for s in missing],
        settings=settings,
        answer_language=LANGUAGE_NAMES[state.language][state.language],
    )
    reply = yield from ask_model(ModelCall(role="synthesizer", messages=messages))
    known = "\n".join(
        [state.goal, *said(state.earlier), *(f"{s.description}\n{s.result}" for s in steps)]
    )
    text = clean_answer(reply.text, spoken_of=known)
    if looks_like_tool_call(text, kit.schemas):
        # It has no tools here; the markup of a call is no answer to anybody.
        text = ""
    attempt = AnswerAttempt(text=text, truncated=reply.truncated)
    return {
        "steps": settled,
        "replan_due": [],
        "answer_attempts": [*state.answer_attempts, attempt],
        "answer_status": AnswerStatus.PENDING,
        "exhausted": state.exhausted or budget_told(reply.refused, state.language),
    }
