"""Options and arguments that several commands take."""

from typing import Annotated, Any

import typer
from typer.core import TyperCommand, TyperOption

from hansei.assignments import SETTING_NAMES
from hansei.graphs.database import default_database, usual_database
from hansei.guard import checked
from hansei.policies.errors import OperatorError
from hansei.policies.places import lasting, shown

EXIT_HELP = "\n\n".join(
    (
        "Exit codes:",
        "0 complete; 1 unexpected; 2 wrong use;",
        "3 partial: something failed or nobody vouches for it;",
        "4 failed: nothing that counts succeeded; 5 exhausted: a budget ended the run;",
        "6 needs a human; 7 for the operator: endpoint, key, database;",
        "129 SIGHUP; 130 Ctrl-C; 143 SIGTERM.",
    )
)
"""Shown below the help; blank lines, since the help joins all others."""


class DatabaseCommand(TyperCommand):
    """A command on a database, whose help shows where that is: also where `HANSEI_DB` says it."""

    # What it is given is of click, or of typer's own copy of it, which has no public name.
    def format_help(self, ctx: Any, formatter: Any) -> None:  # noqa: ANN401
        """See click; the place is only looked for when somebody asks."""
        for option in self.params:
            if option.name == "db" and isinstance(option, TyperOption):
                option.show_default = _place()
        super().format_help(ctx, formatter)


def _place() -> str:
    try:
        return shown(default_database())
    except OperatorError:
        return str(usual_database())


def _lasting(db: str | None) -> str | None:
    return checked(db, lambda place: lasting(place or ""))


ThreadOption = Annotated[
    str | None, typer.Option("--thread", help="Name or UUID of the thread; new when left out.")
]
DatabaseOption = Annotated[
    str | None,
    typer.Option(
        "--db",
        callback=_lasting,
        metavar="FILE|URL",
        help="SQLite file with the threads, or URL of a Postgres database; else HANSEI_DB.",
        show_default="the usual file",
    ),
]
JsonOption = Annotated[bool, typer.Option("--json", help="Print one JSON object.")]

ToolsOption = Annotated[
    str, typer.Option(help="shop, module:name, file.py:name or mcp:FILE.json; several with commas.")
]
ReflectionOption = Annotated[
    str | None,
    typer.Option(help="always, flagged, on_signal, auto or never.", show_default="always"),
]
AssignmentsOption = Annotated[
    list[str] | None,
    typer.Option(
        "--set",
        metavar="NAME=VALUE",
        help=f"Another setting; may be repeated. Names: {SETTING_NAMES}.",
    ),
]

ThreadArgument = Annotated[str, typer.Argument(help="Name or UUID of the thread.")]
