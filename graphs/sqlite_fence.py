"""A connection whose commits ask whether the run that writes has its thread still; see `fence`.

LangGraph's awaited saver writes and commits in one go. A statement before that would be one more
way into its thread and back for each write, which costs more than the statement.
"""

import sqlite3
from dataclasses import dataclass

from hansei.graphs.fence import Hold

_HELD = "SELECT 1 FROM hansei_runs WHERE thread_id = ? AND owner = ?"
"""After a write nobody else can change the row before the commit."""


@dataclass(slots=True)
class CommitFence:
    """What the next commit of a connection asks.

    Attributes:
        hold: Under which it is written; `None`: nothing is asked.
    """

    hold: Hold | None = None


class FencedConnection(sqlite3.Connection):
    """Undoes what a run has written that has lost its thread."""

    def __init__(self, fence: CommitFence, *given: object, **options: object) -> None:
        """Open it, as `sqlite3.connect` asks for."""
        super().__init__(*given, **options)  # type: ignore[arg-type]
        self._fence = fence

    def commit(self) -> None:
        """Write what was changed, or nothing.

        Raises:
            ThreadBusyError: Another process has the thread by now.
        """
        hold = self._fence.hold
        if hold is not None and not self.execute(_HELD, hold.key).fetchone():
            self.rollback()
            raise hold.overtaken()
        super().commit()
