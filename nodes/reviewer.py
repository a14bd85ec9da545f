"""The review of the answer (row P9), by easier criteria, and the end of the run."""

import time
from collections.abc import Sequence

from langchain_core.messages import AIMessage

from hansei.nodes.effects import Body
from hansei.nodes.kit import Kit
from hansei.nodes.prompting import (
    LANGUAGE_NAMES,
    new_nonce,
    prompt_version,
    render,
    shown_conditions,
    shown_failure,
)
from hansei.nodes.reflector import ask_critic
from hansei.policies.answers import answer_findings, closing_notes, honest_answer
from hansei.policies.endings import budget_fault, done, ending, undone
from hansei.policies.fencing import fenced, one_line, quoted
from hansei.policies.follow_up import asked_before, said
from hansei.policies.goals import MAX_GOAL
from hansei.policies.narrow import as_list
from hansei.policies.records import AnswerAttempt, Finding, Step, VerdictRecord
from hansei.policies.rulings import ruled, rulings, taken_back
from hansei.policies.settings import Settings
from hansei.policies.settling import reflection
from hansei.policies.state import AgentState
from hansei.policies.verdicts import Judgement, Subject, Unjudged, derive, settled_by_rule
from hansei.policies.words import AcceptedReason, AnswerStatus, FindingKind, Verdict

Update = dict[str, object]


def review_answer(state: AgentState, kit: Kit, settings: Settings) -> Body[Update]:
    """Judge the draft of the answer; send it back once, or end the run with it."""
    del kit
    steps = state.ordered_steps
    draft = state.answer_attempts[-1]
    last = len(state.answer_attempts) >= settings.syntheses
    ruling = rulings(state).answer
    if ruling is not None:
        tries = len(state.answer_attempts)
        record = ruled(ruling, attempt=tries, language=state.language, answer=True)
    else:
        record = yield from _judge(state, steps, draft, settings, last=last)
    judged = draft.model_copy(update={"verdict": record})
    attempts = [*state.answer_attempts[:-1], judged]
    rejected = record.verdict in {Verdict.RETRY, Verdict.REPLAN}
    update: Update = {
        **(taken_back(state, settings, now=time.time()) if ruling else {}),
        "answer_attempts": attempts,
        "reflections": [reflection(0, record)],
        "dispatch": [],
    }
    if rejected and (ruling or (not last and not state.exhausted)):
        return {
            **update,
            "answer_status": AnswerStatus.NONE,
            "answer_hint": record.suggestion or record.analysis,
        }
    end = _end(state, steps, draft.text, record)
    told = [*as_list(update.get("messages")), *as_list(end["messages"])]
    return {**update, **end, "messages": told}


def _judge(
    state: AgentState,
    steps: Sequence[Step],
    draft: AnswerAttempt,
    settings: Settings,
    *,
    last: bool,
) -> Body[VerdictRecord]:
    findings = answer_findings(
        draft.text,
        steps,
        goal=_spoken_of(state),
        conditions=state.conditions,
        language=state.language,
        truncated=draft.truncated,
    )
    subject = Subject(
        result=draft.text,
        conditions=state.conditions,
        attempt=len(state.answer_attempts),
        retries_left=not last,
        language=state.language,
        task=state.goal,
    )
    # Where nothing was done the answer only tells so, which the rules have just checked.
    asks = settings.reviews_answer and bool(done(steps)) and not state.exhausted
    if settled_by_rule(findings) or not asks:
        return _by_rule(findings, subject, asks=settings.reflection != "never")
    nonce = new_nonce()
    messages = render(
        "reviewer",
        state.language,
        goal=quoted(state.goal, cap=MAX_GOAL),
        earlier=asked_before(state.earlier),
        conditions=shown_conditions(state.conditions),
        signals=[one_line(f.reason) for f in findings if f.kind is FindingKind.SIGNAL],
        done=[
            {"description": one_line(s.description), "result": quoted(s.result)}
            for s in done(steps)
        ],
        undone=[shown_failure(s, state.language) for s in undone(steps)],
        answer=fenced(draft.text, nonce=nonce, label="answer"),
        settings=settings,
        answer_language=LANGUAGE_NAMES[state.language][state.language],
    )
    reply = yield from ask_critic(
        "reviewer",
        messages,
        settings,
        state.language,
        foreign=[draft.text, *(s.result for s in done(steps))],
    )
    record = derive(Judgement(findings=findings, reply=reply), subject)
    return record.model_copy(update={"prompt_version": prompt_version(settings, "reviewer")})


def _spoken_of(state: AgentState) -> str:
    """What an answer may name beside the records: the goal, and what was said before it."""
    return "\n".join([state.goal, *said(state.earlier)])


def _by_rule(findings: Sequence[Finding], subject: Subject, *, asks: bool) -> VerdictRecord:
    """The rules' verdict where no model reviews: a signal that weighs sends the answer back."""
    weighing = [f for f in findings if f.kind is FindingKind.SIGNAL and f.hint]
    if asks and weighing and not settled_by_rule(findings):
        findings = [
            f.model_copy(update={"kind": FindingKind.VETO_RETRY}) if f in weighing else f
            for f in findings
        ]
    why = Unjudged(reason="", why=AcceptedReason.NOT_REVIEWED)
    return derive(Judgement(findings=findings, reply=why), subject)


def _end(state: AgentState, steps: Sequence[Step], text: str, record: VerdictRecord) -> Update:
    """The last word: an answer that hides nothing, and the status of the run."""
    honest, kept = honest_answer(text, steps, state.language, goal=_spoken_of(state))
    if record.verdict is Verdict.PASS and kept:
        status, reason = AnswerStatus.VERIFIED, ""
    else:
        unjudged = record.unjudged if record.verdict is None and kept else None
        status = AnswerStatus.ACCEPTED
        reason = str(unjudged or AcceptedReason.RETRIES_USED_UP)
    exhausted = state.exhausted or record.refused or budget_fault(steps)
    notes = closing_notes(
        steps,
        answer_reason=reason,
        exhausted=exhausted,
        needs_human=state.needs_human,
        language=state.language,
    )
    answer = "\n\n".join([honest, *notes])
    end = ending(
        steps,
        answer_status=status,
        answer_reason=reason,
        exhausted=bool(exhausted),
        needs_human=bool(state.needs_human),
    )
    return {
        "answer": answer,
        "answer_status": status,
        "answer_reason": reason,
        "status": end.status,
        "verified": end.verified,
        "exhausted": exhausted,
        "messages": [AIMessage(content=answer)],
    }
