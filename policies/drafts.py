"""What planner and replanner may say. Machine records are made from these, never by them."""

from typing import Annotated

from pydantic import AliasChoices, BaseModel, BeforeValidator, ConfigDict, Field

from hansei.policies.narrow import as_list
from hansei.policies.text import is_blank

_NO_TOOL = frozenset({"", "none", "null", "n/a", "无"})
"""Spellings of "no tool" that models use where null was asked for."""


def _key(value: object) -> object:
    """Step numbers as text, so that 1, "1" and "s1" are all names that can be matched."""
    return str(value).strip() if isinstance(value, int | str) else value


def _keys(value: object) -> object:
    if value is None:
        return []
    return [_key(item) for item in (as_list(value) or [value]) if item != []]


def _text(value: object) -> object:
    return "" if value is None or (isinstance(value, str) and is_blank(value)) else value


def _tool(value: object) -> object:
    if isinstance(value, str) and value.strip().lower() in _NO_TOOL:
        return None
    return value


Key = Annotated[str, BeforeValidator(_key)]
Keys = Annotated[list[str], BeforeValidator(_keys)]
Text = Annotated[str, BeforeValidator(_text)]


class StepDraft(BaseModel):
    """A step as the model wrote it."""

    model_config = ConfigDict(extra="ignore")

    id: Key = ""
    description: Annotated[Text, Field(validation_alias=AliasChoices("description", "task"))] = ""
    tool: Annotated[str | None, BeforeValidator(_tool)] = None
    depends_on: Keys = Field(default_factory=list[str])
    needs_reflection: bool = True
    stands_in_for: Keys = Field(default_factory=list[str])


class ConditionDraft(BaseModel):
    """A condition of the goal as the planner read it."""

    model_config = ConfigDict(extra="ignore")

    quote: Text = ""
    hard: bool = False
    concerns: Annotated[Keys, Field(validation_alias=AliasChoices("concerns", "steps"))] = Field(
        default_factory=list[str]
    )


def _list(value: object) -> object:
    return [] if value is None else value


class PlanDraft(BaseModel):
    """The planner's reply: a plan, or a direct answer where there is no work."""

    model_config = ConfigDict(extra="ignore")

    analysis: Text = ""
    conditions: Annotated[list[ConditionDraft], BeforeValidator(_list)] = Field(
        default_factory=list[ConditionDraft]
    )
    steps: Annotated[list[StepDraft], BeforeValidator(_list)]
    brief: Text = ""
    answer: Text = ""


class ReplanDraft(BaseModel):
    """The replanner's reply: new steps, what they stand in for, and what is given up."""

    model_config = ConfigDict(extra="ignore")

    analysis: Text = ""
    steps: Annotated[list[StepDraft], BeforeValidator(_list)]
    given_up: Keys = Field(default_factory=list[str])
    drop: Keys = Field(default_factory=list[str])
