"""The records a run leaves behind: steps, attempts, tool calls, findings and verdicts.

Every model stands at module level, has a default for every field and holds only plain
values, so that a checkpoint restores it and Studio can edit it.
"""

from collections.abc import Mapping
from typing import Annotated, Any, Literal, cast

from pydantic import BaseModel, BeforeValidator, ConfigDict, Field

from hansei.policies.errors import UserError
from hansei.policies.words import (
    AcceptedReason,
    Fault,
    FindingKind,
    Progress,
    StepStatus,
    Verdict,
    VerdictSource,
)
from hansei.tools.outcome import OutcomeStatus


class Record(BaseModel):
    """Base of all records: frozen, so that nobody changes what a checkpoint also holds."""

    model_config = ConfigDict(frozen=True)

    def model_dump(self, *, mode: str = "json", **options: Any) -> dict[str, Any]:  # noqa: ANN401 - as pydantic has it
        """The record as plain values; words of an enum are their text, unless `mode` is `python`.

        Checkpoints are written by this. An enum among the values would be packed by itself, with
        the names of its module and class: two thirds of the time, and a quarter of the bytes.
        """
        return super().model_dump(mode=mode, **options)


class ToolCall(Record):
    """One tool call and what came back."""

    id: str = ""
    name: str = ""
    args: str = Field(default="{}", description="canonical JSON of the arguments")
    outcome: OutcomeStatus | None = Field(default=None, description="None: not run yet")
    reason: str = ""
    doubt: str = Field(default="", description="why an output that is ok may hold no result")
    output: str = Field(default="", description="the output, or its beginning")
    size: int = Field(default=0, description="length of the whole output in characters")
    ref: str = Field(default="", description="key of the whole output in the run's store")
    raised: bool = Field(default=False, description="the tool raised instead of answering")
    changes: bool = Field(default=False, description="its tool changes something in the world")
    from_record: bool = Field(default=False, description="answered from an earlier identical call")
    decision: str = Field(
        default="", description="what a human who was asked said: approve, edit or reject"
    )


class Round(Record):
    """One model call of the executor: what it said, and the calls it asked for."""

    text: str = ""
    calls: list[ToolCall] = Field(default_factory=list[ToolCall])


class Attempt(Record):
    """One try at a step. It is written down before the first call is made."""

    number: int = 1
    hint: str = ""
    rounds: list[Round] = Field(default_factory=list[Round])
    result: str = ""
    fault: Fault = Fault.NONE
    fault_reason: str = ""
    truncated: bool = Field(default=False, description="the model's text was cut off")

    @property
    def calls(self) -> list[ToolCall]:
        """All tool calls of the attempt, in order."""
        return [call for item in self.rounds for call in item.calls]


class Finding(Record):
    """What one check said."""

    kind: FindingKind = FindingKind.SIGNAL
    check: str = ""
    reason: str = ""
    hint: str = ""
    source: VerdictSource = VerdictSource.RULE


class ConditionAnswer(Record):
    """What the reflector said about one condition of the goal, and what the code made of it."""

    condition: int = 0
    met: bool = False
    quote: str = ""
    quote_found: bool | None = Field(default=None, description="None: no quote was given")


class VerdictRecord(Record):
    """One verdict with everything that went into it, so that it can be derived again."""

    verdict: Verdict | None = None
    source: VerdictSource = VerdictSource.NONE
    attempt: int = 1
    analysis: str = ""
    suggestion: str = ""
    veto: bool = Field(default=False, description="a rule vetoed; no model turns this into PASS")
    findings: list[Finding] = Field(default_factory=list[Finding])
    conditions: list[ConditionAnswer] = Field(default_factory=list[ConditionAnswer])
    model_verdict: Verdict | None = Field(default=None, description="the model's own word")
    quote: str = ""
    quote_found: bool | None = None
    unjudged: AcceptedReason | None = Field(
        default=None, description="why there is no verdict, when there is none"
    )
    refused: str = Field(default="", description="the budget that forbade asking, if one did")
    raw: str = Field(default="", description="the replies that could not be read, each shortened")
    prompt_version: str = ""


class Ruling(Record):
    """A verdict given by hand, which the reflector applies instead of judging."""

    verdict: Verdict | None = None
    analysis: str = Field(default="", description="why")
    suggestion: str = Field(default="", description="what to change: the hint of a retry")


_RULED: Mapping[str, Verdict] = {
    **{verdict.value: verdict for verdict in Verdict},
    "通过": Verdict.PASS,
    "重试": Verdict.RETRY,
    "重新规划": Verdict.REPLAN,
}
"""The words that a human may use for a verdict."""


def read_ruling(value: object) -> object:
    """A ruling out of what an edit holds: a word in any case, or a mapping with one.

    Raises:
        UserError: It is no verdict.
    """
    if value is None or value == "" or isinstance(value, Ruling):
        return value or None
    fields = (
        cast("Mapping[str, object]", value) if isinstance(value, Mapping) else {"verdict": value}
    )
    word = fields.get("verdict")
    verdict = _RULED.get(str(word).strip().upper()) if isinstance(word, str) else None
    if verdict is None:
        msg = f"There is no verdict {word!r:.80}; give PASS, RETRY or REPLAN."
        raise UserError(msg)
    hint = fields.get("hint")
    return {**({"suggestion": hint} if hint else {}), **fields, "verdict": verdict}


class Step(Record):
    """One step of the plan and its whole story."""

    id: int = 0
    description: str = ""
    tool: str | None = None
    depends_on: list[int] = Field(default_factory=list[int])
    needs_reflection: bool = True
    status: StepStatus = StepStatus.PENDING
    reason: str = ""
    progress: Progress = Progress.WAITING
    hint: str = ""
    attempts: list[Attempt] = Field(default_factory=list[Attempt])
    verdicts: list[VerdictRecord] = Field(default_factory=list[VerdictRecord])
    verdict: Annotated[Ruling | None, BeforeValidator(read_ruling)] = Field(
        default=None,
        description="only for you: PASS, RETRY or REPLAN; the reflector applies it",
    )
    result: str = ""
    stands_in_for: list[int] = Field(
        default_factory=list[int], description="failed steps that this one was planned to make good"
    )

    @property
    def last_attempt(self) -> Attempt:
        """The attempt under way or just finished; an empty one before the first."""
        return self.attempts[-1] if self.attempts else Attempt()

    @property
    def round_calls(self) -> list[ToolCall]:
        """The calls of the last round; none before the first."""
        rounds = self.last_attempt.rounds
        return rounds[-1].calls if rounds else []


class Gates(Record):
    """What a run asks a human's leave for. It is kept, so that a resume cannot forget it."""

    plan: bool = False
    replans: bool = False
    tools: list[str] = Field(default_factory=list[str])


class Waiting(Record):
    """A plan or a replan that waits for a human's leave."""

    kind: Literal["plan", "replan"] = "plan"
    steps: list[int] = Field(default_factory=list[int])
    since: float = Field(default=0.0, description="seconds since the epoch")


class Reflection(Record):
    """One link of the chain of reflections (row P13): short, in the order of judging."""

    step: int = Field(default=0, description="0 is the answer")
    attempt: int = 1
    verdict: Verdict | None = None
    source: VerdictSource = VerdictSource.NONE
    analysis: str = ""
    suggestion: str = ""


class Condition(Record):
    """A condition of the goal (row P17)."""

    id: int = 0
    hard: bool = False
    kind: str = Field(
        default="situation", description="limit, exclusion, identifier, quoted or situation"
    )
    quote: str = Field(default="", description="the goal's own words")
    steps: list[int] = Field(
        default_factory=list[int], description="steps it concerns; empty: the answer only"
    )


class AnswerAttempt(Record):
    """One text of the synthesizer, and what became of it."""

    text: str = ""
    truncated: bool = Field(default=False, description="the model's text was cut off")
    verdict: VerdictRecord | None = None


class RoleUsage(Record):
    """What one role has cost so far."""

    calls: int = Field(default=0, ge=0)
    input_tokens: int = Field(default=0, ge=0)
    output_tokens: int = Field(default=0, ge=0)
    estimated: bool = Field(
        default=False, description="the endpoint gave no counts, so some were estimated"
    )
