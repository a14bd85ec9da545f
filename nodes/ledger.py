"""What running runs have spent, live: the state only learns it at the end of a superstep."""

import threading
import time
from collections import OrderedDict

from hansei.policies.budget import Spent, refusal
from hansei.policies.settings import Settings
from hansei.policies.words import Role

_KEPT = 1000
"""Runs remembered at once; an older one is read from its state again when it goes on."""


class Ledger:
    """Counts calls before they are made and tokens after, for all tasks of a run together."""

    def __init__(self) -> None:
        self._lock = threading.Lock()
        self._spent: OrderedDict[str, Spent] = OrderedDict()

    def sync(self, run_id: str, spent: Spent, *, alone: bool) -> None:
        """Take over what the state says.

        Args:
            run_id: The run.
            spent: What the state, or the task's payload, knows to be spent.
            alone: No other task of the run is under way, so the state is the whole truth
                (after a fork it may be less than what was counted before).
        """
        with self._lock:
            known = self._spent.get(run_id, Spent())
            if not alone:
                spent = Spent(max(known.calls, spent.calls), max(known.tokens, spent.tokens))
            self._put(run_id, spent)

    def admit(self, run_id: str, settings: Settings, *, role: Role, started_at: float) -> str:
        """Count one call, or say which budget forbids it."""
        with self._lock:
            spent = self._spent.get(run_id, Spent())
            seconds = time.time() - started_at if started_at else 0.0
            reason = refusal(spent, settings, role=role, seconds=seconds)
            if not reason:
                self._put(run_id, Spent(spent.calls + 1, spent.tokens))
            return reason

    def add_tokens(self, run_id: str, tokens: int) -> None:
        """Add what a call has cost."""
        with self._lock:
            spent = self._spent.get(run_id, Spent())
            self._put(run_id, Spent(spent.calls, spent.tokens + tokens))

    def spent(self, run_id: str) -> Spent:
        """What a run has spent."""
        with self._lock:
            return self._spent.get(run_id, Spent())

    def _put(self, run_id: str, spent: Spent) -> None:
        self._spent[run_id] = spent
        self._spent.move_to_end(run_id)
        while len(self._spent) > _KEPT:
            self._spent.popitem(last=False)
