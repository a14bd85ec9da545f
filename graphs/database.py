"""Where runs are kept when no file is named: one place for the command line and for Studio."""

from pathlib import Path

from hansei.graphs.environment import read_environment
from hansei.policies.places import lasting


def usual_database() -> Path:
    """The file in the user's state folder."""
    from platformdirs import user_state_path

    return user_state_path("hansei") / "threads.db"


def default_database() -> str | Path:
    """The file or the Postgres URL that `HANSEI_DB` names, else the usual file.

    Raises:
        OperatorError: The environment cannot be read.
        UserError: It names a database in memory.
    """
    named = read_environment().hansei_db
    return lasting(named) if named else usual_database()
