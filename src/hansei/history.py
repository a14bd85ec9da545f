"""The checkpoints of a thread, as people look at them and choose one."""

# LangGraph's signatures of get_state_history hold types that it does not name.
# pyright: reportUnknownMemberType=false

from collections.abc import Sequence
from dataclasses import dataclass

from langchain_core.runnables import RunnableConfig
from langgraph.types import StateSnapshot
from pydantic import JsonValue

from hansei.graphs.agent import Agent
from hansei.policies.errors import UserError
from hansei.policies.narrow import as_mapping
from hansei.policies.state import AgentState
from hansei.policies.words import StepStatus

SHORTEST_END = 4
"""Characters of an id's end that may name a checkpoint: fewer could be a number."""


@dataclass(frozen=True, slots=True)
class Moment:
    """One checkpoint.

    Attributes:
        number: Its place in the history of the thread, from 1; a later fork does not change it.
        id: The checkpoint's id.
        parent: Number of the checkpoint that it came from; 0 where it is the first.
        when: When it was written, as ISO 8601.
        source: What wrote it: `input`, `loop`, `update` (an edit) or `fork`.
        next: The nodes that come next; empty at the end of a run.
        state: What the run knew.
        config: Where it is, for LangGraph.
    """

    number: int
    id: str
    parent: int
    when: str
    source: str
    next: tuple[str, ...]
    state: AgentState
    config: RunnableConfig


def history(agent: Agent, config: RunnableConfig) -> list[Moment]:
    """The checkpoints of a thread, the oldest first, those of all branches.

    Args:
        agent: Any agent on the thread's database; it is only asked to read.
        config: The thread.
    """
    found = sorted(agent.get_state_history(config), key=lambda item: _id(item.config))
    numbers = {_id(item.config): i for i, item in enumerate(found, start=1)}
    return [_moment(item, numbers) for item in found]


def find_checkpoint(moments: Sequence[Moment], name: str) -> Moment:
    """The checkpoint of that number or id, or the only one whose id ends so.

    Raises:
        UserError: There is none, or there are several.
    """
    wanted = name.strip().lower()
    for moment in moments:
        if wanted in {str(moment.number), moment.id}:
            return moment
    ends = [m for m in moments if len(wanted) >= SHORTEST_END and m.id.endswith(wanted)]
    if len(ends) == 1:
        return ends[0]
    said = "more than one checkpoint" if ends else "no checkpoint"
    known = f"1 to {len(moments)}" if moments else "none"
    msg = (
        f"There is {said} {name!r} on this thread; give a number ({known}) or an id that "
        "`hansei history` lists."
    )
    raise UserError(msg)


def moment_report(moment: Moment) -> dict[str, JsonValue]:
    """One checkpoint as JSON."""
    state = moment.state
    return {
        "number": moment.number,
        "checkpoint": moment.id,
        "parent": moment.parent,
        "when": moment.when,
        "source": moment.source,
        "next": list(moment.next),
        "goal": state.goal,
        "status": state.status.value,
        "steps": {str(step.id): step.status.value for step in state.ordered_steps},
        "verdict": last_verdict(state),
    }


def last_verdict(state: AgentState) -> str:
    """The latest verdict of the run so far, in a few words; empty before the first."""
    if not state.reflections:
        return ""
    last = state.reflections[-1]
    about = f"step {last.step}" if last.step else "answer"
    return f"{about}: {last.verdict or 'not judged'} by {last.source}"


def told_steps(state: AgentState) -> str:
    """The steps and their statuses, on one line."""
    return ", ".join(
        f"{s.id} {s.status.value if s.status is not StepStatus.PENDING else s.progress.value}"
        for s in state.ordered_steps
    )


def _id(config: RunnableConfig | None) -> str:
    return str(as_mapping(as_mapping(config).get("configurable")).get("checkpoint_id") or "")


def _moment(item: StateSnapshot, numbers: dict[str, int]) -> Moment:
    values: dict[str, object] = {
        k: v for k, v in item.values.items() if k in AgentState.model_fields
    }
    return Moment(
        number=numbers[_id(item.config)],
        id=_id(item.config),
        parent=numbers.get(_id(item.parent_config), 0),
        when=str(item.created_at or ""),
        source=str(as_mapping(item.metadata).get("source") or ""),
        next=item.next,
        state=AgentState.model_validate(values),
        config=item.config,
    )
