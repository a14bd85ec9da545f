"""Rows of a thread that cannot be read: told as what they are, with the thread's name."""

from collections.abc import Generator
from contextlib import contextmanager

from langchain_core.runnables import RunnableConfig
from langgraph.checkpoint.base import CheckpointTuple
from langgraph.errors import GraphBubbleUp

from hansei.policies.errors import HanseiError, OperatorError
from hansei.policies.narrow import as_mapping

_MAPPINGS = ("channel_values", "channel_versions", "versions_seen")

_SHOWN = 200
"""Characters of what a reader said."""


class DamagedThreadError(OperatorError):
    """What is kept of a thread cannot be read.

    Attributes:
        why: What the reader said.
    """

    def __init__(self, thread: str, why: str) -> None:
        """Say which thread, and why."""
        super().__init__(
            f"The thread {thread} is damaged in the database ({why}); bring the database back from "
            "a copy, or delete the thread with `hansei threads --delete`."
        )
        self.why = why

    @classmethod
    def from_reader(cls, thread: object, exc: Exception) -> "DamagedThreadError":
        """The same for what a reader has raised."""
        lines = str(exc).strip().splitlines() or [""]
        said = f"{type(exc).__name__}: {lines[0]}"[:_SHOWN].rstrip(".: ")
        return cls(str(thread), said)


@contextmanager
def readable(config: RunnableConfig | None, failure: type[Exception]) -> Generator[None]:
    """Tell what cannot be read as damage of the thread.

    A row may hold anything, so its readers may raise anything.

    Args:
        config: Which thread is read.
        failure: What the driver raises when the database fails, which is no damage of one thread.

    Raises:
        DamagedThreadError: As said.
    """
    try:
        yield
    except (failure, HanseiError, GraphBubbleUp):
        raise
    except Exception as exc:
        thread: object = (config or {}).get("configurable", {}).get("thread_id", "of a list")
        raise DamagedThreadError.from_reader(thread, exc) from exc


def whole(found: CheckpointTuple) -> CheckpointTuple:
    """A checkpoint that has what every one has; bytes that are wrong may well be read as a number.

    Raises:
        ValueError: It has not.
    """
    checkpoint = as_mapping(found.checkpoint)
    mappings = [checkpoint.get(name) for name in _MAPPINGS]
    if not all(isinstance(each, dict) for each in (found.metadata, *mappings)):
        msg = "this is no checkpoint"
        raise ValueError(msg)
    return found
