"""Which steps may run now, and what becomes of those that never will."""

from collections.abc import Iterable, Mapping, Sequence

from hansei.policies.joining import listed
from hansei.policies.language import language_of
from hansei.policies.records import Attempt, Step
from hansei.policies.words import USABLE, Progress, StepStatus

Steps = Mapping[int, Step]

_SATISFIED = USABLE | {StepStatus.RECOVERED}
"""A dependency in one of these does not hold a step back."""


def in_flight(steps: Steps) -> list[int]:
    """Steps in the executor's hands, or finished and not judged yet."""
    return [
        step.id
        for step in steps.values()
        if step.status is StepStatus.PENDING and step.progress is not Progress.WAITING
    ]


def running(steps: Steps) -> list[int]:
    """Steps in the executor's hands."""
    return [i for i in in_flight(steps) if steps[i].progress is Progress.RUNNING]


def finished(steps: Steps, order: Sequence[int]) -> list[int]:
    """Steps that wait to be judged, in the order of the plan."""
    flying = set(in_flight(steps)) - set(running(steps))
    return [i for i in order if i in flying]


def ready(steps: Steps, order: Sequence[int]) -> list[int]:
    """Steps that wait and whose dependencies are all usable."""
    return [
        i
        for i in order
        if steps[i].status is StepStatus.PENDING
        and steps[i].progress is Progress.WAITING
        and all(d in steps and steps[d].status in _SATISFIED for d in steps[i].depends_on)
    ]


def choose(
    steps: Steps, order: Sequence[int], *, max_parallel: int, only_retries: bool = False
) -> list[int]:
    """The steps to start now.

    Args:
        steps: All steps.
        order: Ids in the order of the plan.
        max_parallel: Steps that may be under way at once.
        only_retries: A replan is due, so nothing new is begun; a step that was already
            tried may still finish its retry.
    """
    free = max_parallel - len(running(steps))
    able = [i for i in ready(steps, order) if not only_retries or steps[i].attempts]
    return able[: max(0, free)]


def start(step: Step) -> Step:
    """The step with a new attempt written down, before any call of it is made."""
    attempt = Attempt(number=len(step.attempts) + 1, hint=step.hint)
    return step.model_copy(
        update={"attempts": [*step.attempts, attempt], "progress": Progress.RUNNING}
    )


def dependents(steps: Steps, roots: Iterable[int]) -> set[int]:
    """Steps that depend on any of `roots`, directly or through others."""
    reached = set(roots)
    found: set[int] = set()
    while True:
        more = {i for i, s in steps.items() if i not in found and reached & set(s.depends_on)}
        if not more:
            return found
        found |= more
        reached |= more


def skip_blocked(steps: Steps, *, spare: Iterable[int] = ()) -> dict[int, Step]:
    """Waiting steps that can never run, as skipped, with the reason.

    Args:
        steps: All steps.
        spare: Failed steps that a replan may still make good; what depends only on these
            waits on.
    """
    dead = {
        i
        for i, s in steps.items()
        if s.status in {StepStatus.FAILED, StepStatus.SKIPPED, StepStatus.REPLACED}
    } - set(spare)
    # A step that has its result blocks nobody, whatever became of what it depended on.
    blocked = dependents({i: s for i, s in steps.items() if s.status not in _SATISFIED}, dead)
    return {
        i: steps[i].model_copy(
            update={"status": StepStatus.SKIPPED, "reason": _blocker(steps, i, dead | blocked)}
        )
        for i in sorted(blocked)
        if steps[i].status is StepStatus.PENDING and steps[i].progress is Progress.WAITING
    }


def _blocker(steps: Steps, step_id: int, dead: set[int]) -> str:
    names = [
        steps[d].description if d in steps else str(d)
        for d in steps[step_id].depends_on
        if d in dead
    ]
    return listed(names, language_of(" ".join(names)), between="; ")


def recover(steps: Steps) -> dict[int, Step]:
    """Failed steps whose stand-ins all have a usable result, as recovered."""
    changed: dict[int, Step] = {}
    current = dict(steps)
    while True:
        found = {
            i: step.model_copy(update={"status": StepStatus.RECOVERED})
            for i, step in current.items()
            if step.status is StepStatus.FAILED and _made_good(current, i)
        }
        if not found:
            return changed
        changed |= found
        current |= found


def _made_good(steps: Steps, failed: int) -> bool:
    stand_ins = [s for s in steps.values() if failed in s.stands_in_for]
    counted = [s for s in stand_ins if s.status is not StepStatus.REPLACED]
    return bool(counted) and all(s.status in _SATISFIED for s in counted)
