"""The mark in a database that says it is hansei's, and of which version its states are."""

import shlex

from hansei.graphs.tables import Tables
from hansei.policies.databases import MARK, foreign, other_version
from hansei.policies.errors import OperatorError
from hansei.policies.state import STATE_VERSION

_TABLE = f"CREATE TABLE IF NOT EXISTS {MARK} (state_version INTEGER)"

# In one statement, so that of two processes only one marks a new database.
_MARK = f"""
INSERT INTO {MARK} (state_version)
SELECT :version WHERE NOT EXISTS (SELECT 1 FROM {MARK})
"""  # noqa: S608 - a fixed name


def refuse_foreign(tables: Tables, *, place: str, alone: bool) -> None:
    """Refuse a database that is another program's, before anything is written to it.

    Args:
        tables: The database.
        place: What a message calls it, without secrets.
        alone: It is a file, which belongs to one program.

    Raises:
        OperatorError: As said.
    """
    why = foreign(tables.columns(), alone=alone)
    if why:
        msg = f"The database {place} cannot be used: {why}; give another one with --db."
        raise OperatorError(msg)


def mark(tables: Tables, *, place: str) -> None:
    """Mark a database as hansei's, where it is not marked yet.

    Raises:
        OperatorError: Its states are of another version.
    """
    tables.change(_TABLE)
    tables.change(_MARK, version=STATE_VERSION)
    check_version(tables, place=place)


def check_version(tables: Tables, *, place: str) -> None:
    """Refuse a database whose states this version would read wrongly.

    Raises:
        OperatorError: As said.
    """
    found = version_of(tables, place=place)
    advice = other_version(found, STATE_VERSION)
    if advice:
        told = advice.format(place=f" --db {shlex.quote(place)}")
        msg = (
            f"The database {place} holds states of version {found}, and this hansei reads "
            f"version {STATE_VERSION}; {told}."
        )
        raise OperatorError(msg)


def version_of(tables: Tables, *, place: str) -> int:
    """Version of the states in a database that is marked.

    Raises:
        OperatorError: The mark is damaged.
    """
    found = tables.rows(f"SELECT state_version FROM {MARK}")  # noqa: S608 - a fixed name
    version = str(found[0][0]) if found else "missing"
    if version.isascii() and version.isdigit():
        return int(version)
    msg = (
        f"The mark of the database {place} is damaged (state_version in the table {MARK} is "
        f"{version:.40}); bring the database back from a copy, or use another one."
    )
    raise OperatorError(msg)
