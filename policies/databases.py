"""Whose database it is, judged by its tables, and what to say where hansei must not write to it."""

from collections.abc import Mapping

MARK = "hansei_meta"
"""The table that makes a database one of hansei, with the version of its states."""

LANGGRAPH: dict[str, frozenset[str]] = {
    "checkpoints": frozenset({"thread_id", "checkpoint_ns", "checkpoint_id", "checkpoint"}),
    "writes": frozenset({"thread_id", "checkpoint_id", "task_id", "value"}),
    "checkpoint_blobs": frozenset({"thread_id", "channel", "version", "blob"}),
    "checkpoint_writes": frozenset({"thread_id", "checkpoint_id", "task_id", "blob"}),
    "store": frozenset({"prefix", "key", "value"}),
}
"""Columns by which a table of that name is known to be LangGraph's."""

OWN: dict[str, frozenset[str]] = {
    MARK: frozenset({"state_version"}),
    "hansei_runs": frozenset({"thread_id", "owner", "goal", "accepted_at", "expires_at"}),
}
"""The same for hansei's own tables, which a stranger's may share a name with."""

_OWN = "hansei_"
"""What the names of hansei's own tables begin with."""

_NAMED = 3
"""Tables that are named when a database is refused: enough to know it again."""


def foreign(tables: Mapping[str, frozenset[str]], *, alone: bool) -> str:
    """Why hansei may not keep runs in a database, as a clause; empty where it may.

    A database with LangGraph's tables is taken in: another saver of LangGraph's may have written
    runs of hansei there, and graphs share these tables by design. Only hansei's own threads are
    then listed or deleted.

    Args:
        tables: The tables there are, and the columns of each.
        alone: The database is a file, which belongs to one program; a server's is shared.
    """
    odd = sorted(
        name
        for name, least in (LANGGRAPH | OWN).items()
        if name in tables and not least <= tables[name]
    )
    if odd:
        return f"its {_list(odd)} {'belongs' if len(odd) == 1 else 'belong'} to another program"
    known = [name for name in tables if name in LANGGRAPH or name.startswith(_OWN)]
    if alone and tables and not known:
        return f"it belongs to another program, which keeps {_list(sorted(tables))} there"
    return ""


def other_version(found: int, wanted: int) -> str:
    """What to do about a database whose states have another version; empty where it is the same.

    Args:
        found: Version of the states in the database.
        wanted: Version that this hansei reads and writes.
    """
    if found == wanted:
        return ""
    if found > wanted:
        return "a newer hansei has written it: use that one, or another database"
    return "bring it up to date with `hansei migrate{place}`, or use another database"


def _list(names: list[str]) -> str:
    shown = ", ".join(names[:_NAMED])
    rest = len(names) - _NAMED
    more = f" and {rest} more" if rest > 0 else ""
    return f"{'table' if len(names) == 1 else 'tables'} {shown}{more}"
