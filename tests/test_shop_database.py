"""The demo shop's database: built afresh, shared by threads, and only ever read."""

from __future__ import annotations

import gc
import itertools
import json
import sqlite3
import weakref
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path
from typing import Any

import pytest
from langchain_core.tools import BaseTool
from shop_helpers import NAMES, ORDERS, SHELL, TOOLS

from hansei.policies.errors import UserError
from hansei.tools.shop import build_shop_database, shop_tools


def test_many_threads_may_ask_at_once() -> None:
    tools = {each.name: each for each in shop_tools()}
    pairs = itertools.pairwise(NAMES)
    calls: list[tuple[BaseTool, dict[str, Any]]] = [
        *((tools["query_order"], {"order_id": order["order_id"]}) for order in ORDERS),
        *((tools["product_detail"], {"name": name}) for name in NAMES),
        *((tools["compare_products"], {"names": list(pair)}) for pair in pairs),
    ]
    alone = [tool.invoke(arguments) for tool, arguments in calls]
    with ThreadPoolExecutor(max_workers=16) as pool:
        together = list(pool.map(lambda call: call[0].invoke(call[1]), calls * 4))
    assert together == alone * 4


async def test_the_tools_work_from_async_code() -> None:
    assert json.loads(await TOOLS["query_order"].ainvoke({"order_id": 99999})) == SHELL


def test_two_shops_answer_the_same_in_memory_and_in_a_file(tmp_path: Path) -> None:
    path = tmp_path / "商店 #1.db"
    in_file = {each.name: each for each in shop_tools(path)}
    assert path.is_file()
    assert [each.name for each in tmp_path.iterdir()] == [path.name]
    for name, arguments in (
        ("query_order", {"order_id": "10016"}),
        ("search_products", {"query": "扫地机"}),
    ):
        assert in_file[name].invoke(arguments) == TOOLS[name].invoke(arguments)


def test_a_shop_database_is_replaced_while_somebody_reads_the_old_one(tmp_path: Path) -> None:
    path = tmp_path / "shop.db"
    old = build_shop_database(path)
    new = build_shop_database(str(path))
    count = "SELECT COUNT(*) FROM orders"
    assert old.execute(count).fetchall() == new.execute(count).fetchall() == [(len(ORDERS),)]
    old.close()
    new.close()


@pytest.mark.parametrize("content", [b"", b"dear diary", b"SQLite format 3\0" + bytes(84)])
def test_a_file_of_somebody_elses_is_left_alone(tmp_path: Path, content: bytes) -> None:
    path = tmp_path / "mine.db"
    path.write_bytes(content)
    with pytest.raises(UserError, match="left alone"):
        build_shop_database(path)
    assert path.read_bytes() == content


def test_a_place_that_cannot_be_written_is_one_sentence(tmp_path: Path) -> None:
    for path in (tmp_path / "missing" / "shop.db", tmp_path):
        with pytest.raises(UserError, match="cannot be written"):
            shop_tools(path)


@pytest.mark.parametrize(
    "statement",
    [
        "UPDATE orders SET amount = 1",
        "DELETE FROM orders",
        "INSERT INTO unsynced_orders VALUES ('1', '2', '3')",
        "DROP TABLE orders",
        "CREATE TABLE x (y)",
        "CREATE TEMP TABLE x (y)",
        "ATTACH ':memory:' AS other",
        "PRAGMA query_only = OFF",
        "PRAGMA user_version = 3",
        "VACUUM",
        "SELECT load_extension('x')",
    ],
)
@pytest.mark.parametrize("in_file", [False, True])
def test_the_database_can_only_be_read(tmp_path: Path, statement: str, in_file: bool) -> None:
    connection = build_shop_database(tmp_path / "shop.db" if in_file else ":memory:")
    with pytest.raises(sqlite3.DatabaseError, match=r"not authorized|authorization denied"):
        connection.execute(statement)
    assert connection.execute("SELECT COUNT(*) FROM orders").fetchall() == [(len(ORDERS),)]
    connection.close()


def test_the_database_answers_the_sql_scene() -> None:
    connection = build_shop_database()
    columns = [row[1] for row in connection.execute("PRAGMA table_info(orders)")]
    assert {"order_id", "created_at", "amount", "paid_at"} <= set(columns)
    rows = connection.execute(
        "SELECT order_id, amount FROM orders WHERE created_at >= '2026-08-01' "
        "AND created_at < '2026-09-01' ORDER BY amount DESC NULLS LAST, order_id"
    ).fetchall()
    connection.close()
    expected = [
        (o["order_id"], o["amount"]) for o in ORDERS if o["created_at"].startswith("2026-08")
    ]
    expected.sort(key=lambda row: (row[1] is None, -(row[1] or 0), row[0]))
    assert rows == expected


def test_the_database_is_closed_when_the_tools_are_gone(monkeypatch: pytest.MonkeyPatch) -> None:
    opened: list[sqlite3.Connection] = []

    def watched() -> sqlite3.Connection:
        opened.append(build_shop_database())
        return opened[0]

    monkeypatch.setattr("hansei.tools.shop_database.build_shop_database", lambda _path: watched())
    tools = shop_tools()
    alive = weakref.ref(tools[0])
    assert opened[0].execute("SELECT 1").fetchall() == [(1,)]
    del tools
    gc.collect()
    assert alive() is None
    with pytest.raises(sqlite3.ProgrammingError, match="closed"):
        opened[0].execute("SELECT 1")


def test_what_the_files_say_about_the_forged_order_is_not_in_the_database() -> None:
    connection = build_shop_database()
    dump = "\n".join(connection.iterdump())
    connection.close()
    assert "88888" in dump
    assert "伪造" not in dump
