"""What may differ for one run: its settings, and the prompts of its nodes."""

from collections.abc import Mapping
from typing import Annotated, Self

from pydantic import AfterValidator, ConfigDict, Field, ValidationInfo

from hansei.policies.prompt_edits import checked_prompt
from hansei.policies.settings import Settings

_ANSWER: Mapping[str, object] = {"answer_language": "English"}
_PLAN: Mapping[str, object] = {"max_steps": 7, **_ANSWER}

PROMPTS: Mapping[str, Mapping[str, object]] = {
    "planner": _PLAN,
    "executor": _ANSWER,
    "reflector": _ANSWER,
    "replanner": _PLAN,
    "synthesizer": _ANSWER,
    "synthesizer_failed": _ANSWER,
    "reviewer": _ANSWER,
}
"""Every prompt whose instructions can be replaced, with a sample of each variable that it may name.

Goal, results and evidence are not among them: they stand in the part of the prompt that is data,
where they are fenced."""


def _checked(text: str | None, info: ValidationInfo) -> str | None:
    if text is None or not text.strip():
        return None  # a field of a form that was left empty
    name = str(info.field_name)
    return checked_prompt(name, text, PROMPTS[name.removesuffix("_prompt")])


Prompt = Annotated[str | None, AfterValidator(_checked)]


class RunContext(Settings):
    """What may differ for one run: any setting, and the instructions that the nodes give to models.

    A prompt replaces the instructions that come with hansei, in whichever language the run is. What
    a retry must do differently is added below it, and the data of a call stand apart from it.

    Raises:
        UserError: There is no such setting, it cannot have that value, or a prompt cannot be used.
    """

    model_config = ConfigDict(
        json_schema_extra={
            "description": "What may differ for one run: settings, and the prompts of the nodes."
        }
    )

    planner_prompt: Prompt = Field(
        default=None,
        description="Instructions of the planner; empty: those that come with hansei.",
        json_schema_extra={"langgraph_nodes": ["planner"], "langgraph_type": "prompt"},
    )
    executor_prompt: Prompt = Field(
        default=None,
        description="Instructions of the executor; empty: those that come with hansei.",
        json_schema_extra={"langgraph_nodes": ["executor"], "langgraph_type": "prompt"},
    )
    reflector_prompt: Prompt = Field(
        default=None,
        description="Instructions of who judges a step; empty: those that come with hansei.",
        json_schema_extra={"langgraph_nodes": ["reflector"], "langgraph_type": "prompt"},
    )
    reviewer_prompt: Prompt = Field(
        default=None,
        description="Instructions of who judges the answer; empty: those that come with hansei.",
        json_schema_extra={"langgraph_nodes": ["reflector"], "langgraph_type": "prompt"},
    )
    replanner_prompt: Prompt = Field(
        default=None,
        description="Instructions of the replanner; empty: those that come with hansei.",
        json_schema_extra={"langgraph_nodes": ["replanner"], "langgraph_type": "prompt"},
    )
    synthesizer_prompt: Prompt = Field(
        default=None,
        description="Instructions of who writes the answer; empty: those that come with hansei.",
        json_schema_extra={"langgraph_nodes": ["synthesizer"], "langgraph_type": "prompt"},
    )
    synthesizer_failed_prompt: Prompt = Field(
        default=None,
        description=(
            "Instructions of who writes the answer when no step succeeded; empty: those that come "
            "with hansei."
        ),
        json_schema_extra={"langgraph_nodes": ["synthesizer"], "langgraph_type": "prompt"},
    )

    @classmethod
    def of(cls, settings: Settings) -> Self:
        """The settings of an agent, with its prompts if it has any."""
        return cls.model_construct(**dict(settings))


def edited_prompt(settings: Settings, name: str) -> str | None:
    """The text that replaces the instructions of a prompt in this run; `None`: nothing does."""
    if not isinstance(settings, RunContext):
        return None
    text: object = getattr(settings, f"{name}_prompt")
    return text if isinstance(text, str) else None
