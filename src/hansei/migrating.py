"""`hansei migrate`: what is done to a database, in a sentence."""

from hansei.console import say_plainly
from hansei.graphs.migrate import migrate
from hansei.policies.places import shown
from hansei.threads import existing_place


def bring_up_to_date(db: str | None) -> int:
    """Migrate a database, say what was done, and return the exit code.

    Args:
        db: A SQLite file or a Postgres URL; `None` is the default file.

    Raises:
        UserError: There is no such database, or a run is under way on it.
        OperatorError: It cannot be migrated.
    """
    place = existing_place(db)
    done = migrate(place)
    if done.found == done.version:
        say_plainly(f"The states in {shown(place)} are of version {done.version} already.")
        return 0
    copy = f" {done.backup} is the copy from before." if done.backup else ""
    say_plainly(
        f"The {done.checkpoints} checkpoints in {shown(place)} are of version {done.version} "
        f"now, and were of version {done.found}.{copy}"
    )
    return 0
