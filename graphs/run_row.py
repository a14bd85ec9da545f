"""One row of the run table: the last run of a thread."""

from dataclasses import dataclass

from hansei.graphs.run_owner import is_gone, is_here
from hansei.graphs.tables import Row
from hansei.policies.errors import OperatorError

_LAST = 253_402_300_799.0
"""The end of the year 9999, after which there is no date to show."""


@dataclass(frozen=True, slots=True)
class RunRow:
    """The last run of a thread, as far as it was accepted."""

    thread_id: str
    owner: str
    goal: str
    accepted_at: float
    """Seconds since the epoch."""
    expires_at: float
    """Seconds since the epoch; 0 when the run has let the thread go."""
    note: str = ""
    """What ended the run, where it broke off with an exception."""
    name: str = ""
    """What the user calls the thread, where it is not its UUID."""
    read_at: float = 0.0
    """Seconds since the epoch, by the database's clock."""

    @property
    def under_way(self) -> bool:
        """Whether somebody is working on it."""
        if self.expires_at == 0 or is_gone(self.owner):
            return False
        return self.expires_at > self.read_at or is_here(self.owner)


def run_row(found: Row, now: float) -> RunRow:
    """A row as it was found.

    Args:
        found: Thread, owner, goal, when it was accepted, when it expires, note and name.
        now: By the database's clock.

    Raises:
        OperatorError: It is damaged.
    """
    thread_id, owner, goal, accepted_at, expires_at, note, name = found
    return RunRow(
        thread_id=str(thread_id),
        owner=str(owner),
        goal=str(goal),
        accepted_at=_time(accepted_at, "accepted_at", name or thread_id),
        expires_at=_time(expires_at, "expires_at", name or thread_id),
        note=str(note),
        name=str(name),
        read_at=now,
    )


def _time(found: object, column: str, thread: object) -> float:
    try:
        seconds = float(str(found))
    except ValueError:
        seconds = -1.0
    if 0 <= seconds <= _LAST:
        return seconds
    msg = (
        f"The row of the thread {thread} in the table hansei_runs is damaged ({column} is "
        f"{found!r:.40}); bring the database back from a copy, or set it to 0 there."
    )
    raise OperatorError(msg)
