"""What a check is given, written short."""

from collections.abc import Sequence

from policy_records import PENDING, a_step, called

from hansei.policies.checks import CheckInput, Evidence
from hansei.policies.records import Attempt, Condition, Finding, ToolCall
from hansei.policies.words import FindingKind
from hansei.tools.outcome import OutcomeStatus


def judged(
    *attempts: Attempt,
    result: str = "The parcel is in Bonn.",
    tool: str | None = None,
    description: str = "find the parcel",
    evidence: Sequence[str] = (),
    inputs: Sequence[str] = (),
    conditions: Sequence[Condition] = (),
    tools: frozenset[str] = frozenset({"fetch", "write_file", "send_mail"}),
) -> CheckInput:
    """What a check looks at."""
    return CheckInput(
        goal="Where is my parcel?",
        step=a_step(1, PENDING, *attempts, tool=tool, description=description),
        result=result,
        evidence=[Evidence(called(args='{"q":"B7712"}'), text) for text in evidence],
        inputs=inputs,
        conditions=conditions,
        tools=tools,
        effect_tools=tools & {"write_file", "send_mail"},
    )


def kind_of(finding: Finding | None) -> FindingKind | None:
    """The kind of a finding."""
    return finding.kind if finding else None


def bad(outcome: OutcomeStatus, name: str = "fetch", *, args: str = '{"q":"x"}') -> ToolCall:
    """A call that went wrong."""
    return called(name, outcome, reason="so it says", args=args)
