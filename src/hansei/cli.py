"""The command line: `hansei run`, `resume`, `show`, `why` and `model`.

Exit codes: 0 complete, 1 unexpected, 2 wrong use, 3 partial, 4 failed, 5 exhausted, 6 needs a
human, 7 for the operator (endpoint, key, database), 130 Ctrl-C.
"""

# LangGraph's signature of stream holds types that it does not name.
# pyright: reportUnknownMemberType=false

import logging
import os
import sys
from collections.abc import Callable
from pathlib import Path
from typing import Annotated, NoReturn
from uuid import uuid4

import typer

from hansei.assignments import SETTING_NAMES, parse_settings
from hansei.console import console, print_json, say_plainly
from hansei.interrupt import INTERRUPTED
from hansei.policies.endings import EXIT_CODES
from hansei.policies.errors import OperatorError, UserError
from hansei.policies.goals import checked_goal
from hansei.policies.state import AgentInput
from hansei.policies.words import RunStatus
from hansei.threads import default_database, load_state

WRONG_USE, FOR_THE_OPERATOR, UNEXPECTED = 2, 7, 1
"""Exit codes that do not come from a run's status."""

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
model_app = typer.Typer(no_args_is_help=True, help="The embedded model.")
app.add_typer(model_app, name="model")


def _stop(message: str, code: int) -> NoReturn:
    say_plainly(message, stderr=True)
    raise typer.Exit(code)


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

    _guarded(body)


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
        from langgraph.types import Command

        from hansei.running import watch

        settings = parse_settings(reflection, assignments or [])
        state = load_state(thread, db)
        if state.status is not RunStatus.RUNNING:
            msg = (
                f"The run on thread {thread!r} is over ({state.status}); "
                f"ask anew with hansei run … --thread {thread}."
            )
            raise UserError(msg)
        given: Command[object] | None = None if answer is None else Command(resume=answer)
        return watch(given, tools=tools, thread=thread, db=db, as_json=as_json, settings=settings)

    _guarded(body)


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

    _guarded(body)


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

    _guarded(body)


@model_app.command("pull")
def model_pull() -> None:
    """Put the embedded model's file in place and check it."""

    def body() -> int:
        from hansei.graphs.local_file import pull
        from hansei.graphs.local_progress import progress_bar

        with progress_bar() as progress:
            path = pull(progress=progress)
        say_plainly(f"The model is at {path}.")
        return 0

    _guarded(body)


@model_app.command("serve")
def model_serve(
    port: Annotated[int, typer.Option(help="Port on loopback; 0 takes a free one.")] = 8080,
) -> None:
    """Serve the embedded model on loopback until Ctrl-C."""

    def body() -> int:
        from hansei.graphs.local_model import serve
        from hansei.graphs.local_process import LocalEndpoint
        from hansei.graphs.local_progress import progress_bar

        def tell(endpoint: LocalEndpoint) -> None:
            for line in (
                f"OPENAI_BASE_URL={endpoint.base_url}",
                f"HANSEI_MODEL={endpoint.model_name}",
            ):
                say_plainly(line)

        with progress_bar() as progress:
            serve(port=port, progress=progress, on_ready=tell)
        return 0

    _guarded(body)


def _guarded(body: Callable[[], int]) -> NoReturn:
    """Run a command, and turn what goes wrong into one sentence and an exit code."""
    try:
        code = body()
    except UserError as exc:
        _stop(str(exc), WRONG_USE)
    except OperatorError as exc:
        _stop(str(exc), FOR_THE_OPERATOR)
    except KeyboardInterrupt:
        _stop("Stopped.", INTERRUPTED)
    except typer.Exit:
        raise
    except Exception as exc:
        logger.debug("unexpected", exc_info=True)
        _stop(f"Unexpected: {type(exc).__name__}: {exc}", UNEXPECTED)
    raise typer.Exit(code)


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
