"""When the reflector's model is asked about a step (row P11)."""

from collections.abc import Mapping, Sequence

import pytest
from policy_records import RECOVERED, a_step, by_id, called, found, tried

from hansei import Settings
from hansei.policies.modes import asks_critic
from hansei.policies.records import Finding, Step
from hansei.policies.settings import ReflectionMode
from hansei.policies.words import FindingKind

LOOKUP = a_step(1, a_step().status, tried([called("fetch")]), tool="fetch", flagged=False)
FLAGGED = LOOKUP.model_copy(update={"needs_reflection": True})
SENDING = a_step(1, a_step().status, tried([called("send")]), flagged=False)
PLANNED_SENDING = a_step(1, a_step().status, tried(), tool="send", flagged=False)
AFTER = LOOKUP.model_copy(update={"depends_on": [9]})
SIGNAL = found(FindingKind.SIGNAL)
UNKNOWN = found(FindingKind.UNKNOWN)
VETO = found(FindingKind.VETO_RETRY)
PASSED = found(FindingKind.PASS)

NEEDS_IT = a_step(2, needs=[1])
TOOK_OVER = a_step(2, RECOVERED, needs=[1])

Case = tuple[Step, Sequence[Step], Sequence[Finding], Mapping[ReflectionMode, bool]]
ALWAYS: Mapping[ReflectionMode, bool] = {"always": True}
CASES: Mapping[str, Case] = {
    "a single plain lookup": (LOOKUP, [], [], ALWAYS),
    "one that the planner flagged": (FLAGGED, [], [], {**ALWAYS, "flagged": True}),
    "with a signal": (LOOKUP, [], [SIGNAL], {**ALWAYS, "on_signal": True, "auto": True}),
    "with a check that broke": (LOOKUP, [], [UNKNOWN], {**ALWAYS, "on_signal": True, "auto": True}),
    "that another one needs": (LOOKUP, [NEEDS_IT], [], {**ALWAYS, "auto": True}),
    "that a recovered one needed": (LOOKUP, [TOOK_OVER], [], ALWAYS),
    "that needs another one": (AFTER, [], [], {**ALWAYS, "auto": True}),
    "that changed something": (SENDING, [], [], {**ALWAYS, "auto": True}),
    "that was to change something": (PLANNED_SENDING, [], [], {**ALWAYS, "auto": True}),
    "vetoed": (FLAGGED, [NEEDS_IT], [VETO, SIGNAL], {}),
    "passed by a check": (FLAGGED, [NEEDS_IT], [PASSED], {}),
    "passed by a check beside a signal": (
        LOOKUP,
        [],
        [PASSED, SIGNAL],
        {**ALWAYS, "on_signal": True, "auto": True},
    ),
}


@pytest.mark.parametrize("mode", ["always", "flagged", "on_signal", "auto", "never"])
@pytest.mark.parametrize("name", CASES)
def test_who_is_asked(name: str, mode: ReflectionMode) -> None:
    step, others, findings, modes = CASES[name]
    asked = asks_critic(
        step,
        by_id(step, *others),
        findings,
        Settings(reflection=mode),
        outside=frozenset({"send"}),
    )
    assert asked is modes.get(mode, False)
