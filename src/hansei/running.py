"""A run on the command line: started or gone on with, watched, and told how it ended."""

# LangGraph's signature of stream holds types that it does not name.
# pyright: reportUnknownMemberType=false

import shlex
from collections.abc import Generator, Mapping
from contextlib import contextmanager
from dataclasses import dataclass

from langchain_core.runnables import RunnableConfig
from langchain_core.runnables.config import merge_configs
from langgraph.errors import GraphDrained
from langgraph.types import Command

from hansei.console import console, print_json, say_plainly
from hansei.graphs.agent import THREAD_NAME, Agent
from hansei.graphs.arguments import checked_tools, undeclared_effects
from hansei.graphs.checkpoints import Checkpointer, open_checkpointer
from hansei.graphs.database import default_database
from hansei.graphs.models import chat_model
from hansei.graphs.plan_execute import create_plan_execute_agent
from hansei.history import find_checkpoint, history
from hansei.interrupt import stops
from hansei.policies.endings import EXIT_CODES
from hansei.policies.errors import HanseiError, UserError
from hansei.policies.narrow import as_mapping
from hansei.policies.places import shown
from hansei.policies.settings import Settings
from hansei.policies.state import AgentInput
from hansei.policies.words import RunStatus
from hansei.report import run_report
from hansei.threads import state_of, stored_id, with_reason
from hansei.tools.loading import load_tools
from hansei.trace import Trace, print_ending


@dataclass(frozen=True, kw_only=True)
class Setup:
    """How a command runs an agent.

    Attributes:
        tools: Where the tools are, as the command line takes it.
        thread: Name or UUID of the thread.
        db: A SQLite file or a Postgres URL; `None` is the default file.
        as_json: Print one object at the end and nothing else.
        settings: The run's settings.
    """

    tools: str
    thread: str
    db: str | None
    as_json: bool
    settings: Settings


@dataclass(frozen=True)
class _Opened:
    agent: Agent
    saver: Checkpointer
    place: str
    """The thread's id."""
    config: RunnableConfig


def start(setup: Setup, given: AgentInput) -> int:
    """Run a goal, print what happens and how it ended, and return the exit code."""
    with _opened(setup) as opened:
        if _was_stopped(opened):
            told = shlex.join(["hansei", "resume", setup.thread, *_place(setup.db)])
            say_plainly(
                f"The last run on this thread was stopped before it ended; `{told}` would have "
                "gone on with it. What it has changed already may be changed again.",
                stderr=True,
            )
        return _watched(setup, opened, given)


def go_on(setup: Setup, *, answer: str | None) -> int:
    """Go on with a run that was stopped, or that has stopped to ask.

    Raises:
        UserError: There is an answer, and nothing was asked.
    """
    with _opened(setup) as opened:
        if answer is None:
            return _watched(setup, opened, None)
        return _watched(setup, opened, _answered(opened, answer))


def edit_of(
    *, verdict: str | None, step: int | None, hint: str, why: str, result: str | None
) -> dict[str, object]:
    """What a fork is to change, as `update_state` takes it.

    Raises:
        UserError: Something is said of a verdict that is not given, or of no step.
    """
    if verdict is None and (hint or why):
        msg = "--hint and --why belong to a verdict; give one with --verdict."
        raise UserError(msg)
    if result is not None and step is None:
        msg = "--result belongs to a step; name it with --step."
        raise UserError(msg)
    if step is not None and verdict is None and result is None:
        msg = "--step alone changes nothing; give a --verdict or a --result for it."
        raise UserError(msg)
    ruling = {"verdict": verdict, "suggestion": hint, "analysis": why} if verdict else None
    if step is None:
        return {"verdict": ruling} if ruling else {}
    fields: dict[str, object] = {"verdict": ruling} if ruling else {}
    return {"steps": {step: fields | ({"result": result} if result is not None else {})}}


def fork(setup: Setup, checkpoint: str, *, edit: Mapping[str, object]) -> int:
    """Go on from an earlier checkpoint, on a branch of its own.

    Args:
        setup: How to run.
        checkpoint: Its number or its id, or the end of it, from `hansei history`.
        edit: What to change there first, as `update_state` takes it; empty: nothing.

    Raises:
        UserError: There is no such checkpoint, the edit makes no sense there, or nothing is left
            to be done.
    """
    with _opened(setup) as opened:
        agent, config = opened.agent, opened.config
        found = find_checkpoint(history(agent, config), checkpoint)
        if not edit and not found.next:
            msg = (
                f"Checkpoint {checkpoint} is the end of a run, so nothing is left to be done; "
                "give a verdict with --verdict, or take an earlier one."
            )
            raise UserError(msg)
        branch = agent.update_state(found.config, dict(edit)) if edit else found.config
        return _watched(setup, opened, None, at=branch)


@contextmanager
def opened_agent(
    *, tools: str, db: str | None, settings: Settings
) -> Generator[tuple[Agent, Checkpointer]]:
    """An agent as the command line has it, and the open database behind it.

    Raises:
        UserError: The tools cannot be found, or something is no tool.
        OperatorError: There is no model, or the database cannot be opened.
    """
    # Before a database is made or a model is loaded for it.
    loaded = checked_tools(load_tools(tools))
    if undeclared := undeclared_effects(loaded):
        # Also where the log is off, since it changes what a run may repeat.
        say_plainly(undeclared, stderr=True)
    with open_checkpointer(db or default_database()) as saver:
        model, critic = chat_model(), chat_model(role="reflector")
        agent = create_plan_execute_agent(
            model, loaded, critic=critic, settings=settings, checkpointer=saver
        )
        yield agent, saver


@contextmanager
def _opened(setup: Setup) -> Generator[_Opened]:
    with opened_agent(tools=setup.tools, db=setup.db, settings=setup.settings) as (agent, saver):
        place = stored_id(saver, setup.thread)
        config: RunnableConfig = {
            "configurable": {"thread_id": place},
            "metadata": {THREAD_NAME: setup.thread},
        }
        yield _Opened(agent, saver, place, config)


def _watched(
    setup: Setup,
    opened: _Opened,
    given: AgentInput | Command[object] | None,
    *,
    at: RunnableConfig | None = None,
) -> int:
    """Run, print what happens and how it ended, and return the exit code."""
    agent, config = opened.agent, opened.config
    out = console(quiet=setup.as_json)
    trace = Trace(out)
    place = config if at is None else merge_configs(at, {"metadata": {THREAD_NAME: setup.thread}})
    told = _how_to_go_on(setup)
    with stops(told) as stopper:
        drained = False
        try:
            for chunk in agent.stream(
                given, place, stream_mode="updates", durability="sync", control=stopper.control
            ):
                trace.update(as_mapping(chunk))
        except GraphDrained:
            drained = True
    state = state_of(agent.get_state(config))
    if state is None:
        msg = "The run left no state, which must not happen."
        raise HanseiError(msg)
    code = stopper.code if drained else EXIT_CODES[state.status]
    if drained:
        say_plainly(told, stderr=True)
    if setup.as_json:
        state = with_reason(state, opened.saver.runs.row(opened.place))
        print_json(run_report(state, thread=setup.thread))
    elif not drained:
        print_ending(out, state, exit_code=code, thread=setup.thread)
        if state.status is RunStatus.NEEDS_HUMAN and not state.needs_human:
            again = ["hansei", "resume", setup.thread, "--tools", setup.tools, *_place(setup.db)]
            say_plainly(f"\n`{shlex.join([*again, '--answer', '…'])}` answers it.")
    return code


def _was_stopped(opened: _Opened) -> bool:
    row = opened.saver.runs.row(opened.place)
    values = as_mapping(opened.agent.get_state(opened.config).values)
    open_run = values.get("status") is RunStatus.RUNNING and bool(values.get("run_id"))
    return open_run and (row is None or not row.under_way)


def _answered(opened: _Opened, answer: str) -> Command[object]:
    """The answer to the first question that is open; others are asked after it."""
    asked = opened.agent.get_state(opened.config).interrupts
    if not asked:
        msg = "The run has not stopped to ask anything; leave --answer out."
        raise UserError(msg)
    return Command(resume={asked[0].id: answer})


def _place(db: str | None) -> list[str]:
    return ["--db", shown(db)] if db else []


def _how_to_go_on(setup: Setup) -> str:
    place = _place(setup.db)
    show = shlex.join(["hansei", "show", setup.thread, *place])
    resume = shlex.join(["hansei", "resume", setup.thread, "--tools", setup.tools, *place])
    return f"Stopped; `{show}` shows what was done, `{resume}` goes on."
