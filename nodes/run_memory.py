"""The store of an agent that was given none: in memory, where the part of a run can be dropped."""

from langgraph.store.memory import InMemoryStore


class RunMemory(InMemoryStore):
    """LangGraph's store in memory, from which whole namespaces can be taken."""

    def drop(self, namespace: tuple[str, ...]) -> None:
        """Forget a namespace; item by item its empty shell would stay for good."""
        self._data.pop(namespace, None)
        self._vectors.pop(namespace, None)
