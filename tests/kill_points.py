"""Where a process kills itself: at the n-th time that it comes to a place."""

from __future__ import annotations

import os
import signal
import sqlite3
from collections import Counter
from collections.abc import AsyncGenerator, Callable, Generator
from contextlib import asynccontextmanager, contextmanager
from functools import partial
from typing import Any

from langgraph.config import get_config

from hansei.graphs.checkpoints import AsyncCheckpointer, Checkpointer
from hansei.graphs.run_table import RunTable
from hansei.nodes import bodies


class Points:
    """Counts how often each place is reached, and dies at the one that is named."""

    def __init__(self, fatal: str) -> None:
        self.fatal = fatal
        self.reached: Counter[str] = Counter()
        self._opening = False

    def reach(self, place: str) -> None:
        self.reached[place] += 1
        if f"{place} {self.reached[place]}" == self.fatal:
            os.kill(os.getpid(), signal.SIGKILL)

    def always(self, place: str) -> None:
        if self.fatal == f"always {place}":
            os.kill(os.getpid(), signal.SIGKILL)

    def _around(self, owner: Any, name: str, place: str) -> None:
        method = getattr(owner, name)

        def called(*args: Any, **kwargs: Any) -> Any:
            self.reach(f"before {place}")
            result = method(*args, **kwargs)
            self.reach(f"after {place}")
            return result

        async def acalled(*args: Any, **kwargs: Any) -> Any:
            self.reach(f"before {place}")
            result = await method(*args, **kwargs)
            self.reach(f"after {place}")
            return result

        # On the class: a saver that LangGraph has copied dies as well.
        setattr(owner, name, acalled if name.startswith("a") else called)

    def in_nodes(self) -> None:
        """Before a node's work, and after it but before anybody knows of it."""

        def node() -> str:
            return str(get_config()["metadata"]["langgraph_node"])

        drive, adrive = vars(bodies)["drive"], vars(bodies)["adrive"]

        def driven(*args: Any) -> Any:
            self.reach(f"before node {node()}")
            result = drive(*args)
            self.reach(f"after node {node()}")
            return result

        async def adriven(*args: Any) -> Any:
            self.reach(f"before node {node()}")
            result = await adrive(*args)
            self.reach(f"after node {node()}")
            return result

        vars(bodies).update(drive=driven, adrive=adriven)

    def in_opening(self) -> Callable[[], None]:
        """After each statement to a SQLite file, until the function that is returned is called."""
        connect, points = sqlite3.connect, self

        class Connection(sqlite3.Connection):
            def execute(self, *args: Any) -> sqlite3.Cursor:
                return points._opened(super().execute(*args))

            def executescript(self, script: str) -> sqlite3.Cursor:
                return points._opened(super().executescript(script))

        def connected(*args: Any, **options: Any) -> sqlite3.Connection:
            made: Any = options.pop("factory", None)
            ours: Any = Connection
            if made is not None:
                ours = partial(type("Ours", (Connection, made.func), {}), *made.args)
            opened: sqlite3.Connection = connect(*args, factory=ours, **options)
            return opened

        self._opening = True
        vars(sqlite3)["connect"] = connected
        return self._is_open

    def _opened(self, result: sqlite3.Cursor) -> sqlite3.Cursor:
        if self._opening:
            self.reach("opening")
        return result

    def _is_open(self) -> None:
        self._opening = False

    def in_run_table(self) -> None:
        """While a thread is taken, before there is a checkpoint."""
        self._around(RunTable, "_take", "lease")

    def in_saver(self, saver: Checkpointer) -> None:
        """Before and after each write, and in it: when its rows are written and not committed."""
        kind = type(saver)
        self._around(kind, "put", "put")
        self._around(kind, "put_writes", "put_writes")
        self._around(type(saver.store), "batch", "store")
        connection = getattr(saver, "conn", None)
        if hasattr(connection, "set_trace_callback"):
            connection.set_trace_callback(self._statement)  # type: ignore[union-attr]
        else:
            self._in_cursor(kind)

    async def in_async_saver(self, saver: AsyncCheckpointer) -> None:
        """The same for a saver of `aopen_checkpointer`."""
        kind = type(saver)
        self._around(kind, "aput", "put")
        self._around(kind, "aput_writes", "put_writes")
        self._around(type(saver.store), "abatch", "store")
        connection = getattr(saver, "conn", None)
        if hasattr(connection, "set_trace_callback"):
            await connection.set_trace_callback(self._statement)  # type: ignore[union-attr]
        else:
            self._in_async_cursor(kind)

    def _statement(self, statement: str) -> None:
        if statement.startswith("COMMIT"):
            self.reach("inside write")

    def _in_cursor(self, kind: Any) -> None:
        whole = kind._cursor

        @contextmanager
        def cursor(saver: Any, *, pipeline: bool = False) -> Generator[Any]:
            with whole(saver, pipeline=pipeline) as found:
                yield found
                if pipeline:
                    self.reach("inside write")

        kind._cursor = cursor

    def _in_async_cursor(self, kind: Any) -> None:
        whole = kind._cursor

        @asynccontextmanager
        async def cursor(saver: Any, *, pipeline: bool = False) -> AsyncGenerator[Any]:
            async with whole(saver, pipeline=pipeline) as found:
                yield found
                if pipeline:
                    self.reach("inside write")

        kind._cursor = cursor
