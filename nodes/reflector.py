"""The reflector: judges what is finished, and says what comes next.

It is the join of steps that run side by side. Everything that waits to be judged is judged
in one task, each with the chain of reflections as it stood when the task began.
"""

import time
from collections.abc import Mapping, Sequence

from langchain_core.messages import BaseMessage

from hansei.nodes.asking import Asked, ask_structured, closed_schema
from hansei.nodes.call_record import settle_open_calls
from hansei.nodes.effects import Body, side_by_side
from hansei.nodes.executor import whole_output
from hansei.nodes.kit import Kit
from hansei.nodes.prompting import (
    LANGUAGE_NAMES,
    new_nonce,
    prompt_version,
    render,
    shown_conditions,
)
from hansei.policies.budget import budget_told
from hansei.policies.checks import CheckInput, Evidence, run_checks
from hansei.policies.critic_reply import ReflectorReply, problems
from hansei.policies.fencing import fenced, one_line, quoted, scanned
from hansei.policies.follow_up import asked_before, said
from hansei.policies.goals import MAX_GOAL
from hansei.policies.modes import asks_critic
from hansei.policies.own_words import in_language
from hansei.policies.phrases import say
from hansei.policies.provenance import owed, standing_calls
from hansei.policies.reading import read_verdict_word, without_lines_of
from hansei.policies.records import Finding, Step, VerdictRecord
from hansei.policies.rulings import bound_after_edit, reopens, ruled, rulings, taken_back
from hansei.policies.schedule import finished
from hansei.policies.settings import Settings
from hansei.policies.settling import reflection, settle
from hansei.policies.state import AgentState, StepTask
from hansei.policies.verdicts import Judgement, Subject, Unjudged, derive
from hansei.policies.words import (
    Fault,
    FindingKind,
    Language,
    Role,
    Verdict,
    VerdictSource,
)

Update = dict[str, object]

CHAIN = 8
"""Reflections of the chain that are shown: the latest of a run of ordinary length."""

REFLECTOR_SCHEMA = closed_schema(ReflectorReply, title="reflection")
"""The reflector's reply, the analysis before the verdict."""


def reflect_on_steps(state: AgentState, kit: Kit, settings: Settings) -> Body[Update]:
    """Judge every finished step, then settle and start what follows.

    Where a human has given the verdict it is applied, and nobody is asked.
    """
    given = rulings(state)
    waiting = [state.steps[i] for i in finished(state.steps, state.in_order)]
    open_ones = [step for step in waiting if step.id not in given.steps]
    records = yield from side_by_side([_judge(step, state, kit, settings) for step in open_ones])
    judged = list(zip(open_ones, records, strict=True))
    for i, ruling in given.steps.items():
        task = StepTask(step=state.steps[i], run_id=state.run_id)
        step = yield from settle_open_calls(task, kit)
        tries = len(step.attempts)
        judged.append((step, ruled(ruling, attempt=tries, language=state.language)))
    settled = settle(state, judged, given, settings)
    update: Update = {
        "steps": settled.steps,
        "dispatch": settled.dispatch,
        "replan_due": settled.replan_due,
        "replans": settled.replans,
        "exhausted": settled.exhausted,
        "needs_human": settled.needs_human,
        "reflections": [
            *(reflection(i, state.steps[i].verdicts[-1]) for i in given.edited),
            *(reflection(step.id, record) for step, record in judged),
        ],
    }
    if given or reopens(state, given):
        update |= taken_back(state, settings, now=time.time())
    elif given.edited:
        update["bound"] = bound_after_edit(state, settings)
    return update


def _judge(step: Step, state: AgentState, kit: Kit, settings: Settings) -> Body[VerdictRecord]:
    """The verdict on one finished step."""
    attempt = step.last_attempt
    if attempt.fault is not Fault.NONE:
        return fault_verdict(step)
    evidence: list[Evidence] = []
    for call in standing_calls(step):
        output = yield from whole_output(call)
        evidence.append(Evidence(call=call, output=output))
    conditions = [c for c in state.conditions if step.id in c.steps]
    findings = run_checks(
        CheckInput(
            goal=state.goal,
            step=step,
            result=attempt.result,
            evidence=evidence,
            conditions=conditions,
            earlier=said(state.earlier),
            inputs=[state.steps[d].result for d in step.depends_on if d in state.steps],
            tools=frozenset(kit.tools),
            effect_tools=kit.effects,
            owes=owed(step, state.steps, effects=kit.effects),
            language=state.language,
        ),
        kit.checks,
    )
    told = [scanned(item.output) for item in evidence]
    subject = Subject(
        result=attempt.result,
        evidence=told,
        conditions=conditions,
        attempt=attempt.number,
        retries_left=len(step.attempts) <= settings.retries,
        language=state.language,
        task=f"{state.goal}\n{step.description}",
    )
    if not asks_critic(step, state.steps, findings, settings, outside=kit.effects):
        return derive(Judgement(findings=findings), subject)
    nonce = new_nonce()
    messages = render(
        "reflector",
        state.language,
        goal=quoted(state.goal, cap=MAX_GOAL),
        earlier=asked_before(state.earlier),
        description=one_line(step.description),
        conditions=shown_conditions(conditions),
        chain=_chain(state) if settings.share_reflections else [],
        signals=_signals(findings),
        evidence=[
            fenced(item.output, nonce=nonce, label=f"{item.call.name}({item.call.args})")
            for item in evidence
        ],
        result=fenced(attempt.result, nonce=nonce, label="result"),
        settings=settings,
        answer_language=LANGUAGE_NAMES[state.language][state.language],
    )
    reply = yield from ask_critic(
        "reflector",
        messages,
        settings,
        state.language,
        foreign=[attempt.result, *told],
        step=step.id,
    )
    record = derive(Judgement(findings=findings, reply=reply), subject)
    return record.model_copy(update={"prompt_version": prompt_version(settings, "reflector")})


def fault_verdict(step: Step) -> VerdictRecord:
    """An attempt that broke counts as REPLAN with its reason, without asking anybody (P7)."""
    attempt = step.last_attempt
    finding = Finding(
        kind=FindingKind.VETO_REPLAN, check=f"fault {attempt.fault}", reason=attempt.fault_reason
    )
    return VerdictRecord(
        verdict=Verdict.REPLAN,
        source=VerdictSource.RULE,
        attempt=attempt.number,
        analysis=attempt.fault_reason,
        veto=True,
        findings=[finding],
    )


def _signals(findings: Sequence[Finding]) -> list[str]:
    return [
        one_line(f.reason) for f in findings if f.kind in {FindingKind.SIGNAL, FindingKind.UNKNOWN}
    ]


def _chain(state: AgentState) -> list[str]:
    names: Mapping[int, str] = {i: s.description for i, s in state.steps.items()}
    return [
        one_line(f"{names.get(r.step, '')}: {r.verdict or '-'} {r.analysis[:120]}")
        for r in state.reflections[-CHAIN:]
    ]


def ask_critic(
    role: Role,
    messages: Sequence[BaseMessage],
    settings: Settings,
    language: Language,
    *,
    foreign: Sequence[str],
    step: int | None = None,
) -> Body[ReflectorReply | Unjudged]:
    """Ask the critic; a critic that is down or cannot be read has not judged (P14).

    Neither has one that copies a verdict out of what it is to judge (`foreign`), nor one that
    contradicts itself.
    """
    asked: Asked[ReflectorReply] = yield from ask_structured(
        role,
        messages,
        ReflectorReply,
        REFLECTOR_SCHEMA,
        repairs=settings.max_repairs,
        language=language,
        check=lambda reply: problems(reply, step=step),
        last_resort=lambda text: _labelled_verdict(without_lines_of(foreign, text)),
        foreign=foreign,
        step=step,
    )
    if asked.value is not None and not asked.problems:
        return asked.value
    refused = budget_told(asked.refused, language)
    if asked.failure or refused:
        failure = in_language(asked.failure, language)
        reason = say("reflector_down", language, reason=failure or refused)
    else:
        reason = say("reflector_unreadable", language, reason=asked.reason)
    return Unjudged(reason=reason, raw=asked.raw, refused=refused)


def _labelled_verdict(text: str) -> ReflectorReply | None:
    word = read_verdict_word(text)
    if word is None:
        return None
    return ReflectorReply(verdict=Verdict(word), analysis=text.strip()[:500])
