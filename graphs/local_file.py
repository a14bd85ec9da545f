"""The embedded model as one file in the cache folder: joined, checked, repaired.

The file is written under a name of its own, synced, and put in place in one move, so that nobody
ever sees half of it. A small marker beside it says that this very file (size, time, hash) was
read through and found right; without a fitting marker it is read through again.
"""

import contextlib
import errno
import hashlib
import json
import logging
import os
import shutil
import tempfile
from collections.abc import Generator, Sequence
from pathlib import Path
from typing import BinaryIO, Literal, Protocol

import platformdirs

from hansei.graphs.environment import read_environment
from hansei.graphs.file_lock import file_lock
from hansei.graphs.local_pieces import (
    CHUNK,
    EMBEDDED,
    ModelSource,
    Piece,
    any_piece_installed,
    blame,
    find_pieces,
    read_piece,
)
from hansei.policies.errors import OperatorError, UserError

logger = logging.getLogger(__name__)

Stage = Literal["join", "check"]

SPARE = 64 << 20
"""Bytes that must stay free after joining: a disk filled to the brim breaks other things first."""


class Progress(Protocol):
    """Told how far the work is."""

    def __call__(self, stage: Stage, done: int, total: int, /) -> None:
        """Take note: `done` of `total` bytes of this stage."""


def local_model_file(*, progress: Progress | None = None, source: ModelSource = EMBEDDED) -> Path:
    """The model file to serve: the user's own (`HANSEI_GGUF`), else the embedded one.

    The embedded file is joined when it is not there and repaired when it is broken. One that was
    checked before and has not changed since is not read again.

    Args:
        progress: Called while bytes are joined or checked.
        source: Which model; the embedded one unless a test brings its own.

    Raises:
        UserError: `HANSEI_GGUF` names no file.
        OperatorError: A piece is missing or broken, or the cache folder cannot take the file.
    """
    own = read_environment().hansei_gguf
    if own is not None:
        own = own.expanduser()
        if not own.is_file():
            msg = f"HANSEI_GGUF names {own}, but there is no such file: correct it or unset it."
            raise UserError(msg)
        return own.resolve()
    return _ensure(source, progress=progress, trust_marker=True)


def pull(*, progress: Progress | None = None, source: ModelSource = EMBEDDED) -> Path:
    """Put the embedded model file in place and read all of it, whatever was found before.

    `HANSEI_GGUF` plays no part: a file of the user's own needs no pulling.

    Args:
        progress: Called while bytes are joined or checked.
        source: Which model; the embedded one unless a test brings its own.

    Raises:
        OperatorError: As `local_model_file`.
    """
    return _ensure(source, progress=progress, trust_marker=False)


def local_file_available(*, source: ModelSource = EMBEDDED) -> bool:
    """Whether there is something to serve: a file of the user's own, a checked one, or pieces.

    Cheap: no byte of the model is read. Of pieces one is enough, since with some of them missing
    the useful answer is the error that says which.
    """
    return (
        read_environment().hansei_gguf is not None
        or _is_checked(models_folder() / source.file_name, source)
        or any_piece_installed(source)
    )


def models_folder() -> Path:
    """Where joined files are kept: `HANSEI_CACHE`, else `models` in the user's cache folder."""
    chosen = read_environment().hansei_cache
    if chosen is not None:
        return chosen.expanduser()
    return Path(platformdirs.user_cache_dir("hansei", appauthor=False)) / "models"


def _ensure(source: ModelSource, *, progress: Progress | None, trust_marker: bool) -> Path:
    folder = models_folder()
    target = folder / source.file_name
    if trust_marker and _is_checked(target, source):
        return target
    try:
        folder.mkdir(parents=True, exist_ok=True)
        with file_lock(folder / f"{source.file_name}.lock") as alone:
            # Another process may have done it while this one waited.
            if not (trust_marker and _is_checked(target, source)):
                if alone:
                    _remove_leftovers(target)
                _make_good(target, source, progress)
    except OSError as error:
        raise _cannot_write(folder, source, error) from error
    return target


def _make_good(target: Path, source: ModelSource, progress: Progress | None) -> None:
    if _size(target) == source.size and _hash(target, source, progress) == source.sha256:
        _mark(target, source)
        return
    pieces = find_pieces(source)
    if target.exists():
        logger.warning("The model file %s is broken and is joined again.", target)
        # First, since it holds the space that the new one needs.
        target.unlink()
    _check_space(target.parent, source)
    with _temporary(target) as (file, name):
        if _copy(pieces, file, source, progress) != source.sha256:
            raise blame(pieces)
        file.flush()
        os.fsync(file.fileno())
        file.close()
        name.replace(target)
    _mark(target, source)


def _copy(
    pieces: Sequence[Piece], file: BinaryIO, source: ModelSource, progress: Progress | None
) -> str:
    """Append all pieces to a file and return the hash of the whole."""
    digest = hashlib.sha256()
    done = 0
    for piece in pieces:
        for chunk in read_piece(piece):
            file.write(chunk)
            digest.update(chunk)
            done += len(chunk)
            if progress is not None:
                progress("join", done, source.size)
    return digest.hexdigest()


def _hash(path: Path, source: ModelSource, progress: Progress | None) -> str:
    digest = hashlib.sha256()
    done = 0
    with path.open("rb") as file:
        while chunk := file.read(CHUNK):
            digest.update(chunk)
            done += len(chunk)
            if progress is not None:
                progress("check", done, source.size)
    return digest.hexdigest()


@contextlib.contextmanager
def _temporary(target: Path) -> Generator[tuple[BinaryIO, Path], None, None]:
    """A new file beside the target, gone afterwards unless it was moved away."""
    handle, text = tempfile.mkstemp(dir=target.parent, prefix=f"{target.name}.", suffix=".part")
    name = Path(text)
    try:
        with os.fdopen(handle, "wb") as file:
            yield file, name
    finally:
        name.unlink(missing_ok=True)


def _remove_leftovers(target: Path) -> None:
    """Remove what killed processes left behind; only safe for the holder of the lock."""
    for left in target.parent.glob(f"{target.name}.*.part"):
        left.unlink(missing_ok=True)


def _size(path: Path) -> int | None:
    try:
        return path.stat().st_size
    except FileNotFoundError:
        return None


def _marker(target: Path) -> Path:
    return target.with_name(f"{target.name}.checked")


def _fingerprint(target: Path, source: ModelSource) -> str:
    """What the marker holds: changes whenever the file, or the model it should be, does."""
    stat = target.stat()
    return json.dumps([stat.st_size, stat.st_mtime_ns, source.sha256])


def _mark(target: Path, source: ModelSource) -> None:
    with _temporary(_marker(target)) as (file, name):
        file.write(_fingerprint(target, source).encode())
        file.close()
        name.replace(_marker(target))


def _is_checked(target: Path, source: ModelSource) -> bool:
    try:
        if target.stat().st_size != source.size:
            return False
        return _marker(target).read_text("utf-8") == _fingerprint(target, source)
    except (OSError, UnicodeDecodeError):
        # Not there or not readable: the slow way finds out, and says so if it matters.
        return False


def _check_space(folder: Path, source: ModelSource) -> None:
    free = shutil.disk_usage(folder).free
    if free < source.size + SPARE:
        raise _no_space(folder, source, free)


def _no_space(folder: Path, source: ModelSource, free: int) -> OperatorError:
    return OperatorError(
        f"The model file needs {source.size + SPARE:,} bytes in {folder}, where {free:,} are free: "
        "make room, or set HANSEI_CACHE to a folder on another disk."
    )


def _cannot_write(folder: Path, source: ModelSource, error: OSError) -> OperatorError:
    if error.errno in (errno.ENOSPC, errno.EDQUOT):
        return _no_space(folder, source, shutil.disk_usage(folder).free)
    return OperatorError(
        f"The model file cannot be written to {folder} ({error.strerror or error}): "
        "correct that, or set HANSEI_CACHE to a folder that can be written."
    )
