"""One server process for one model file: started, asked whether it lives, stopped.

The other end is `local_server`, which says why the server is a process of its own.
"""

import contextlib
import json
import os
import re
import subprocess
import sys
import tempfile
import threading
from dataclasses import dataclass, field
from importlib.util import find_spec
from pathlib import Path
from typing import IO

from hansei.graphs.local_pieces import EMBEDDED, REPAIR
from hansei.graphs.local_server import Answer, Order
from hansei.policies.errors import OperatorError

LOADING = 600.0
"""Seconds until a server that does not come up is given up. The embedded model loads in 4 s on two
cores, and two minutes on cores with four times the work they can do."""

STOPPING = 5.0
"""Seconds until a server that does not end by itself is killed; it ends in milliseconds."""

SPINS = "1000"
"""How often an idle thread of llama.cpp looks for work before it sleeps (a setting of libgomp, the
user's own value wins). By default it looks so long that, on cores which others use as well, one
thread keeps the other from its work: at twice the load that the cores can take, the model then
wrote 0.8 tokens a second, with this value 5."""

if sys.platform == "win32":
    _OWN_GROUP = subprocess.CREATE_NEW_PROCESS_GROUP
else:
    # What a new session does here.
    _OWN_GROUP = 0


@dataclass(frozen=True, kw_only=True)
class LocalEndpoint:
    """Where a local model answers, in the way of OpenAI's API."""

    base_url: str
    model_name: str
    api_key: str = field(repr=False)
    """Made anew for each server; empty when it asks for none."""


class ServerProcess:
    """A running server; `endpoint` says where."""

    def __init__(self, file: Path, *, port: int = 0, api_key: str = "") -> None:
        """Start it, and wait until the model is loaded.

        Args:
            file: The model file.
            port: Where to listen on the loopback; 0 for a free port.
            api_key: What callers must present; empty for nothing.

        Raises:
            OperatorError: It cannot start, or cannot load the file.
        """
        if find_spec("xllamacpp") is None:
            msg = f"A local model needs the package xllamacpp: run `{REPAIR}`."
            raise OperatorError(msg)
        name = EMBEDDED.model_name if file.name == EMBEDDED.file_name else file.stem
        # What the process writes to standard error; nameless, it goes when it is closed.
        self._log: IO[bytes] = tempfile.TemporaryFile()  # noqa: SIM115 - lives as long as we do
        try:
            self._process = subprocess.Popen(  # noqa: S603 - our own file, run by our own Python
                # -P: the folder of the script is not one to import from.
                [sys.executable, "-P", str(Path(__file__).with_name("local_server.py"))],
                stdin=subprocess.PIPE,
                stdout=subprocess.PIPE,
                stderr=self._log,
                env={"GOMP_SPINCOUNT": SPINS, **os.environ},
                # Ctrl-C is for the program; its model goes on until the program ends it.
                start_new_session=True,
                creationflags=_OWN_GROUP,
            )
        except OSError as error:
            self._log.close()
            msg = f"The local model's server cannot be started ({error.strerror}): check Python."
            raise OperatorError(msg) from error
        order = Order(
            search_path=sys.path,
            file=str(file),
            model_name=name,
            port=port,
            api_key=api_key,
            threads=_usable_cores(),
        )
        try:
            address = self._hand_over(order)
        except BaseException:
            self.stop()
            raise
        self.endpoint = LocalEndpoint(base_url=f"{address}/v1", model_name=name, api_key=api_key)

    @property
    def pid(self) -> int:
        """The process."""
        return self._process.pid

    def alive(self) -> bool:
        """Whether it still runs."""
        return self._process.poll() is None

    def wait(self) -> int:
        """Wait until it ends by itself; its exit code."""
        return self._process.wait()

    def stop(self) -> str:
        """End it, wait for that, and return what it said last. Only once."""
        self._close_pipes()
        try:
            # The end of its standard input tells it to go.
            self._process.wait(STOPPING)
        except subprocess.TimeoutExpired:
            self._process.kill()
            self._process.wait()
        with self._log:
            return self._last_words() or "it said nothing"

    def disown(self) -> None:
        """In a forked child: leave the server to the parent, and keep nothing of it open."""
        # Neither wait for it nor complain about it from this side.
        self._process.returncode = 0
        self._close_pipes()
        self._log.close()

    def _hand_over(self, order: Order) -> str:
        """Give the order and wait for the address."""
        process = self._process
        assert process.stdin is not None  # noqa: S101 - both are pipes
        assert process.stdout is not None  # noqa: S101
        late = threading.Event()

        def give_up() -> None:
            late.set()
            process.kill()

        # Ends the wait below when the process neither answers nor ends.
        alarm = threading.Timer(LOADING, give_up)
        alarm.daemon = True
        alarm.start()
        try:
            process.stdin.write(json.dumps(order).encode() + b"\n")
            process.stdin.flush()
            line = process.stdout.readline()
        except BrokenPipeError:
            line = b""
        finally:
            alarm.cancel()
        if not line:
            code = process.wait()
            reason = f"its process ended with code {code}: {self._last_words() or 'no word of why'}"
            if late.is_set():
                reason = f"it was not ready after {LOADING:g} seconds"
            raise _cannot_serve(order, reason)
        answer: Answer = json.loads(line)
        if "address" in answer:
            return answer["address"]
        if "not_loaded" in answer:
            msg = (
                f"The package xllamacpp cannot be loaded ({answer['not_loaded']}): install what is "
                "missing; if it is libgomp.so.1, that is `apt install libgomp1` on Debian."
            )
            raise OperatorError(msg)
        process.wait()
        raise _cannot_serve(order, self._last_words())

    def _close_pipes(self) -> None:
        for pipe in (self._process.stdin, self._process.stdout):
            if pipe is not None:
                # What a dead process did not read is of no interest any more.
                with contextlib.suppress(BrokenPipeError):
                    pipe.close()

    def _last_words(self) -> str:
        """The line that explains a failure; only for a process that has ended.

        A living one writes where this has read to, as both share the place in the file.
        """
        self._log.seek(0)
        lines = self._log.read().decode("utf-8", errors="replace").splitlines()
        for line in lines:
            # The first error is the cause; clock, level and function stand before it.
            if found := re.match(r"[\d.]+ E .*?: (.+)", line):
                return found.group(1)
        return lines[-1].strip() if lines else ""


def _cannot_serve(order: Order, reason: str) -> OperatorError:
    return OperatorError(
        f"The model file {order['file']} cannot be served ({reason}): name another one in "
        "HANSEI_GGUF, or run `hansei model pull` if it is the embedded one."
    )


def _usable_cores() -> int:
    """Cores that this process may run on; more threads than that slow llama.cpp down."""
    if sys.platform == "linux":
        cores = len(os.sched_getaffinity(0))
    else:
        cores = os.cpu_count() or 1
    return cores
