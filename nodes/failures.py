"""What a client's exception says about a model call that failed, without secrets."""

import httpx
from openai import APIConnectionError, APITimeoutError, OpenAIError

from hansei.policies.endpoint_advice import Failure, failure_of_status

JUNK = (ValueError, TypeError, IndexError, KeyError, AttributeError)
"""What langchain-openai raises when a 200 is no chat completion."""


def failure_of(exc: BaseException, *, openai_compatible: bool) -> Failure:
    """One plain phrase for a failed call, without bodies, which may echo keys, and its kind.

    Args:
        exc: What the client or the model raised.
        openai_compatible: Whether the model is a client of an OpenAI-compatible endpoint: only
            there an error of Python's own means that the reply was no chat completion.
    """
    status = _status_of(exc)
    if status is not None:
        return failure_of_status(status)
    if isinstance(exc, APITimeoutError | TimeoutError | httpx.TimeoutException):
        return Failure("no answer in time", "timeout")
    if isinstance(exc, APIConnectionError | ConnectionError | httpx.TransportError):
        return Failure("the endpoint cannot be reached", "unreachable")
    name = type(exc).__name__
    if isinstance(exc, OpenAIError):
        return Failure(name, "client")
    if openai_compatible and isinstance(exc, JUNK):
        return Failure(f"the reply is no chat completion ({name})", "no_completion")
    return Failure(name, "own_exception")


def _status_of(exc: BaseException) -> int | None:
    """The HTTP status in an exception, where clients of all makers keep it."""
    for holder in (exc, getattr(exc, "response", None)):
        status: object = getattr(holder, "status_code", None)
        if isinstance(status, int) and status >= 400:
            return status
    return None
