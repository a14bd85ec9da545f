"""How a run ended, where the database could not be told when it was due."""

import sqlite3
from collections.abc import Iterator
from pathlib import Path

import pytest

from hansei import open_checkpointer
from hansei.graphs.run_table import RunTable
from hansei.graphs.tables import SqliteTables


@pytest.fixture
def file(tmp_path: Path) -> Path:
    return tmp_path / "runs.db"


@pytest.fixture
def table(file: Path) -> Iterator[RunTable]:
    connection = sqlite3.connect(file, check_same_thread=False)
    yield RunTable(SqliteTables(connection))
    connection.close()


def test_a_run_whose_end_could_not_be_noted_lets_its_thread_go_later(
    table: RunTable, file: Path, caplog: pytest.LogCaptureFixture
) -> None:
    with table.held("t"), sqlite3.connect(file) as connection:
        connection.execute("ALTER TABLE hansei_runs RENAME TO away")
    connection.close()
    assert "could not be noted" in caplog.text
    with sqlite3.connect(file) as connection:
        connection.execute("ALTER TABLE away RENAME TO hansei_runs")
    connection.close()
    with table.held("t"):
        pass
    (row,) = table.rows()
    assert not row.under_way


@pytest.mark.parametrize("look_first", [True, False])
def test_a_run_whose_end_could_not_be_noted_is_over_for_another_saver_of_the_process(
    file: Path, look_first: bool
) -> None:
    with open_checkpointer(file) as saver, saver.runs.held("t", goal="first"):
        with sqlite3.connect(file) as connection:
            connection.execute("ALTER TABLE hansei_runs RENAME TO away")
        connection.close()
    with open_checkpointer(file.with_name("other.db")):
        pass  # another database of the process is not told
    with open_checkpointer(file) as saver:
        assert saver.runs.rows() == []
    with sqlite3.connect(file) as connection:
        connection.execute("DROP TABLE hansei_runs")
        connection.execute("ALTER TABLE away RENAME TO hansei_runs")
    connection.close()
    with open_checkpointer(file) as saver:
        if look_first:
            (row,) = saver.runs.rows()
            assert not row.under_way
        with saver.runs.held("t"):
            (row,) = saver.runs.rows()
            assert row.under_way
