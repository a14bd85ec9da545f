"""The memory of an agent that was given no store."""

from langgraph.store.memory import InMemoryStore


class RunMemory:
    """What runs keep, each in a store of its own that can be dropped, and one store for the tools.

    A tool may keep things from one run to the next, so what tools see is never dropped.
    """

    def __init__(self) -> None:
        """Begin with nothing."""
        self.for_tools = InMemoryStore()
        self.runs: dict[str, InMemoryStore] = {}

    def of(self, run_id: str) -> InMemoryStore:
        """The store of one run, made where there is none."""
        return self.runs.setdefault(run_id, InMemoryStore())

    def drop(self, run_id: str) -> None:
        """Forget all that a run has kept."""
        self.runs.pop(run_id, None)
