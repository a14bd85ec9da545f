"""The demo shop's tools and the files behind them, for the tests of both."""

from __future__ import annotations

import json
from importlib.resources import files
from typing import Any

from hansei.tools.shop import shop_tools

LARGEST_ANSWER = 3 * 1024
"""Bytes; what the tools promise to a model with a small context."""

SHELL = {
    "order_id": "99999",
    "status": "查询中",
    "items": [],
    "remark": "订单信息同步中，请稍后再查",
}

TOOLS = {each.name: each for each in shop_tools()}


def load(name: str) -> dict[str, list[dict[str, Any]]]:
    text = files("hansei.tools.shop_data").joinpath(f"{name}.json").read_text(encoding="utf-8")
    data: dict[str, list[dict[str, Any]]] = json.loads(text)
    return data


PRODUCTS = load("products")["products"]
REVIEWS = load("reviews")["reviews"]
ORDERS = load("orders")["orders"]
UNSYNCED = load("orders")["unsynced_orders"]
SHIPMENTS = load("logistics")["shipments"]
NAMES = [product["name"] for product in PRODUCTS]


def ask(tool: str, **arguments: object) -> dict[str, Any]:
    text = TOOLS[tool].invoke(arguments)
    assert isinstance(text, str)
    assert len(text.encode()) <= LARGEST_ANSWER
    answer: dict[str, Any] = json.loads(text)
    assert text == json.dumps(answer, ensure_ascii=False)
    return answer


def product(name: str) -> dict[str, Any]:
    [found] = [each for each in PRODUCTS if each["name"] == name]
    return found
