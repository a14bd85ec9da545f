"""The database of the demo shop: built afresh from the readable JSON files, then only read.

The files in `shop_data/` are the source; nothing is ever written back to them. The
connection that comes out of `build_shop_database` refuses everything but reading, so
that a query a model wrote can be run on it: a SELECT works, an UPDATE, ATTACH or a
changing PRAGMA is "not authorized".
"""

import os
import sqlite3
import threading
import weakref
from contextlib import closing
from importlib.resources import files
from pathlib import Path
from uuid import uuid4

from hansei.policies.errors import UserError

Cell = str | int | float | None
"""What a column holds."""

Row = dict[str, Cell]
"""One row by column name."""

IN_MEMORY = ":memory:"
"""SQLite's own name for a database that is in no file."""

APPLICATION_ID = 0x68616E73
"""Stands in the header of every file we wrote ("hans"), so that only ours is replaced."""

SCHEMA = f"""
PRAGMA application_id = {APPLICATION_ID};
CREATE TABLE products (
    product_id TEXT PRIMARY KEY,
    name TEXT NOT NULL UNIQUE,
    brand TEXT NOT NULL,
    category TEXT NOT NULL,
    price INTEGER NOT NULL CHECK (price > 0),  -- whole CNY
    stock INTEGER,                             -- NULL: not counted
    rating REAL,                               -- NULL: nobody rated it yet
    released_on TEXT NOT NULL,
    summary TEXT NOT NULL
);
CREATE TABLE product_attributes (
    product_id TEXT NOT NULL REFERENCES products,
    position INTEGER NOT NULL,                 -- order in which to show them
    dimension TEXT NOT NULL,
    value TEXT,                                -- NULL: the maker does not say
    PRIMARY KEY (product_id, dimension)
);
CREATE TABLE reviews (
    review_id INTEGER PRIMARY KEY,
    product_id TEXT NOT NULL REFERENCES products,
    stars INTEGER NOT NULL CHECK (stars BETWEEN 1 AND 5),
    content TEXT NOT NULL
);
CREATE TABLE shipments (
    tracking_no TEXT PRIMARY KEY,
    carrier TEXT NOT NULL
);
CREATE TABLE shipment_events (
    tracking_no TEXT NOT NULL REFERENCES shipments,
    time TEXT NOT NULL,
    place TEXT NOT NULL,
    event TEXT NOT NULL,
    PRIMARY KEY (tracking_no, time)
);
CREATE TABLE orders (
    order_id TEXT PRIMARY KEY,
    receiver TEXT NOT NULL,
    status TEXT NOT NULL CHECK (status IN ('已签收', '运输中', '待发货', '已取消')),
    payment TEXT NOT NULL,
    discount INTEGER NOT NULL,                 -- whole CNY
    amount INTEGER,                            -- whole CNY; NULL: the price is not settled
    created_at TEXT NOT NULL,                  -- 'YYYY-MM-DD HH:MM:SS', Beijing time
    paid_at TEXT,                              -- NULL: not paid
    shipped_at TEXT,
    signed_at TEXT,
    tracking_no TEXT UNIQUE REFERENCES shipments,
    remark TEXT
);
CREATE TABLE order_items (
    order_id TEXT NOT NULL REFERENCES orders,
    position INTEGER NOT NULL,
    product_id TEXT NOT NULL REFERENCES products,
    quantity INTEGER NOT NULL CHECK (quantity > 0),
    unit_price INTEGER NOT NULL,               -- whole CNY, at the time of the order
    PRIMARY KEY (order_id, position)
);
CREATE TABLE unsynced_orders (                 -- known by number, nothing else there yet
    order_id TEXT PRIMARY KEY,
    status TEXT NOT NULL,
    remark TEXT NOT NULL
);
"""


def _picked(table: str, *, columns: str, of: str) -> str:
    """Write the INSERT that fills a table from the elements of a JSON list.

    A field of the file that is not named (the `comment` of the forged order) stays in
    the file.
    """
    names = columns.split()
    values = ", ".join(f"json_extract(item.value, '$.{name}')" for name in names)
    return f"INSERT INTO {table} ({', '.join(names)}) SELECT {values} FROM {of}"  # noqa: S608


LOADING = (
    _picked(
        "products",
        columns="product_id name brand category price stock rating released_on summary",
        of="json_each(:products, '$.products') AS item",
    ),
    """
    INSERT INTO product_attributes (product_id, position, dimension, value)
    SELECT json_extract(product.value, '$.product_id'), attribute.id, attribute.key, attribute.value
    FROM json_each(:products, '$.products') AS product,
         json_each(product.value, '$.attributes') AS attribute
    """,
    _picked(
        "reviews",
        columns="product_id stars content",
        of="json_each(:reviews, '$.reviews') AS item",
    ),
    _picked(
        "shipments",
        columns="tracking_no carrier",
        of="json_each(:logistics, '$.shipments') AS item",
    ),
    """
    INSERT INTO shipment_events (tracking_no, time, place, event)
    SELECT json_extract(shipment.value, '$.tracking_no'), json_extract(step.value, '$.time'),
           json_extract(step.value, '$.place'), json_extract(step.value, '$.event')
    FROM json_each(:logistics, '$.shipments') AS shipment,
         json_each(shipment.value, '$.events') AS step
    """,
    _picked(
        "orders",
        columns="order_id receiver status payment discount amount created_at paid_at"
        " shipped_at signed_at tracking_no remark",
        of="json_each(:orders, '$.orders') AS item",
    ),
    """
    INSERT INTO order_items (order_id, position, product_id, quantity, unit_price)
    SELECT json_extract(bought.value, '$.order_id'), line.key,
           json_extract(line.value, '$.product_id'), json_extract(line.value, '$.quantity'),
           json_extract(line.value, '$.unit_price')
    FROM json_each(:orders, '$.orders') AS bought, json_each(bought.value, '$.items') AS line
    """,
    _picked(
        "unsynced_orders",
        columns="order_id status remark",
        of="json_each(:orders, '$.unsynced_orders') AS item",
    ),
)
"""One INSERT for each table, in the order that the foreign keys ask for.

SQLite reads the JSON itself, so the schema above is the only description of the data.
"""

_READS = frozenset(
    {sqlite3.SQLITE_SELECT, sqlite3.SQLITE_READ, sqlite3.SQLITE_FUNCTION, sqlite3.SQLITE_RECURSIVE}
)

_READING_PRAGMAS = frozenset({"table_info", "table_xinfo", "table_list", "foreign_key_list"})
"""What someone needs who looks up which tables and columns there are."""


def build_shop_database(path: Path | str = IN_MEMORY) -> sqlite3.Connection:
    """Build the shop's database and open it for reading only.

    Args:
        path: The file to write; a shop database that is there already is replaced in
            one go, so a process that still reads the old one is not disturbed. The
            default keeps the database in memory.

    Returns:
        A connection that any thread may use, one at a time, and that can only read.
        The caller closes it.

    Raises:
        UserError: The file is something else than a shop database, or its folder does
            not exist or cannot be written.
    """
    if path == IN_MEMORY:
        connection = sqlite3.connect(IN_MEMORY, check_same_thread=False)
        _fill(connection)
    else:
        target = Path(path)
        try:
            _write_file(target)
            uri = f"{target.resolve().as_uri()}?mode=ro"
            connection = sqlite3.connect(uri, uri=True, check_same_thread=False)
        except (OSError, sqlite3.OperationalError) as error:
            raise UserError(
                f"The shop database cannot be written to {target} ({error}); "
                "name a file in a folder that exists and can be written."
            ) from error
    connection.set_authorizer(_allow_reading)
    return connection


class ShopDatabase:
    """A shop database that several threads may ask at once.

    It lives as long as somebody holds it (the tools do); then its connection is closed.

    Args:
        path: The file to build it in; None keeps it in memory.

    Raises:
        UserError: As `build_shop_database`.
    """

    def __init__(self, path: Path | None = None) -> None:
        self._connection = build_shop_database(IN_MEMORY if path is None else path)
        # One cursor at a time: a query takes well under a millisecond, so waiting for
        # each other costs less than a connection for every thread.
        self._lock = threading.Lock()
        weakref.finalize(self, self._connection.close)

    def rows(self, sql: str, *parameters: Cell) -> list[Row]:
        """Run one query and return all its rows by column name."""
        with self._lock:
            cursor = self._connection.execute(sql, parameters)
            names = [column[0] for column in cursor.description]
            return [dict(zip(names, row, strict=True)) for row in cursor.fetchall()]


def _write_file(target: Path) -> None:
    """Build beside the target and move into place, so nobody ever sees half a database."""
    if target.exists() and not _is_ours(target):
        raise UserError(f"{target} is not a shop database and is left alone; name another file.")
    draft = target.with_name(f".{target.name}.{uuid4().hex}")
    try:
        with closing(sqlite3.connect(draft)) as connection:
            _fill(connection)
        os.replace(draft, target)
    finally:
        draft.unlink(missing_ok=True)


def _is_ours(target: Path) -> bool:
    # Bytes 68 to 71 of an SQLite file are its application id.
    with target.open("rb") as stream:
        header = stream.read(72)
    return header[:16] == b"SQLite format 3\0" and header[68:] == APPLICATION_ID.to_bytes(4, "big")


def _fill(connection: sqlite3.Connection) -> None:
    folder = files("hansei.tools.shop_data")
    texts = {
        name: folder.joinpath(f"{name}.json").read_text(encoding="utf-8")
        for name in ("products", "reviews", "logistics", "orders")
    }
    connection.execute("PRAGMA foreign_keys = ON")
    connection.executescript(SCHEMA)
    for statement in LOADING:
        connection.execute(statement, texts)
    connection.commit()


def _allow_reading(
    action: int, first: str | None, second: str | None, _database: str | None, _trigger: str | None
) -> int:
    """Answer SQLite's question whether a part of a statement may run."""
    reads = action in _READS
    if action == sqlite3.SQLITE_FUNCTION:
        reads = second != "load_extension"
    if action == sqlite3.SQLITE_PRAGMA:
        reads = first in _READING_PRAGMAS
    return sqlite3.SQLITE_OK if reads else sqlite3.SQLITE_DENY
