"""The demo shop's data holds together: ids, sums, times, and what refers to what."""

from __future__ import annotations

from collections import Counter
from datetime import datetime

from shop_helpers import NAMES, ORDERS, PRODUCTS, REVIEWS, SHIPMENTS, UNSYNCED

from hansei.tools.shop_names import CATEGORY_WORDS, fold


def at(text: str) -> datetime:
    return datetime.strptime(text, "%Y-%m-%d %H:%M:%S")


def test_ids_and_names_are_unique() -> None:
    for listed in (
        [each["product_id"] for each in PRODUCTS],
        [fold(name) for name in NAMES],
        [each["order_id"] for each in (*ORDERS, *UNSYNCED)],
        [each["tracking_no"] for each in SHIPMENTS],
    ):
        assert [key for key, times in Counter(listed).items() if times > 1] == []


def test_there_is_enough_of_everything() -> None:
    assert len(PRODUCTS) >= 20
    assert {each["category"] for each in PRODUCTS} == set(CATEGORY_WORDS)
    months = Counter(each["created_at"][:7] for each in ORDERS)
    assert set(months) == {f"2026-{month:02}" for month in range(6, 12)}
    assert len(ORDERS) >= 30
    assert months["2026-08"] >= 8
    assert {each["status"] for each in ORDERS} == {"已签收", "运输中", "待发货", "已取消"}


def test_prices_are_whole_and_some_facts_are_unknown() -> None:
    assert all(type(each["price"]) is int and each["price"] > 0 for each in PRODUCTS)
    assert any(each["stock"] is None for each in PRODUCTS)
    assert any(each["rating"] is None for each in PRODUCTS)
    assert any(None in each["attributes"].values() for each in PRODUCTS)


def test_products_of_a_category_are_described_alike() -> None:
    for category in ("耳机", "手表", "扫地机"):
        sheets = [list(each["attributes"]) for each in PRODUCTS if each["category"] == category]
        assert len(sheets) >= 5
        assert all(sheet == sheets[0] for sheet in sheets)


def test_everything_refers_to_something_that_exists() -> None:
    ids = {each["product_id"] for each in PRODUCTS}
    bought = {item["product_id"] for order in ORDERS for item in order["items"]}
    assert bought <= ids
    assert {each["product_id"] for each in REVIEWS} <= ids
    sent = [order["tracking_no"] for order in ORDERS if order["tracking_no"] is not None]
    assert sorted(sent) == sorted(each["tracking_no"] for each in SHIPMENTS)


def test_an_order_costs_the_sum_of_its_items_less_the_discount() -> None:
    prices = {each["product_id"]: each["price"] for each in PRODUCTS}
    for order in ORDERS:
        assert order["items"]
        total = sum(item["quantity"] * item["unit_price"] for item in order["items"])
        assert order["amount"] in (None, total - order["discount"])
        assert all(item["unit_price"] <= prices[item["product_id"]] for item in order["items"])
    # Two orders of the same amount would have no one order by amount.
    august = [o["amount"] for o in ORDERS if o["created_at"].startswith("2026-08")]
    assert august.count(None) >= 2
    known = [amount for amount in august if amount is not None]
    assert len(set(known)) == len(known)


def test_august_has_orders_in_its_first_and_last_minute() -> None:
    times = sorted(each["created_at"] for each in ORDERS)
    august = [time for time in times if time.startswith("2026-08")]
    assert august[0] < "2026-08-01 00:01"
    assert august[-1] > "2026-08-31 23:58"
    assert any("2026-07-31 23:59" < time < "2026-08-01" for time in times)
    assert any("2026-09-01" <= time < "2026-09-01 00:01" for time in times)


def test_an_orders_times_fit_its_status() -> None:
    for order in ORDERS:
        status = order["status"]
        times = [order[key] for key in ("created_at", "paid_at", "shipped_at", "signed_at")]
        created, paid, shipped, signed = (None if time is None else at(time) for time in times)
        assert created is not None
        assert (signed is not None) == (status == "已签收")
        assert (shipped is not None) == (status in ("已签收", "运输中"))
        assert (order["tracking_no"] is not None) == (shipped is not None)
        assert shipped is None or shipped > created
        assert signed is None or (shipped is not None and signed > shipped)
        if order["payment"] == "在线支付" and shipped is not None:
            assert paid is not None
            assert created < paid < shipped
        if order["amount"] is None:
            assert paid is None
    assert any(o["paid_at"] is None and o["status"] == "待发货" for o in ORDERS)


def test_every_parcel_has_events_that_fit_its_order() -> None:
    orders = {order["tracking_no"]: order for order in ORDERS}
    for parcel in SHIPMENTS:
        order = orders[parcel["tracking_no"]]
        events = parcel["events"]
        assert events
        assert [each["time"] for each in events] == sorted({each["time"] for each in events})
        assert events[0]["time"] == order["shipped_at"]
        assert events[-1]["event"].startswith("已签收") == (order["status"] == "已签收")
        if order["signed_at"] is not None:
            assert events[-1]["time"] == order["signed_at"]
