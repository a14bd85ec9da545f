"""Errors, sorted by who has to act.

`HanseiError` is the root. A leaf tells whose turn it is: the user who called us,
the operator who runs the endpoint or the database, or the model that answered.
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


class EndpointError(OperatorError):
    """A model endpoint cannot be reached, refused the call, or answered nonsense."""


class ModelReplyError(HanseiError):
    """The model answered, but not with something that can be used."""


class BudgetUsedUp(HanseiError):  # noqa: N818 - an end that was agreed on, not a fault
    """The run's call budget, token budget or deadline is spent."""


def first_of(error: BaseException) -> BaseException:
    """The error itself, or the first of a group, which says what happened."""
    while isinstance(error, BaseExceptionGroup):
        error = cast("BaseExceptionGroup[BaseException]", error).exceptions[0]
    return error
