"""When the reflector's model looks at a step (row P11)."""

from collections.abc import Mapping, Sequence

from hansei.policies.endings import counted
from hansei.policies.records import Finding, Step
from hansei.policies.settings import Settings
from hansei.policies.verdicts import settled_by_rule
from hansei.policies.words import FindingKind


def asks_critic(
    step: Step,
    steps: Mapping[int, Step],
    findings: Sequence[Finding],
    settings: Settings,
    *,
    outside: frozenset[str],
) -> bool:
    """Whether the model is asked about a finished step.

    Never where the rules have settled the verdict. `auto` leaves a single plain lookup to the
    rules, and looks at steps that others depend on or that depend on others, at calls that
    change something, and at every signal.

    Args:
        step: The finished step.
        steps: All steps.
        findings: What the rules said.
        settings: The run's settings.
        outside: Tools that change something.
    """
    if settled_by_rule(findings):
        return False
    signal = any(f.kind in {FindingKind.SIGNAL, FindingKind.UNKNOWN} for f in findings)
    match settings.reflection:
        case "always":
            return True
        case "never":
            return False
        case "flagged":
            return step.needs_reflection
        case "on_signal":
            return signal
        case "auto":
            return signal or _linked(step, steps) or bool(_tools_of(step) & outside)


def _linked(step: Step, steps: Mapping[int, Step]) -> bool:
    live = counted(steps.values())
    return bool(step.depends_on) or any(step.id in other.depends_on for other in live)


def _tools_of(step: Step) -> set[str]:
    used = {call.name for call in step.last_attempt.calls}
    return used | ({step.tool} if step.tool else set())
