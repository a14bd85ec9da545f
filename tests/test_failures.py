"""What a failed model call is called, and what is said about it."""

from __future__ import annotations

from importlib import import_module
from types import SimpleNamespace
from typing import get_args

import httpx
import openai
import pytest

from hansei.nodes.failures import failure_of
from hansei.policies.endpoint_advice import ADVICE, FailureKind, failure_of_status

clients = import_module(openai.DefaultHttpxClient.__bases__[0].__module__.split(".")[0])
"""What the OpenAI client is built on: httpx, or its successor."""

REQUEST = clients.Request("POST", "http://127.0.0.1/v1")


class OtherMaker(Exception):  # noqa: N818 - as another maker's client might name it
    """An error of a client that is not OpenAI's."""

    def __init__(self, status: int) -> None:
        super().__init__("the body echoes sk-secret")
        self.status_code = status


class Answered(Exception):  # noqa: N818 - likewise
    """An error that keeps the response."""

    def __init__(self, status: int) -> None:
        super().__init__("the body echoes sk-secret")
        self.response = SimpleNamespace(status_code=status)


@pytest.mark.parametrize(
    ("exc", "kind"),
    [
        (OtherMaker(401), "key"),
        (Answered(429), "rate_limit"),
        (openai.APITimeoutError(REQUEST), "timeout"),
        (TimeoutError(), "timeout"),
        (httpx.ReadTimeout(""), "timeout"),
        (clients.ReadTimeout(""), "timeout"),
        (clients.RemoteProtocolError("cut"), "unreachable"),
        (openai.APIConnectionError(request=REQUEST), "unreachable"),
        (ConnectionRefusedError(), "unreachable"),
        (openai.OpenAIError("odd"), "client"),
        (ValueError("sk-secret"), "no_completion"),
        (RuntimeError("sk-secret"), "own_exception"),
    ],
)
def test_the_kind_of_a_failure(exc: Exception, kind: FailureKind) -> None:
    failure = failure_of(exc, openai_compatible=True)
    assert failure.kind == kind
    assert "secret" not in failure.phrase


def test_an_error_of_another_model_is_its_own() -> None:
    failure = failure_of(KeyError("weights"), openai_compatible=False)
    assert (failure.phrase, failure.kind) == ("KeyError", "own_exception")


@pytest.mark.parametrize(
    ("status", "kind"),
    [
        (400, "refused"),
        (401, "key"),
        (402, "rate_limit"),
        (403, "key"),
        (404, "not_found"),
        (408, "timeout"),
        (422, "refused"),
        (429, "rate_limit"),
        (500, "server"),
        (503, "server"),
    ],
)
def test_the_kind_of_a_status(status: int, kind: FailureKind) -> None:
    assert failure_of_status(status).kind == kind


def test_each_kind_has_advice_of_its_own() -> None:
    assert list(ADVICE) == list(get_args(FailureKind))
    assert len(set(ADVICE.values())) == len(ADVICE)
