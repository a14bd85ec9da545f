"""Every saver of hansei does what LangGraph asks of one, and runs nothing that a row names."""

from __future__ import annotations

import sqlite3
from collections.abc import AsyncIterator, Callable, Iterator, Sequence
from contextlib import AsyncExitStack, ExitStack, suppress
from pathlib import Path
from typing import Any, cast

import ormsgpack
import psycopg
import pytest
from langchain_core.runnables import RunnableConfig
from langgraph.checkpoint.base import (
    BaseCheckpointSaver,
    ChannelVersions,
    Checkpoint,
    CheckpointMetadata,
    CheckpointTuple,
)
from langgraph.checkpoint.conformance import validate
from langgraph.checkpoint.conformance.initializer import RegisteredCheckpointer
from langgraph.checkpoint.memory import InMemorySaver
from langgraph.checkpoint.serde import jsonplus
from langgraph.checkpoint.sqlite import SqliteSaver
from pydantic import ValidationError
from stored_runs import THREAD, agent_on, ask, stopped_half_way

from hansei import aopen_checkpointer, open_checkpointer
from hansei.graphs.checkpoints import serializer
from hansei.graphs.packing import inflated

CAPABILITIES = {"put", "put_writes", "get_tuple", "list", "delete_thread"}

Opened = Callable[[AsyncExitStack], Any]


class Awaited(BaseCheckpointSaver[str]):
    """A saver for calls that block, asked by a suite that awaits."""

    def __init__(self, saver: BaseCheckpointSaver[str]) -> None:
        super().__init__(serde=saver.serde)
        self.saver = saver

    async def aget_tuple(self, config: RunnableConfig) -> CheckpointTuple | None:
        return self.saver.get_tuple(config)

    async def alist(
        self, config: RunnableConfig | None, **options: Any
    ) -> AsyncIterator[CheckpointTuple]:
        for found in self.saver.list(config, **options):
            yield found

    async def aput(
        self,
        config: RunnableConfig,
        checkpoint: Checkpoint,
        metadata: CheckpointMetadata,
        new_versions: ChannelVersions,
    ) -> RunnableConfig:
        return self.saver.put(config, checkpoint, metadata, new_versions)

    async def aput_writes(
        self,
        config: RunnableConfig,
        writes: Sequence[tuple[str, Any]],
        task_id: str,
        task_path: str = "",
    ) -> None:
        self.saver.put_writes(config, writes, task_id, task_path)

    async def adelete_thread(self, thread_id: str) -> None:
        self.saver.delete_thread(thread_id)


@pytest.mark.parametrize("kind", ["memory", "sqlite", "sqlite async", "postgres", "postgres async"])
async def test_a_saver_does_what_langgraph_asks(
    kind: str, tmp_path: Path, request: pytest.FixtureRequest
) -> None:
    urls: Iterator[str]
    if kind.startswith("postgres"):
        server = request.getfixturevalue("postgres")
        stack = request.getfixturevalue("databases")
        urls = (stack.enter_context(server.database()) for _ in range(99))
    else:
        urls = (str(tmp_path / f"{number}.db") for number in range(99))

    async def opened() -> Any:
        async with AsyncExitStack() as saver_stack:
            if kind == "memory":
                yield InMemorySaver(serde=serializer())
            elif kind.endswith("async"):
                yield await saver_stack.enter_async_context(aopen_checkpointer(next(urls)))
            else:
                yield Awaited(saver_stack.enter_context(open_checkpointer(next(urls))))

    report = await validate(RegisteredCheckpointer(name=kind, factory=opened))
    failures = {name: result.failures for name, result in report.results.items() if result.failures}
    assert failures == {}
    passed = {name for name, result in report.results.items() if result.passed}
    assert passed >= CAPABILITIES
    assert ("prune" in passed) is (kind == "postgres async")


@pytest.fixture
def databases() -> Iterator[ExitStack]:
    """Where databases are closed at the end of a test."""
    with ExitStack() as stack:
        yield stack


# Rows that name what they have no business with.


def crafted(target: Path) -> dict[str, bytes]:
    """Values that make a file where whoever reads them does what they say."""

    def ext(code: int, *parts: object) -> bytes:
        inner = ormsgpack.packb(parts)
        return ormsgpack.packb(ormsgpack.Ext(code, inner))

    command = f"touch {target}"
    return {
        "a call": ext(jsonplus.EXT_CONSTRUCTOR_SINGLE_ARG, "os", "system", command),
        "a call with arguments": ext(
            jsonplus.EXT_CONSTRUCTOR_POS_ARGS, "subprocess", "call", [["touch", str(target)]]
        ),
        "a call with names": ext(
            jsonplus.EXT_CONSTRUCTOR_KW_ARGS, "os", "system", {"command": command}
        ),
        "a method": ext(jsonplus.EXT_METHOD_SINGLE_ARG, "pathlib", "Path", str(target), "touch"),
        "an old model": ext(jsonplus.EXT_PYDANTIC_V1, "os", "system", {"command": command}),
        "a model": ext(jsonplus.EXT_PYDANTIC_V2, "os", "system", {"command": command}, ""),
    }


@pytest.mark.parametrize("name", crafted(Path("x")))
@pytest.mark.parametrize("kind", ["sqlite", "postgres"])
async def test_a_crafted_row_runs_nothing(
    name: str, kind: str, tmp_path: Path, request: pytest.FixtureRequest
) -> None:
    place = (
        str(tmp_path / "runs.db") if kind == "sqlite" else request.getfixturevalue("postgres_url")
    )
    target = tmp_path / "done"
    value = crafted(target)[name]
    stopped_half_way(place)
    if kind == "sqlite":
        row = ask(place, "SELECT type, checkpoint FROM checkpoints ORDER BY checkpoint_id DESC")[0]
        whole = ormsgpack.unpackb(
            inflated(str(row[0]), cast("bytes", row[1])),
            ext_hook=ormsgpack.Ext,
            option=ormsgpack.OPT_NON_STR_KEYS,
        )
        whole["channel_values"]["brief"] = ormsgpack.Fragment(value)
        with sqlite3.connect(place) as file:
            checkpoint = ormsgpack.packb(whole, option=ormsgpack.OPT_NON_STR_KEYS)
            file.execute("UPDATE checkpoints SET type = 'msgpack', checkpoint = ?", (checkpoint,))
            file.execute("UPDATE writes SET type = 'msgpack', value = ?", (value,))
        file.close()
    else:
        with psycopg.connect(place) as server:
            server.execute("UPDATE checkpoint_blobs SET type = 'msgpack', blob = %s", (value,))
            server.execute("UPDATE checkpoint_writes SET type = 'msgpack', blob = %s", (value,))
    with open_checkpointer(place) as saver:
        assert list(saver.list(THREAD))
        assert saver.threads()
        # What stands there now is no state, so the run cannot go on; all that counts is the rest.
        with suppress(ValidationError, TypeError, AttributeError, LookupError, ValueError):
            agent_on(saver).invoke(None, THREAD)
    async with aopen_checkpointer(place) as asaver:
        assert await asaver.aget_tuple(THREAD)
    assert not target.exists()


@pytest.mark.parametrize("name", ["a call", "a call with arguments", "a call with names"])
def test_the_crafted_rows_are_real(name: str, tmp_path: Path) -> None:
    """What hansei's serializer is asked to leave alone another one would do."""
    target = tmp_path / "done"
    saver = SqliteSaver(sqlite3.connect(":memory:"))
    saver.serde.loads_typed(("msgpack", crafted(target)[name]))
    saver.conn.close()
    assert target.exists()
    target.unlink()
    serializer().loads_typed(("msgpack", crafted(target)[name]))
    assert not target.exists()
