"""What a user can set, with its defaults, and the bound on model calls that follows from it."""

from typing import Annotated, Literal, Optional, Self

from pydantic import BeforeValidator, ConfigDict, Field

from hansei.policies.plain_model import PlainModel

ReflectionMode = Literal["always", "flagged", "on_signal", "auto", "never"]
"""When the reflector's model looks at a step."""

RetryMode = Literal["fresh", "repair", "resample"]
"""What a retry is shown: the localized finding, the failed text as well, or neither."""

Count = Annotated[int, Field(strict=True, ge=0)]
Positive = Annotated[int, Field(strict=True, ge=1)]


def _names(value: object) -> object:
    """Names as the command line gives them, with commas between them."""
    if isinstance(value, str):
        return tuple(name.strip() for name in value.split(",") if name.strip())
    return value


class Settings(PlainModel):
    """Settings of an agent; as the context of a run, what it sets overrides them for that run.

    A limit of 0 means none allowed; `None` means no limit, where it is allowed.

    Raises:
        UserError: There is no such setting, or it cannot have that value; it is a ValueError too.
    """

    model_config = ConfigDict(frozen=True, extra="forbid")

    reflection: ReflectionMode = Field(
        default="always", description="When the reflector's model looks at a step."
    )
    max_step_retries: Count = Field(default=1, description="Retries of one step.")
    max_replans: Count = Field(default=2, description="Replans of one run.")
    max_steps: Positive = Field(default=7, description="Steps of one plan.")
    max_tool_rounds: Count = Field(default=3, description="Tool rounds of one attempt.")
    max_parallel: Positive = Field(default=4, description="Steps under way at once.")
    max_repairs: Count = Field(
        default=1, description="Repair requests for one structured reply that cannot be used."
    )
    goal_blind: bool = Field(
        default=True, description="Executor and synthesizer do not see the goal."
    )
    review_answer: bool = Field(default=True, description="The answer is reflected on too.")
    share_reflections: bool = Field(
        default=True, description="The reflector sees the chain of earlier reflections."
    )
    conditions: bool = Field(
        default=True, description="Conditions of the goal are listed and checked."
    )
    provenance: bool = Field(
        default=True, description="Ids in tool arguments must come from somewhere."
    )
    retry_mode: RetryMode = Field(
        default="fresh",
        description=(
            "What a retry is shown. Fresh is the default because small models repeat a "
            "failed text that they are shown (arXiv 2607.26117)."
        ),
    )
    approve_plan: bool = Field(
        default=False, description="The plan waits for a human's leave before its first step."
    )
    approve_replans: bool = Field(
        default=False, description="What takes the place of failed steps waits for it as well."
    )
    approve_effects: bool = Field(
        default=False, description="So does each call of a tool that changes something."
    )
    approve_tools: Annotated[tuple[str, ...] | None, BeforeValidator(_names)] = Field(
        default=None, description='So do the calls of these tools, by name; "*" is all of them.'
    )
    token_budget: Positive | None = Field(default=None, description="Tokens of one run.")
    call_budget: Count | None = Field(default=None, description="Model calls of one run.")
    deadline: Annotated[float, Field(gt=0)] | None = Field(
        default=None,
        description=(
            "Seconds after which a run starts no call of a model or a tool; one that is under way "
            "is waited for."
        ),
    )
    language: Literal["auto", "zh", "en"] = Field(
        default="auto", description="Language of the answer; auto follows the goal."
    )

    @classmethod
    def called(cls) -> str:
        """See `PlainModel`."""
        return "setting"

    def overridden_by(self, context: Optional["Settings"]) -> Self:
        """These settings with what `context` sets explicitly."""
        if context is None:
            return self
        return self.model_copy(
            update={name: getattr(context, name) for name in context.model_fields_set}
        )

    @property
    def retries(self) -> int:
        """Retries that a step really has: none where nothing reflects."""
        return 0 if self.reflection == "never" else self.max_step_retries

    @property
    def replans(self) -> int:
        """Replans that a run really has: none where nothing reflects."""
        return 0 if self.reflection == "never" else self.max_replans

    @property
    def syntheses(self) -> int:
        """Texts the synthesizer may write: a second one where something looks at the first."""
        return 1 if self.reflection == "never" else 2

    @property
    def reviews_answer(self) -> bool:
        """Whether a model reviews the answer."""
        return self.review_answer and self.reflection != "never"


def worst_case_calls(settings: Settings, *, steps: int | None = None) -> int:
    """The most model calls a run can make.

    Args:
        settings: The settings of the run.
        steps: Steps of the first plan; `None` takes the most that a plan may have.

    Returns:
        A number of logical requests, the smaller of this bound and `call_budget`:

            (1+K)(1+P) + (N + K*M)(R+1)(T + 2 + P) + syntheses + 2(1+P)

        with N steps, M = `max_steps` of a replan, K replans, R retries, T tool rounds (one
        more call states the result) and P repairs of one structured reply. The reflector's
        share, 1 + P of an attempt and of each of two reviews, is left out where it never
        looks. A run that crashes may repeat the calls that were in flight.

    Raises:
        ValueError: `steps` is negative.
    """
    if steps is not None and steps < 0:
        msg = f"steps must not be negative, and {steps} was given"
        raise ValueError(msg)
    first = settings.max_steps if steps is None else steps
    structured = 1 + settings.max_repairs
    reflector = 0 if settings.reflection == "never" else structured
    attempt = settings.max_tool_rounds + 1 + reflector
    attempts = (first + settings.replans * settings.max_steps) * (settings.retries + 1)
    reviews = settings.syntheses * structured if settings.reviews_answer else 0
    bound = (1 + settings.replans) * structured + attempts * attempt + settings.syntheses + reviews
    return bound if settings.call_budget is None else min(bound, settings.call_budget)
