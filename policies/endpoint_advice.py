"""Why a model gave no reply, by kind, and what the person who runs it can do about each."""

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Literal

FailureKind = Literal[
    "key",
    "not_found",
    "rate_limit",
    "refused",
    "server",
    "unreachable",
    "timeout",
    "no_completion",
    "client",
    "own_exception",
]

ADVICE: Mapping[FailureKind, str] = {
    "key": "The key was refused: check OPENAI_API_KEY, and that it belongs to OPENAI_BASE_URL",
    "not_found": (
        "Nothing is at this address by that name: check OPENAI_BASE_URL, which mostly ends in "
        "/v1, and HANSEI_MODEL"
    ),
    "rate_limit": (
        "The rate limit or the quota of the account is used up: wait a little and run again, or "
        "look at the account"
    ),
    "refused": (
        "The endpoint does not take the request: check that HANSEI_MODEL is a chat model, and look "
        "for the reason in the endpoint's log"
    ),
    "server": (
        "The server has a fault of its own: run again later, or look into its log if it is yours"
    ),
    "unreachable": (
        "Nobody answers at the address: check OPENAI_BASE_URL and the proxy, and that the server "
        "runs"
    ),
    "timeout": (
        "The model is too slow for the time it has: set HANSEI_TIMEOUT to more seconds, or take a "
        "faster model"
    ),
    "no_completion": (
        "Something answers that is no OpenAI-compatible API: check OPENAI_BASE_URL, which mostly "
        "ends in /v1"
    ),
    "client": "The OpenAI client could not use the endpoint: check OPENAI_BASE_URL and the model",
    "own_exception": (
        "The model object that was handed in raised this itself: its traceback is in the log at "
        "the level DEBUG"
    ),
}
"""What to do, as the second half of an error's text, without its last stop."""


@dataclass(frozen=True, slots=True)
class Failure:
    """A call that failed: a short phrase without secrets, and its kind."""

    phrase: str
    kind: FailureKind

    @property
    def advice(self) -> str:
        """What to do about it."""
        return ADVICE[self.kind]


def failure_of_status(status: int) -> Failure:
    """The failure that an HTTP status tells."""
    kind: FailureKind = "refused"
    if status in {401, 403}:
        kind = "key"
    elif status == 404:
        kind = "not_found"
    elif status == 408:
        kind = "timeout"
    elif status in {402, 429}:
        kind = "rate_limit"
    elif status >= 500:
        kind = "server"
    return Failure(f"HTTP {status}", kind)
