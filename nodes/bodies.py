"""Each node as LangGraph sees it: read the state, drive the body, return a partial update."""

import logging
from collections.abc import Callable, Sequence
from contextlib import suppress
from typing import TypeVar, cast

from langchain_core.runnables import RunnableConfig
from langgraph.config import get_config
from langgraph.errors import GraphBubbleUp
from langgraph.runtime import get_runtime
from langgraph.types import Command, Send

from hansei.nodes.approval import approve
from hansei.nodes.beginning import begin
from hansei.nodes.effects import Body, Remember, adrive, drive
from hansei.nodes.executor import Turn, execute
from hansei.nodes.kit import Kit, NodeSession
from hansei.nodes.models import STEP_METADATA, with_metadata
from hansei.nodes.node import Node
from hansei.nodes.planner import plan
from hansei.nodes.reflector import reflect_on_steps
from hansei.nodes.replanner import replan
from hansei.nodes.reviewer import review_answer
from hansei.nodes.synthesizer import synthesize
from hansei.nodes.tool_call import said_by
from hansei.nodes.tool_runner import broken_off, entry_of, run_tools
from hansei.policies.approvals import check_saved
from hansei.policies.budget import Spent
from hansei.policies.errors import StoreError
from hansei.policies.events import ProgressEvent, run_events, turn_events
from hansei.policies.follow_up import said
from hansei.policies.kept import Kept, in_force, keep
from hansei.policies.phrases import say
from hansei.policies.provenance import given_up_calls, standing_calls
from hansei.policies.records import Step
from hansei.policies.rulings import bound_from_here, judges_answer
from hansei.policies.schedule import in_flight
from hansei.policies.settings import Settings
from hansei.policies.state import AgentState, StepInput, StepTask, changes
from hansei.policies.words import Fault, RunStatus

logger = logging.getLogger(__name__)

Update = dict[str, object]
R = TypeVar("R")

StateBody = Callable[[AgentState, Kit, Settings], Body[Update]]
TaskBody = Callable[[StepTask, Kit, Settings], Body[Turn]]


def state_node(body: StateBody, kit: Kit, *, first: bool = False) -> Node[AgentState, Update]:
    """A node that sees the whole state.

    Args:
        body: What it does.
        kit: What it does it with.
        first: It begins a run: what an earlier one has kept is not its, and its update is written
            as it is, also what stands in the state already.
    """

    def closed(state: AgentState, update: Update, session: NodeSession) -> Update:
        _tell(run_events(state, update))
        if update.get("status", RunStatus.RUNNING) is not RunStatus.RUNNING:
            session.end()
        update = {"usage": session.usage, **update}
        if first:
            check_saved(update["gates"], saved=session.saved)
            return {**update, "kept": keep(kit.settings, _context())}
        return changes({**_kept(state, kit), **update}, state)

    def run(state: AgentState) -> Update:
        session = _open(kit, state)
        return closed(state, drive(body(state, kit, session.settings), session), session)

    async def arun(state: AgentState) -> Update:
        session = _open(kit, state)
        update = await adrive(body(state, kit, session.settings), session)
        return closed(state, update, session)

    return Node(run, arun)


def task_node(body: TaskBody, kit: Kit) -> Node[StepTask, Command[str]]:
    """A node that sees one step. What goes wrong inside it fails the step, not the run (P7).

    A store that fails ends the run: without it nobody could say later what a step has begun.
    """

    def run(task: StepTask) -> Command[str]:
        session = _open_task(kit, task)
        try:
            turn = drive(body(task, kit, session.settings), session)
        except GraphBubbleUp:
            session.remember(_left(task))
            raise
        except StoreError:
            with suppress(StoreError):
                session.remember(_left(task))
            raise
        except Exception as exc:  # noqa: BLE001 - whatever it was, the step failed with it
            turn = drive(_broken(task, exc, kit), session)
        return _onward(task, turn, session)

    async def arun(task: StepTask) -> Command[str]:
        session = _open_task(kit, task)
        try:
            turn = await adrive(body(task, kit, session.settings), session)
        except GraphBubbleUp:
            await session.aremember(_left(task))
            raise
        except StoreError:
            with suppress(StoreError):
                await session.aremember(_left(task))
            raise
        except Exception as exc:  # noqa: BLE001 - whatever it was, the step failed with it
            turn = await adrive(_broken(task, exc, kit), session)
        return _onward(task, turn, session)

    return Node(run, arun)


def _left(task: StepTask) -> Remember:
    """Who stops to ask somebody, or because a store failed, has left the round; it was no crash."""
    return Remember(key=entry_of(task), text="", shelf="entries")


def _reflect(state: AgentState, kit: Kit, settings: Settings) -> Body[Update]:
    look = review_answer if judges_answer(state) else reflect_on_steps
    return look(state, kit, settings)


def beginning(kit: Kit) -> Node[AgentState, Update]:
    """A new question, to a state without an earlier one."""
    return state_node(begin, kit, first=True)  # so that a result has every key


def planner(kit: Kit) -> Node[AgentState, Update]:
    """Goal to plan."""
    return state_node(plan, kit)


def approval(kit: Kit) -> Node[AgentState, Update]:
    """A human's leave for what was planned."""
    return state_node(approve, kit)


def executor(kit: Kit) -> Node[StepTask, Command[str]]:
    """One model call on one step."""
    return task_node(execute, kit)


def tools(kit: Kit) -> Node[StepTask, Command[str]]:
    """The tool calls of one round of one step."""
    return task_node(run_tools, kit)


def reflector(kit: Kit) -> Node[AgentState, Update]:
    """The look back: at finished steps, or at the answer."""
    return state_node(_reflect, kit)


def replanner(kit: Kit) -> Node[AgentState, Update]:
    """What takes the place of what failed."""
    return state_node(replan, kit)


def synthesizer(kit: Kit) -> Node[AgentState, Update]:
    """Results and failures to an answer."""
    return state_node(synthesize, kit)


def dispatched(state: AgentState) -> list[Step]:
    """The steps that the last node has started."""
    return [state.steps[i] for i in state.dispatch if i in state.steps]


def edited() -> bool:
    """Whether an edge is asked by `update_state`, where no run is under way."""
    return cast("object", get_runtime(Settings)) is None


def tasks(state: AgentState, steps: Sequence[Step]) -> list[Send]:
    """The steps to hand to the executor, each with what it is bound to."""
    spent = spent_of(state)
    earlier = said(state.earlier)
    return [
        Send(
            "executor",
            StepTask(
                step=step,
                inputs=[_input(state, d) for d in step.depends_on if d in state.steps],
                given_up=given_up_calls(step, state.steps),
                goal=state.goal,
                earlier=earlier,
                language=state.language,
                run_id=state.run_id,
                started_at=state.started_at,
                gated=state.gates.tools,
                kept=state.kept,
                spent=spent,
            ),
        )
        for step in steps
    ]


def _input(state: AgentState, step_id: int) -> StepInput:
    step = state.steps[step_id]
    calls = standing_calls(step)
    return StepInput(
        step=step_id,
        description=step.description,
        result=step.result,
        evidence="\n".join(call.output for call in calls),
        refs=[call.ref for call in calls if call.ref],
    )


def _kept(state: AgentState, kit: Kit) -> Update:
    """What a run keeps of settings that are not those it has kept, with the bound that follows."""
    kept = keep(kit.settings, _context(), state.kept)
    if kept == state.kept:
        return {}
    settings = in_force(kit.settings, _context(), kept)
    if settings == in_force(Settings(), None, state.kept):
        return {"kept": kept}
    return {"kept": kept, "bound": bound_from_here(state, settings)}


def spent_of(state: AgentState) -> Spent:
    """What the state knows to be spent."""
    return Spent(
        calls=sum(u.calls for u in state.usage.values()),
        tokens=sum(u.input_tokens + u.output_tokens for u in state.usage.values()),
    )


def _context() -> Settings | None:
    # LangGraph turns a mapping into Settings; without a context there is None, whatever it says.
    # Inside another graph it is that graph's context, which may be anything and is not for us.
    context = cast("object", get_runtime(Settings).context)
    return context if isinstance(context, Settings) else None


def _open(kit: Kit, state: AgentState) -> NodeSession:
    kit.ledger.sync(state.run_id, spent_of(state), alone=not in_flight(state.steps))
    return _session(kit, state.run_id, state.started_at, kept=state.kept)


def _open_task(kit: Kit, task: StepTask) -> NodeSession:
    kit.ledger.sync(task.run_id, task.spent, alone=False)
    return _session(kit, task.run_id, task.started_at, kept=task.kept, step=task.step.id)


def _session(
    kit: Kit, run_id: str, started_at: float, *, kept: Kept | None, step: int | None = None
) -> NodeSession:
    config: RunnableConfig = get_config()
    if step is not None:
        config = with_metadata(config, {STEP_METADATA: step})
    return NodeSession(
        kit=kit,
        settings=in_force(kit.settings, _context(), kept),
        config=config,
        # A graph around this one, or a server, brings its own store for an agent that has none.
        store=kit.store or kit.lent_store(config),
        run_id=run_id,
        started_at=started_at,
    )


def _tell(events: Sequence[ProgressEvent]) -> None:
    """Hand events to whoever streams them."""
    for event in events:
        get_runtime(Settings).stream_writer(event)


def _broken(task: StepTask, exc: Exception, kit: Kit) -> Body[Turn]:
    logger.error("step %d ended with an exception", task.step.id, exc_info=exc)
    reason = say("fault_exception", task.language, reason=said_by(exc)[:200])
    return (yield from broken_off(task, kit, Fault.EXCEPTION, reason))


def _onward(task: StepTask, turn: Turn, session: NodeSession) -> Command[str]:
    _tell(turn_events(task.step, turn.step))
    update: Update = {"steps": {turn.step.id: turn.step}, "usage": session.usage}
    if turn.goto == "reflector":
        return Command(update=update, goto="reflector")
    onward = task.model_copy(update={"step": turn.step})
    return Command(update=update, goto=Send(turn.goto, onward))
