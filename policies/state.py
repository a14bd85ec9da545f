"""The state of a run and its reducers."""

from collections.abc import Mapping
from typing import Annotated

from langchain_core.messages import AnyMessage
from langgraph.graph.message import add_messages
from pydantic import BeforeValidator, ConfigDict, Field

from hansei.policies.budget import Spent
from hansei.policies.edits import add_reflections, merge_steps
from hansei.policies.follow_up import Turn, earlier_turns
from hansei.policies.kept import Kept
from hansei.policies.plain_model import PlainModel
from hansei.policies.records import (
    AnswerAttempt,
    Condition,
    Gates,
    Record,
    Reflection,
    RoleUsage,
    Ruling,
    Step,
    ToolCall,
    Waiting,
    read_ruling,
)
from hansei.policies.words import (
    AnswerStatus,
    Language,
    RunStatus,
)

STATE_VERSION = 1
"""Version of the shape below. Raise it when an old checkpoint would be read wrongly."""


def add_usage(
    left: Mapping[str, RoleUsage], right: Mapping[str, RoleUsage | Mapping[str, object]]
) -> dict[str, RoleUsage]:
    """Add up what each role has cost; plain mappings are what `update_state` sends."""
    total = dict(left)
    for role, value in right.items():
        cost = value if isinstance(value, RoleUsage) else RoleUsage.model_validate(value)
        old = total.get(role)
        if old is None:
            total[role] = cost
            continue
        total[role] = RoleUsage(
            calls=old.calls + cost.calls,
            input_tokens=old.input_tokens + cost.input_tokens,
            output_tokens=old.output_tokens + cost.output_tokens,
            estimated=old.estimated or cost.estimated,
        )
    return total


class AgentInput(PlainModel):
    """What a run is started with: a goal, or messages whose last human one is the goal."""

    model_config = ConfigDict(extra="forbid")

    goal: str = Field(default="", description="What to do, in your own words.")
    messages: list[AnyMessage] = Field(
        default_factory=list[AnyMessage],
        description="A conversation; its last human message is the goal.",
    )

    @classmethod
    def called(cls) -> str:
        """See `PlainModel`."""
        return "input field"


class AgentState(PlainModel):
    """Everything a run knows. What is not in here does not survive a crash."""

    state_version: int = STATE_VERSION
    goal: str = ""
    messages: Annotated[list[AnyMessage], add_messages] = Field(default_factory=list[AnyMessage])
    asked: str = Field(default="", description="id of the message that was taken as the goal")
    asked_goal: str = Field(default="", description="the goal that the last run worked on")
    run_id: str = ""
    started_at: float = Field(default=0.0, description="seconds since the epoch")
    language: Language = "en"
    conditions: list[Condition] = Field(default_factory=list[Condition])
    brief: str = Field(default="", description="one line: what the answer must cover")
    notes: list[str] = Field(
        default_factory=list[str], description="what the plan lint corrected, in plain words"
    )
    steps: Annotated[dict[int, Step], merge_steps] = Field(default_factory=dict[int, Step])
    order: list[int] = Field(default_factory=list[int])
    dispatch: list[int] = Field(
        default_factory=list[int], description="steps that the next edge hands to the executor"
    )
    kept: Kept | None = Field(default=None, description="the settings that it was started with")
    gates: Gates = Field(default_factory=Gates, description="what a human is asked for")
    waiting: Waiting | None = Field(default=None, description="what waits for a human's leave")
    replan_due: list[int] = Field(
        default_factory=list[int], description="failed steps that wait for the replanner"
    )
    replans: int = Field(default=0, description="replans spent, counted before they are made")
    reflections: Annotated[list[Reflection], add_reflections] = Field(
        default_factory=list[Reflection]
    )
    verdict: Annotated[Ruling | None, BeforeValidator(read_ruling)] = Field(
        default=None,
        description=(
            "only for you: PASS, RETRY or REPLAN for what waits to be judged, or was judged last; "
            "the reflector applies it"
        ),
    )
    usage: Annotated[dict[str, RoleUsage], add_usage] = Field(default_factory=dict[str, RoleUsage])
    bound: int = Field(default=0, description="most model calls this run can make")
    answer: str = ""
    answer_status: AnswerStatus = AnswerStatus.NONE
    answer_reason: str = ""
    answer_hint: str = ""
    answer_attempts: list[AnswerAttempt] = Field(default_factory=list[AnswerAttempt])
    status: RunStatus = RunStatus.RUNNING
    verified: bool = Field(default=False, description="every part that counts was verified")
    reason: str = Field(default="", description="why the run failed")
    needs_human: str = Field(default="", description="what only a human can find out or decide")
    exhausted: str = Field(default="", description="the budget that ended the run, if one did")

    @classmethod
    def called(cls) -> str:
        """See `PlainModel`."""
        return "state field"

    @property
    def earlier(self) -> list[Turn]:
        """What was said on the thread before this run's question."""
        return earlier_turns(self.messages, asked=self.asked, goal=self.goal)

    @property
    def in_order(self) -> list[int]:
        """Ids of all steps in the order of the plan; one that an edit has added comes last."""
        known = [i for i in self.order if i in self.steps]
        return [*known, *sorted(set(self.steps) - set(known))]

    @property
    def ordered_steps(self) -> list[Step]:
        """All steps in the order of the plan."""
        return [self.steps[i] for i in self.in_order]


class StepInput(Record):
    """The result of a step that another one depends on."""

    step: int = 0
    description: str = ""
    result: str = ""
    evidence: str = Field(default="", description="beginnings of what its tools returned")
    refs: list[str] = Field(
        default_factory=list[str], description="keys of those outputs that are longer"
    )


class StepTask(Record):
    """What executor and tools get: one step and what it is bound to.

    The goal travels along for the provenance rule (P18); the executor's prompt shows it
    only when `goal_blind` is off.
    """

    step: Step = Field(default_factory=Step)
    inputs: list[StepInput] = Field(default_factory=list[StepInput])
    given_up: list[ToolCall] = Field(
        default_factory=list[ToolCall],
        description="calls of the failed steps that this one stands in for",
    )
    goal: str = ""
    earlier: list[str] = Field(
        default_factory=list[str],
        description="what was said before on the thread, whose ids may be used; no prompt shows it",
    )
    language: Language = "en"
    run_id: str = ""
    started_at: float = 0.0
    gated: list[str] = Field(
        default_factory=list[str], description="tools whose calls wait for a human's leave"
    )
    kept: Kept | None = None
    spent: Spent = Field(default_factory=Spent)


MERGED = frozenset({"messages", "steps", "reflections", "usage"})
"""Fields with a reducer: an update is added to what is there, so it is never what is there."""


def changes(update: Mapping[str, object], state: AgentState) -> dict[str, object]:
    """The part of an update that changes the state; each key of it is a row of the database."""
    return {
        key: value
        for key, value in update.items()
        if (value if key in MERGED else value != getattr(state, key))
    }
