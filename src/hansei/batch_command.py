"""The command `hansei batch`."""

import sys
from pathlib import Path
from typing import Annotated

import typer

from hansei.assignments import parse_settings
from hansei.goals_file import read_jobs
from hansei.guard import guarded
from hansei.options import (
    EXIT_HELP,
    AssignmentsOption,
    DatabaseOption,
    ReflectionOption,
    ToolsOption,
)
from hansei.policies.errors import UserError
from hansei.policies.places import shown

BATCH_HELP = (
    f"{EXIT_HELP}\n\n"
    "Of several runs the worst one counts, from the best to the worst: 0, 3, 4, 5, 6, 2, 7, 1."
)
"""Shown below the help."""


def batch(
    file: Annotated[
        str,
        typer.Argument(
            metavar="FILE",
            help='A goal a line, or a line {"goal": "…", "thread": "…"}; - reads it from stdin.',
        ),
    ],
    tools: ToolsOption = "shop",
    db: DatabaseOption = None,
    as_json: Annotated[
        bool, typer.Option("--json", help="Print one JSON object a line for each run.")
    ] = False,
    parallel: Annotated[int, typer.Option(min=1, help="Runs at once.")] = 1,
    reflection: ReflectionOption = None,
    assignments: AssignmentsOption = None,
) -> None:
    """Run many goals, each on its own thread; the same command again goes on with the rest."""

    def body() -> int:
        from hansei.batch import Batch, run_batch

        settings = parse_settings(reflection, assignments or [])
        jobs = read_jobs(_text(file), source=file)
        again = ["hansei", "batch", file, "--tools", tools]
        again += ["--db", shown(db)] if db else []
        again += ["--json"] if as_json else []
        again += ["--parallel", str(parallel)] if parallel > 1 else []
        again += ["--reflection", reflection] if reflection else []
        again += [part for each in assignments or [] for part in ("--set", each)]
        chosen = Batch(
            jobs=jobs,
            tools=tools,
            db=db,
            as_json=as_json,
            parallel=parallel,
            settings=settings,
            again=again,
        )
        return run_batch(chosen)

    guarded(body)


def _text(file: str) -> str:
    if file == "-":
        return sys.stdin.read()
    try:
        return Path(file).read_text(encoding="utf-8")
    except FileNotFoundError:
        raise UserError(f"There is no file {file} with goals; check the path.") from None
    except (OSError, UnicodeDecodeError) as error:
        raise UserError(f"{file} cannot be read as text ({error}).") from error
