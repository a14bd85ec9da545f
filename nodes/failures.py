"""What a client's exception says about a model call that failed, without secrets."""

import sys

from hansei.policies.endpoint_advice import Failure, failure_of_status

JUNK = (ValueError, TypeError, IndexError, KeyError, AttributeError)
"""What langchain-openai raises when a 200 is no chat completion."""

_HTTPX = ("httpx", "httpx2")
"""The library and its successor: clients of different makers are built on either."""


def openai_status(exc: BaseException) -> int | None:
    """The HTTP status with which an OpenAI-compatible endpoint refused; `None` for all else."""
    return _status_of(exc) if _is_of(exc, "APIStatusError", "openai") else None


def _is_of(exc: BaseException, kind: str, *libraries: str) -> bool:
    """Whether it is an error of that name of one of the libraries, which are slow to import.

    A library that nobody has imported has raised nothing.
    """
    loaded = [sys.modules[name] for name in libraries if name in sys.modules]
    return any(isinstance(exc, getattr(module, kind)) for module in loaded)


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
    late = _is_of(exc, "APITimeoutError", "openai") or _is_of(exc, "TimeoutException", *_HTTPX)
    if late or isinstance(exc, TimeoutError):
        return Failure("no answer in time", "timeout")
    lost = _is_of(exc, "APIConnectionError", "openai") or _is_of(exc, "TransportError", *_HTTPX)
    if lost or isinstance(exc, ConnectionError):
        return Failure("the endpoint cannot be reached", "unreachable")
    name = type(exc).__name__
    if _is_of(exc, "OpenAIError", "openai"):
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
