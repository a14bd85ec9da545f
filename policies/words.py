"""The closed vocabularies: one word for one thing, in state, prompts, docs and command line."""

from enum import StrEnum
from typing import Literal

Language = Literal["zh", "en"]
"""Language of answers, hints and prompts (row X5)."""

Role = Literal["planner", "executor", "reflector", "replanner", "synthesizer", "reviewer"]
"""Who asks a model. The reviewer is the reflector looking at the answer."""

ROLES: tuple[Role, ...] = (
    "planner",
    "executor",
    "reflector",
    "replanner",
    "synthesizer",
    "reviewer",
)
"""Every role, in the order in which a run meets them."""


class Verdict(StrEnum):
    """What the look back decided (row P4)."""

    PASS = "PASS"  # noqa: S105 - a verdict, not a password
    RETRY = "RETRY"
    REPLAN = "REPLAN"


class VerdictSource(StrEnum):
    """Who is behind a verdict, most trustworthy first."""

    RULE = "rule"
    EVALUATOR = "evaluator"
    CRITIC = "critic"
    HUMAN = "human"
    NONE = "none"


class StepStatus(StrEnum):
    """How far the result of a step can be trusted."""

    PENDING = "pending"
    VERIFIED = "verified"
    ACCEPTED = "accepted"
    FAILED = "failed"
    SKIPPED = "skipped"
    RECOVERED = "recovered"
    REPLACED = "replaced"


class Progress(StrEnum):
    """Where a pending step stands: in nobody's hands, in the executor's, or ready to be judged."""

    WAITING = "waiting"
    RUNNING = "running"
    FINISHED = "finished"


class AcceptedReason(StrEnum):
    """Why a result is used although nobody vouches for it."""

    RETRIES_USED_UP = "retries_used_up"
    NOT_JUDGED = "not_judged"
    NOT_REVIEWED = "not_reviewed"


class AnswerStatus(StrEnum):
    """How far the answer can be trusted."""

    NONE = "none"
    PENDING = "pending"
    VERIFIED = "verified"
    ACCEPTED = "accepted"


class RunStatus(StrEnum):
    """How a run stands. Only this field says that a run is over, never an empty `next`."""

    RUNNING = "running"
    COMPLETE = "complete"
    PARTIAL = "partial"
    FAILED = "failed"
    EXHAUSTED = "exhausted"
    NEEDS_HUMAN = "needs_human"


class FindingKind(StrEnum):
    """What a rule may say about a result (row P12).

    A veto stands whatever a model says. A signal makes the model look. `UNKNOWN` is a
    check that could not do its work: it blocks a PASS without being a fault of the result.
    """

    PASS = "pass"  # noqa: S105 - a finding, not a password
    SIGNAL = "signal"
    UNKNOWN = "unknown"
    VETO_RETRY = "veto_retry"
    VETO_REPLAN = "veto_replan"


class Fault(StrEnum):
    """Why an attempt ended without a result that could be judged."""

    NONE = ""
    ENDPOINT = "endpoint"
    EXCEPTION = "exception"
    EMPTY_REPLY = "empty_reply"
    ONLY_CALLS = "only_calls"
    BUDGET = "budget"
    UNKNOWN_EFFECT = "unknown_effect"
    CRASHES = "crashes"


TERMINAL = frozenset(
    {
        StepStatus.VERIFIED,
        StepStatus.ACCEPTED,
        StepStatus.FAILED,
        StepStatus.SKIPPED,
        StepStatus.RECOVERED,
        StepStatus.REPLACED,
    }
)
"""Statuses that no verdict changes any more (a failed step may still become recovered)."""

USABLE = frozenset({StepStatus.VERIFIED, StepStatus.ACCEPTED})
"""Statuses whose result later steps and the answer may use."""
