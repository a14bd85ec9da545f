"""Plan lint: what is wrong with a plan before its first step runs, and its least correction."""

import re
from collections.abc import Sequence
from dataclasses import dataclass, field

from hansei.policies.claims import claimed_actions
from hansei.policies.drafts import ConditionDraft, PlanDraft, StepDraft
from hansei.policies.follow_up import Turn, leans, with_question
from hansei.policies.joining import listed
from hansei.policies.text import contains_quote, identifiers, names_id, normal_id, quoted
from hansei.policies.words import Language

_SUMMARY = re.compile(
    r"^\s*(?:最后|然后|接着|再)?[，,]?\s*"
    r"(?:向用户|给用户|把结果|将结果|根据(?:以上|上述|查询|前面)?(?:的)?(?:结果|信息)?)?\s*"
    r"(?:总结|汇总|归纳|整理(?:结果|信息|答案)|告知|告诉|回复|答复|反馈|通知用户|报告结果|呈现|"
    r"生成(?:最终)?(?:回答|答案|总结))"
    r"|^\s*(?:finally,?\s*)?(?:summari[sz]e|tell|inform|"
    r"report(?: back)?(?: to)? (?:the )?(?:user|customer|results?|findings?)|"
    r"present (?:the )?(?:results?|findings?|answer)|answer the user|respond to|reply to|"
    r"(?:write|give|provide|compose) (?:the|a) (?:final )?(?:answer|summary|response))\b"
    r"|^\s*(?:如果|若|当)[^，,]*[，,]?\s*(?:则|就|那么)?\s*(?:返回|告知|告诉|提示|通知|说明|回复)|^\s*返回"
    r"|^\s*(?:if|when)\b[^,]*,\s*(?:then\s+)?(?:return|tell|say|report|inform|notify)\b|^\s*return\b",
    re.IGNORECASE,
)
"""Steps that only tell what others found: the synthesizer's work, so they are dropped (P1)."""

_REFERENCE = re.compile(
    r"上述|上面的|以上的?(?:结果|信息|数据)|前面的|前一步|上一步|之前的结果|该结果|这个结果|刚才的"
    r"|\b(?:the (?:above|previous|given|preceding|earlier|former)(?: \w+)?|(?:result|results|data|"
    r"output)s? (?:above|from (?:the )?(?:previous|last|first|earlier) step)|from above|"
    r"that (?:result|output|file|order)|those results)\b",
    re.IGNORECASE,
)
"""Words that point at something a goal-blind executor can only see through a dependency."""

_SMALL_TALK = re.compile(
    r"^\s*(?:hi|hello|hey|good (?:morning|afternoon|evening)|thanks?(?: you)?|thank you|bye|"
    r"你好|您好|嗨|哈喽|早上好|下午好|晚上好|谢谢|多谢|再见|在吗|在么)(?:\s+there)?[\s!！.。,，~～?？呀啊吗]*$",
    re.IGNORECASE,
)
"""A greeting or thanks and nothing else."""


@dataclass(frozen=True, slots=True)
class LintContext:
    """What a plan is held against."""

    goal: str
    tools: frozenset[str] = frozenset()
    max_steps: int = 7
    known: frozenset[str] = frozenset()
    """Keys of steps that are there already, which a replan may depend on."""
    carried: Sequence[str] = ()
    """Texts that already carry the goal's constraints: the steps that stay in a replan."""
    language: Language = "en"
    earlier: Sequence[Turn] = ()
    """What was said before on the thread, on which the goal may lean."""
    whole: bool = True
    """A first plan must carry the goal's constraints; a replan only replaces a part."""


@dataclass(frozen=True, slots=True)
class Linted:
    """A plan that may run, with what had to be changed."""

    steps: list[StepDraft]
    conditions: list[ConditionDraft]
    cut: list[StepDraft] = field(default_factory=list[StepDraft])
    """Steps beyond the limit: they do not run, and the answer says so."""
    notes: list[str] = field(default_factory=list[str])


def is_small_talk(goal: str) -> bool:
    """Whether the goal is a greeting or thanks, with no work in it."""
    return bool(_SMALL_TALK.match(goal))


def only_tells(step: StepDraft) -> bool:
    """Whether a step only summarizes or tells what other steps found."""
    return step.tool is None and bool(_SUMMARY.search(step.description))


def working_steps(steps: Sequence[StepDraft]) -> list[StepDraft]:
    """The steps that do work, each once: those that only tell, or say the same again, are out."""
    kept: dict[tuple[str | None, str], StepDraft] = {}
    instead: dict[str, str] = {}
    for step in steps:
        if only_tells(step):
            continue
        first = kept.setdefault((step.tool, step.description.strip() or step.id), step)
        if first is not step:
            instead[step.id] = first.id
    return [
        step.model_copy(update={"depends_on": [instead.get(k, k) for k in step.depends_on]})
        for step in kept.values()
    ]


def _working(steps: Sequence[StepDraft], draft: PlanDraft, context: LintContext) -> list[StepDraft]:
    """The steps that do more than tell; all of them where telling is the work itself.

    "Summarize this text" is a goal of its own, and its one step must not be dropped. A goal
    that names an id wants it looked up.
    """
    working = working_steps(steps)
    if working or draft.answer.strip() or identifiers(context.goal):
        return working
    return list(steps)


def lint(draft: PlanDraft, context: LintContext) -> list[str]:
    """What is wrong with a plan, as sentences for a repair request. Empty: nothing.

    Steps that only tell or repeat another are not reported: they are dropped without a word.
    """
    if context.whole and is_small_talk(context.goal):
        return []
    steps = _working(draft.steps, draft, context)
    findings: list[str] = []
    if not steps:
        return _lint_direct_answer(draft, context)
    findings += _lint_graph(steps, context)
    for step in steps:
        findings += _lint_step(step, context)
    if len(steps) > context.max_steps:
        findings.append(
            f"The plan has {len(steps)} steps and at most {context.max_steps} are allowed."
        )
    if context.whole:
        findings += [
            f'"{item}" of the goal is told to no step.'
            for item in _not_carried(steps, draft.conditions, context)
        ]
    return findings


def _lint_direct_answer(draft: PlanDraft, context: LintContext) -> list[str]:
    if not context.whole:
        return []
    if not draft.answer.strip():
        return ["The plan has no steps that do work, and there is no direct answer."]
    answered = "\n".join(turn.text for turn in context.earlier if turn.speaker == "assistant")
    for claim in claimed_actions(draft.answer):
        if contains_quote(answered, claim.sentence):
            continue  # it only says again what an earlier run has answered for
        if context.tools or claim.needs_tool or claim.outside:
            return [f'The direct answer says "{claim.sentence[:80]}", and no step does it.']
    items = _constraints(context.goal)
    if items and context.tools:
        return [f'The goal names "{items[0]}", and no step looks it up.']
    return []


def _lint_graph(steps: Sequence[StepDraft], context: LintContext) -> list[str]:
    keys = [step.id for step in steps]
    findings = [
        f"The step id {key} is used more than once."
        for key in dict.fromkeys(k for k in keys if keys.count(k) > 1)
    ]
    for step in steps:
        findings += [
            f"Step {step.id} depends on {key}, which does not exist."
            for key in step.depends_on
            if key not in keys and key not in context.known
        ]
    if len(set(keys)) == len(keys) and _circular(steps):
        findings.append("The dependencies of the steps form a circle.")
    return findings


def _lint_step(step: StepDraft, context: LintContext) -> list[str]:
    if not step.description.strip():
        return [f"Step {step.id} has no description."]
    findings: list[str] = []
    if step.tool is not None and step.tool not in context.tools:
        findings.append(f"Step {step.id} names the tool {step.tool!r}, which does not exist.")
    match = _REFERENCE.search(step.description)
    if match and not step.depends_on:
        findings.append(
            f'Step {step.id} points at "{match.group().strip()}" but depends on no step; '
            "whoever runs it sees only its own text and the results it depends on."
        )
    elif _leans(step, context):
        findings.append(
            f"Step {step.id} points at the earlier conversation, which whoever runs it does not "
            "see; write the id or the name itself."
        )
    return findings


def _leans(step: StepDraft, context: LintContext) -> bool:
    return bool(context.earlier) and not step.depends_on and leans(step.description)


def _circular(steps: Sequence[StepDraft]) -> bool:
    left = {step.id: set(step.depends_on) & {s.id for s in steps} for step in steps}
    while left:
        free = [key for key, deps in left.items() if not deps & set(left)]
        if not free:
            return True
        for key in free:
            del left[key]
    return False


def _constraints(goal: str) -> list[str]:
    return list(dict.fromkeys([*identifiers(goal), *quoted(goal)]))


def _not_carried(
    steps: Sequence[StepDraft], conditions: Sequence[ConditionDraft], context: LintContext
) -> list[str]:
    """Ids that stand in no step, and quoted words that stand in no step and no condition.

    An id that only a condition names is of no use to whoever runs a step without the goal.
    """
    told = [s.description for s in steps] + list(context.carried)
    anywhere = normal_id(" ".join([*told, *(c.quote for c in conditions)]))
    ids = [i for i in identifiers(context.goal) if not names_id(told, i)]
    words = [q for q in quoted(context.goal) if normal_id(q) not in anywhere]
    return list(dict.fromkeys([*ids, *words]))


def correct(draft: PlanDraft, context: LintContext) -> Linted | str:
    """The least correction that makes a plan runnable, or why there is none.

    Unknown tools and dependencies are dropped, circles are cut, a reference without a
    dependency is bound to the step before, steps beyond the limit are set aside, and what
    the goal demands and nothing carries becomes a condition, and is told to the first step.
    """
    notes: list[str] = []
    steps = _working([s for s in draft.steps if s.description.strip()], draft, context)
    conditions = list(draft.conditions)
    if not steps:
        if not context.whole or is_small_talk(context.goal):
            return "the plan has no steps that do work"
        if draft.answer.strip() and not _lint_direct_answer(draft, context):
            return Linted(steps=[], conditions=conditions)
        notes.append("the plan had no steps that do work, so the goal itself is the step")
        told = context.goal
        if not identifiers(told):
            told = with_question(told, context.earlier)
        steps = [StepDraft(id="1", description=told)]
    steps = _unique_keys(steps, notes)
    cut = steps[context.max_steps :]
    steps = steps[: context.max_steps]
    steps = _sound_graph(steps, context, notes)
    steps = _told_what_was_asked(steps, context, notes)
    missing = _not_carried(steps, conditions, context) if context.whole else []
    if missing:
        conditions += [ConditionDraft(quote=item, hard=True) for item in missing]
        first = steps[0]
        told = f"{first.description} ({listed(missing, context.language)})"
        steps[0] = first.model_copy(update={"description": told})
        notes.append(f"told step {first.id} about {', '.join(missing)}")
    return Linted(steps=steps, conditions=conditions, cut=cut, notes=notes)


def _told_what_was_asked(
    steps: Sequence[StepDraft], context: LintContext, notes: list[str]
) -> list[StepDraft]:
    """The steps, those that still lean on the conversation with the last question behind them."""
    told: list[StepDraft] = []
    for step in steps:
        description = step.description
        if _leans(step, context):
            description = with_question(description, context.earlier)
        if description != step.description:
            notes.append(f"told step {step.id} what was asked before")
        told.append(step.model_copy(update={"description": description}))
    return told


def _unique_keys(steps: Sequence[StepDraft], notes: list[str]) -> list[StepDraft]:
    seen: set[str] = set()
    unique: list[StepDraft] = []
    for position, step in enumerate(steps, start=1):
        key = step.id
        if not key or key in seen:
            key = f"{step.id}#{position}"
            notes.append(f"renamed the repeated step id {step.id!r}")
        seen.add(key)
        unique.append(step.model_copy(update={"id": key}))
    return unique


def _sound_graph(
    steps: Sequence[StepDraft], context: LintContext, notes: list[str]
) -> list[StepDraft]:
    sound = _sound_steps(steps, context, notes, only_earlier=_circular(steps))
    # A reference that was bound to the step before may have closed a circle.
    return _sound_steps(sound, context, notes, only_earlier=True) if _circular(sound) else sound


def _sound_steps(
    steps: Sequence[StepDraft], context: LintContext, notes: list[str], *, only_earlier: bool
) -> list[StepDraft]:
    keys = {step.id for step in steps}
    earlier: list[str] = []
    sound: list[StepDraft] = []
    for step in steps:
        allowed = (set(earlier) if only_earlier else keys - {step.id}) | context.known
        depends_on = [key for key in dict.fromkeys(step.depends_on) if key in allowed]
        if depends_on != step.depends_on:
            notes.append(f"dropped dependencies of step {step.id} that cannot be met")
        if not depends_on and earlier and _REFERENCE.search(step.description):
            depends_on = [earlier[-1]]
            notes.append(f"bound step {step.id} to the step before it")
        tool = step.tool if step.tool in context.tools else None
        if tool != step.tool:
            notes.append(f"dropped the unknown tool {step.tool!r} of step {step.id}")
        sound.append(step.model_copy(update={"depends_on": depends_on, "tool": tool}))
        earlier.append(step.id)
    return sound
