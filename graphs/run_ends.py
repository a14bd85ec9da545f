"""How runs of this process ended whose database could not be told when it was due.

Their rows still say that they are under way, and that their process lives. It does, and knows
better: whoever opens the database in it anew tells it then.
"""

from dataclasses import dataclass


@dataclass(frozen=True, slots=True)
class RunEnd:
    """How a run ended.

    Attributes:
        thread_id: The thread.
        owner: Who ran it.
        note: What ended it, where it broke off; `None`: nothing is noted.
    """

    thread_id: str
    owner: str
    note: str | None


UNSAID: dict[str, RunEnd] = {}
"""By owner. Whoever is in here is over."""
