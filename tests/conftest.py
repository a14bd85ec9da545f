"""What holds for every test: no network, nobody's settings, repeatable examples."""

from __future__ import annotations

import ipaddress
import os
import socket
from collections.abc import Callable, Iterator
from typing import TYPE_CHECKING, TypeVar

import pytest
from hypothesis import settings
from postgres_server import CannotStart, Postgres, postgres_server

settings.register_profile("default", deadline=None)
# In CI the same examples every time: a red run means that the change did it.
settings.register_profile("ci", deadline=None, derandomize=True, print_blob=True)
settings.load_profile("ci" if os.environ.get("CI") else "default")

if TYPE_CHECKING:
    from studio_server import Studio

R = TypeVar("R")

FOREIGN_SETTINGS = ("OPENAI_", "HANSEI_", "LANGSMITH_", "LANGCHAIN_", "LANGGRAPH_")


def is_loopback(host: object) -> bool:
    """Whether a host, as `connect` and `getaddrinfo` take it, is this machine."""
    name = host.decode() if isinstance(host, bytes) else host
    if name in (None, "", "localhost"):
        return True
    try:
        return ipaddress.ip_address(str(name)).is_loopback
    except ValueError:  # any other name
        return False


@pytest.fixture(autouse=True, scope="session")
def network_off() -> Iterator[None]:
    """Fail a test that leaves this machine, whatever catches exceptions on the way.

    Covers this process only: a test that starts another one keeps that one offline itself.
    """

    def guarded(call: Callable[..., R], host_of: Callable[..., object]) -> Callable[..., R]:
        def guard(*args: object, **kwargs: object) -> R:
            host = host_of(*args, **kwargs)
            if not is_loopback(host):
                # Not an Exception, so that no handler in the library can take it for a fault.
                pytest.fail(f"a test tried to reach {host!r}: tests may only use loopback")
            return call(*args, **kwargs)

        return guard

    def peer(_sock: socket.socket, *args: object) -> object:
        # The address comes last; it is a path, not a tuple, for a Unix socket.
        return args[-1][0] if isinstance(args[-1], tuple) else None

    def named(host: object, *_args: object, **_kwargs: object) -> object:
        return host

    with pytest.MonkeyPatch.context() as patch:
        for name in ("connect", "connect_ex", "sendto"):
            patch.setattr(socket.socket, name, guarded(getattr(socket.socket, name), peer))
        for name in ("getaddrinfo", "gethostbyname"):
            patch.setattr(socket, name, guarded(getattr(socket, name), named))
        yield


@pytest.fixture(scope="session")
def studio_server(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Studio]:
    """The development server of LangGraph Studio, one for all tests of the group `studio`."""
    from studio_server import studio

    with studio(tmp_path_factory.mktemp("studio")) as running:
        yield running


@pytest.fixture(autouse=True)
def clean_environment(request: pytest.FixtureRequest, monkeypatch: pytest.MonkeyPatch) -> None:
    """Hide the developer's own endpoint, model and tracing settings from the tests."""
    live = request.node.get_closest_marker("live") is not None
    for name in [name for name in os.environ if name.startswith(FOREIGN_SETTINGS)]:
        # A live test may run on a model file of the developer's own.
        if not (live and name == "HANSEI_GGUF"):
            monkeypatch.delenv(name)
    monkeypatch.setenv("LANGSMITH_TRACING", "false")


@pytest.fixture(scope="session")
def postgres() -> Iterator[Postgres]:
    """A Postgres server, one for each process that runs tests."""
    try:
        with postgres_server() as server:
            yield server
    except CannotStart as exc:
        pytest.skip(f"no Postgres server can be started here: {exc}")


@pytest.fixture
def postgres_url(postgres: Postgres) -> Iterator[str]:
    """The URL of an empty database."""
    with postgres.database() as url:
        yield url
