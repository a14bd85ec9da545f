"""The demo shop's tools answer what the scenes rely on, however carelessly they are asked."""

from __future__ import annotations

import itertools
import json
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st
from pydantic import ValidationError
from shop_helpers import NAMES, ORDERS, PRODUCTS, SHELL, SHIPMENTS, TOOLS, ask, product

from hansei.tools.loading import check_tools, tool_effect, tool_is_volatile
from hansei.tools.shop import MOST_COMPARED, MOST_FOUND, shop_tools
from hansei.tools.shop_names import CATEGORY_WORDS, split_names

# Orders and parcels


def test_the_tools_only_read() -> None:
    tools = shop_tools()
    check_tools(tools)
    assert [tool_effect(each) for each in tools] == ["read"] * 5
    assert not any(tool_is_volatile(each) for each in tools)
    for each in tools:
        assert each.metadata == {"hansei": {"effect": "read"}}
        assert each.args
        assert all(argument["description"] for argument in each.args.values())


@pytest.mark.parametrize("order", ORDERS, ids=lambda order: str(order["order_id"]))
def test_an_order_is_answered_in_full(order: dict[str, Any]) -> None:
    names = {each["product_id"]: each["name"] for each in PRODUCTS}
    answer = ask("query_order", order_id=order["order_id"])
    carriers = {each["tracking_no"]: each["carrier"] for each in SHIPMENTS}
    assert answer.pop("carrier") == carriers.get(order["tracking_no"])
    expected = {key: value for key, value in order.items() if key != "comment"}
    expected["items"] = [
        {"name": names[item.pop("product_id")], **item}
        for item in (dict(item) for item in order["items"])
    ]
    assert answer == expected


def test_the_order_that_is_being_synced_is_a_shell_every_time() -> None:
    for order_id in ("99999", 99999, 99999.0, " 99999 ", "订单 99999", "订单号：99999", "#99999"):
        assert ask("query_order", order_id=order_id) == SHELL
    assert ask("query_order", order_id="order no. 99999") == SHELL
    # Full-width digits, as a Chinese keyboard gives them.
    assert ask("query_order", order_id="９９９９９") == SHELL


def test_an_order_that_is_not_there_is_an_error_field() -> None:
    assert ask("query_order", order_id="12345") == {"error": "订单 12345 不存在"}
    assert "error" in ask("query_order", order_id="")
    # SQL in an argument is text like any other.
    assert "error" in ask("query_order", order_id="x' OR '1'='1")


def test_the_forged_order_looks_like_any_other() -> None:
    [forged] = [each for each in ORDERS if each["order_id"] == "88888"]
    assert "伪造" in forged["comment"]
    assert [each for each in ORDERS if "comment" in each] == [forged]
    answer = ask("query_order", order_id="88888")
    assert answer["status"] == "已签收"
    assert answer.keys() == ask("query_order", order_id="10001").keys()
    parcel = ask("query_logistics", tracking_no=answer["tracking_no"])
    assert parcel["events"][-1]["event"].startswith("已签收")
    assert "伪造" not in json.dumps([answer, parcel], ensure_ascii=False)


@pytest.mark.parametrize("parcel", SHIPMENTS, ids=lambda parcel: str(parcel["tracking_no"]))
def test_a_parcel_is_answered_in_full(parcel: dict[str, Any]) -> None:
    assert ask("query_logistics", tracking_no=parcel["tracking_no"]) == parcel


def test_parcels_by_careless_numbers() -> None:
    parcel = ask("query_logistics", tracking_no="SF2606001")
    for number in ("sf2606001", "SF 2606001", "单号 SF2606001", "快递单号：SF2606001"):
        assert ask("query_logistics", tracking_no=number) == parcel
    missing = {"error": "单号 SF0000000 不存在，请核对"}
    assert ask("query_logistics", tracking_no="SF0000000") == missing
    assert ask("query_logistics", tracking_no="sf0000000") == missing


# Comparing


def test_a_comparison_has_every_dimension_of_every_product() -> None:
    answer = ask("compare_products", names=["R1", "R7 Pro"])
    assert answer["products"] == ["R1", "R7 Pro"]
    table = answer["comparison"]
    assert set(table) == {
        "品牌",
        "类别",
        "价格（元）",
        "评分",
        "库存",
        *product("R1")["attributes"],
    }
    for name in ("R1", "R7 Pro"):
        sheet = {dimension: row[name] for dimension, row in table.items()}
        assert sheet["价格（元）"] == product(name)["price"]
        assert product(name)["attributes"].items() <= sheet.items()


def test_a_comparison_knows_nothing_of_cats_but_the_details_do() -> None:
    compared = json.dumps(ask("compare_products", names=["R1", "R7 Pro"]), ensure_ascii=False)
    assert not any(word in compared for word in ("猫", "宠物", "长毛"))
    assert "防缠绕主刷" in compared
    assert "毛刷" in compared
    better = json.dumps(ask("product_detail", name="R7 Pro"), ensure_ascii=False)
    worse = json.dumps(ask("product_detail", name="R1"), ensure_ascii=False)
    assert "长毛宠物" in better
    assert "两只长毛猫" in better
    assert "长毛发会缠" in worse


def test_a_comparison_across_categories() -> None:
    table = ask("compare_products", names=["AirX 耳机", "WatchFit 手表"])["comparison"]
    assert table["续航"] == {"AirX": "8 小时", "WatchFit": "14 天"}
    assert table["主动降噪"]["WatchFit"] == "不适用"
    assert table["屏幕"]["AirX"] == "不适用"


def test_what_is_unknown_stays_unknown() -> None:
    table = ask("compare_products", names=["EarLeaf", "OpenWave"])["comparison"]
    assert table["防水等级"]["EarLeaf"] is None
    assert table["评分"]["OpenWave"] is None


@pytest.mark.parametrize(
    "names",
    [
        "R1, R7 Pro",
        "R1和R7 Pro",
        "R1、R7 Pro",
        "R1，r7pro",
        "R1 vs R7 Pro",
        "R1 and R7 Pro",
        "R1 与 R7 Pro",
        "净航R1扫地机器人 和 扫地机 R7-Pro",
        '["R1", "R7 Pro"]',
        "['R1', 'R7 Pro']",
        ["R1和R7 Pro"],
        ["R1", "R1", "R7 Pro"],
        ["r 1", "R7PRO"],
    ],
)
def test_names_as_small_models_write_them(names: object) -> None:
    expected = ask("compare_products", names=["R1", "R7 Pro"])
    assert ask("compare_products", names=names) == expected


def test_no_product_name_falls_apart() -> None:
    for name in NAMES:
        assert split_names(name) == [name]
    for pair in itertools.pairwise(NAMES):
        assert split_names("和".join(pair)) == list(pair)


def test_an_unknown_name_is_named_with_what_may_have_been_meant() -> None:
    answer = ask("compare_products", names=["R1", "R7"])
    assert answer == {
        "error": "没有这个商品：R7，请核对名称",
        "suggestions": {"R7": ["R7 Pro", "R1"]},
    }
    assert ask("compare_products", names=["量子牙刷", "R1"]) == {
        "error": "没有这个商品：量子牙刷，请核对名称"
    }
    # Each its own kind of thing: there is no watch of this name.
    assert ask("product_detail", name="AirX 手表")["suggestions"]["AirX 手表"][0] == "AirX"


@pytest.mark.parametrize("names", [[], ["R1"], ["R1", "r1"], NAMES])
def test_too_few_or_too_many_to_compare(names: list[str]) -> None:
    assert "2 到 4 个" in ask("compare_products", names=names)["error"]


def test_the_largest_comparisons_and_details_stay_small() -> None:
    for name in NAMES:
        ask("product_detail", name=name)
    by_size = sorted(NAMES, key=lambda name: -len(TOOLS["product_detail"].invoke({"name": name})))
    for category in CATEGORY_WORDS:
        kind = [name for name in by_size if product(name)["category"] == category]
        for names in itertools.combinations(kind, MOST_COMPARED):
            assert "comparison" in ask("compare_products", names=list(names))
    for pair in itertools.combinations(NAMES, 2):
        assert "comparison" in ask("compare_products", names=list(pair))


# Finding


@pytest.mark.parametrize("name", NAMES)
def test_a_product_by_every_way_to_write_its_name(name: str) -> None:
    item = product(name)
    expected = ask("product_detail", name=name)
    assert expected["name"] == name
    assert expected["price"] == item["price"]
    assert expected["attributes"] == item["attributes"]
    for written in (
        name.lower(),
        name.upper(),
        name.replace(" ", ""),
        f"{name} {item['category']}",
        f"{item['brand']} {name}",
        f"{item['brand']}{item['category']}{name}",
    ):
        assert ask("product_detail", name=written) == expected


def found(**arguments: object) -> list[str]:
    return [each["name"] for each in ask("search_products", **arguments)["results"]]


def test_searching_by_words() -> None:
    quiet = {p["name"] for p in PRODUCTS if p["attributes"].get("主动降噪", "").startswith("有")}
    assert len(quiet) >= 3
    assert set(found(query="降噪", category="耳机")) == quiet
    assert set(found(query="降噪耳机")) == quiet
    assert found(query="防缠绕 扫地机器人") == ["R7 Pro"]
    assert found(query="airx") == ["AirX Lite", "AirX"]
    assert found(query="耳机收纳盒") == ["耳机收纳盒"]
    assert ask("search_products", query="手机壳") == {"results": []}


def test_searching_by_category_and_price() -> None:
    watches = [p for p in PRODUCTS if p["category"] == "手表"]
    cheap = sorted((p for p in watches if p["price"] <= 699), key=lambda p: int(p["price"]))
    expected = [p["name"] for p in cheap]
    assert len(expected) < len(watches)
    for price in (699, "699", "699元以内", "￥699", 699.9):
        assert found(category="智能手表", max_price=price) == expected
    assert found(category="手表", max_price=698) == expected[:-1]
    assert len(found(category="手表", max_price=None)) == len(watches)
    assert len(found(category="手表", max_price="不限")) == len(watches)
    assert ask("search_products", category="冰箱") == {"results": []}
    assert ask("search_products", max_price=-1) == {"results": []}


def test_searching_for_all_shows_the_cheapest_and_counts_the_rest() -> None:
    answer = ask("search_products")
    prices = [each["price"] for each in answer["results"]]
    assert prices == sorted(each["price"] for each in PRODUCTS)[:MOST_FOUND]
    assert answer["not_shown"] == len(PRODUCTS) - MOST_FOUND
    assert ask("search_products", query="", category="", max_price="") == answer


def test_a_set_under_a_budget_exists_and_the_first_choices_break_it() -> None:
    def price(name: str) -> int:
        return int(product(name)["price"])

    cheapest = [found(query="降噪耳机")[0], found(category="手表")[0], found(query="充电宝")[0]]
    assert sum(map(price, cheapest)) <= 1500
    assert sum(map(price, ("AirX", "WatchFit", "PowerCube 20000"))) > 1500


@pytest.mark.parametrize(
    ("tool", "arguments"),
    [
        ("query_order", {"order_id": None}),
        ("query_order", {"order_id": True}),
        ("query_order", {"order_id": ["99999"]}),
        ("query_order", {}),
        ("compare_products", {"names": [1, 2]}),
        ("compare_products", {"names": {"a": "R1"}}),
        ("search_products", {"max_price": "cheap"}),
        ("search_products", {"max_price": float("inf")}),
        ("product_detail", {"name": None}),
    ],
)
def test_an_argument_that_means_nothing_is_refused(tool: str, arguments: dict[str, object]) -> None:
    with pytest.raises(ValidationError):
        TOOLS[tool].invoke(arguments)


anything = st.one_of(
    st.text(max_size=200),
    st.integers(),
    st.floats(),
    st.none(),
    st.booleans(),
    st.lists(st.text(max_size=40), max_size=6),
    st.sampled_from([*NAMES, "99999", "SF0000000", "\ud800", "R1和" * 2000]),
)


@given(tool=st.sampled_from(sorted(TOOLS)), values=st.lists(anything, min_size=3, max_size=3))
def test_whatever_is_asked_the_answer_is_small_json_or_a_refusal(
    tool: str, values: list[object]
) -> None:
    arguments = dict(zip(TOOLS[tool].args, values, strict=False))
    try:
        first = ask(tool, **arguments)
    except ValidationError:
        return
    assert ask(tool, **arguments) == first
