"""The demo shop: five tools that read a small SQLite database of products and orders.

What they answer is JSON text, the same for the same question. A thing that is not there
is an `error` field and not an exception, as with many real services. Two orders are
there for the demo scenes: 99999 is always answered with a hollow shell (well-formed, but
still being synced), and 88888 with a record that is well-formed, plausible and false.
"""

import json
from pathlib import Path
from typing import Annotated

from langchain_core.tools import BaseTool, tool
from pydantic import BaseModel, BeforeValidator, Field

from hansei.tools.shop_database import Row, ShopDatabase, build_shop_database
from hansei.tools.shop_names import (
    NameIndex,
    clean_category,
    clean_number,
    clean_price,
    has_words,
    split_names,
)

__all__ = ["build_shop_database", "shop_tools"]

MOST_COMPARED = 4
"""A comparison of four fills about 3 KB, what a small model can still read at once."""

MOST_FOUND = 12
"""Search results in one answer, for the same reason."""

MOST_ECHOED = 40
"""Characters of an unknown number or name that are repeated; the shop's own have up to 15."""

NOT_APPLICABLE = "不适用"
"""Stands in a comparison where a product has no such dimension; null is "not known"."""

_LACKS = ("无", "不支持", "不适用")
"""A value that starts so says that the product has not got it: searching for "降噪" must
not find it because of a dimension called "主动降噪"."""


Answer = dict[str, object]
"""An answer before it becomes JSON text."""

ORDER = """
SELECT order_id, status, receiver,
       NULL AS items,  -- keeps the place; filled from ORDER_ITEMS
       discount, amount, payment, created_at, paid_at, shipped_at, signed_at,
       carrier, tracking_no, remark
FROM orders LEFT JOIN shipments USING (tracking_no) WHERE order_id = ?
"""

ORDER_ITEMS = """
SELECT name, quantity, unit_price FROM order_items JOIN products USING (product_id)
WHERE order_id = ? ORDER BY position
"""

EVENTS = """
SELECT time, place, event FROM shipment_events WHERE tracking_no = ? ORDER BY time
"""

PRODUCTS = """
SELECT name, brand, category, price, rating, stock, summary FROM products ORDER BY price, name
"""

COMMON_DIMENSIONS = """
SELECT brand AS 品牌, category AS 类别, price AS "价格（元）", rating AS 评分, stock AS 库存
FROM products WHERE name = ?
"""

ATTRIBUTES = """
SELECT dimension, value FROM product_attributes JOIN products USING (product_id)
WHERE name = ? ORDER BY position
"""

REVIEWS = """
SELECT stars, content FROM reviews JOIN products USING (product_id)
WHERE name = ? ORDER BY review_id
"""


class OrderQuestion(BaseModel):
    """Arguments of `query_order`."""

    order_id: Annotated[str, BeforeValidator(clean_number)] = Field(
        description="订单号，例如 10001。The order number."
    )


class LogisticsQuestion(BaseModel):
    """Arguments of `query_logistics`."""

    tracking_no: Annotated[str, BeforeValidator(clean_number)] = Field(
        description="快递单号，例如 SF2606001。The tracking number of the parcel."
    )


class Comparison(BaseModel):
    """Arguments of `compare_products`."""

    names: Annotated[list[str], BeforeValidator(split_names)] = Field(
        description='要对比的商品名称，2 到 4 个，例如 ["R1", "R7 Pro"]。Two to four product names.'
    )


class Search(BaseModel):
    """Arguments of `search_products`."""

    query: str = Field(
        default="", description="关键词，例如 降噪；留空表示全部。Key words; empty finds all."
    )
    category: Annotated[str | None, BeforeValidator(clean_category)] = Field(
        default=None,
        description="类别：耳机、手表、扫地机、配件、小家电；可不填。One category, if any.",
    )
    max_price: Annotated[int | None, BeforeValidator(clean_price)] = Field(
        default=None,
        description="最高价格（元）；可不填。Highest price in CNY, if any.",
    )


class ProductQuestion(BaseModel):
    """Arguments of `product_detail`."""

    name: str = Field(description="商品名称，例如 AirX。The product's name.")


def shop_tools(database: Path | None = None) -> list[BaseTool]:
    """Build the demo shop's tools on a fresh database.

    Args:
        database: The file to build the database in; None (the default) keeps it in
            memory, where it lives as long as the tools do.

    Returns:
        `query_order`, `query_logistics`, `compare_products`, `search_products` and
        `product_detail`. They only read, and may run at once in several threads.

    Raises:
        UserError: The file is something else than a shop database, or its folder does
            not exist or cannot be written.
    """
    shop = _Shop(ShopDatabase(database))

    @tool(args_schema=OrderQuestion)
    def query_order(order_id: str) -> str:
        """按订单号查询订单：是否签收、状态、商品、金额。Look up one order by its number."""
        return _as_json(shop.order(order_id))

    @tool(args_schema=LogisticsQuestion)
    def query_logistics(tracking_no: str) -> str:
        """按快递单号（SF 开头）查询物流记录，不能用订单号。Track a parcel by its number, SF…."""
        return _as_json(shop.logistics(tracking_no))

    @tool(args_schema=Comparison)
    def compare_products(names: list[str]) -> str:
        """并排对比 2 到 4 个商品的全部参数。Compare two to four products side by side."""
        return _as_json(shop.comparison(names))

    @tool(args_schema=Search)
    def search_products(
        query: str = "", category: str | None = None, max_price: int | None = None
    ) -> str:
        """按关键词、类别、最高价格搜索商品，便宜的在前。Search the shop, cheapest first."""
        return _as_json(shop.search(query, category=category, max_price=max_price))

    @tool(args_schema=ProductQuestion)
    def product_detail(name: str) -> str:
        """查询一个商品的介绍、全部参数和买家评价。One product: its data and reviews."""
        return _as_json(shop.detail(name))

    tools = [query_order, query_logistics, compare_products, search_products, product_detail]
    for each in tools:
        each.metadata = {"hansei": {"effect": "read"}}
    return tools


class _Shop:
    """The answers, as objects that JSON can hold."""

    def __init__(self, database: ShopDatabase) -> None:
        self._database = database
        products = database.rows("SELECT name, brand, category FROM products ORDER BY product_id")
        self._names = NameIndex(
            (str(row["name"]), str(row["brand"]), str(row["category"])) for row in products
        )

    def order(self, order_id: str) -> Answer:
        """The order's full record, the shell of one that is not synced, or an error."""
        for shell in self._database.rows(
            "SELECT order_id, status, remark FROM unsynced_orders WHERE order_id = ?", order_id
        ):
            return {
                "order_id": shell["order_id"],
                "status": shell["status"],
                "items": [],
                "remark": shell["remark"],
            }
        for record in self._database.rows(ORDER, order_id):
            return {**record, "items": self._database.rows(ORDER_ITEMS, order_id)}
        return {"error": f"订单 {_short(order_id)} 不存在"}

    def logistics(self, tracking_no: str) -> Answer:
        """All events of a parcel, the oldest first, or an error."""
        number = "".join(tracking_no.split()).upper()
        for parcel in self._database.rows(
            "SELECT tracking_no, carrier FROM shipments WHERE tracking_no = ?", number
        ):
            return {**parcel, "events": self._database.rows(EVENTS, number)}
        return {"error": f"单号 {_short(number)} 不存在，请核对"}

    def comparison(self, asked: list[str]) -> Answer:
        """Every dimension that one of the products has, for all of them."""
        found = {name: self._names.find(name) for name in asked}
        unknown = [name for name, product in found.items() if product is None]
        if unknown:
            return self._unknown(unknown[:MOST_COMPARED])
        names = list(dict.fromkeys(name for name in found.values() if name is not None))
        if not 2 <= len(names) <= MOST_COMPARED:
            return {"error": f"请给出 2 到 {MOST_COMPARED} 个不同的商品名称，收到 {len(names)} 个"}
        sheets = {name: self._sheet(name) for name in names}
        dimensions = dict.fromkeys(dimension for sheet in sheets.values() for dimension in sheet)
        return {
            "products": names,
            "comparison": {
                dimension: {name: sheets[name].get(dimension, NOT_APPLICABLE) for name in names}
                for dimension in dimensions
            },
        }

    def search(self, query: str, *, category: str | None, max_price: int | None) -> Answer:
        """The products that hold every word of the query, the cheapest first."""
        results = [
            row
            for row in self._database.rows(PRODUCTS)
            if (category is None or row["category"] == category)
            and (max_price is None or int(row["price"] or 0) <= max_price)
            and has_words(query, self._text(row), category=str(row["category"]))
        ]
        shown: Answer = {"results": results[:MOST_FOUND]}
        if len(results) > MOST_FOUND:
            shown["not_shown"] = len(results) - MOST_FOUND
        return shown

    def detail(self, asked: str) -> Answer:
        """One product with its attributes and what buyers wrote, or an error."""
        name = self._names.find(asked)
        if name is None:
            return self._unknown([asked])
        [product] = self._database.rows("SELECT * FROM products WHERE name = ?", name)
        del product["product_id"]
        reviews = self._database.rows(REVIEWS, name)
        return {**product, "attributes": self._attributes(name), "reviews": reviews}

    def _unknown(self, names: list[str]) -> Answer:
        near = {_short(name): self._names.near(name) for name in names}
        answer: Answer = {"error": f"没有这个商品：{'、'.join(near)}，请核对名称"}
        if any(near.values()):
            answer["suggestions"] = near
        return answer

    def _sheet(self, name: str) -> Row:
        [common] = self._database.rows(COMMON_DIMENSIONS, name)
        return {**common, **self._attributes(name)}

    def _attributes(self, name: str) -> Row:
        rows = self._database.rows(ATTRIBUTES, name)
        return {str(row["dimension"]): row["value"] for row in rows}

    def _text(self, product: Row) -> str:
        """What a search looks through: all words of a product but what it has not got."""
        has = [
            f"{dimension} {value}"
            for dimension, value in self._attributes(str(product["name"])).items()
            if value is not None and not str(value).startswith(_LACKS)
        ]
        said = (str(product[key]) for key in ("name", "brand", "category", "summary"))
        return "\n".join((*said, *has))


def _short(asked: str) -> str:
    """What was asked for, cut so that an answer stays small whatever a model sends."""
    return asked if len(asked) <= MOST_ECHOED else f"{asked[:MOST_ECHOED]}…"


def _as_json(answer: Answer) -> str:
    # Half characters, which a model may have asked for, could not be sent back to it.
    return json.dumps(answer, ensure_ascii=False).encode("utf-8", "replace").decode()
