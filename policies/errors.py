"""Errors, sorted by who has to act.

`HanseiError` is the root. A leaf tells whose turn it is: the user who called us, or the operator
who runs the endpoint or the database. What a model does wrong, and a budget that is used up, are no
exceptions: the model is told, or the run ends with a status.
Every message is one sentence that says what is wrong and what to do.
"""

from typing import cast


class HanseiError(Exception):
    """Root of every error that hansei raises on purpose."""


class UserError(HanseiError, ValueError):
    """The caller asked for something that cannot be done: a bad goal, tool or setting."""


class OperatorError(HanseiError, RuntimeError):
    """Something around the run is missing or down: endpoint, key, model file, database.

    A RuntimeError too: LangGraph's server tells the text of that, and hides that of unknown errors.
    """


class StoreError(OperatorError):
    """The store failed in the middle of a run, which can be resumed."""


class EndpointError(OperatorError):
    """A model endpoint cannot be reached, refused the call, or answered nonsense."""


def first_of(error: BaseException) -> BaseException:
    """The error itself, or the first of a group, which says what happened."""
    while isinstance(error, BaseExceptionGroup):
        error = cast("BaseExceptionGroup[BaseException]", error).exceptions[0]
    return error
