"""Ctrl-C during a run: stop at once. What was done is in the database already."""

import os
import signal
import threading
from collections.abc import Generator
from contextlib import contextmanager
from types import FrameType

INTERRUPTED = 130
"""Exit code after Ctrl-C, as shells have it: 128 and the number of the signal."""


@contextmanager
def stops_at_once(message: str) -> Generator[None]:
    """While the block runs, Ctrl-C says `message` on standard error and ends the process.

    An exception would not do: on its way out it waits for the threads of requests that are
    under way, which may take minutes. Nothing has to be tidied up, since a run must survive a
    crash anywhere. Does nothing outside the main thread, where no signal arrives.

    Args:
        message: One sentence.
    """
    if threading.current_thread() is not threading.main_thread():
        yield
        return

    def stop(_signal: int, _frame: FrameType | None) -> None:
        # Not through sys.stderr, which may be in the middle of a line.
        os.write(2, f"\n{message}\n".encode())
        os._exit(INTERRUPTED)

    before = signal.signal(signal.SIGINT, stop)
    try:
        yield
    finally:
        signal.signal(signal.SIGINT, before)
