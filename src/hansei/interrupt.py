"""Ctrl-C and SIGTERM during a run: stop at the next step border, or at once when asked twice."""

import os
import signal
import threading
from collections.abc import Generator
from contextlib import contextmanager
from types import FrameType

from langgraph.runtime import RunControl

INTERRUPTED = 130
"""Exit code after Ctrl-C, as shells have it: 128 and the number of the signal."""

TERMINATED = 143
"""Exit code after SIGTERM."""

_CODES = {signal.SIGINT: INTERRUPTED, signal.SIGTERM: TERMINATED}

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
        # Not through sys.stderr, which may be in the middle of a line.
        if self.code:
            os.write(2, f"\n{self._told}\n".encode())
            os._exit(self.code)
        self.code = _CODES[signal.Signals(number)]
        os.write(2, f"\n{FIRST}\n".encode())
        self.control.request_drain(signal.Signals(number).name)


@contextmanager
def stops(told: str) -> Generator[Stopper]:
    """While the block runs, Ctrl-C and SIGTERM stop the run that is given the control.

    Hears nothing outside the main thread, where no signal arrives.

    Args:
        told: One sentence that tells how to go on.
    """
    stopper = Stopper(told)
    if threading.current_thread() is not threading.main_thread():
        yield stopper
        return
    before = {number: signal.signal(number, stopper.hear) for number in _CODES}
    try:
        yield stopper
    finally:
        for number, handler in before.items():
            signal.signal(number, handler)
