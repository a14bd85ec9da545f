"""A context manager that blocks, entered and left in a thread: no loop waits for a database."""

import asyncio
from collections.abc import AsyncGenerator
from contextlib import AbstractContextManager, asynccontextmanager
from typing import TypeVar

T = TypeVar("T")


@asynccontextmanager
async def in_a_thread(held: AbstractContextManager[T]) -> AsyncGenerator[T]:
    """Hold something from a coroutine; what ends the block is told to it, as `with` would.

    A thread cannot be stopped. So whoever is cancelled while it enters waits for it and leaves
    again: nobody else would give back what it has got.

    Args:
        held: What to enter and to leave, each in a thread.
    """
    entering = asyncio.get_running_loop().run_in_executor(None, held.__enter__)
    try:
        entered = await asyncio.shield(entering)
    except asyncio.CancelledError as exc:
        await asyncio.wait([entering])
        if entering.exception() is None:
            await _left(held, exc)
        raise
    try:
        yield entered
    except BaseException as exc:
        if await _left(held, exc):
            return
        raise
    await _left(held, None)


async def _left(held: AbstractContextManager[object], exc: BaseException | None) -> bool:
    """Leave it, to the end also where the wait is cancelled; whether it swallows what was wrong."""
    kind, trace = (None, None) if exc is None else (type(exc), exc.__traceback__)
    leaving = asyncio.get_running_loop().run_in_executor(None, held.__exit__, kind, exc, trace)
    return bool(await asyncio.shield(leaving))
