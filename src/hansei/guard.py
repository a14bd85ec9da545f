"""What goes wrong in a command, as one sentence and an exit code."""

import logging
from collections.abc import Callable
from typing import NoReturn, TypeVar

import typer

from hansei.console import say_plainly
from hansei.interrupt import INTERRUPTED
from hansei.policies.errors import OperatorError, UserError

WRONG_USE, FOR_THE_OPERATOR, UNEXPECTED = 2, 7, 1
"""Exit codes that do not come from a run's status."""

logger = logging.getLogger(__name__)

T = TypeVar("T")


def guarded(body: Callable[[], int]) -> NoReturn:
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


def checked(value: T, check: Callable[[T], object]) -> T:
    """An option's value, or the sentence that says what is wrong with it."""
    try:
        check(value)
    except UserError as exc:
        _stop(str(exc), WRONG_USE)
    return value


def _stop(message: str, code: int) -> NoReturn:
    say_plainly(message, stderr=True)
    raise typer.Exit(code)
