"""What a row of a checkpoint holds, as plain data: read and written without reviving anything."""

from dataclasses import dataclass
from typing import cast

import ormsgpack
from langgraph.checkpoint.serde import jsonplus

from hansei.policies.migrations import Record

_TYPED = frozenset(
    {
        jsonplus.EXT_CONSTRUCTOR_SINGLE_ARG,
        jsonplus.EXT_CONSTRUCTOR_POS_ARGS,
        jsonplus.EXT_CONSTRUCTOR_KW_ARGS,
        jsonplus.EXT_METHOD_SINGLE_ARG,
        jsonplus.EXT_PYDANTIC_V1,
        jsonplus.EXT_PYDANTIC_V2,
    }
)
"""Extensions of LangGraph's format that hold module, name, data, and what else there is."""

_OPTIONS = (
    ormsgpack.OPT_NON_STR_KEYS
    | ormsgpack.OPT_PASSTHROUGH_DATACLASS
    | ormsgpack.OPT_REPLACE_SURROGATES
)
"""Those of LangGraph's serializer that matter for plain data."""


@dataclass(frozen=True)
class _Opaque:
    """An extension that holds no object of ours, as it stands."""

    code: int
    data: bytes


def unpacked(data: bytes) -> object:
    """The value as plain data; objects are `Record`s."""
    return cast(
        "object",
        ormsgpack.unpackb(data, ext_hook=_read, option=ormsgpack.OPT_NON_STR_KEYS),
    )


def packed(value: object) -> bytes:
    """The value as LangGraph's serializer would have written it."""
    return ormsgpack.packb(value, default=_write, option=_OPTIONS)


def _read(code: int, data: bytes) -> object:
    if code not in _TYPED:
        return _Opaque(code, data)
    module, name, fields, *rest = cast("list[object]", unpacked(data))
    return Record(str(name), fields, module=str(module), envelope=(code, *rest))


def _write(value: object) -> ormsgpack.Ext:
    if isinstance(value, Record):
        code, *rest = value.envelope
        return ormsgpack.Ext(int(str(code)), packed((value.module, value.kind, value.data, *rest)))
    if isinstance(value, _Opaque):
        return ormsgpack.Ext(value.code, value.data)
    raise TypeError(type(value).__name__)
