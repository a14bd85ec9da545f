"""The command line: `hansei run`, `resume`, `fork`, `batch`, `migrate`, and what looks at threads.

Exit codes: 0 complete, 1 unexpected, 2 wrong use, 3 partial, 4 failed, 5 exhausted, 6 needs a
human, 7 for the operator (endpoint, key, database), 129 SIGHUP, 130 Ctrl-C, 143 SIGTERM.
"""

import logging
import os
import sys
from typing import Annotated
from uuid import uuid4

import typer

from hansei.assignments import parse_settings
from hansei.batch_command import BATCH_HELP, batch
from hansei.console import say_plainly
from hansei.guard import WRONG_USE, guarded
from hansei.model_commands import model_app
from hansei.options import (
    EXIT_HELP,
    AssignmentsOption,
    DatabaseCommand,
    DatabaseOption,
    JsonOption,
    ReflectionOption,
    ThreadArgument,
    ThreadOption,
    ToolsOption,
)
from hansei.policies.errors import UserError
from hansei.policies.goals import checked_goal
from hansei.policies.state import AgentInput
from hansei.policies.words import RunStatus
from hansei.thread_commands import history, show, threads, why
from hansei.threads import load_state

LOG_LEVEL = "ERROR"
"""Level of the log where HANSEI_LOG names none: the trace tells people what they need."""

logger = logging.getLogger(__name__)

app = typer.Typer(
    no_args_is_help=True,
    add_completion=False,
    help="An agent that looks back after every step, and says what nobody verified.",
    epilog=EXIT_HELP,
)
app.add_typer(model_app, name="model")
for command in (show, why, history, threads):
    app.command(cls=DatabaseCommand)(command)
app.command(cls=DatabaseCommand, epilog=BATCH_HELP)(batch)


def _tell_version(asked: bool) -> None:
    if asked:
        from importlib.metadata import version

        say_plainly(f"hansei {version('hansei')}")
        raise typer.Exit


@app.callback()
def options(
    *,
    _version: Annotated[
        bool,
        typer.Option(
            "--version", is_eager=True, callback=_tell_version, help="Print the version and exit."
        ),
    ] = False,
) -> None:
    """An agent that looks back after every step, and says what nobody verified."""


@app.command(cls=DatabaseCommand, epilog=EXIT_HELP)
def run(
    goal: Annotated[
        str, typer.Argument(help="What to do, in your own words; - reads it from stdin.")
    ],
    tools: ToolsOption = "shop",
    thread: ThreadOption = None,
    db: DatabaseOption = None,
    as_json: JsonOption = False,
    reflection: ReflectionOption = None,
    assignments: AssignmentsOption = None,
) -> None:
    """Run one goal and watch it."""

    def body() -> int:
        from hansei.running import Setup, start

        settings = parse_settings(reflection, assignments or [])
        text = checked_goal(sys.stdin.read() if goal == "-" else goal)
        name = thread or str(uuid4())
        setup = Setup(tools=tools, thread=name, db=db, as_json=as_json, settings=settings)
        return start(setup, AgentInput(goal=text))

    guarded(body)


@app.command(cls=DatabaseCommand, epilog=EXIT_HELP)
def resume(
    thread: ThreadArgument,
    tools: ToolsOption = "shop",
    db: DatabaseOption = None,
    as_json: JsonOption = False,
    answer: Annotated[
        str | None, typer.Option(help="Your answer, where the run has stopped to ask.")
    ] = None,
    reflection: ReflectionOption = None,
    assignments: AssignmentsOption = None,
) -> None:
    """Go on with a run that was stopped, with the same tools and settings as before."""

    def body() -> int:
        from hansei.running import Setup, go_on

        settings = parse_settings(reflection, assignments or [])
        state = load_state(thread, db)
        asks = state.status is RunStatus.NEEDS_HUMAN and not state.needs_human
        if state.status is not RunStatus.RUNNING and not asks:
            msg = (
                f"The run on thread {thread!r} is over ({state.status}); "
                f"ask anew with hansei run … --thread {thread}, or go back to one of its "
                f"checkpoints with hansei fork {thread}."
            )
            raise UserError(msg)
        setup = Setup(tools=tools, thread=thread, db=db, as_json=as_json, settings=settings)
        return go_on(setup, answer=answer)

    guarded(body)


@app.command(cls=DatabaseCommand, epilog=EXIT_HELP)
def fork(
    thread: ThreadArgument,
    checkpoint: Annotated[
        str, typer.Argument(help="Its number, or the end of its id, from `hansei history`.")
    ],
    tools: ToolsOption = "shop",
    db: DatabaseOption = None,
    as_json: JsonOption = False,
    verdict: Annotated[
        str | None,
        typer.Option(help="Your own: PASS, RETRY or REPLAN, for what waits or was judged last."),
    ] = None,
    step: Annotated[int | None, typer.Option(help="The step that the verdict is about.")] = None,
    hint: Annotated[str, typer.Option(help="What a RETRY is to do differently.")] = "",
    why: Annotated[str, typer.Option(help="Why, for the record.")] = "",
    result: Annotated[
        str | None, typer.Option(help="The step's result, where you know it better.")
    ] = None,
    reflection: ReflectionOption = None,
    assignments: AssignmentsOption = None,
) -> None:
    """Go on from an earlier checkpoint, with another verdict if you like; the old branch stays."""

    def body() -> int:
        from hansei.running import Setup, edit_of
        from hansei.running import fork as go_back

        settings = parse_settings(reflection, assignments or [])
        edit = edit_of(verdict=verdict, step=step, hint=hint, why=why, result=result)
        load_state(thread, db)
        setup = Setup(tools=tools, thread=thread, db=db, as_json=as_json, settings=settings)
        return go_back(setup, checkpoint, edit=edit)

    guarded(body)


@app.command(cls=DatabaseCommand)
def migrate(db: DatabaseOption = None) -> None:
    """Bring the runs in a database to the version that this hansei reads."""

    def body() -> int:
        from hansei.migrating import bring_up_to_date

        return bring_up_to_date(db)

    guarded(body)


def main() -> None:
    """Entry point of the `hansei` command."""
    given = os.environ.get("HANSEI_LOG", "").strip()
    level = logging.getLevelNamesMapping().get(given.upper() or LOG_LEVEL)
    if level is None:
        known = "DEBUG, INFO, WARNING, ERROR or CRITICAL"
        say_plainly(f"HANSEI_LOG is {given!r}, which is no level: use {known}.", stderr=True)
        sys.exit(WRONG_USE)
    logging.basicConfig(level=level)
    app()


__all__ = ["app", "main"]
