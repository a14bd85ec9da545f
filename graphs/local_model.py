"""The embedded model in this process: at most one server a model file, started when asked for.

It listens on the loopback, behind a key that only this process knows, and is gone with it.
"""

import atexit
import logging
import os
import secrets
import socket
import sys
import threading
from collections.abc import Callable
from importlib.util import find_spec
from pathlib import Path

from hansei.graphs.local_file import Progress, local_file_available, local_model_file, pull
from hansei.graphs.local_process import LocalEndpoint, ServerProcess
from hansei.policies.errors import OperatorError, UserError

__all__ = [
    "LocalEndpoint",
    "local_endpoint",
    "local_model_available",
    "local_model_file",
    "pull",
    "serve",
    "stop_local_servers",
]

logger = logging.getLogger(__name__)

DEFAULT_PORT = 8080
"""Where `serve` listens: llama.cpp's own default."""

_servers: dict[Path, ServerProcess] = {}
_lock = threading.Lock()


def local_model_available() -> bool:
    """Whether a local model can be asked: the server's package is there, and a file or its pieces.

    Cheap: nothing large is imported or read.
    """
    return find_spec("xllamacpp") is not None and local_file_available()


def local_endpoint(*, progress: Progress | None = None) -> LocalEndpoint:
    """The endpoint of the local model in this process; started by the first call.

    Blocks until the model is loaded. Threads that ask meanwhile wait and get the same endpoint. A
    server that has died is started again, at a new address.

    Args:
        progress: Called while the model file is joined or checked.

    Raises:
        UserError: `HANSEI_GGUF` names no file.
        OperatorError: The model file cannot be put in place, or the server cannot start.
    """
    with _lock:
        file = local_model_file(progress=progress)
        server = _servers.get(file)
        if server is not None and not server.alive():
            del _servers[file]
            logger.warning("The local model's server has ended (%s): starting it.", server.stop())
            server = None
        if server is None:
            server = ServerProcess(file, api_key=secrets.token_urlsafe(24))
            _servers[file] = server
        return server.endpoint


def serve(
    *,
    port: int = DEFAULT_PORT,
    progress: Progress | None = None,
    on_ready: Callable[[LocalEndpoint], None] | None = None,
) -> None:
    """Serve the local model to other programs of this machine until interrupted.

    Listens on the loopback only and asks for no key. Prints nothing.

    Args:
        port: The port to listen on; 0 for a free one.
        progress: Called while the model file is joined or checked.
        on_ready: Called once with the endpoint when the model is loaded.

    Raises:
        UserError: The port is no port number, or `HANSEI_GGUF` names no file.
        OperatorError: As `local_endpoint`; the port is taken; or the server ended by itself.
        KeyboardInterrupt: Ctrl-C was pressed; the server is stopped by then.
    """
    if not 0 <= port <= 65535:
        msg = f"{port} is no port: choose one from 1 to 65535, or 0 for a free one."
        raise UserError(msg)
    file = local_model_file(progress=progress)
    _check_free(port)
    server = ServerProcess(file, port=port)
    try:
        if on_ready is not None:
            on_ready(server.endpoint)
        code = server.wait()
    finally:
        reason = server.stop()
    msg = f"The local model's server ended by itself with code {code} ({reason}): start it again."
    raise OperatorError(msg)


def stop_local_servers() -> None:
    """Stop every server that `local_endpoint` started; done by itself when the process ends."""
    with _lock:
        while _servers:
            _servers.popitem()[1].stop()


def _check_free(port: int) -> None:
    """See that nobody listens on a port: llama.cpp does not say that this is what is wrong."""
    with socket.socket(socket.AF_INET, socket.SOCK_STREAM) as probe:
        if os.name == "posix":
            # A port that was in use a moment ago is free; elsewhere the option means more.
            probe.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)
        try:
            probe.bind(("127.0.0.1", port))
        except OSError as error:
            msg = f"Port {port} cannot be used ({error.strerror}): choose another one."
            raise OperatorError(msg) from error


def _disown_after_fork() -> None:
    """In a forked child: the servers are the parent's, and only the parent ends them."""
    global _lock
    # Another thread of the parent may have held it; nobody here would let go of it.
    _lock = threading.Lock()
    for server in _servers.values():
        server.disown()
    _servers.clear()


atexit.register(stop_local_servers)
if sys.platform != "win32":
    os.register_at_fork(after_in_child=_disown_after_fork)
