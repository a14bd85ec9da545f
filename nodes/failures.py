"""What a client's exception says about a model call that failed, without secrets."""

import sys

import httpx

from hansei.policies.endpoint_advice import Failure, failure_of_status

JUNK = (ValueError, TypeError, IndexError, KeyError, AttributeError)
"""What langchain-openai raises when a 200 is no chat completion."""


_LATE = (TimeoutError, httpx.TimeoutException)
_UNREACHED = (ConnectionError, httpx.TransportError)


def openai_status(exc: BaseException) -> int | None:
    """The HTTP status with which an OpenAI-compatible endpoint refused; `None` for all else."""
    return _status_of(exc) if _is_openai(exc, "APIStatusError") else None


def _is_openai(exc: BaseException, kind: str) -> bool:
    """Whether the OpenAI client raised it, which takes a second to import.

    Where nobody has imported the client, it has raised nothing.
    """
    client = sys.modules.get("openai")
    return client is not None and isinstance(exc, getattr(client, kind))


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
    if _is_openai(exc, "APITimeoutError") or isinstance(exc, _LATE):
        return Failure("no answer in time", "timeout")
    if _is_openai(exc, "APIConnectionError") or isinstance(exc, _UNREACHED):
        return Failure("the endpoint cannot be reached", "unreachable")
    name = type(exc).__name__
    if _is_openai(exc, "OpenAIError"):
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
