"""From findings and a reflector's answers to a verdict, and from a verdict to a step.

`derive` and `apply_verdict` are the only places where a verdict is made or acted on, and
both are pure: every input of a verdict stands in its record.
"""

from collections.abc import Sequence
from dataclasses import dataclass, field

from hansei.policies.condition_hints import condition_hint
from hansei.policies.critic_reply import ConditionReply, ReflectorReply
from hansei.policies.joining import clauses
from hansei.policies.phrases import say
from hansei.policies.records import (
    Condition,
    ConditionAnswer,
    Finding,
    Step,
    VerdictRecord,
)
from hansei.policies.settings import Settings
from hansei.policies.text import contains_quote
from hansei.policies.words import (
    AcceptedReason,
    FindingKind,
    Language,
    Progress,
    StepStatus,
    Verdict,
    VerdictSource,
)


@dataclass(frozen=True, slots=True)
class Subject:
    """What is judged: a result with the evidence behind it."""

    result: str
    evidence: Sequence[str] = ()
    conditions: Sequence[Condition] = ()
    attempt: int = 1
    retries_left: bool = True
    language: Language = "en"
    task: str = ""
    """The goal, and the step's task: they tell what a hint should ask for."""


@dataclass(frozen=True, slots=True)
class Unjudged:
    """The reflector's model was asked, or should have been, and gave no verdict."""

    reason: str
    why: AcceptedReason = AcceptedReason.NOT_JUDGED
    raw: str = ""
    refused: str = ""
    """The budget that forbade asking, if one did."""


@dataclass(frozen=True, slots=True)
class Judgement:
    """What is known before a verdict is made."""

    findings: Sequence[Finding] = field(default_factory=tuple)
    reply: ReflectorReply | Unjudged | None = None
    """`None`: the model was not asked, because nothing was left to ask."""


_STRENGTH = {
    FindingKind.VETO_REPLAN: Verdict.REPLAN,
    FindingKind.VETO_RETRY: Verdict.RETRY,
}
"""Vetoes, strongest first."""


def standing_veto(findings: Sequence[Finding]) -> Finding | None:
    """The strongest veto among the findings."""
    for kind in _STRENGTH:
        for finding in findings:
            if finding.kind is kind:
                return finding
    return None


def settled_by_rule(findings: Sequence[Finding]) -> bool:
    """Whether the findings alone make the verdict, so that no model need be asked."""
    kinds = {finding.kind for finding in findings}
    if kinds & set(_STRENGTH):
        return True
    blocking = {FindingKind.SIGNAL, FindingKind.UNKNOWN}
    return FindingKind.PASS in kinds and not kinds & blocking


def derive(judgement: Judgement, subject: Subject) -> VerdictRecord:
    """The verdict that follows from a judgement.

    In this order: a veto; a PASS of a check that nothing speaks against; the reflector's
    answers. Its word counts with these limits: a quote that it gives must stand in the
    result or the evidence, a signal that says what to change outweighs its PASS, and it
    cannot vouch for what a check failed to look at.
    """
    findings = list(judgement.findings)
    base = VerdictRecord(attempt=subject.attempt, findings=findings)
    veto = standing_veto(findings)
    if veto is not None:
        return base.model_copy(
            update={
                "verdict": _STRENGTH[veto.kind],
                "source": veto.source,
                "veto": True,
                "analysis": veto.reason,
                "suggestion": _hints(findings, subject.language) or veto.reason,
            }
        )
    if settled_by_rule(findings):
        passed = next(f for f in findings if f.kind is FindingKind.PASS)
        return base.model_copy(
            update={
                "verdict": Verdict.PASS,
                "source": passed.source,
                "analysis": passed.reason or passed.check,
            }
        )
    reply = judgement.reply
    if reply is None or isinstance(reply, Unjudged):
        return _unjudged(base, reply)
    return _from_critic(base, reply, findings, subject)


def _unjudged(base: VerdictRecord, reply: Unjudged | None) -> VerdictRecord:
    why = reply or Unjudged(reason="", why=AcceptedReason.NOT_REVIEWED)
    unknown = [f.reason for f in base.findings if f.kind is FindingKind.UNKNOWN]
    if unknown and why.why is AcceptedReason.NOT_REVIEWED:
        # Somebody wanted it checked, so that it was not is no choice of theirs.
        why = Unjudged(reason=unknown[0])
    return base.model_copy(
        update={
            "unjudged": why.why,
            "analysis": why.reason,
            "raw": why.raw,
            "refused": why.refused,
        }
    )


def _from_critic(
    base: VerdictRecord, reply: ReflectorReply, findings: Sequence[Finding], subject: Subject
) -> VerdictRecord:
    sources = [subject.result, *subject.evidence]
    answers = [_answer(item, sources) for item in reply.conditions]
    found = _found(reply.quote, sources)
    record = base.model_copy(
        update={
            "source": VerdictSource.CRITIC,
            "analysis": reply.analysis.strip(),
            "suggestion": reply.suggestion.strip(),
            "conditions": answers,
            "model_verdict": reply.verdict,
            "quote": reply.quote.strip(),
            "quote_found": found,
        }
    )
    if reply.verdict is Verdict.REPLAN:
        # Giving a result up is the dearest verdict: it needs words that can be pointed at.
        verdict = Verdict.RETRY if found is False else Verdict.REPLAN
        return record.model_copy(
            update={"verdict": verdict, "suggestion": record.suggestion or record.analysis}
        )
    objections = _objections(findings, answers, subject)
    if reply.verdict is Verdict.RETRY or objections:
        return _retry(record, reply, objections, subject.language)
    if any(f.kind is FindingKind.UNKNOWN for f in findings):
        return _no_vouching(record, say("evaluator_unknown", subject.language))
    if found is False:
        return _no_vouching(record, say("quote_missing", subject.language))
    return record.model_copy(update={"verdict": Verdict.PASS})


def _objections(
    findings: Sequence[Finding], answers: Sequence[ConditionAnswer], subject: Subject
) -> list[str]:
    """What speaks against a PASS, as hints.

    A signal with a hint knows what to change, so it weighs; one without only made the model
    look. Once no retry is left, words that were found settle a condition.
    """
    by_id = {c.id: c for c in subject.conditions}
    settled = (
        set[str]()
        if subject.retries_left
        else {f"condition {a.condition}" for a in answers if a.met and a.quote_found}
    )
    hints = [
        f.hint
        for f in findings
        if f.kind is FindingKind.SIGNAL and f.hint and f.check not in settled
    ]
    for answer in answers:
        condition = by_id.get(answer.condition)
        if answer.met or (condition and any(condition.quote in hint for hint in hints)):
            continue
        if condition:
            hints.append(condition_hint(condition, subject.language, task=subject.task))
        else:
            # It objects to something; that it counts wrongly makes this no agreement.
            hints.append(say("unmet_unknown", subject.language))
    return hints


def _retry(
    record: VerdictRecord, reply: ReflectorReply, objections: list[str], language: Language
) -> VerdictRecord:
    own = record.suggestion if reply.verdict is Verdict.RETRY else ""
    parts = list(dict.fromkeys(part for part in [*objections, own] if part))
    overruled = reply.verdict is Verdict.PASS
    return record.model_copy(
        update={
            "verdict": Verdict.RETRY,
            "source": VerdictSource.RULE if overruled else VerdictSource.CRITIC,
            "analysis": clauses(objections, language) if overruled else record.analysis,
            "suggestion": clauses(parts, language) or record.analysis,
        }
    )


def _no_vouching(record: VerdictRecord, reason: str) -> VerdictRecord:
    return record.model_copy(
        update={
            "verdict": None,
            "source": VerdictSource.NONE,
            "analysis": reason,
            "unjudged": AcceptedReason.NOT_JUDGED,
        }
    )


def _answer(item: ConditionReply, sources: Sequence[str]) -> ConditionAnswer:
    return ConditionAnswer(
        condition=item.id,
        met=item.met,
        quote=item.quote.strip(),
        quote_found=_found(item.quote, sources),
    )


def _found(quote: str, sources: Sequence[str]) -> bool | None:
    text = quote.strip()
    if not text:
        return None
    return any(contains_quote(source, text) for source in sources)


def _hints(findings: Sequence[Finding], language: Language) -> str:
    return clauses(dict.fromkeys(f.hint for f in findings if f.hint), language)


def apply_verdict(step: Step, record: VerdictRecord, settings: Settings) -> Step:
    """The step after a verdict: the verdict table, row by row.

    PASS makes it verified, RETRY sends it back while retries are left, REPLAN makes it
    failed, and no verdict leaves it accepted. A human's RETRY asks nobody for leave.
    """
    done = {
        "verdicts": [*step.verdicts, record],
        "verdict": None,
        "progress": Progress.FINISHED,
    }
    human = record.source is VerdictSource.HUMAN
    result = (step.result if human else "") or step.last_attempt.result
    if record.verdict is Verdict.PASS:
        return step.model_copy(
            update={**done, "status": StepStatus.VERIFIED, "result": result, "reason": ""}
        )
    if record.verdict is Verdict.REPLAN:
        return step.model_copy(
            update={**done, "status": StepStatus.FAILED, "reason": record.analysis}
        )
    if record.verdict is Verdict.RETRY:
        if human or len(step.attempts) <= settings.retries:
            again = {"progress": Progress.WAITING, "status": StepStatus.PENDING}
            blank = {"result": "", "reason": "", "hint": record.suggestion}
            return step.model_copy(update={**done, **again, **blank})
        if record.veto:
            return step.model_copy(
                update={**done, "status": StepStatus.FAILED, "reason": record.analysis}
            )
    why = record.unjudged if record.verdict is None else AcceptedReason.RETRIES_USED_UP
    return step.model_copy(
        update={
            **done,
            "status": StepStatus.ACCEPTED,
            "result": result,
            "reason": str(why or AcceptedReason.NOT_JUDGED),
        }
    )
