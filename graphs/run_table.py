"""Which thread has a run under way: one row for each thread, with an owner and an expiry.

LangGraph has no lock on a thread: two runs on one thread both write to it, and the thread forks
without a word. A row is written before anything else of a run, so that one that was accepted and
killed before its first checkpoint leaves a trace too.
"""

import logging
import threading
import time
from collections.abc import Generator
from contextlib import contextmanager
from uuid import uuid4

from langchain_core.runnables import RunnableConfig
from langgraph.errors import GraphDrained

from hansei.graphs.fence import Hold, Overtaken, ThreadBusyError
from hansei.graphs.run_ends import UNSAID, RunEnd
from hansei.graphs.run_owner import is_gone, is_here, this_process
from hansei.graphs.run_row import RunRow, run_row
from hansei.graphs.state_mark import check_version
from hansei.graphs.tables import Tables, Value
from hansei.policies.errors import OperatorError

__all__ = ["LEASE", "RunRow", "RunTable", "ThreadBusyError"]

logger = logging.getLogger(__name__)

LEASE = 15.0
"""Seconds after which a run that says nothing counts as gone, where nobody can look whether its
process lives. It says so three times as often, so two signs may be late."""

_TABLE = """
CREATE TABLE IF NOT EXISTS hansei_runs (
    thread_id TEXT PRIMARY KEY,
    owner TEXT NOT NULL,
    goal TEXT NOT NULL,
    accepted_at DOUBLE PRECISION NOT NULL,
    expires_at DOUBLE PRECISION NOT NULL,
    note TEXT NOT NULL DEFAULT '',
    name TEXT NOT NULL DEFAULT ''
)
"""
_ADDED = frozenset({"note", "name"})
"""Columns that a table made by an earlier version may lack."""

_TAKE = """
INSERT INTO hansei_runs (thread_id, owner, goal, accepted_at, expires_at, name)
VALUES (:thread, :owner, :goal, :now, :until, :name)
ON CONFLICT (thread_id) DO UPDATE SET
    owner = excluded.owner,
    goal = CASE WHEN excluded.goal = '' THEN hansei_runs.goal ELSE excluded.goal END,
    accepted_at = excluded.accepted_at,
    expires_at = excluded.expires_at,
    note = '',
    name = CASE WHEN excluded.name = '' THEN hansei_runs.name ELSE excluded.name END
WHERE (hansei_runs.expires_at <= :now AND hansei_runs.owner <> :alive)
    OR hansei_runs.expires_at = 0 OR hansei_runs.owner = :dead
"""

_ROWS = "SELECT thread_id, owner, goal, accepted_at, expires_at, note, name FROM hansei_runs"

_RENEW = """
UPDATE hansei_runs SET expires_at = :until
WHERE substr(owner, 1, :length) = :keeper AND expires_at > 0
"""
_LET_GO = """
UPDATE hansei_runs SET expires_at = 0 WHERE thread_id = :thread AND owner = :owner
"""
_LET_GO_NOTED = """
UPDATE hansei_runs SET expires_at = 0, note = :note WHERE thread_id = :thread AND owner = :owner
"""
_KEPT = "SELECT owner FROM hansei_runs WHERE substr(owner, 1, :length) = :keeper"

_CHECKPOINTS = "SELECT checkpoint_ns, checkpoint_id FROM checkpoints WHERE thread_id = :thread"

_WITHOUT_ROW = """
SELECT DISTINCT thread_id FROM checkpoints
WHERE checkpoint_ns = '' AND thread_id NOT IN (SELECT thread_id FROM hansei_runs) AND
"""


class RunTable:
    """The rows of one database."""

    def __init__(self, tables: Tables, *, place: str = "", alone: bool = False) -> None:
        """Make the table where there is none.

        Args:
            tables: The database.
            place: What messages call it, where it is marked with the version of its states.
            alone: No other process can open the database, so none can take a thread over.
        """
        self._tables = tables
        self._alone = alone
        self._place = place
        self._guard = threading.Lock()
        self._holds: dict[str, Hold] = {}
        self._let_go = threading.Event()
        # All runs of this table share the beginning of their owner, so that one beat keeps all.
        self._keeper = f"{this_process()} {uuid4()}/"
        tables.change(_TABLE)
        for column in sorted(_ADDED - tables.columns()["hansei_runs"]):
            tables.change(f"ALTER TABLE hansei_runs ADD COLUMN {column} TEXT NOT NULL DEFAULT ''")
        self._catch_up()

    @contextmanager
    def held(
        self, thread_id: str, *, goal: str = "", name: str = "", edit: bool = False
    ) -> Generator[Hold]:
        """Hold a thread for one run, or for an edit of its state, and let it go afterwards.

        Args:
            thread_id: The thread.
            goal: What was asked; empty where an earlier run goes on.
            name: What the user calls the thread.
            edit: It is an edit: one that is refused has broken no run off.

        Raises:
            ThreadBusyError: Another run holds it, or has taken it over meanwhile.
            OperatorError: The database failed, before the run or during it, or its states are
                of another version by now.
        """
        owner = f"{self._keeper}{uuid4()}"
        with self.failures_told():
            self._take(thread_id, owner, goal, name)
        hold = Hold(None if self._alone else self, thread_id, owner)
        try:
            with self._beating(hold), self.failures_told():
                # It may have been migrated since it was opened, which a held thread prevents.
                if self._place:
                    check_version(self._tables, place=self._place)
                yield hold
        except Overtaken as exc:
            raise hold.overtaken() from exc
        except Exception as exc:
            self._end(thread_id, owner, note="" if edit else _told(exc))
            raise
        except BaseException:
            self._end(thread_id, owner)
            raise
        self._end(thread_id, owner)

    def row(self, thread_id: str) -> RunRow | None:
        """The row of a thread; `None` where no run was ever accepted on it."""
        now = self._tables.now()
        found = self._tables.rows(f"{_ROWS} WHERE thread_id = :thread", thread=thread_id)
        return run_row(found[0], now) if found else None

    def rows(self) -> list[RunRow]:
        """All rows, the latest first."""
        now = self._tables.now()
        found = self._tables.rows(f"{_ROWS} ORDER BY accepted_at DESC")
        return [run_row(row, now) for row in found]

    def without_row(self) -> list[str]:
        """Threads that another saver has written, or a version without this table."""
        found = self._tables.rows(f"{_WITHOUT_ROW} {self._tables.is_ours}")
        return [str(row[0]) for row in found]

    @property
    def failure(self) -> type[Exception]:
        """What the driver raises when the database fails."""
        return self._tables.failure

    def checkpoints(self, thread_id: str) -> list[RunnableConfig]:
        """Where the checkpoints of a thread are, whether they can be read or not."""
        found = self._tables.rows(_CHECKPOINTS, thread=thread_id)
        names = ("checkpoint_ns", "checkpoint_id")
        places = [dict(zip(names, map(str, row), strict=True)) for row in found]
        return [{"configurable": {"thread_id": thread_id, **place}} for place in places]

    def forget(self, thread_id: str) -> None:
        """Delete the row of a thread."""
        self._tables.change("DELETE FROM hansei_runs WHERE thread_id = :thread", thread=thread_id)

    def _take(self, thread_id: str, owner: str, goal: str, name: str) -> None:
        self._catch_up()
        row = self.row(thread_id)
        now = self._tables.now()
        values: dict[str, Value] = {
            "thread": thread_id,
            "owner": owner,
            "goal": goal,
            "name": name,
            "now": now,
            "until": now + LEASE,
            "dead": row.owner if row and is_gone(row.owner) else "",
            "alive": row.owner if row and is_here(row.owner) else "",
        }
        if self._tables.change(_TAKE, **values) != 1:
            since = time.strftime("%H:%M:%S", time.localtime(row.accepted_at if row else now))
            called = name or (row.name if row else "") or thread_id
            place = f" ({thread_id})" if called != thread_id else ""
            msg = (
                f"The thread {called}{place} has a run under way since {since}; "
                "wait until it ends, or take another thread."
            )
            raise ThreadBusyError(msg)

    @contextmanager
    def _beating(self, hold: Hold) -> Generator[None]:
        """While any run of this table is under way, one thread says so for all of them."""
        with self._guard:
            self._holds[hold.owner] = hold
            if len(self._holds) == 1:
                self._let_go = threading.Event()
                threading.Thread(
                    target=self._keep, args=(self._let_go,), daemon=True, name="hansei-lease"
                ).start()
        try:
            yield
        finally:
            with self._guard:
                del self._holds[hold.owner]
                if not self._holds:
                    self._let_go.set()

    def _keep(self, over: threading.Event) -> None:
        while not over.wait(LEASE / 3):
            try:
                self.beat()
            except self._tables.failure as exc:
                # It may be back for the next beat; until then others see a run that is silent.
                logger.warning("the lease could not be renewed: %s", type(exc).__name__)

    def beat(self) -> None:
        """Renew the leases of all runs of this table, and note which of them have lost theirs."""
        with self._guard:
            holds = list(self._holds.values())
        ours: dict[str, Value] = {"keeper": self._keeper, "length": len(self._keeper)}
        self._tables.change(_RENEW, until=self._tables.now() + LEASE, **ours)
        found = self._tables.rows(_KEPT, **ours)
        owners = {str(row[0]) for row in found}
        for hold in holds:
            hold.lost = hold.lost or hold.owner not in owners

    def _end(self, thread_id: str, owner: str, *, note: str | None = None) -> None:
        """Write how a run ended, and let its thread go."""
        end = RunEnd(thread_id, owner, note)
        try:
            self._say(end)
        except self._tables.failure as exc:
            logger.warning("the end of a run could not be noted: %s", type(exc).__name__)
            UNSAID[owner] = end

    def _catch_up(self) -> None:
        """Write what could not be written when it was due, by whoever had opened the database."""
        for end in list(UNSAID.values()):
            # One that is not found stands in another database, or its thread has been taken.
            if self._say(end) or end.owner.startswith(self._keeper):
                UNSAID.pop(end.owner, None)

    def _say(self, end: RunEnd) -> bool:
        values: dict[str, Value] = {"thread": end.thread_id, "owner": end.owner}
        if end.note is None:
            return self._tables.change(_LET_GO, **values) == 1
        return self._tables.change(_LET_GO_NOTED, **values, note=end.note) == 1

    @contextmanager
    def failures_told(self, *, then: str = "resume the run") -> Generator[None]:
        """Tell a failure of the database in one sentence.

        Args:
            then: What to do once it can be used again.

        Raises:
            OperatorError: It has failed.
        """
        try:
            yield
        except self._tables.failure as exc:
            said = str(exc).strip().partition("\n")[0].rstrip(".")
            msg = f"The database failed ({said}); {then} once it can be used again."
            raise OperatorError(msg) from exc


def _told(exc: Exception) -> str:
    """Why a run broke off, for whoever looks at its thread later."""
    if isinstance(exc, GraphDrained):
        return f"The run was stopped ({exc.reason})."
    return str(exc) or type(exc).__name__
