"""Ctrl-C, SIGTERM and SIGHUP in a run: stop at the next step border, or at once if asked twice."""

import os
import signal
import stat
import threading
from collections.abc import Generator
from contextlib import contextmanager, suppress
from types import FrameType

from langgraph.runtime import RunControl

INTERRUPTED = 130
"""Exit code after Ctrl-C, as shells have it: 128 and the number of the signal."""

TERMINATED = 143
"""Exit code after SIGTERM."""

HUNG_UP = 129
"""Exit code after SIGHUP, which a terminal sends that is closed."""

_HANG_UP = getattr(signal, "SIGHUP", None)
"""Not on every platform."""

_CODES: dict[int, int] = {signal.SIGINT: INTERRUPTED, signal.SIGTERM: TERMINATED}
if _HANG_UP is not None:
    _CODES[_HANG_UP] = HUNG_UP

FIRST = (
    "Stopping as soon as the calls under way have answered and are kept; "
    "Ctrl-C once more stops at once."
)


class Stopper:
    """Hears the signals during a run.

    Attributes:
        control: What LangGraph asks at each step border.
        code: The exit code of the signal that was heard; 0 before.
    """

    def __init__(self, told: str) -> None:
        """Take the sentence that tells how to go on."""
        self.control = RunControl()
        self.code = 0
        self._told = told

    def hear(self, number: int, _frame: FrameType | None) -> None:
        """Ask for a stop, or stop at once.

        At once is by ending the process. An exception would not do: on its way out it waits for
        the threads of requests that are under way, which may take minutes. Nothing has to be
        tidied up, since a run must survive a crash anywhere.
        """
        if self.code and number == _HANG_UP:
            return  # the terminal says it and the shell too; a service manager besides SIGTERM
        if self.code:
            _write(self._told)
            os._exit(self.code)
        self.code = _CODES[number]
        _write(FIRST)
        if number == _HANG_UP:
            _leave_terminal()
        self.control.request_drain(signal.Signals(number).name)


def _write(told: str) -> None:
    """Not through sys.stderr, which may be in the middle of a line. Nobody may read it any more."""
    with suppress(OSError):
        os.write(2, f"\n{told}\n".encode())


def _leave_terminal() -> None:
    """Lead what would go to a terminal that is closed to nowhere: writing to it is an error."""
    nowhere = os.open(os.devnull, os.O_WRONLY)
    for stream in (1, 2):
        # A terminal that is closed already does not say that it is one.
        with suppress(OSError):
            if stat.S_ISCHR(os.fstat(stream).st_mode):
                os.dup2(nowhere, stream)
    os.close(nowhere)


@contextmanager
def stops(told: str) -> Generator[Stopper]:
    """While the block runs, Ctrl-C, SIGTERM and SIGHUP stop the run that is given the control.

    A hang-up that is ignored, as under nohup, stays so. Hears nothing outside the main thread,
    where no signal arrives.

    Args:
        told: One sentence that tells how to go on.
    """
    stopper = Stopper(told)
    if threading.current_thread() is not threading.main_thread():
        yield stopper
        return
    heard = [n for n in _CODES if n != _HANG_UP or signal.getsignal(n) is not signal.SIG_IGN]
    before = {number: signal.signal(number, stopper.hear) for number in heard}
    try:
        yield stopper
    finally:
        for number, handler in before.items():
            signal.signal(number, handler)
