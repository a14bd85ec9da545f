"""A lock between processes that the system lets go of when its holder dies."""

import contextlib
import logging
import os
import sys
import time
from collections.abc import Generator
from pathlib import Path

logger = logging.getLogger(__name__)

if sys.platform == "win32":
    import msvcrt

    RETRY = 0.2
    """Seconds between two tries; Windows has no call that waits for as long as it takes."""

    def _lock(handle: int) -> None:
        while True:
            try:
                msvcrt.locking(handle, msvcrt.LK_NBLCK, 1)
            except PermissionError:
                time.sleep(RETRY)
            else:
                return

else:
    import fcntl

    def _lock(handle: int) -> None:
        fcntl.flock(handle, fcntl.LOCK_EX)


@contextlib.contextmanager
def file_lock(path: Path) -> Generator[bool, None, None]:
    """Hold the lock of this name; others wait, threads of the same process too.

    Args:
        path: A file that is only there to be locked. It is made, and stays.

    Yields:
        Whether the lock is held. False on file systems that have none: the caller must then do
        without.

    Raises:
        OSError: The file cannot be made.
    """
    handle = os.open(path, os.O_RDWR | os.O_CREAT, 0o644)
    try:
        try:
            _lock(handle)
            held = True
        except OSError as error:
            logger.warning("%s cannot be locked (%s); going on without.", path, error.strerror)
            held = False
        yield held
    finally:
        # Closing lets go of it.
        os.close(handle)
