"""The settings that a run keeps, so that it goes on under the same ones in another process."""

from collections.abc import Mapping
from functools import lru_cache

from pydantic import Field, JsonValue

from hansei.policies.provenance import canonical
from hansei.policies.records import Record
from hansei.policies.run_context import RunContext
from hansei.policies.settings import Settings


class Kept(Record):
    """What was set when the run began; what was left at its default is not in it."""

    agent: dict[str, JsonValue] = Field(
        default_factory=dict[str, JsonValue], description="settings of the agent"
    )
    context: dict[str, JsonValue] = Field(
        default_factory=dict[str, JsonValue], description="what its context set on top of them"
    )


def keep(agent: Settings, context: Settings | None, before: Kept | None = None) -> Kept:
    """What a run keeps of its settings.

    Args:
        agent: The agent's.
        context: What this call of the agent overrides.
        before: What the run has kept so far.
    """
    old = before or Kept()
    return Kept(
        agent={**old.agent, **_set(agent)},
        context={**old.context, **(_set(context) if context else {})},
    )


def in_force(agent: Settings, context: Settings | None, kept: Kept | None) -> Settings:
    """The settings that hold for a node of a run.

    The context of this very call comes first, then the one that the run began with, then what the
    agent sets, then what the agent set that the run began with.

    Args:
        agent: The agent's, which another one may have begun.
        context: What this call of the agent overrides.
        kept: What the run has kept; `None` before it begins.
    """
    if kept is not None and (kept.context or kept.agent != _set(agent)):
        agent = _read(canonical({**kept.agent, **_set(agent), **kept.context}))
    return agent if context is None else RunContext.of(agent).overridden_by(context)


def _set(settings: Settings) -> dict[str, JsonValue]:
    values: Mapping[str, JsonValue] = settings.model_dump(mode="json", exclude_unset=True)
    return dict(values)


@lru_cache(maxsize=64)  # as many runs as go on at once with settings of their own
def _read(text: str) -> Settings:
    return RunContext.model_validate_json(text)
