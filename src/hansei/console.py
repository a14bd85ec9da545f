"""Where the command line prints: a reader that goes away changes nothing about a run."""

import json
import os
import sys
from typing import IO

from pydantic import JsonValue
from rich.console import Console


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
