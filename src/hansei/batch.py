"""Many goals in one go: each on a thread of its own, with a progress bar, and taken up again.

The same command goes on where it was stopped: what is finished is only told again, what was begun
goes on from its checkpoints.
"""

# LangGraph's signature of stream holds types that it does not name.
# pyright: reportUnknownMemberType=false

import logging
import shlex
from collections import Counter
from collections.abc import Generator, Iterable, Sequence
from concurrent.futures import ThreadPoolExecutor, as_completed
from contextlib import contextmanager, nullcontext
from dataclasses import dataclass

from langchain_core.runnables import RunnableConfig
from langgraph.errors import GraphDrained
from langgraph.runtime import RunControl
from pydantic import JsonValue
from rich.progress import BarColumn, MofNCompleteColumn, Progress, TextColumn, TimeElapsedColumn

from hansei.console import console, print_json, print_rows, say_plainly
from hansei.goals_file import Job
from hansei.graphs.agent import THREAD_NAME, Agent
from hansei.graphs.checkpoints import Checkpointer
from hansei.guard import FOR_THE_OPERATOR, UNEXPECTED, WRONG_USE
from hansei.interrupt import stops
from hansei.policies.endings import EXIT_CODES
from hansei.policies.errors import OperatorError, UserError
from hansei.policies.settings import Settings
from hansei.policies.state import AgentInput, AgentState
from hansei.policies.words import RunStatus
from hansei.report import run_report
from hansei.running import opened_agent
from hansei.threads import state_of, stored_id

logger = logging.getLogger(__name__)

WORST = (0, 3, 4, 5, 6, WRONG_USE, FOR_THE_OPERATOR, UNEXPECTED)
"""Exit codes from the best to the worst: what ended well or less well, what waits for a human,
what could not be run at all."""


@dataclass(frozen=True, kw_only=True)
class Batch:
    """What a batch runs, and how.

    Attributes:
        jobs: The goals.
        tools: Where the tools are, as the command line takes it.
        db: A SQLite file or a Postgres URL; `None` is the default file.
        as_json: Print one object a run, as it ends, in place of a table.
        parallel: Runs at once.
        settings: The settings of each run.
        again: The command that goes on with this batch.
    """

    jobs: Sequence[Job]
    tools: str
    db: str | None
    as_json: bool
    parallel: int
    settings: Settings
    again: Sequence[str]


@dataclass(frozen=True, kw_only=True)
class _Done:
    """How one goal ended.

    Attributes:
        job: The goal.
        code: What `hansei run` would have ended with.
        state: The end of the run; `None` where something broke.
        error: What broke, in one sentence.
        before: It had ended, or stopped to ask somebody, before this command began.
    """

    job: Job
    code: int
    state: AgentState | None = None
    error: str = ""
    before: bool = False


def run_batch(batch: Batch) -> int:
    """Run all goals, print how each ended, and return the worst of their exit codes."""
    told = f"Stopped; `{shlex.join(batch.again)}` goes on with what is not finished."
    done: list[_Done] = []
    with (
        opened_agent(tools=batch.tools, db=batch.db, settings=batch.settings) as (agent, saver),
        stops(told) as stopper,
        _bar(len(batch.jobs)) as bar,
        ThreadPoolExecutor(max_workers=batch.parallel) as pool,
    ):
        futures = [pool.submit(_run, job, agent, saver, stopper.control) for job in batch.jobs]
        for future in as_completed(futures):
            one = future.result()
            if one is None:
                continue
            done.append(one)
            bar.add(one)
            if batch.as_json:
                print_json(_report(one), indent=None)
    if not batch.as_json:
        _print_table(done)
    before = sum(one.before for one in done)
    if before:
        say_plainly(
            f"{before} of {len(batch.jobs)} had ended before and were not run again; "
            "give another --db to run them anew.",
            stderr=True,
        )
    if stopper.code:
        say_plainly(told, stderr=True)
        return stopper.code
    return max((one.code for one in done), key=WORST.index, default=0)


def _run(job: Job, agent: Agent, saver: Checkpointer, control: RunControl) -> _Done | None:
    """Run one goal, or go on with it; `None` where a signal came before its end."""
    if control.drain_requested:
        return None
    try:
        config: RunnableConfig = {
            "configurable": {"thread_id": stored_id(saver, job.thread)},
            "metadata": {THREAD_NAME: job.thread},
        }
        found = state_of(agent.get_state(config))
        same = found is not None and found.goal == job.goal
        if found is not None and same and found.status is not RunStatus.RUNNING:
            return _Done(job=job, code=EXIT_CODES[found.status], state=found, before=True)
        given = None if same else AgentInput(goal=job.goal)
        for _ in agent.stream(given, config, durability="sync", control=control):
            pass
        state = state_of(agent.get_state(config))
    except GraphDrained:
        return None
    except UserError as error:
        return _Done(job=job, code=WRONG_USE, error=str(error))
    except OperatorError as error:
        return _Done(job=job, code=FOR_THE_OPERATOR, error=str(error))
    except Exception as error:
        logger.debug("the run on line %d broke", job.line, exc_info=True)
        return _Done(job=job, code=UNEXPECTED, error=f"Unexpected: {type(error).__name__}: {error}")
    if state is None:
        return _Done(job=job, code=UNEXPECTED, error="The run left no state.")
    return _Done(job=job, code=EXIT_CODES[state.status], state=state)


def _report(one: _Done) -> dict[str, JsonValue]:
    """One run as `hansei run --json` tells it, with its place in the file."""
    place: dict[str, JsonValue] = {"line": one.job.line, "exit_code": one.code}
    if one.state is not None:
        return {**place, "before": one.before, **run_report(one.state, thread=one.job.thread)}
    return {
        **place,
        "before": False,
        "status": "not run",
        "goal": one.job.goal,
        "reason": one.error,
        "thread": one.job.thread,
    }


def _print_table(done: Iterable[_Done]) -> None:
    rows: list[tuple[str, ...]] = []
    for one in sorted(done, key=lambda each: each.job.line):
        said = one.state.answer or one.state.reason if one.state else one.error
        rows.append((str(one.job.line), one.job.thread, _status(one), str(one.code), said))
    print_rows(console(), ("line", "thread", "status", "code", "answer"), rows)


def _status(one: _Done) -> str:
    if one.state is None:
        return "not run"
    return f"{one.state.status.value}{', verified' if one.state.verified else ''}"


class _Bar:
    """The bar on standard error: how many goals are done, and how they ended."""

    def __init__(self, progress: Progress, total: int) -> None:
        """Begin at nothing of `total`."""
        self._progress = progress
        self._ended = Counter[str]()
        self._task = progress.add_task("", total=total)

    def add(self, one: _Done) -> None:
        """Count a goal that is done."""
        self._ended[one.state.status.value if one.state else "not run"] += 1
        told = ", ".join(f"{name} {count}" for name, count in self._ended.items())
        self._progress.update(self._task, advance=1, description=told)


@contextmanager
def _bar(total: int) -> Generator[_Bar]:
    """A bar where somebody looks; a file or a pipe gets none."""
    out = console(stderr=True)
    columns = (
        BarColumn(),
        MofNCompleteColumn(),
        TimeElapsedColumn(),
        TextColumn("{task.description}"),
    )
    # Standard output is for what programs read, so it must not be led to the bar's console.
    progress = Progress(*columns, console=out, redirect_stdout=False, redirect_stderr=False)
    # Not `disable`, with which older versions still end a line.
    with progress if out.is_terminal else nullcontext():
        yield _Bar(progress, total)
