"""The process that serves a model file: llama.cpp's own server, started by `local_model`.

Run by its path, not imported: it needs nothing of hansei, and so starts at once. The order comes
as one JSON line on standard input, the answer goes out as one JSON line on standard output, and
the end of standard input is the end of the process: however its parent dies, nothing stays behind.

It is a process of its own because the library, loaded into a Python process, holds the interpreter
lock while it loads, takes over SIGINT and SIGTERM, and never returns from its destructor when a
request is still running or the process was forked.
"""

import importlib
import json
import os
import signal
import sys
from typing import TypedDict


class Order(TypedDict):
    """What the parent asks for."""

    search_path: list[str]
    """The parent's `sys.path`, so that the same packages are found."""
    file: str
    model_name: str
    port: int
    """0 for a free one."""
    api_key: str
    """What callers must present; empty for nothing."""
    threads: int


class Answer(TypedDict, total=False):
    """What the parent is told: one of them."""

    address: str
    not_loaded: str
    """The library itself cannot be loaded: why."""
    not_served: str
    """The server did not start: why, though standard error says more."""


SLOTS = 2
"""Requests at once. More than two gain nothing on few cores, and each takes its share of memory."""

CONTEXT_PER_SLOT = 8192
"""Tokens of one request, prompt and reply. A synthesis over eight steps with their evidence needs
more than 4096; at 28 KB a token two slots of this size take 0.46 GB."""

REPLY_TOKENS = 1024
"""Limit for a request that names none: without one a small model may go on for ever."""

PROMPT_CACHE_MIB = 512
"""Memory for prompts of slots given to another request; llama.cpp's own default is 8 GiB."""

ERRORS_ONLY = 1
"""llama.cpp's verbosity: its lines explain a model that does not load, and say nothing else."""

OWN_ORIGIN = "http://localhost"
"""The only web origin that may read replies; by default every page in a browser may."""


_server: object = None
"""Held here, since the library's object ends its server when it is collected."""


def serve(order: Order) -> str:
    """Load the model and start serving.

    Returns:
        The address, without a path.

    Raises:
        RuntimeError: The server cannot start; the reason is on standard error.
        ImportError: The server's library is missing or does not fit this machine.
    """
    llama = importlib.import_module("xllamacpp")
    params = llama.CommonParams()
    params.model.path = order["file"]
    params.model_alias = {order["model_name"]}
    params.n_parallel = SLOTS
    params.n_ctx = CONTEXT_PER_SLOT * SLOTS
    params.n_predict = REPLY_TOKENS
    params.cpuparams.n_threads = order["threads"]
    params.use_jinja = True
    params.cache_prompt = True
    params.cache_ram_mib = PROMPT_CACHE_MIB
    params.sampling.temp = 0.0
    params.port = order["port"]
    params.hostnames = ["127.0.0.1"]
    params.api_keys = [order["api_key"]] if order["api_key"] else []
    params.cors_origins = OWN_ORIGIN
    # The slots' page shows the prompts of others.
    params.endpoint_slots = False
    params.ui = False
    params.verbosity = ERRORS_ONLY
    global _server
    _server = server = llama.Server(params)
    return str(server.listening_address)


def main() -> None:
    """Take the order, answer it, and serve until the parent is gone."""
    order: Order = json.loads(sys.stdin.buffer.readline())
    sys.path[:] = order["search_path"]
    answers = os.fdopen(os.dup(1), "w", encoding="utf-8")
    # A stray line of the library must not be taken for the answer.
    os.dup2(2, 1)
    answer: Answer
    try:
        answer = {"address": serve(order)}
    except ImportError as error:
        answer = {"not_loaded": str(error)}
    except RuntimeError as error:
        answer = {"not_served": str(error)}
    with answers:
        answers.write(json.dumps(answer) + "\n")
    if "address" in answer:
        # Loading replaced both; left so, SIGTERM would end the server and keep the process.
        signal.signal(signal.SIGTERM, signal.SIG_DFL)
        signal.signal(signal.SIGINT, signal.SIG_DFL)
        sys.stdin.buffer.read()
    # At once, without destructors: that of a busy server waits for ever.
    os._exit(0)


if __name__ == "__main__":
    main()
