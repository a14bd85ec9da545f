"""The answer held against the steps: what it hides or leaves out, and its honest form."""

from collections.abc import Sequence

from hansei.policies.carried_out import (
    carried_out_notes,
    changes_of,
    left_behind,
    may_have_changed,
    shown_calls,
)
from hansei.policies.checks import CheckInput, condition_findings
from hansei.policies.contradictions import Contradiction, contradictions
from hansei.policies.disclosure import backed, disclosure
from hansei.policies.endings import counted, done, refused_by_human, undone, unvouched
from hansei.policies.joining import listed
from hansei.policies.language import fits_language, language_of
from hansei.policies.phrases import say
from hansei.policies.plain_failure import plainly_told
from hansei.policies.recital import recital
from hansei.policies.records import Condition, Finding, Step
from hansei.policies.text import (
    content_terms,
    identifiers,
    is_blank,
    mentions,
    normal_id,
    numbers,
)
from hansei.policies.words import AcceptedReason, FindingKind, Language, StepStatus, VerdictSource


def facts(step: Step) -> frozenset[str]:
    """The facts of a step's result that an answer can be held to: ids and numbers."""
    found = {normal_id(i) for i in identifiers(step.result)}
    found |= {str(n) for n in numbers(step.result) if abs(n) >= 10}
    return frozenset(found)


def uncovered(text: str, steps: Sequence[Step]) -> list[Step]:
    """The completed steps of which a text holds no fact, nor a term where they have no facts."""
    has = {normal_id(i) for i in identifiers(text)} | {str(n) for n in numbers(text)}
    plain = normal_id(text)
    return [s for s in done(steps) if not _covers(text, s, has=has, plain=plain)]


def _covers(text: str, step: Step, *, has: set[str], plain: str) -> bool:
    wanted = facts(step)
    if not wanted and language_of(step.result) != language_of(text):
        return True  # words of two languages cannot be compared; the reviewer's model can
    if wanted:
        return not has.isdisjoint(wanted) or any(fact in plain for fact in wanted)
    terms = content_terms(step.result)
    return not terms or mentions(text, terms)


def answer_findings(
    text: str,
    steps: Sequence[Step],
    *,
    goal: str,
    conditions: Sequence[Condition],
    language: Language,
    truncated: bool = False,
) -> list[Finding]:
    """What the rules see in an answer: blank, cut off, hidden failures, what is missing."""
    if is_blank(text):
        reason = say("blank", language)
        return [_veto("answer_text", reason, reason)]
    found = _text_findings(text, steps, language, truncated=truncated)
    for step in undone(steps):
        if disclosure(text, step, steps) != "disclosed":
            values = {"step": step.description, "reason": told_reason(step, language)}
            reason = say("disclose", language, **values)
            found.append(_veto("disclosure", reason, say("hint_disclose", language, **values)))
    for said in contradictions(text, steps, goal=goal):
        reason, hint = _against_records(said, language)
        found.append(Finding(check=f"records {said.kind}", reason=reason, hint=hint))
    for step in uncovered(text, steps):
        reason = say("uncovered", language, step=step.description)
        hint = say("hint_uncovered", language, step=f"{step.description}: {step.result}")
        found.append(Finding(check="coverage", reason=reason, hint=hint))
    if not done(steps):
        # Nothing was done, so there is nothing that could deal with a condition.
        return found
    data = CheckInput(goal=goal, step=Step(), result=text, conditions=conditions, language=language)
    return found + condition_findings(data, step=0)


def _text_findings(
    text: str, steps: Sequence[Step], language: Language, *, truncated: bool
) -> list[Finding]:
    """What is wrong with a text as a text, whatever it says."""
    found: list[Finding] = []
    if truncated:
        found.append(_veto("answer_text", say("cut", language), say("hint_cut", language)))
    if not fits_language(text, language):
        reason = say("wrong_language", language)
        found.append(_veto("answer_language", reason, say("hint_language", language)))
    words = _recital(text, steps)
    if words:
        reason = say("recites", language, words=words[:60])
        found.append(_veto("recited", reason, say("hint_recites", language)))
    return found


_SHOWN = 160
"""Characters of a sentence that is told to be without a record: a long sentence, whole."""


def _against_records(said: Contradiction, language: Language) -> tuple[str, str]:
    """What the records do not bear out in a sentence, and what to write instead."""
    if said.step is not None:
        values = {"step": said.step.description, "result": said.step.result}
        return say("denied", language, **values), say("hint_denied", language, **values)
    values = {"claim": said.sentence[:_SHOWN]}
    return say("no_record", language, **values), say("hint_no_record", language, **values)


def _recital(text: str, steps: Sequence[Step]) -> str:
    return recital(text, sources=[part for s in steps for part in (s.description, s.result)])


def _veto(check: str, reason: str, hint: str) -> Finding:
    return Finding(kind=FindingKind.VETO_RETRY, check=check, reason=reason, hint=hint)


def reason_of(step: Step, language: Language) -> str:
    """Why a step was not done, in the user's language."""
    if step.status is StepStatus.SKIPPED and step.depends_on and step.reason:
        return say("depends_on_failed", language, steps=step.reason)
    return step.reason


def told_reason(step: Step, language: Language) -> str:
    """Why a step was not done, and what it changed all the same, for whoever writes about it."""
    reason = reason_of(step, language)
    calls = changes_of(step)
    if not calls:
        return reason
    return say("but_carried_out", language, reason=reason, calls=shown_calls(calls, language))


def _sentence(step: Step, language: Language) -> str:
    reason = reason_of(step, language).strip().rstrip("。.")
    key = "not_confirmed" if changes_of(step) else "not_done"
    critic = bool(step.verdicts) and step.verdicts[-1].source is VerdictSource.CRITIC
    if critic and language_of(reason) != language:
        reason = ""  # a model's own words, in a language that the user did not ask in
    if not reason:
        return say(f"{key}_given_up", language, step=step.description.rstrip("。."))
    return say(key, language, step=step.description.rstrip("。."), reason=reason)


def rule_answer(steps: Sequence[Step], language: Language) -> str:
    """An answer made from the records alone, for when no model's text can be used."""
    lines = [step.result.strip() for step in done(steps) if step.result.strip()]
    missing = undone(steps)
    if not lines:
        lines.append(say("nothing_done", language))
    lines += [_sentence(step, language) for step in missing]
    refused = any(map(refused_by_human, missing))
    if missing and not refused and not left_behind(steps) and not may_have_changed(steps):
        # Trying again is no advice where something was changed already, or may have been.
        lines.append(say("what_now", language))
    return "\n".join(lines)


def honest_answer(
    text: str, steps: Sequence[Step], language: Language, *, goal: str = ""
) -> tuple[str, bool]:
    """The text in a form that hides nothing, and whether the model's text could be kept.

    A blank text, one that recites the prompt, one in the wrong language, one that contradicts a
    failure or denies a success, and one that speaks of nothing that was done are replaced by the
    records. Where it only denies something near a failed step's name, the records' own sentence
    is added. An action or an id that no record knows is marked as such. Where a
    text merely leaves a failure out, plain sentences tell it, and of the text only what speaks
    of completed steps or owns up is kept: "your parcel is here" does neither.
    """
    results = done(steps)
    kinds = {s.id: disclosure(text, s, steps) for s in undone(steps)}
    usable = (
        not is_blank(text)
        and not _recital(text, steps)
        and fits_language(text, language)
        and "contradicted" not in kinds.values()
    )
    unclear = [
        s
        for s in undone(steps)
        if kinds[s.id] == "disclosed"
        and (not plainly_told(text, s, steps) or (refused_by_human(s) and s.reason not in text))
    ]
    omitted = [s for s in undone(steps) if kinds[s.id] == "omitted"]
    # Where nothing was even tried, there is nothing that a text could tell.
    kept = backed(text, results) if omitted or not (results or kinds) else text.strip()
    # Of what was never done, since a human said no, a model can only make something up.
    only_refused = bool(kinds) and not results and all(map(refused_by_human, undone(steps)))
    if not usable or not kept or only_refused:
        return rule_answer(steps, language), False
    against = contradictions(kept, steps, goal=goal)
    if any(said.kind == "denied" for said in against):
        return rule_answer(steps, language), False
    marks = [_against_records(said, language)[0] for said in against]
    left_out = [s.result.strip() for s in uncovered(kept, steps)]
    lines = [kept, *left_out, *(_sentence(s, language) for s in [*omitted, *unclear]), *marks]
    return "\n".join(lines), not marks


def closing_notes(
    steps: Sequence[Step],
    *,
    answer_reason: str,
    exhausted: str,
    needs_human: str = "",
    language: Language,
) -> list[str]:
    """Plain sentences that end an answer: what ended the run, was changed, is not verified.

    Args:
        steps: All steps.
        answer_reason: Why the answer is only accepted; empty when it was verified.
        exhausted: Which budget ended the run; empty when none did.
        needs_human: What only a human can find out or decide; empty when nothing is.
        language: The language of the answer.
    """
    parts = counted(steps)
    notes: list[str] = []
    if needs_human:
        notes.append(say("needs_human", language, reason=needs_human))
    if exhausted:
        notes.append(say("exhausted", language, reason=exhausted))
    notes += carried_out_notes(steps, language, human_asked=bool(needs_human))
    doubtful = unvouched(parts)
    if doubtful:
        names = listed((s.description.rstrip("。.") for s in doubtful), language)
        notes.append(say("unverified", language, steps=names))
    elif answer_reason and answer_reason != AcceptedReason.NOT_REVIEWED and done(parts):
        notes.append(say("answer_unverified", language))
    unreviewed = unreviewed_note(parts, answer_reason=answer_reason, language=language)
    if unreviewed:
        notes.append(unreviewed)
    return notes


def unreviewed_note(steps: Sequence[Step], *, answer_reason: str, language: Language) -> str:
    """What the user's own settings left without a look back; empty where nothing was."""
    results = done(counted(steps))
    parts = [
        s.description.rstrip("。.") for s in results if s.reason == AcceptedReason.NOT_REVIEWED
    ]
    if results and answer_reason == AcceptedReason.NOT_REVIEWED:
        if len(parts) == len(results):
            return say("not_reviewed", language)
        parts.append(say("answer_itself", language))
    told = listed(parts, language, between="; ")
    return say("parts_not_reviewed", language, parts=told) if parts else ""
