"""Where the command line prints: a reader that goes away changes nothing about a run."""

import json
import os
import sys
from collections.abc import Sequence
from typing import IO

from pydantic import JsonValue
from rich.cells import cell_len
from rich.console import Console
from rich.text import Text

_GAP = "  "
"""Between two columns."""

_LEAST = 14
"""Cells that are left to the last column of a table, however narrow the terminal is."""


class PipeConsole(Console):
    """A console that falls silent when nobody reads it any more, as behind `| head`.

    The library's own would end the process, and with it the run.
    """

    def on_broken_pipe(self) -> None:
        """Print nothing more, and go on."""
        self.quiet = True
        _to_nowhere(self.file)


def console(*, quiet: bool = False, stderr: bool = False) -> Console:
    """A console that breaks no lines of its own.

    Args:
        quiet: Print nothing.
        stderr: Print to standard error.
    """
    return PipeConsole(quiet=quiet, stderr=stderr, soft_wrap=True)


def say_plainly(text: str, *, stderr: bool = False) -> None:
    """Print text as it is, without markup or colours."""
    console(stderr=stderr).print(text, markup=False, highlight=False)


def print_rows(
    out: Console,
    head: Sequence[str],
    rows: Sequence[Sequence[str]],
    notes: Sequence[str] = (),
) -> None:
    """Print a table of which only the last column is ever shortened.

    What stands before it is for other commands, and of no use when it is cut.

    Args:
        out: Where to print; its width counts.
        head: The names of the columns.
        rows: The cells.
        notes: A text to go whole below each row, or an empty one.
    """
    widths = [max(map(cell_len, column)) for column in zip(head, *rows, strict=True)][:-1]
    room = max(out.width - sum(widths) - len(_GAP) * len(widths), _LEAST)
    for row, note in zip([head, *rows], ["", *(notes or [""] * len(rows))], strict=True):
        cells = [cell + " " * (width - cell_len(cell)) for cell, width in zip(row, widths)]  # noqa: B905 - the last stands apart
        last = Text(" ".join(row[-1].split()))
        last.truncate(room, overflow="ellipsis")
        line = _GAP.join([*cells, last.plain]).rstrip()
        style = "bold" if row is head else None
        out.print(line, style=style, markup=False, highlight=False, soft_wrap=True)
        if note:
            told = f"{_GAP}{' '.join(note.split())}"
            out.print(told, markup=False, highlight=False, soft_wrap=True)


def print_json(report: dict[str, JsonValue], *, indent: int | None = 2) -> None:
    """Print one JSON object on standard output; on one line with an indent of `None`."""
    try:
        sys.stdout.write(json.dumps(report, ensure_ascii=False, indent=indent) + "\n")
        sys.stdout.flush()
    except BrokenPipeError:
        _to_nowhere(sys.stdout)


def _to_nowhere(stream: IO[str]) -> None:
    """Lead a stream away from its closed pipe, since Python flushes it once more at the end."""
    nowhere = os.open(os.devnull, os.O_WRONLY)
    os.dup2(nowhere, stream.fileno())
    os.close(nowhere)
