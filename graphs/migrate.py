"""Bring the states of a database to the version that this hansei reads: all of them, or none."""

from collections.abc import Mapping
from pathlib import Path

from hansei.graphs.checkpoints import need_driver
from hansei.graphs.migration_plan import Done
from hansei.graphs.sqlite_migrate import migrate_sqlite
from hansei.policies.migrations import MIGRATIONS, Migration
from hansei.policies.places import is_postgres
from hansei.policies.state import STATE_VERSION


def migrate(
    place: str | Path,
    *,
    registry: Mapping[int, Migration] = MIGRATIONS,
    version: int = STATE_VERSION,
) -> Done:
    """Migrate every checkpoint of a database in one transaction.

    A SQLite file is copied beside itself first. When anything fails the database is as it was.

    Args:
        place: A SQLite file that is there, or a Postgres URL.
        registry: The migrations, by the version that each begins with.
        version: The version that is wanted.

    Raises:
        OperatorError: The database cannot be used, is another program's, or holds states from
            which nothing leads to the wanted version; or a migration failed.
        UserError: A run is under way on it, or it has no states of hansei.
    """
    if not is_postgres(place):
        return migrate_sqlite(Path(place).expanduser(), registry, version)
    need_driver()
    from hansei.graphs.postgres_migrate import migrate_postgres

    return migrate_postgres(str(place), registry, version)
