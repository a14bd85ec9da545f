"""What runs keep beside the state, in a store: texts on shelves, each below its run.

A store that fails ends the run, which can be resumed: what is kept here is what a resume goes by,
so a run that went on without it could do something twice.
"""

from collections.abc import Generator, Mapping
from contextlib import contextmanager
from dataclasses import dataclass
from typing import Protocol, runtime_checkable

from langgraph.errors import GraphBubbleUp
from langgraph.store.base import BaseStore
from langgraph.store.memory import InMemoryStore

from hansei.nodes.effects import Recall, Remember, Shelf
from hansei.nodes.run_memory import RunMemory
from hansei.policies.errors import StoreError
from hansei.policies.stored_text import storable

SHELVES: Mapping[Shelf, tuple[str, ...]] = {
    "outputs": ("hansei", "outputs"),
    "journal": ("hansei", "journal"),
    "entries": ("hansei", "entries"),
}
"""Namespaces of the store; below each stands the run, so that a thread's can be deleted."""


@runtime_checkable
class Unsynced(Protocol):
    """A store with a way in that is safe against the end of the process, and waits for no disk."""

    unsynced: BaseStore


@dataclass(frozen=True, slots=True)
class Shelves:
    """The shelves of one run. Every method raises a `StoreError` where the store fails."""

    store: BaseStore | None
    """The store that is for everybody; `None`: what runs keep stays in the agent's memory."""
    memory: RunMemory
    run_id: str

    def remember(self, item: Remember) -> bool:
        """Keep a text, or forget it where it is empty; False when there is nowhere to keep it."""
        store = self._store_of(item.shelf)
        if store is None:
            return False
        with _failures_told(item.made):
            if item.text:
                store.put(self._place(item.shelf), item.key, _value(item), index=False)
            else:
                store.delete(self._place(item.shelf), item.key)
        return True

    async def aremember(self, item: Remember) -> bool:
        """Keep a text, or forget it where it is empty; False when there is nowhere to keep it."""
        store = self._store_of(item.shelf)
        if store is None:
            return False
        with _failures_told(item.made):
            if item.text:
                await store.aput(self._place(item.shelf), item.key, _value(item), index=False)
            else:
                await store.adelete(self._place(item.shelf), item.key)
        return True

    def recall(self, item: Recall) -> str | None:
        """Read a text back."""
        store = self._store_of(item.shelf)
        if store is None:
            return None
        with _failures_told():
            found = store.get(self._place(item.shelf), item.key)
            return None if found is None else str(found.value.get("text", ""))

    async def arecall(self, item: Recall) -> str | None:
        """Read a text back."""
        store = self._store_of(item.shelf)
        if store is None:
            return None
        with _failures_told():
            found = await store.aget(self._place(item.shelf), item.key)
            return None if found is None else str(found.value.get("text", ""))

    def _store_of(self, shelf: Shelf) -> BaseStore | None:
        """Where a shelf stands: entries only count how often the process has ended in a round."""
        if shelf != "entries":
            return self.memory.of(self.run_id) if self.store is None else self.store
        if self.store is None or isinstance(self.store, InMemoryStore):
            return None  # it ends with the process, so it would never have anything to count
        return self.store.unsynced if isinstance(self.store, Unsynced) else self.store

    def _place(self, shelf: Shelf) -> tuple[str, ...]:
        return (*SHELVES[shelf], self.run_id or "-")


def _value(item: Remember) -> dict[str, str]:
    return {"text": storable(item.text)}


@contextmanager
def _failures_told(made: str = "") -> Generator[None]:
    """Whatever a store raises ends the run.

    Args:
        made: The call that was made and that could not be noted, so that whoever cannot resume
            the run knows of it.
    """
    try:
        yield
    except GraphBubbleUp:
        raise  # no failure: whoever runs the graph is to know
    except Exception as exc:
        said = f"{type(exc).__name__}: {exc}".strip().partition("\n")[0].rstrip(".: ")
        after = f", and {made} was called and may have gone through" if made else ""
        msg = f"The store failed ({said}){after}; resume the run once it can be used again."
        raise StoreError(msg) from exc
