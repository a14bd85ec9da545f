"""What waits for a human's leave: how it is asked, and how the answer is read.

The question has the form of LangChain's human-in-the-loop middleware (`action_requests`, answered
with `decisions`), so that the clients that know that one can show it. A plain word will do as well.
"""

import json
from collections.abc import Callable, Sequence
from typing import Literal

from pydantic import BaseModel, ConfigDict, Field, JsonValue, ValidationError

from hansei.policies.drafts import StepDraft
from hansei.policies.errors import UserError
from hansei.policies.narrow import as_list, as_mapping
from hansei.policies.phrases import say
from hansei.policies.records import Gates, Step, ToolCall
from hansei.policies.settings import Settings
from hansei.policies.words import Language

Kind = Literal["plan", "replan", "tools"]

EVERY_TOOL = "*"
"""In `approve_tools`: the calls of all tools wait."""


class Decision(BaseModel):
    """What a human decided about one thing that was asked."""

    model_config = ConfigDict(frozen=True, extra="forbid")

    type: Literal["approve", "edit", "reject"]
    message: str = Field(default="", description="why it was rejected")
    name: str = Field(default="", description="the tool that an edited call names")
    args: dict[str, JsonValue] | None = Field(default=None, description="edited arguments")
    steps: list[StepDraft] | None = Field(default=None, description="the edited plan")


def gated(settings: Settings, *, tools: frozenset[str], effects: frozenset[str]) -> list[str]:
    """The tools whose calls wait for a human's leave, in order of their names.

    Args:
        settings: The settings of the run.
        tools: The names of all tools.
        effects: Those of the tools that change something.
    """
    named = frozenset(settings.approve_tools or ())
    chosen = tools if EVERY_TOOL in named else named & tools
    if settings.approve_effects:
        chosen |= effects
    return sorted(chosen)


def check_saved(gates: object, *, saved: bool) -> None:
    """Refuse to ask for leave where nobody could come back with the answer.

    Args:
        gates: What a human is to be asked for.
        saved: A saver keeps the run.

    Raises:
        UserError: As said.
    """
    if isinstance(gates, Gates) and not saved and (gates.plan or gates.replans or gates.tools):
        msg = (
            "A run that waits for your leave needs a checkpointer to wait in; give one with "
            "checkpointer=, or leave the approve_… settings out."
        )
        raise UserError(msg)


def check_gates(settings: Settings, tools: frozenset[str]) -> None:
    """Refuse names in `approve_tools` that no tool has: nothing would wait.

    Raises:
        UserError: There are some.
    """
    named = settings.approve_tools or ()
    unknown = [name for name in named if name != EVERY_TOOL and name not in tools]
    if unknown:
        known = ", ".join(sorted(tools)) or "none"
        msg = f"approve_tools names {', '.join(unknown)}, and the tools are: {known}."
        raise UserError(msg)


def plan_question(
    kind: Literal["plan", "replan"], steps: Sequence[Step], language: Language
) -> dict[str, JsonValue]:
    """The question whether steps may be done.

    Args:
        kind: A first plan, or what takes the place of steps that failed.
        steps: The steps that are asked about.
        language: The language of the question.
    """
    shown: list[JsonValue] = [_shown(step) for step in steps]
    lines = [f"{s.id}. {s.description}{f'  [{s.tool}]' if s.tool else ''}" for s in steps]
    question = say(f"may_{kind}", language, steps="\n".join(lines))
    action: dict[str, JsonValue] = {
        "name": kind,
        "args": {"steps": shown},
        "description": question,
    }
    return _question(kind, question, [action])


def tools_question(
    step: Step, calls: Sequence[ToolCall], language: Language
) -> dict[str, JsonValue]:
    """The question whether calls of a step may be made."""
    lines = [f"{call.name}({call.args})" for call in calls]
    question = say("may_call", language, step=step.description, calls="\n".join(lines))
    actions: list[dict[str, JsonValue]] = [
        {"name": call.name, "args": json.loads(call.args), "description": line}
        for call, line in zip(calls, lines, strict=True)
    ]
    return {**_question("tools", question, actions), "step": step.id}


def _question(
    kind: Kind, question: str, actions: Sequence[dict[str, JsonValue]]
) -> dict[str, JsonValue]:
    names = dict.fromkeys(str(action["name"]) for action in actions)
    return {
        "kind": kind,
        "question": question,
        "action_requests": list(actions),
        "review_configs": [
            {"action_name": name, "allowed_decisions": ["approve", "edit", "reject"]}
            for name in names
        ],
    }


def _shown(step: Step) -> dict[str, JsonValue]:
    depends: list[JsonValue] = list(step.depends_on)
    return {
        "id": step.id,
        "description": step.description,
        "tool": step.tool,
        "depends_on": depends,
    }


_YES = frozenset({"approve", "approved", "yes", "y", "ok", "同意", "批准", "可以", "好", "是"})
_NO = frozenset({"reject", "rejected", "no", "n", "拒绝", "不同意", "不行", "不可以", "否", "不"})
_PLAIN = {True: Decision(type="approve"), False: Decision(type="reject")}


def read_decisions(answer: object, *, asked: int, language: Language) -> list[Decision] | str:
    """The decisions in an answer, one for each thing that was asked; or what is wrong with it.

    A word ("approve", "reject: too dear", 同意, 拒绝：太贵), a truth value, one decision for all, a
    list of decisions, or `{"decisions": [...]}`; also as JSON text.

    Args:
        answer: What a human has sent.
        asked: How many things were asked.
        language: The language of what is said about a wrong answer.
    """
    plain = _plain(answer)
    if plain is not None:
        return [plain] * asked
    value = _parsed(answer)
    items = as_list(as_mapping(value).get("decisions", value)) or [value]
    for name in _unknown_fields(items):
        return say("decision_field", language, name=name)
    decisions = [_decision(item) for item in items]
    found = [item for item in decisions if item is not None]
    if len(found) != len(decisions):
        return say("decision_unknown", language)
    if len(found) == 1 and asked > 1 and found[0].type != "edit":
        return found * asked
    if len(found) != asked:
        return say("decision_count", language, asked=str(asked), given=str(len(found)))
    return found


_STEP_FIELDS = frozenset(StepDraft.model_fields) | {"task"}


def _unknown_fields(items: Sequence[object]) -> list[str]:
    """Fields of edited steps that no step has: a slip would be lost without a word."""
    fields = [as_mapping(item) for item in items]
    inside = [as_mapping(as_mapping(f.get("edited_action")).get("args")) for f in fields]
    steps = [step for f in (*fields, *inside) for step in as_list(f.get("steps"))]
    return [str(name) for step in steps for name in as_mapping(step) if name not in _STEP_FIELDS]


def _plain(answer: object) -> Decision | None:
    if isinstance(answer, bool):
        return _PLAIN[answer]
    if not isinstance(answer, str):
        return None
    word, _, reason = answer.strip().replace("：", ":").partition(":")
    word = word.strip().rstrip(".。!！").lower()
    if word in _YES and not reason.strip():
        return _PLAIN[True]
    return Decision(type="reject", message=reason.strip()) if word in _NO else None


def _parsed(answer: object) -> object:
    if not isinstance(answer, str):
        return answer
    try:
        value: object = json.loads(answer)
    except (ValueError, RecursionError):
        return answer
    return value


def _decision(item: object) -> Decision | None:
    plain = _plain(item)
    if plain is not None:
        return plain
    fields = {str(key): value for key, value in as_mapping(item).items()}
    edited = as_mapping(fields.pop("edited_action", None))
    if edited:
        inside = as_mapping(edited.get("args"))
        key = "steps" if "steps" in inside else "args"
        fields[key] = inside["steps"] if key == "steps" else dict(inside)
        if key == "args":
            fields["name"] = str(edited.get("name") or "")
    if "reason" in fields:
        fields.setdefault("message", fields.pop("reason"))
    try:
        decision = Decision.model_validate(fields)
    except ValidationError:
        return None
    if decision.args is not None and decision.steps is not None:
        return None
    changes = decision.args is not None or bool(decision.steps)
    return decision if changes == (decision.type == "edit") else None


Check = Callable[[Sequence[Decision]], str]
"""What is wrong with decisions that could be read; empty when nothing is."""
