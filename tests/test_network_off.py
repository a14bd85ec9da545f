"""The guard that keeps the tests offline does stop them, and only what leaves this machine."""

from __future__ import annotations

import asyncio
import os
import socket

import httpx
import pytest

# From the range that is reserved for documentation: no machine has it.
AWAY = ("192.0.2.1", 9)

blocked = pytest.raises(pytest.fail.Exception, match="only use loopback")


def test_a_connection_away_is_stopped() -> None:
    for kind in (socket.SOCK_STREAM, socket.SOCK_DGRAM):
        with socket.socket(socket.AF_INET, kind) as sock:
            sock.settimeout(0.2)
            with blocked:
                sock.connect(AWAY)
            with blocked:
                sock.connect_ex(AWAY)
    with socket.socket(socket.AF_INET, socket.SOCK_DGRAM) as sock, blocked:
        sock.sendto(b"x", AWAY)


def test_a_name_is_not_looked_up() -> None:
    with blocked:
        socket.getaddrinfo("host.invalid", 80)
    with blocked:
        socket.gethostbyname("host.invalid")


def test_a_handler_for_every_exception_does_not_hide_it() -> None:
    with blocked:
        try:
            httpx.get("http://host.invalid/", timeout=0.2)
        except Exception:  # noqa: BLE001 - this is what the test is about
            return


async def test_async_code_is_stopped_too() -> None:
    with blocked:
        await asyncio.wait_for(asyncio.open_connection(*AWAY), timeout=0.2)


@pytest.mark.parametrize("host", ["127.0.0.1", "localhost"])
def test_loopback_works(host: str) -> None:
    with socket.create_server(("127.0.0.1", 0)) as server:
        port = server.getsockname()[1]
        # The backlog takes the connection, so nobody has to wait in accept meanwhile.
        with socket.create_connection((host, port), timeout=5) as sock, server.accept()[0] as other:
            other.sendall(b"hi")
            assert sock.recv(2) == b"hi"


async def test_loopback_works_for_async_code() -> None:
    async def greet(_reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        writer.write(b"hi")
        writer.close()
        await writer.wait_closed()

    async with await asyncio.start_server(greet, "127.0.0.1", 0) as server:
        port = server.sockets[0].getsockname()[1]
        reader, writer = await asyncio.open_connection("localhost", port)
        assert await reader.read() == b"hi"
        writer.close()
        await writer.wait_closed()


def test_a_unix_socket_works() -> None:
    left, right = socket.socketpair()
    with left, right:
        left.sendall(b"hi")
        assert right.recv(2) == b"hi"


def test_nobodys_key_reaches_a_test() -> None:
    assert not [name for name in os.environ if name.startswith(("OPENAI_", "HANSEI_"))]
    assert os.environ["LANGSMITH_TRACING"] == "false"
