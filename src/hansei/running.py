"""A run on the command line: started or gone on with, watched, and told how it ended."""

# LangGraph's signature of stream holds types that it does not name.
# pyright: reportUnknownMemberType=false

import shlex
from pathlib import Path

from langchain_core.runnables import RunnableConfig
from langgraph.types import Command

from hansei.console import console, print_json, say_plainly
from hansei.graphs.agent import THREAD_NAME, Agent
from hansei.graphs.arguments import checked_tools, undeclared_effects
from hansei.graphs.checkpoints import open_checkpointer
from hansei.graphs.models import chat_model
from hansei.graphs.plan_execute import create_plan_execute_agent
from hansei.graphs.run_table import RunRow
from hansei.interrupt import stops_at_once
from hansei.policies.endings import EXIT_CODES
from hansei.policies.errors import HanseiError, UserError
from hansei.policies.narrow import as_mapping
from hansei.policies.phrases import say
from hansei.policies.settings import Settings
from hansei.policies.state import AgentInput, AgentState
from hansei.policies.words import RunStatus
from hansei.report import run_report
from hansei.threads import default_database, stored_id
from hansei.tools.loading import load_tools
from hansei.trace import Trace, print_ending


def watch(
    given: AgentInput | None,
    *,
    tools: str,
    thread: str,
    db: Path | None,
    as_json: bool,
    settings: Settings,
    answer: str | None = None,
) -> int:
    """Run, print what happens and how it ended, and return the exit code.

    Args:
        given: What is asked; `None`: go on.
        tools: Where the tools are, as the command line takes it.
        thread: Name or UUID of the thread.
        db: The database; `None` is the default one.
        as_json: Print one object at the end and nothing else.
        settings: The run's settings.
        answer: The answer to what the run has stopped to ask.

    Raises:
        UserError: There is an answer, and nothing was asked.
    """
    # Before a database is made or a model is loaded for it.
    loaded = checked_tools(load_tools(tools))
    if undeclared := undeclared_effects(loaded):
        # Also where the log is off, since it changes what a run may repeat.
        say_plainly(undeclared, stderr=True)
    out = console(quiet=as_json)
    with open_checkpointer(db or default_database()) as saver:
        model, critic = chat_model(), chat_model(role="reflector")
        agent = create_plan_execute_agent(
            model, loaded, critic=critic, settings=settings, checkpointer=saver
        )
        place = stored_id(saver, thread)
        config: RunnableConfig = {
            "configurable": {"thread_id": place},
            "metadata": {THREAD_NAME: thread},
        }
        trace = Trace(out)
        if given is not None and _was_stopped(agent, config, saver.runs.row(place)):
            told = shlex.join(["hansei", "resume", thread, *(["--db", str(db)] if db else [])])
            say_plainly(
                f"The last run on this thread was stopped before it ended; `{told}` would have "
                "gone on with it. What it has changed already may be changed again.",
                stderr=True,
            )
        start = given if answer is None else _answered(agent, config, answer)
        with stops_at_once(_how_to_go_on(thread, db, tools)):
            for chunk in agent.stream(start, config, stream_mode="updates", durability="sync"):
                trace.update(as_mapping(chunk))
        state = _state(agent, config)
    if state is None:
        msg = "The run left no state, which must not happen."
        raise HanseiError(msg)
    code = EXIT_CODES[state.status]
    if as_json:
        print_json(run_report(state, thread=thread))
    else:
        print_ending(out, state, exit_code=code, thread=thread)
    return code


def _was_stopped(agent: Agent, config: RunnableConfig, row: RunRow | None) -> bool:
    values = as_mapping(agent.get_state(config).values)
    open_run = values.get("status") is RunStatus.RUNNING and bool(values.get("run_id"))
    return open_run and (row is None or not row.under_way)


def _answered(agent: Agent, config: RunnableConfig, answer: str) -> Command[object]:
    """The answer to the first question that is open; others are asked after it."""
    asked = agent.get_state(config).interrupts
    if not asked:
        msg = "The run has not stopped to ask anything; leave --answer out."
        raise UserError(msg)
    return Command(resume={asked[0].id: answer})


def _how_to_go_on(thread: str, db: Path | None, tools: str) -> str:
    place = ["--db", str(db)] if db else []
    show = shlex.join(["hansei", "show", thread, *place])
    resume = shlex.join(["hansei", "resume", thread, "--tools", tools, *place])
    return f"Stopped; `{show}` shows what was done, `{resume}` goes on."


def _state(agent: Agent, config: RunnableConfig) -> AgentState | None:
    found = agent.get_state(config)
    values: object = found.values
    state = AgentState.model_validate(values) if values else None
    if state is None or not found.interrupts:
        return state
    # A tool or a node has stopped to ask somebody, and the run waits.
    question = say("waits", state.language, question=str(found.interrupts[0].value))
    waiting = {"status": RunStatus.NEEDS_HUMAN, "reason": question, "answer": question}
    return state.model_copy(update=waiting)
