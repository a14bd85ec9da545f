"""From findings and answers to a verdict, and from a verdict to a step: every row of the table."""

from collections.abc import Mapping, Sequence

import pytest
from hypothesis import given
from hypothesis import strategies as st
from policy_records import ACCEPTED, FAILED, PENDING, VERIFIED, a_step, found, tried

from hansei import Settings
from hansei.policies.critic_reply import ConditionReply, ReflectorReply
from hansei.policies.records import Condition, Finding, VerdictRecord
from hansei.policies.verdicts import (
    Judgement,
    Subject,
    Unjudged,
    apply_verdict,
    derive,
    settled_by_rule,
    standing_veto,
)
from hansei.policies.words import (
    AcceptedReason,
    FindingKind,
    Progress,
    StepStatus,
    Verdict,
    VerdictSource,
)

PASS, RETRY, REPLAN = Verdict.PASS, Verdict.RETRY, Verdict.REPLAN
OK = found(FindingKind.PASS, source=VerdictSource.EVALUATOR, reason="all fields are there")
PLAIN_SIGNAL = found(FindingKind.SIGNAL, reason="a failed call")
HINTED = found(FindingKind.SIGNAL, hint="name the brush", check="condition 1")
UNKNOWN = found(FindingKind.UNKNOWN)
VETO_RETRY = found(FindingKind.VETO_RETRY, hint="call the tool")
VETO_REPLAN = found(FindingKind.VETO_REPLAN, reason="no such order")

CATS = Condition(id=1, quote="two long-haired cats", steps=[1])
SUBJECT = Subject(
    result="The brush of R7 Pro is made for hair.",
    evidence=["R7 Pro: anti-tangle brush", "R1: plain brush"],
    conditions=[CATS],
)


def said(
    verdict: Verdict = PASS,
    *,
    quote: str = "",
    met: bool | None = None,
    suggestion: str = "",
    condition_quote: str = "",
) -> ReflectorReply:
    """What a critic says."""
    answers = [] if met is None else [ConditionReply(id=1, met=met, quote=condition_quote)]
    return ReflectorReply(
        analysis="because", conditions=answers, quote=quote, verdict=verdict, suggestion=suggestion
    )


Row = tuple[Sequence[Finding], ReflectorReply | Unjudged | None, Verdict | None, VerdictSource]
RULE, EVALUATOR, CRITIC, NONE = (
    VerdictSource.RULE,
    VerdictSource.EVALUATOR,
    VerdictSource.CRITIC,
    VerdictSource.NONE,
)
DERIVED: Mapping[str, Row] = {
    "a veto outweighs a critic's PASS": ([VETO_RETRY], said(), RETRY, RULE),
    "a veto outweighs a check's PASS": ([OK, VETO_REPLAN], None, REPLAN, RULE),
    "the strongest veto counts": ([VETO_RETRY, VETO_REPLAN], None, REPLAN, RULE),
    "a check's PASS": ([OK], None, PASS, EVALUATOR),
    "a check's PASS beside a signal": ([OK, PLAIN_SIGNAL], said(), PASS, CRITIC),
    "a check's PASS beside a signal and nobody": ([OK, PLAIN_SIGNAL], None, None, NONE),
    "nobody was asked": ([], None, None, NONE),
    "the critic is down": ([], Unjudged("down"), None, NONE),
    "a critic's PASS": ([], said(), PASS, CRITIC),
    "a PASS with a quote of the result": ([], said(quote="made for hair"), PASS, CRITIC),
    "a PASS with a quote of the evidence": ([], said(quote="anti-tangle brush"), PASS, CRITIC),
    "a PASS with a quote of nothing": ([], said(quote="it cleans windows too"), None, NONE),
    "a PASS where a check could not look": ([UNKNOWN], said(), None, NONE),
    "a PASS beside a bare signal": ([PLAIN_SIGNAL], said(), PASS, CRITIC),
    "a PASS beside a signal that knows what to change": ([HINTED], said(), RETRY, RULE),
    "a PASS that finds a condition not met": ([], said(met=False), RETRY, RULE),
    "a PASS that finds it met": ([], said(met=True), PASS, CRITIC),
    "a RETRY": ([], said(RETRY, suggestion="say why"), RETRY, CRITIC),
    "a RETRY with a wrong quote": ([], said(RETRY, quote="nowhere to be found"), RETRY, CRITIC),
    "a RETRY where a check could not look": ([UNKNOWN], said(RETRY), RETRY, CRITIC),
    "a REPLAN": ([], said(REPLAN), REPLAN, CRITIC),
    "a REPLAN with a quote": ([], said(REPLAN, quote="plain brush"), REPLAN, CRITIC),
    "a REPLAN with a wrong quote": ([], said(REPLAN, quote="nowhere at all"), RETRY, CRITIC),
}


@pytest.mark.parametrize("name", DERIVED)
def test_derived(name: str) -> None:
    findings, reply, verdict, source = DERIVED[name]
    record = derive(Judgement(findings, reply), SUBJECT)
    assert (record.verdict, record.source) == (verdict, source)
    assert record.findings == list(findings)
    assert record.veto is (standing_veto(findings) is not None)
    if verdict is None:
        assert record.unjudged is not None
    if verdict is RETRY:
        assert record.suggestion
    if isinstance(reply, ReflectorReply) and source in {CRITIC, RULE} and not record.veto:
        assert record.model_verdict is reply.verdict


def test_a_veto_keeps_every_hint() -> None:
    record = derive(Judgement([VETO_REPLAN, HINTED, VETO_RETRY, HINTED]), SUBJECT)
    assert record.analysis == "no such order"
    assert record.suggestion == "name the brush; call the tool"


def test_a_veto_without_a_hint_gives_its_reason() -> None:
    assert derive(Judgement([VETO_REPLAN]), SUBJECT).suggestion == "no such order"


def test_a_pass_by_a_check_without_a_reason_names_the_check() -> None:
    bare = found(FindingKind.PASS, reason="", check="fields")
    assert derive(Judgement([bare]), SUBJECT).analysis == "fields"


def test_why_there_is_no_verdict() -> None:
    down = derive(Judgement([], Unjudged("HTTP 503", raw="<html>")), SUBJECT)
    assert (down.unjudged, down.analysis) == (AcceptedReason.NOT_JUDGED, "HTTP 503")
    assert down.raw == "<html>"
    assert derive(Judgement(), SUBJECT).unjudged is AcceptedReason.NOT_REVIEWED


def test_hints_are_put_together() -> None:
    reply = said(RETRY, suggestion="lead with hair", met=False)
    record = derive(Judgement([HINTED], reply), SUBJECT)
    assert record.suggestion.startswith("name the brush; ")
    assert '"two long-haired cats"' in record.suggestion
    assert record.suggestion.endswith("lead with hair")


def test_a_condition_that_a_hint_names_is_not_named_twice() -> None:
    hint = 'deal with "two long-haired cats"'
    signal = found(FindingKind.SIGNAL, hint=hint, check="condition 1")
    record = derive(Judgement([signal], said(met=False)), SUBJECT)
    assert record.suggestion == hint


def test_a_retry_without_a_word_of_advice_says_why() -> None:
    assert derive(Judgement([], said(RETRY)), SUBJECT).suggestion == "because"


@pytest.mark.parametrize(("met", "verdict"), [(True, PASS), (False, RETRY)])
def test_a_condition_that_does_not_exist_counts_only_as_an_objection(
    met: bool, verdict: Verdict
) -> None:
    reply = ReflectorReply(verdict=PASS, conditions=[ConditionReply(id=9, met=met)])
    assert derive(Judgement([], reply), SUBJECT).verdict is verdict


@pytest.mark.parametrize(
    ("quote", "retries_left", "verdict"),
    [("made for hair", False, PASS), ("made for hair", True, RETRY), ("", False, RETRY)],
)
def test_at_the_last_try_words_that_were_found_settle_a_condition(
    quote: str, retries_left: bool, verdict: Verdict
) -> None:
    subject = Subject(SUBJECT.result, conditions=[CATS], retries_left=retries_left)
    reply = said(met=True, condition_quote=quote)
    assert derive(Judgement([HINTED], reply), subject).verdict is verdict


def test_quotes_are_looked_up_and_recorded() -> None:
    reply = said(quote=" made for hair ", met=True, condition_quote="nowhere to be found")
    record = derive(Judgement([], reply), SUBJECT)
    assert (record.quote, record.quote_found) == ("made for hair", True)
    assert [(a.met, a.quote_found) for a in record.conditions] == [(True, False)]
    assert derive(Judgement([], said()), SUBJECT).quote_found is None


KINDS = st.lists(st.sampled_from([OK, PLAIN_SIGNAL, HINTED, UNKNOWN, VETO_RETRY, VETO_REPLAN]))
REPLIES = st.none() | st.builds(
    said,
    st.sampled_from(list(Verdict)),
    quote=st.sampled_from(["", "made for hair", "nowhere to be found"]),
    met=st.sampled_from([None, True, False]),
) | st.just(Unjudged("down"))  # fmt: skip


@given(findings=KINDS, reply=REPLIES, retries_left=st.booleans())
def test_no_way_around_a_veto_and_no_pass_from_nothing(
    findings: list[Finding], reply: ReflectorReply | Unjudged | None, retries_left: bool
) -> None:
    subject = Subject(SUBJECT.result, conditions=[CATS], retries_left=retries_left)
    record = derive(Judgement(findings, reply), subject)
    kinds = {finding.kind for finding in findings}
    if kinds & {FindingKind.VETO_RETRY, FindingKind.VETO_REPLAN}:
        assert record.verdict in {RETRY, REPLAN}
        assert record.veto
        assert settled_by_rule(findings)
    elif record.verdict is PASS:
        critic = isinstance(reply, ReflectorReply) and reply.verdict is PASS
        rule = FindingKind.PASS in kinds and not kinds & {FindingKind.SIGNAL, FindingKind.UNKNOWN}
        assert critic or rule
        assert record.quote_found is not False
        assert FindingKind.UNKNOWN not in kinds
    assert derive(Judgement(record.findings, reply), subject) == record


@pytest.mark.parametrize(
    ("findings", "settled"),
    [
        ([], False),
        ([OK], True),
        ([OK, PLAIN_SIGNAL], False),
        ([OK, UNKNOWN], False),
        ([HINTED], False),
        ([HINTED, VETO_RETRY], True),
        ([VETO_REPLAN, UNKNOWN], True),
    ],
)
def test_settled_by_rule(findings: list[Finding], settled: bool) -> None:
    assert settled_by_rule(findings) is settled


def verdict(
    word: Verdict | None, *, veto: bool = False, unjudged: AcceptedReason | None = None
) -> VerdictRecord:
    """A verdict to act on."""
    return VerdictRecord(
        verdict=word, veto=veto, unjudged=unjudged, analysis="because", suggestion="do better"
    )


Table = tuple[VerdictRecord, int, StepStatus, str]
NOT_JUDGED = verdict(None, unjudged=AcceptedReason.NOT_JUDGED)
NOT_REVIEWED = verdict(None, unjudged=AcceptedReason.NOT_REVIEWED)
TABLE: Mapping[str, Table] = {
    "PASS": (verdict(PASS), 1, VERIFIED, ""),
    "PASS at the last try": (verdict(PASS), 2, VERIFIED, ""),
    "RETRY with retries left": (verdict(RETRY), 1, PENDING, ""),
    "RETRY with none left": (verdict(RETRY), 2, ACCEPTED, "retries_used_up"),
    "RETRY by a veto with retries left": (verdict(RETRY, veto=True), 1, PENDING, ""),
    "RETRY by a veto with none left": (verdict(RETRY, veto=True), 2, FAILED, "because"),
    "REPLAN": (verdict(REPLAN), 1, FAILED, "because"),
    "REPLAN at the last try": (verdict(REPLAN), 2, FAILED, "because"),
    "not judged": (NOT_JUDGED, 1, ACCEPTED, "not_judged"),
    "not reviewed": (NOT_REVIEWED, 1, ACCEPTED, "not_reviewed"),
    "no verdict and no reason": (verdict(None), 1, ACCEPTED, "not_judged"),
}


@pytest.mark.parametrize("name", TABLE)
def test_the_verdict_table(name: str) -> None:
    record, tries, status, reason = TABLE[name]
    attempts = [tried(result=f"result {i}", number=i) for i in range(1, tries + 1)]
    step = a_step(1, PENDING, *attempts, progress=Progress.FINISHED)
    after = apply_verdict(step, record, Settings(max_step_retries=1))
    assert (after.status, after.reason) == (status, reason)
    assert after.verdicts == [record]
    assert after.attempts == step.attempts
    used = status in {VERIFIED, ACCEPTED}
    assert after.result == (f"result {tries}" if used else "")
    waiting = status is PENDING
    assert after.progress is (Progress.WAITING if waiting else Progress.FINISHED)
    assert after.hint == ("do better" if waiting else "")


@pytest.mark.parametrize("veto", [False, True])
def test_without_reflection_nothing_is_tried_again(veto: bool) -> None:
    step = a_step(1, PENDING, tried())
    settings = Settings(reflection="never", max_step_retries=2)
    after = apply_verdict(step, verdict(RETRY, veto=veto), settings)
    assert after.status is (FAILED if veto else ACCEPTED)


@given(
    word=st.sampled_from([None, *Verdict]),
    veto=st.booleans(),
    tries=st.integers(1, 4),
    retries=st.integers(0, 3),
)
def test_only_pass_verifies_and_a_veto_is_never_accepted(
    word: Verdict | None, veto: bool, tries: int, retries: int
) -> None:
    step = a_step(1, PENDING, *(tried(number=i + 1) for i in range(tries)))
    veto = veto and word in {RETRY, REPLAN}
    after = apply_verdict(step, verdict(word, veto=veto), Settings(max_step_retries=retries))
    assert (after.status is VERIFIED) is (word is PASS)
    if veto:
        assert after.status in {PENDING, FAILED}
    if after.status is PENDING:
        assert word is RETRY
        assert tries <= retries
