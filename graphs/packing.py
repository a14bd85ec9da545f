"""How a file's checkpoints are packed: LangGraph's own form, squeezed where it is long.

The SQLite saver writes the whole state at every checkpoint, and most of it stood in the one before.
Steps that resemble each other squeeze to a fifth, in less time than it takes to write them.
"""

import zlib
from typing import Final

from langgraph.checkpoint.serde.jsonplus import JsonPlusSerializer

SQUEEZED_FROM: Final = 4096
"""Bytes from which a value is squeezed: a page of SQLite, below which there is little to save."""

LARGEST: Final = 256 * 2**20
"""Bytes that a value may have; one of more is no state but a row made to fill the memory. A run of
ordinary length has some ten thousand."""

KINDS: Final = ("msgpack", "msgpack+zlib")
"""Types of rows that hold values in LangGraph's form."""

_SUFFIX: Final = "+zlib"
_LEVEL: Final = 1
"""A tenth larger than at the default level, and in half the time."""


class PackedSerializer(JsonPlusSerializer):
    """LangGraph's serializer; rows that it wrote alone are read as well."""

    def dumps_typed(self, obj: object) -> tuple[str, bytes]:
        """The form of a value, and its bytes."""
        kind, data = super().dumps_typed(obj)
        return squeezed(data, kind)

    def loads_typed(self, data: tuple[str, bytes]) -> object:
        """The value of a form and its bytes.

        Raises:
            ValueError: It is cut off, or larger than any state can be.
        """
        kind, packed = data
        if not kind.endswith(_SUFFIX):
            return super().loads_typed(data)
        return super().loads_typed((kind.removesuffix(_SUFFIX), inflated(kind, packed)))


def squeezed(data: bytes, kind: str = "msgpack") -> tuple[str, bytes]:
    """The type and the bytes of a row, for bytes in LangGraph's own form."""
    if len(data) < SQUEEZED_FROM:
        return kind, data
    return kind + _SUFFIX, zlib.compress(data, _LEVEL)


def inflated(kind: str, data: bytes) -> bytes:
    """The bytes of a row in LangGraph's own form.

    Args:
        kind: The row's type.
        data: Its bytes.

    Raises:
        ValueError: They are cut off, or larger than any state can be.
    """
    if not kind.endswith(_SUFFIX):
        return data
    reader = zlib.decompressobj()
    try:
        whole = reader.decompress(data, LARGEST)
    except zlib.error as exc:
        msg = f"A value in the database is damaged ({exc})."
        raise ValueError(msg) from exc
    if not reader.eof:
        msg = f"A value in the database is cut off, or larger than {LARGEST:,} bytes."
        raise ValueError(msg)
    return whole
