"""The command line: `hansei run`, `resume`, `show`, `why`, `threads` and `model`.

Exit codes: 0 complete, 1 unexpected, 2 wrong use, 3 partial, 4 failed, 5 exhausted, 6 needs a
human, 7 for the operator (endpoint, key, database), 130 Ctrl-C.
"""

# LangGraph's signature of stream holds types that it does not name.
# pyright: reportUnknownMemberType=false

import logging
import os
import sys
import time
from pathlib import Path
from typing import Annotated
from uuid import uuid4

import typer

from hansei.assignments import SETTING_NAMES, parse_settings
from hansei.console import console, print_json, say_plainly
from hansei.guard import WRONG_USE, guarded
from hansei.model_commands import model_app
from hansei.policies.endings import EXIT_CODES
from hansei.policies.errors import UserError
from hansei.policies.goals import checked_goal
from hansei.policies.state import AgentInput
from hansei.policies.words import RunStatus
from hansei.report import thread_report
from hansei.threads import default_database, existing, load_state, old_threads, stored_id

LOG_LEVEL = "ERROR"
"""Level of the log where HANSEI_LOG names none: the trace tells people what they need."""

logger = logging.getLogger(__name__)

EXIT_HELP = "\n\n".join(
    (
        "Exit codes:",
        "0 complete; 1 unexpected; 2 wrong use;",
        "3 partial: something failed or nobody vouches for it;",
        "4 failed: nothing that counts succeeded; 5 exhausted: a budget ended the run;",
        "6 needs a human; 7 for the operator: endpoint, key, database; 130 Ctrl-C.",
    )
)
"""Shown below the help; blank lines, since the help joins all others."""

app = typer.Typer(
    no_args_is_help=True,
    add_completion=False,
    help="An agent that looks back after every step, and says what nobody verified.",
    epilog=EXIT_HELP,
)
app.add_typer(model_app, name="model")


ThreadOption = Annotated[
    str | None, typer.Option("--thread", help="Name or UUID of the thread; new when left out.")
]
DatabaseOption = Annotated[
    Path | None,
    typer.Option(
        "--db", help="SQLite file with the threads.", show_default=str(default_database())
    ),
]
JsonOption = Annotated[bool, typer.Option("--json", help="Print one JSON object.")]

ToolsOption = Annotated[
    str, typer.Option(help="shop, module:name or file.py:name; several with commas.")
]
ReflectionOption = Annotated[str, typer.Option(help="always, flagged, on_signal, auto or never.")]
AssignmentsOption = Annotated[
    list[str] | None,
    typer.Option(
        "--set",
        metavar="NAME=VALUE",
        help=f"Another setting; may be repeated. Names: {SETTING_NAMES}.",
    ),
]


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


@app.command(epilog=EXIT_HELP)
def run(
    goal: Annotated[
        str, typer.Argument(help="What to do, in your own words; - reads it from stdin.")
    ],
    tools: ToolsOption = "shop",
    thread: ThreadOption = None,
    db: DatabaseOption = None,
    as_json: JsonOption = False,
    reflection: ReflectionOption = "always",
    assignments: AssignmentsOption = None,
) -> None:
    """Run one goal and watch it."""

    def body() -> int:
        from hansei.running import watch

        settings = parse_settings(reflection, assignments or [])
        text = checked_goal(sys.stdin.read() if goal == "-" else goal)
        name = thread or str(uuid4())
        given = AgentInput(goal=text)
        return watch(given, tools=tools, thread=name, db=db, as_json=as_json, settings=settings)

    guarded(body)


@app.command(epilog=EXIT_HELP)
def resume(
    thread: Annotated[str, typer.Argument(help="Name or UUID of the thread.")],
    tools: ToolsOption = "shop",
    db: DatabaseOption = None,
    as_json: JsonOption = False,
    answer: Annotated[
        str | None, typer.Option(help="Your answer, where the run has stopped to ask.")
    ] = None,
    reflection: ReflectionOption = "always",
    assignments: AssignmentsOption = None,
) -> None:
    """Go on with a run that was stopped, with the same tools and settings as before."""

    def body() -> int:
        from hansei.running import watch

        settings = parse_settings(reflection, assignments or [])
        state = load_state(thread, db)
        if state.status is not RunStatus.RUNNING:
            msg = (
                f"The run on thread {thread!r} is over ({state.status}); "
                f"ask anew with hansei run … --thread {thread}."
            )
            raise UserError(msg)
        return watch(
            None,
            tools=tools,
            thread=thread,
            db=db,
            as_json=as_json,
            settings=settings,
            answer=answer,
        )

    guarded(body)


@app.command()
def show(
    thread: Annotated[str, typer.Argument(help="Name or UUID of the thread.")],
    db: DatabaseOption = None,
    as_json: JsonOption = False,
) -> None:
    """Show the last run of a thread."""

    def body() -> int:
        from hansei.report import run_report
        from hansei.trace import print_ending, print_run

        state = load_state(thread, db)
        if as_json:
            print_json(run_report(state, thread=thread))
            return 0
        out = console()
        print_run(out, state)
        print_ending(out, state, exit_code=EXIT_CODES[state.status], thread=thread)
        return 0

    guarded(body)


@app.command()
def why(
    thread: Annotated[str, typer.Argument(help="Name or UUID of the thread.")],
    step: Annotated[int, typer.Argument(help="Number of the step.")],
    db: DatabaseOption = None,
    as_json: JsonOption = False,
) -> None:
    """Explain why a step has the status it has."""

    def body() -> int:
        from hansei.report import step_report
        from hansei.trace import print_why

        state = load_state(thread, db)
        if step not in state.steps:
            known = ", ".join(str(i) for i in state.in_order) or "none"
            msg = f"The run has no step {step}; its steps are: {known}."
            raise UserError(msg)
        if as_json:
            print_json(step_report(state.steps[step]))
        else:
            print_why(console(), state.steps[step])
        return 0

    guarded(body)


@app.command()
def threads(
    db: DatabaseOption = None,
    as_json: JsonOption = False,
    delete: Annotated[
        str | None, typer.Option(metavar="THREAD", help="Delete this thread.")
    ] = None,
    prune: Annotated[
        float | None,
        typer.Option(metavar="DAYS", min=0, help="Delete the threads without a run since then."),
    ] = None,
) -> None:
    """List the threads with their last goals, or delete some."""

    def body() -> int:
        from hansei.trace import print_threads

        with existing(db) as saver:
            rows = saver.runs.rows()
            if delete is not None or prune is not None:
                place = stored_id(saver, delete) if delete else ""
                chosen = [row for row in rows if row.thread_id == place]
                if delete is not None and not chosen:
                    msg = f"There is no thread {delete!r}; `hansei threads` lists those there are."
                    raise UserError(msg)
                if prune is not None:
                    chosen += old_threads(rows, days=prune, now=time.time())
                for row in chosen:
                    saver.forget(row.thread_id)
                say_plainly(f"Deleted {len(chosen)} of {len(rows)} threads.")
            elif as_json:
                print_json({"threads": [thread_report(row) for row in rows]})
            else:
                print_threads(console(), rows)
        return 0

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
