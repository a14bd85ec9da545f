"""The commands that look at threads: `show`, `why`, `history` and `threads`."""

import time
from typing import Annotated

import typer

from hansei.console import console, print_json, say_plainly
from hansei.guard import guarded
from hansei.options import DatabaseOption, JsonOption, ThreadArgument
from hansei.policies.endings import EXIT_CODES
from hansei.policies.errors import UserError
from hansei.report import thread_report
from hansei.threads import (
    existing,
    load_history,
    load_state,
    old_threads,
    standings,
    stored_id,
)

CheckpointOption = Annotated[
    str | None,
    typer.Option("--checkpoint", help="As it stood there: a number or id from `hansei history`."),
]


def show(
    thread: ThreadArgument,
    db: DatabaseOption = None,
    as_json: JsonOption = False,
    checkpoint: CheckpointOption = None,
) -> None:
    """Show the last run of a thread."""

    def body() -> int:
        from hansei.report import run_report
        from hansei.trace import print_ending
        from hansei.views import print_run

        state = load_state(thread, db, checkpoint=checkpoint)
        if as_json:
            print_json(run_report(state, thread=thread))
            return 0
        out = console()
        print_run(out, state)
        print_ending(out, state, exit_code=EXIT_CODES[state.status], thread=thread)
        return 0

    guarded(body)


def why(
    thread: ThreadArgument,
    step: Annotated[int, typer.Argument(help="Number of the step.")],
    db: DatabaseOption = None,
    as_json: JsonOption = False,
    checkpoint: CheckpointOption = None,
) -> None:
    """Explain why a step has the status it has."""

    def body() -> int:
        from hansei.report import step_report
        from hansei.views import print_why

        state = load_state(thread, db, checkpoint=checkpoint)
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


def history(thread: ThreadArgument, db: DatabaseOption = None, as_json: JsonOption = False) -> None:
    """List the checkpoints of a thread, those of all branches."""

    def body() -> int:
        from hansei.history import moment_report
        from hansei.views import print_history

        load_state(thread, db)
        moments = load_history(thread, db)
        if as_json:
            print_json({"thread": thread, "checkpoints": [moment_report(m) for m in moments]})
        else:
            print_history(console(), moments)
        return 0

    guarded(body)


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
        from hansei.views import print_threads

        with existing(db) as saver:
            rows = saver.threads()
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
            else:
                stand = standings(saver, rows)
                if as_json:
                    reports = [thread_report(r, stand[r.thread_id]) for r in rows]
                    print_json({"threads": list(reports)})
                else:
                    print_threads(console(), rows, stand)
        return 0

    guarded(body)
