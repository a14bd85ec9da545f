"""From drafts to steps: numbering, a replan's place in the plan, and the rule that it differs."""

import re
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field

from hansei.policies.drafts import ReplanDraft, StepDraft
from hansei.policies.lint import Linted, only_tells
from hansei.policies.phrases import say
from hansei.policies.records import Step
from hansei.policies.schedule import dependents
from hansei.policies.text import content_terms, identifiers, normal_id, numbers, similarity
from hansei.policies.words import USABLE, Language, Progress, StepStatus

SAME_DESCRIPTION = 0.85
"""From this similarity on, two descriptions with the same tool say the same thing.

Tried on rewordings of order lookups: paraphrases with the same order number are caught by
the number, so this only has to catch repetition word for word with small changes.
"""


def number_steps(
    drafts: Sequence[StepDraft], *, first: int, known: Mapping[str, int] | None = None
) -> tuple[list[Step], dict[str, int]]:
    """Steps with growing ids (row P1), and which key of the model's became which id.

    Args:
        drafts: Linted drafts with unique keys.
        first: The first new id.
        known: Keys of earlier steps that may be depended on.
    """
    ids = dict(known or {})
    ids |= {draft.id: first + i for i, draft in enumerate(drafts)}
    steps = [
        Step(
            id=ids[draft.id],
            description=draft.description.strip(),
            tool=draft.tool,
            depends_on=_needs(draft, ids, known or {}),
            needs_reflection=draft.needs_reflection,
        )
        for draft in drafts
    ]
    return steps, ids


def _needs(draft: StepDraft, ids: Mapping[str, int], known: Mapping[str, int]) -> list[int]:
    """The ids a draft depends on. By its own name it can only mean an earlier step."""
    names = {**ids, draft.id: known.get(draft.id)}
    found = {names[key] for key in draft.depends_on if key in names}
    return sorted(i for i in found if i is not None)


def cut_steps(
    cut: Sequence[StepDraft], *, first: int, limit: int, language: Language
) -> list[Step]:
    """Steps beyond the limit, as skipped, so that the answer says they were left out."""
    return [
        Step(
            id=first + i,
            description=draft.description.strip(),
            tool=draft.tool,
            status=StepStatus.SKIPPED,
            reason=say("too_long", language, limit=str(limit)),
        )
        for i, draft in enumerate(cut)
    ]


def repeats(
    draft: StepDraft | Step, earlier: Iterable[Step], *, by_words: bool = False
) -> Step | None:
    """The earlier step that a new one only repeats, if any.

    Two steps are the same when they name the same tool and the same ids, codes and numbers,
    say the same in nearly the same words, or add nothing but that it is another try. An id or
    a number that the earlier step has not makes another step.

    Args:
        draft: The new step.
        earlier: The steps that it may repeat.
        by_words: The same tool and ids are not enough: it must say the same.
    """
    new_ids = {normal_id(i) for i in identifiers(draft.description)}
    new_numbers = set(numbers(draft.description))
    for step in earlier:
        if draft.tool != step.tool:
            continue
        old_ids = {normal_id(i) for i in identifiers(step.description)}
        if new_ids - old_ids or new_numbers - set(numbers(step.description)):
            continue
        if draft.tool is not None and new_ids and new_ids == old_ids and not by_words:
            return step
        if similarity(draft.description, step.description) >= SAME_DESCRIPTION:
            return step
        if draft.tool is not None and _new_terms(draft, step) <= _ABOUT_TRYING:
            return step
    return None


_ABOUT_TRYING = frozenset(
    re.findall(
        r"\w+",
        "重新 再次 再 重试 使用 用 工具 如果 仍然 可以 尝试 其他 方式 换 继续 稍后 一次 "
        "try again retry once more using use tool another time later different way",
    )
)
"""Words about trying again, which make no new step."""


def _new_terms(draft: StepDraft | Step, failed: Step) -> frozenset[str]:
    """What a new description says that the failed step's did not, its tool's name apart."""
    tool = draft.tool or ""
    known = content_terms(failed.description) | content_terms(tool) | {tool.lower()}
    known |= frozenset(tool.lower().split("_"))
    return content_terms(draft.description) - known


@dataclass(frozen=True, slots=True)
class Replanned:
    """What a replan changes."""

    steps: dict[int, Step]
    """New and changed steps."""
    new: list[int] = field(default_factory=list[int])
    notes: list[str] = field(default_factory=list[str])
    """What had to be corrected, in plain words."""


@dataclass(frozen=True, slots=True)
class Sifted:
    """The drafts of a replan: those that are new, and what the others repeat."""

    novel: list[StepDraft]
    refused: list[str] = field(default_factory=list[str])
    """Descriptions of those that repeat a failed step, or depend on one that does."""
    done: list[str] = field(default_factory=list[str])
    """Descriptions of those that repeat a completed step."""


def sift(
    drafts: Sequence[StepDraft], steps: Mapping[int, Step], *, effects: frozenset[str] = frozenset()
) -> Sifted:
    """Part the drafts that are really new from those that repeat what was tried or done.

    A completed step is kept, so what depends on a draft that says it again depends on it. Two
    changes of the same thing need not be the same change, two looks at it are the same look.

    Args:
        drafts: The replan's steps.
        steps: All steps.
        effects: Tools that change something.
    """
    failed = [s for s in steps.values() if s.status is StepStatus.FAILED]
    usable = [s for s in steps.values() if s.status in USABLE]
    refused = {d.id for d in drafts if repeats(d, failed)}
    while True:
        more = {d.id for d in drafts if d.id not in refused and refused & set(d.depends_on)}
        if not more:
            break
        refused |= more
    left = [d for d in drafts if d.id not in refused and not only_tells(d)]
    again = {
        d.id: str(old.id)
        for d in left
        if (old := repeats(d, usable, by_words=d.tool in effects)) is not None
    }
    novel = [
        d.model_copy(update={"depends_on": [again.get(key, key) for key in d.depends_on]})
        for d in left
        if d.id not in again
    ]
    return Sifted(
        novel=novel,
        refused=[d.description for d in drafts if d.id in refused],
        done=[d.description for d in left if d.id in again],
    )


def apply_replan(
    steps: Mapping[int, Step],
    due: Sequence[int],
    linted: Linted,
    draft: ReplanDraft,
    *,
    language: Language = "en",
) -> Replanned:
    """Put a replan's steps into the plan.

    Completed steps stay. New steps are numbered on. A waiting step that a new step says again
    is replaced, and so is one that the replan drops where a new step takes its place; dropped
    without one it is skipped, so that the answer says that it was left out. One that depended
    on a failed step now depends on what stands in for it; every other one stays as it is,
    because a replan that forgets a part of the goal must not lose it in silence. A new step that
    would wait for what waits for it begins without waiting.

    Args:
        steps: All steps.
        due: The failed steps that this replan is about.
        linted: The replan's own steps, linted and novel.
        draft: What the replanner said, for what it drops and gives up.
        language: Language of the reason of a step that is left out.
    """
    key_of = {i: str(i) for i in steps}
    known = {key: i for i, key in key_of.items() if _may_be_depended_on(steps[i])}
    fresh, ids = number_steps(linted.steps, first=max(steps, default=0) + 1, known=known)
    given_up = {i for i in due if key_of[i] in draft.given_up}
    fresh = _with_targets(fresh, linted.steps, ids, due, given_up)
    changed = {s.id: s for s in fresh}
    stand_ins = {i: [s.id for s in fresh if i in s.stands_in_for] for i in due}
    for old in waiting(steps):
        dropped = key_of[old.id] in draft.drop
        takes_over = _takes_place if dropped else _says_again
        again = [new.id for new in fresh if takes_over(new, old)]
        if again:
            changed[old.id] = old.model_copy(update={"status": StepStatus.REPLACED})
            stand_ins[old.id] = again
        elif dropped:
            # It waits for nothing any more: its reason is its own.
            reason = say("replan_left_out", language)
            changed[old.id] = old.model_copy(
                update={"status": StepStatus.SKIPPED, "reason": reason, "depends_on": []}
            )
    for old in waiting(steps):
        if old.id not in changed:
            rebound = _rebind(old, stand_ins)
            if rebound != old:
                changed[old.id] = rebound
    new = [s.id for s in fresh]
    freed = _without_circles({**steps, **changed}, new)
    notes = [f"step {i} does not wait for what waits for it" for i in freed]
    return Replanned(steps={**changed, **freed}, new=new, notes=notes)


def _without_circles(steps: Mapping[int, Step], new: Sequence[int]) -> dict[int, Step]:
    """The new steps that wait for themselves, without the dependencies that make them.

    The plan was sound before, and only new steps can point back into it, so every circle goes
    through a new step. What it stands in for came before all that waits for it: its own
    dependencies are the ones that are wrong.
    """
    current = dict(steps)
    freed: dict[int, Step] = {}
    for i in new:
        step = current[i]
        behind = {i} | dependents(current, [i])
        kept = [d for d in step.depends_on if d not in behind]
        if kept != step.depends_on:
            freed[i] = current[i] = step.model_copy(update={"depends_on": kept})
    return freed


def waiting(steps: Mapping[int, Step]) -> list[Step]:
    """Steps that have not been begun."""
    return [
        s
        for s in steps.values()
        if s.status is StepStatus.PENDING and s.progress is Progress.WAITING and not s.attempts
    ]


def _may_be_depended_on(step: Step) -> bool:
    return step.status in {StepStatus.PENDING, StepStatus.VERIFIED, StepStatus.ACCEPTED}


def _with_targets(
    fresh: Sequence[Step],
    drafts: Sequence[StepDraft],
    ids: Mapping[str, int],
    due: Sequence[int],
    given_up: set[int],
) -> list[Step]:
    """The new steps with what they stand in for.

    Without a word about it, all of them stand in for every failed step that was not given up:
    a failed step is only made good when everything that was planned in its place went well.
    """
    names = {str(i): i for i in due}
    told = [[names[k] for k in d.stands_in_for if k in names] for d in drafts]
    open_ones = [i for i in due if i not in given_up]
    spoken_for = {i for item in told for i in item}
    unspoken = [i for i in open_ones if i not in spoken_for]
    result: list[Step] = []
    for step, targets in zip(fresh, told, strict=True):
        mine = targets if spoken_for else unspoken
        result.append(step.model_copy(update={"stands_in_for": mine}))
    return result


def _says_again(new: Step, old: Step) -> bool:
    same_words = similarity(new.description, old.description) >= SAME_DESCRIPTION
    return new.tool == old.tool and same_words


def _takes_place(new: Step, old: Step) -> bool:
    """Whether a new step does what a dropped one was to do: by its words, or its tool and ids."""
    if similarity(new.description, old.description) >= SAME_DESCRIPTION or repeats(new, [old]):
        return True
    ids = {normal_id(i) for i in identifiers(old.description)}
    named = {normal_id(i) for i in identifiers(new.description)}
    return new.tool is not None and new.tool == old.tool and bool(ids) and ids <= named


def _rebind(step: Step, stand_ins: Mapping[int, Sequence[int]]) -> Step:
    targets = [t for d in step.depends_on for t in (stand_ins.get(d) or [d])]
    unique = sorted(set(targets))
    return step if unique == step.depends_on else step.model_copy(update={"depends_on": unique})


def left_out(steps: Mapping[int, Step], due: Sequence[int]) -> list[Step]:
    """Waiting steps that only a replan can save, because they depend on a failed step."""
    lost = dependents(steps, due)
    return [s for s in waiting(steps) if s.id in lost]
