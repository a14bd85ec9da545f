"""Rule checks: what the tools' own status and the evidence say before any model is asked (P12).

A check is a function from `CheckInput` to a finding, or to `None` when it has nothing to say.
Users add their own with `checks=`; theirs count as evaluators and may also answer PASS, which
they should only do when they checked the whole of what the step asked for.
"""

import logging
import re
from collections.abc import Callable, Sequence
from dataclasses import dataclass, field
from decimal import Decimal
from typing import cast

from hansei.policies.call_status import call_finding
from hansei.policies.claims import asks_action, claimed_actions
from hansei.policies.condition_hints import condition_hint
from hansei.policies.conditions import check_condition
from hansei.policies.disclosure import owns_up, says_done
from hansei.policies.fencing import scanned
from hansei.policies.joining import listed
from hansei.policies.phrases import say
from hansei.policies.provenance import Owed, is_year, standing_calls
from hansei.policies.recital import recital
from hansei.policies.records import Attempt, Condition, Finding, Step, ToolCall
from hansei.policies.text import identifiers, is_blank, names_id, numbers
from hansei.policies.words import FindingKind, Language, VerdictSource
from hansei.tools.outcome import OutcomeStatus

logger = logging.getLogger(__name__)


@dataclass(frozen=True, slots=True)
class Evidence:
    """One tool call with its whole output."""

    call: ToolCall
    output: str


@dataclass(frozen=True, slots=True)
class CheckInput:
    """Everything a check may look at."""

    goal: str
    step: Step
    result: str
    evidence: Sequence[Evidence] = ()
    conditions: Sequence[Condition] = ()
    inputs: Sequence[str] = ()
    """Results of the steps that this one depends on."""
    earlier: Sequence[str] = ()
    """What was said before on the thread; what stands there may be named."""
    tools: frozenset[str] = field(default_factory=frozenset[str])
    """All tools that there are."""
    effect_tools: frozenset[str] = field(default_factory=frozenset[str])
    """Those of them that change something."""
    owes: Owed = ""
    """What the step must show of its own because it stands in for a failed one."""
    language: Language = "en"

    @property
    def attempt(self) -> Attempt:
        """The attempt that is judged."""
        return self.step.last_attempt


Check = Callable[[CheckInput], Finding | None]


def tool_status(data: CheckInput) -> Finding | None:
    """The tools' own status decides; see `call_finding`."""
    return call_finding(data.step, data.language)


def tool_doubt(data: CheckInput) -> Finding | None:
    """A call that went well by its shape and may still hold no result: a model should look."""
    calls = standing_calls(data.step)
    doubt = next((call.doubt for call in reversed(calls) if call.doubt), "")
    if not doubt:
        return None
    return Finding(check="tool_doubt", reason=say("doubtful", data.language, reason=doubt))


def tool_used(data: CheckInput) -> Finding | None:
    """A step that needs a tool and used none has no evidence for anything it says.

    A step without a suggested tool needs one when its description names what a tool that
    changes something does ("write report.txt" beside `write_file`); one that names an id is
    only suspected to. Another tool may know as much as the one that was planned, but looking
    something up changes nothing.
    """
    called = {call.name for call in standing_calls(data.step)}
    wanted = data.step.tool or _implied_tool(data)
    if wanted is None and not called and data.tools and identifiers(data.step.description):
        reason = say("no_lookup", data.language)
        return Finding(check="tool_used", reason=reason, hint=say("hint_lookup", data.language))
    if wanted is None or wanted in called:
        return None
    changes = wanted in data.effect_tools and not called & data.effect_tools
    if called and not changes:
        reason = say("other_tool", data.language, tool=wanted)
        return Finding(kind=FindingKind.SIGNAL, check="tool_used", reason=reason)
    return Finding(
        kind=FindingKind.VETO_RETRY,
        check="tool_used",
        reason=say("not_called" if called else "no_call", data.language, tool=wanted),
        hint=say("hint_no_call", data.language, tool=wanted),
    )


def made_good(data: CheckInput) -> Finding | None:
    """A step that stands in for a failed one needs evidence of its own.

    Otherwise a plan that failed by rule would be made good by a step in which the same model
    merely says that all is well.
    """
    good = {call.name for call in standing_calls(data.step) if call.outcome is OutcomeStatus.OK}
    lacks = {"effect": not good & data.effect_tools, "evidence": not good and not data.inputs}
    if not lacks.get(data.owes):
        return None
    return Finding(
        kind=FindingKind.VETO_RETRY,
        check="made_good",
        reason=say(f"no_{data.owes}", data.language),
        hint=say(f"hint_no_{data.owes}", data.language),
    )


_FILE_NAME = re.compile(r"\b[\w-]+\.[a-z][a-z0-9]{1,4}\b")


def _implied_tool(data: CheckInput) -> str | None:
    """The tool whose verb and object the description names, a file by its name."""
    description = data.step.description.lower()
    words = set(re.findall(r"\w+", description))
    if _FILE_NAME.search(description):
        words.add("file")
    for name in sorted(data.effect_tools):
        parts = name.lower().split("_")
        if set(parts) <= words:
            return name
    return None


def action_claimed(data: CheckInput) -> Finding | None:
    """A result that says something was done in the world, and no call that could have done it.

    Where no tool was called at all, every claim counts that a tool of this agent, or only a
    tool, could make true. Where some tool was called, the claim may come from what it
    returned; then only "I have sent …" counts, and no call that changes something.
    """
    calls = standing_calls(data.step)
    if any(c.outcome is OutcomeStatus.OK and c.name in data.effect_tools for c in calls):
        return None
    if any(claimed_actions(text) for text in data.inputs):
        return None
    for claim in claimed_actions(data.result):
        possible = bool(data.effect_tools) or claim.outside
        if claim.needs_tool or (possible and not calls):
            reason = say("claimed", data.language, claim=claim.sentence[:80])
            hint = say("hint_claimed", data.language)
            return Finding(check="action_claimed", reason=reason, hint=hint)
    return None


def action_taken(data: CheckInput) -> Finding | None:
    """A step that is to change something, and no tool that changes anything was called.

    However the result is worded, it tells of nothing that was done: a signal, and a veto where
    it says outright that it was. One that owns up is left to the model.
    """
    called = {call.name for call in standing_calls(data.step)}
    if not data.effect_tools or called & data.effect_tools:
        return None
    if not asks_action(data.step.description) or owns_up(data.result):
        return None
    if any(claimed_actions(text) for text in data.inputs):
        return None
    outright = says_done(data.result) or bool(claimed_actions(data.result))
    return Finding(
        kind=FindingKind.VETO_RETRY if outright and not called else FindingKind.SIGNAL,
        check="action_taken",
        reason=say("not_called", data.language),
        hint=say("hint_claimed", data.language),
    )


def result_text(data: CheckInput) -> Finding | None:
    """An empty result is no result; one that was cut off may lack what matters."""
    if is_blank(data.result):
        reason = say("blank", data.language)
        return Finding(kind=FindingKind.VETO_RETRY, check="result_text", reason=reason, hint=reason)
    if data.attempt.truncated:
        reason = say("cut", data.language)
        hint = say("hint_cut", data.language)
        return Finding(check="result_text", reason=reason, hint=hint)
    return None


def recited(data: CheckInput) -> Finding | None:
    """A text that repeats the lines of the prompt states no result."""
    told = [data.goal, *data.earlier, *data.inputs]
    sources = [*told, *(scanned(item.output) for item in data.evidence)]
    words = recital(data.result, task=data.step.description, sources=sources)
    if not words:
        return None
    reason = say("recites", data.language, words=words[:60])
    hint = say("hint_recites", data.language)
    return Finding(kind=FindingKind.VETO_RETRY, check="recited", reason=reason, hint=hint)


def grounded(data: CheckInput) -> Finding | None:
    """Ids and codes in the result must stand in the evidence, the step or its inputs."""
    sources = [
        data.goal,
        *data.earlier,
        data.step.description,
        *data.inputs,
        *(scanned(item.output) for item in data.evidence),
        *(item.call.args for item in data.evidence),
    ]
    named = [i for i in identifiers(data.result) if not is_year(i)]
    unknown = [i for i in named if not names_id(sources, i)]
    if not unknown or not data.evidence:
        return None
    reason = say("ungrounded", data.language, ids=listed(unknown[:3], data.language))
    return Finding(kind=FindingKind.SIGNAL, check="grounded", reason=reason, hint=reason)


BUILT_IN: tuple[Check, ...] = (
    tool_status,
    tool_doubt,
    tool_used,
    made_good,
    result_text,
    recited,
    action_claimed,
    action_taken,
    grounded,
)
"""The rules that always run, most decisive first."""


def condition_findings(data: CheckInput, *, step: int) -> list[Finding]:
    """Conditions of the goal that concern `step` (0: the answer), where the rules see a fault."""
    found: list[Finding] = []
    task = f"{data.goal}\n{data.step.description}"
    for condition in _without_tighter_limits(data.conditions):
        if step and step not in condition.steps:
            continue
        outcome = check_condition(condition, data.result)
        name = f"condition {condition.id}"
        quote = condition.quote
        if outcome.state == "missing":
            found.append(
                Finding(
                    check=name,
                    reason=say("condition_missing", data.language, quote=quote),
                    hint=condition_hint(condition, data.language, task=task),
                )
            )
        elif outcome.state == "broken":
            kind = FindingKind.VETO_RETRY if outcome.structured else FindingKind.SIGNAL
            reason = say("condition_broken", data.language, quote=quote, found=outcome.found)
            hint = f"{reason}. {say('hint_broken', data.language, quote=quote)}"
            found.append(Finding(kind=kind, check=name, reason=reason, hint=hint))
    return found


def _without_tighter_limits(conditions: Sequence[Condition]) -> list[Condition]:
    """The conditions with only the widest of several limits: who can tell whose each is."""
    limits = [c for c in conditions if c.kind == "limit"]
    widest = max(limits, key=lambda c: max(numbers(c.quote), default=Decimal(0)), default=None)
    return [c for c in conditions if c.kind != "limit" or c is widest]


def run_checks(data: CheckInput, checks: Sequence[Check] = ()) -> list[Finding]:
    """All findings on a step: built-in rules, then the user's checks, then the conditions.

    A user's check that raises has not judged anything: it becomes `UNKNOWN`, which blocks a
    PASS, never a silent pass.
    """
    findings = [found for check in BUILT_IN if (found := check(data)) is not None]
    for check in checks:
        found = run_check(check, data)
        if found is not None:
            findings.append(found)
    return findings + condition_findings(data, step=data.step.id)


def run_check(check: Check, data: CheckInput) -> Finding | None:
    """One check of the user's, as a finding of an evaluator."""
    name = getattr(check, "__name__", type(check).__name__)
    try:
        found = cast("object", check(data))
        if not isinstance(found, Finding | None):
            raise TypeError(f"a check returned {type(found).__name__}, not a Finding or None")
    except Exception as exc:  # noqa: BLE001 - a user's check may raise anything; it is recorded
        # The text of an exception may hold secrets: it is for the log, not for an answer.
        logger.warning("the check %s raised %s: %s", name, type(exc).__name__, exc)
        reason = say("check_broke", data.language, check=name, reason=type(exc).__name__)
        return Finding(
            kind=FindingKind.UNKNOWN, check=name, reason=reason, source=VerdictSource.EVALUATOR
        )
    if found is None:
        return None
    return found.model_copy(
        update={"source": VerdictSource.EVALUATOR, "check": found.check or name}
    )
