"""What is held from a coroutine is entered and left in a thread, whatever ends the block."""

from __future__ import annotations

import asyncio
import threading
from collections.abc import Generator
from contextlib import AbstractContextManager, contextmanager
from dataclasses import dataclass, field

import pytest

from hansei.graphs.in_thread import in_a_thread


@dataclass
class Held:
    """Notes what is done with it, and where; entering it can be held up."""

    gate: threading.Event = field(default_factory=threading.Event)
    begun: threading.Event = field(default_factory=threading.Event)
    done: list[str] = field(default_factory=list[str])
    swallow: type[BaseException] | None = None

    @contextmanager
    def hold(self) -> Generator[str]:
        assert threading.current_thread() is not threading.main_thread()
        self.begun.set()
        self.gate.wait()
        self.done.append("entered")
        try:
            yield "it"
        except BaseException as exc:
            self.done.append(type(exc).__name__)
            if not (self.swallow and isinstance(exc, self.swallow)):
                raise
        finally:
            self.done.append("left")


def opened() -> Held:
    held = Held()
    held.gate.set()
    return held


def test_it_is_entered_and_left() -> None:
    held = opened()

    async def use() -> None:
        async with in_a_thread(held.hold()) as given:
            held.done.append(given)

    asyncio.run(use())
    assert held.done == ["entered", "it", "left"]


def test_what_ends_the_block_is_told_to_it() -> None:
    held = opened()

    async def use() -> None:
        async with in_a_thread(held.hold()):
            raise LookupError

    with pytest.raises(LookupError):
        asyncio.run(use())
    assert held.done == ["entered", "LookupError", "left"]


def test_what_it_swallows_is_gone() -> None:
    held = opened()
    held.swallow = LookupError

    async def use() -> None:
        async with in_a_thread(held.hold()):
            raise LookupError

    asyncio.run(use())
    assert held.done == ["entered", "LookupError", "left"]


def test_who_is_cancelled_while_entering_leaves_it() -> None:
    held = Held()

    async def use() -> None:
        async with in_a_thread(held.hold()):
            held.done.append("used")

    async def cancel() -> None:
        task = asyncio.create_task(use())
        await asyncio.to_thread(held.begun.wait)
        task.cancel()
        await asyncio.sleep(0)
        held.gate.set()
        with pytest.raises(asyncio.CancelledError):
            await task

    asyncio.run(cancel())
    assert held.done == ["entered", "CancelledError", "left"]


def test_who_fails_to_enter_says_why() -> None:
    class Broken(AbstractContextManager[None, None]):
        def __enter__(self) -> None:
            raise LookupError

        def __exit__(self, *_: object) -> None:
            """Never reached."""

    async def use() -> None:
        async with in_a_thread(Broken()):
            pass

    with pytest.raises(LookupError):
        asyncio.run(use())
