"""The saver on a SQLite file: own connection, write-ahead log, patience, and an allow-list."""

import sqlite3
from collections.abc import Generator
from contextlib import contextmanager
from pathlib import Path

from langgraph.checkpoint.serde.jsonplus import JsonPlusSerializer
from langgraph.checkpoint.sqlite import SqliteSaver

from hansei.policies import budget, records, state, words
from hansei.policies.errors import OperatorError
from hansei.tools.outcome import OutcomeStatus

BUSY_TIMEOUT = 5.0
"""Seconds to wait for another writer: with 0.2 s, eight processes on one file failed 12 times
in 80 runs; with 5 s, never."""

SAVED_TYPES: tuple[type, ...] = (
    state.AgentInput,
    state.StepTask,
    state.StepInput,
    records.ToolCall,
    records.Round,
    records.Attempt,
    records.Finding,
    records.ConditionAnswer,
    records.VerdictRecord,
    records.Step,
    records.Reflection,
    records.Condition,
    records.AnswerAttempt,
    records.RoleUsage,
    budget.Spent,
    OutcomeStatus,
    words.Verdict,
    words.VerdictSource,
    words.StepStatus,
    words.Progress,
    words.AcceptedReason,
    words.AnswerStatus,
    words.RunStatus,
    words.FindingKind,
    words.Fault,
)
"""Everything that a checkpoint may hold besides plain values and messages. A row that names
any other type is not revived: without this list the serializer imports and calls what a row
says (CVE-2026-28277)."""


def serializer() -> JsonPlusSerializer:
    """The serializer that revives only what is ours."""
    return JsonPlusSerializer(allowed_msgpack_modules=SAVED_TYPES)


@contextmanager
def open_checkpointer(path: str | Path) -> Generator[SqliteSaver]:
    """Open a SQLite file as a checkpointer, and close it afterwards.

    Args:
        path: The file; its folder is made. `:memory:` lives as long as the block.

    Raises:
        OperatorError: The file cannot be opened, or is no database.
    """
    name = str(path)
    try:
        if name != ":memory:":
            Path(name).expanduser().parent.mkdir(parents=True, exist_ok=True)
            name = str(Path(name).expanduser())
        connection = sqlite3.connect(name, check_same_thread=False, timeout=BUSY_TIMEOUT)
        connection.execute("PRAGMA journal_mode=WAL")
        saver = SqliteSaver(connection, serde=serializer())
        saver.setup()
    except (OSError, RuntimeError, sqlite3.Error) as exc:  # RuntimeError: ~ of nobody
        msg = f"The database {name} cannot be used ({exc}); give another file with --db."
        raise OperatorError(msg) from exc
    try:
        yield saver
    finally:
        connection.close()
