"""What came back from a tool: shape first, words last."""

import json

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from hansei.tools.outcome import OutcomeStatus, ToolOutcome, read_outcome

OK, ERROR, NOT_FOUND = OutcomeStatus.OK, OutcomeStatus.ERROR, OutcomeStatus.NOT_FOUND
EMPTY, SHELL = OutcomeStatus.EMPTY, OutcomeStatus.SHELL

OBJECTS: list[tuple[object, OutcomeStatus]] = [
    # The five inputs of case B05.
    ({"error": "quota exceeded"}, ERROR),
    ({"status_code": 503, "data": {"message": "upstream down"}}, ERROR),
    ({"ok": True, "results": [{"title": "T", "error": None}]}, OK),
    ({"success": True, "result": {"error": ["Enter a phone number"]}}, OK),
    # An error field, and what does not count as one.
    ({"error": {"code": 1, "message": "no access"}}, ERROR),
    ({"errors": ["a", "b"]}, ERROR),
    ({"error": True, "message": "broken"}, ERROR),
    ({"Error": "quota exceeded"}, ERROR),
    ({"error": 17}, ERROR),
    ({"data": {"user": None}, "errors": [{"message": "denied"}]}, ERROR),
    ({"error": None, "price": 5}, OK),
    ({"error": False, "price": 5}, OK),
    ({"error": "", "price": 5}, OK),
    ({"error": "none", "price": 5}, OK),
    ({"error": [], "errors": {}, "price": 5}, OK),
    ({"error": 0, "price": 5}, OK),
    ({"mean": 3.1, "error": 0.02}, OK),
    ({"error_rate": 0.5, "service": "mail"}, OK),
    # Not found, in the error's own words.
    ({"error": "订单不存在"}, NOT_FOUND),
    ({"error": "order not found"}, NOT_FOUND),
    ({"error": "No such order"}, NOT_FOUND),
    ({"error": "查无此单"}, NOT_FOUND),
    ({"errors": [{"message": "未找到该商品"}]}, NOT_FOUND),
    ({"success": False, "message": "未找到订单 99999"}, NOT_FOUND),
    ({"found": False}, NOT_FOUND),
    ({"found": False, "order_id": "99999"}, NOT_FOUND),
    ({"status": "not_found", "order_id": "1"}, NOT_FOUND),
    ({"status": "不存在"}, NOT_FOUND),
    ({"data": None, "message": "未找到该订单"}, NOT_FOUND),
    ({"found": True, "price": 3}, OK),
    # A flag that says no.
    ({"success": False}, ERROR),
    ({"ok": False, "data": {"a": 1}}, ERROR),
    ({"success": False, "error": "rows must be arrays"}, ERROR),
    ({"isError": True, "content": [{"type": "text", "text": "x"}]}, ERROR),
    ({"success": None, "value": 4}, OK),
    ({"success": 0, "value": 4}, OK),
    # HTTP codes and other numbers.
    ({"status_code": 404}, ERROR),
    ({"status_code": "502"}, ERROR),
    ({"http_status": 500, "body": ""}, ERROR),
    ({"status": 503, "message": "down"}, ERROR),
    ({"code": 500, "message": "internal"}, ERROR),
    ({"code": 401}, ERROR),
    ({"code": 431, "city": "长春"}, OK),
    ({"code": 500, "success": True, "data": {"a": 1}}, OK),
    ({"code": 0, "message": "ok", "data": {"a": 1}}, OK),
    ({"code": 200, "data": [1]}, OK),
    ({"code": 10086, "message": "unusual"}, ERROR),
    ({"status_code": 200, "body": "error 500 explained"}, OK),
    ({"status_code": True, "body": "x"}, OK),
    # A failing status.
    ({"status": "error", "message": "bad date"}, ERROR),
    ({"status": "FAILED"}, ERROR),
    ({"status": "failure"}, ERROR),
    ({"状态": "失败", "原因": "余额不足"}, ERROR),
    ({"status": "错误"}, ERROR),
    ({"status": "shipped", "carrier": "SF"}, OK),
    ({"status": "no errors", "n": 1}, OK),
    # Hollow shells.
    ({"order_id": "SF0000000", "status": "查询中"}, SHELL),
    ({"order_id": "99999", "status": "订单信息同步中…"}, SHELL),
    ({"order_id": "99999", "状态": "同步中", "备注": "请稍后再查"}, SHELL),
    ({"status": "syncing", "carrier": "SF"}, SHELL),
    ({"state": "Loading...", "items": None}, SHELL),
    ({"status": "fetching data, please wait"}, SHELL),
    ({"status": "正在查询物流信息"}, SHELL),
    ({"status": "已到达查询中心", "city": "上海"}, OK),
    ({"status": "at loading dock", "order_id": "1"}, OK),
    ({"status": "已同步", "rows": [1]}, OK),
    ({"order_id": "99999", "status": "pending"}, SHELL),
    ({"status": "处理中", "result": None}, SHELL),
    ({"tracking_no": "SF1", "status": "pending", "eta": None, "note": "thanks"}, SHELL),
    ({"id": 7, "status": "in_progress", "events": [], "message": "soon"}, SHELL),
    ({"order_id": "1", "status": "pending", "created_at": "2026-01-01", "total": 35}, OK),
    ({"ticket": "T-1", "status": "pending", "assignee": "Li"}, OK),
    ({"status": "处理中", "预计送达": "8月3日"}, OK),
    ({"status": "pending", "paid": False}, OK),
    ({"status": "ok", "remark": "数据同步中，请稍后再查", "items": []}, SHELL),
    ({"order_id": "99999", "message": "syncing, try again later", "data": None}, SHELL),
    ({"status": "已发货", "remark": "物流信息同步中", "tracking": None}, OK),
    ({"code": 0, "data": {"order_id": "99999", "status": "查询中", "events": []}}, SHELL),
    ({"success": True, "data": {"order_id": "9", "status": "pending", "eta": None}}, SHELL),
    ({"success": True, "data": {"order_id": "9", "status": "pending", "eta": "May 3"}}, OK),
    # Nothing in it.
    (None, EMPTY),
    ([], EMPTY),
    ({}, EMPTY),
    ({"results": []}, EMPTY),
    ({"success": True, "results": []}, EMPTY),
    ({"items": [], "count": 0}, EMPTY),
    ({"data": [], "total": 0, "query": "cats"}, EMPTY),
    ({"city": "上海", "date": "2026-08-01", "results": []}, EMPTY),
    ({"结果": [], "数量": 0}, EMPTY),
    ({"code": 0, "message": "success", "data": {"items": [], "total": 0}}, EMPTY),
    ({"data": None}, EMPTY),
    ({"order": None, "eta": None}, EMPTY),
    ({"rows": [], "count": 3}, OK),
    ({"order_id": "1", "status": "shipped", "items": []}, OK),
    ({"answer": "none of them", "items": []}, OK),
    ({"results": [{"a": 1}], "items": []}, OK),
    ({"results": {"id": 5}, "x": None}, OK),
    ({"results": [0]}, OK),
    ({"count": 0}, OK),
    ({"balance": 0}, OK),
    ({"description": "No noise cancelling: the function does not exist"}, OK),
    ({"id": 5, "description": "The setting is not found in older models"}, OK),
    ({"data": None, "message": "no data"}, EMPTY),
    # A write that says it is done has nothing more to give.
    ({"success": True}, OK),
    ({"success": True, "data": None}, OK),
    ({"code": 0, "message": "ok", "data": None}, OK),
    ({"status": "ok"}, OK),
    ({"message": "sent"}, OK),
    ({"message": "mail sent", "data": None}, OK),
    ({"id": 17}, OK),
    # Not an object.
    ([{"error": "x"}], ERROR),
    (["error"], OK),
    (0, OK),
    (False, OK),
    ("Error: no such file", ERROR),
    ("", EMPTY),
]


@pytest.mark.parametrize(("value", "status"), OBJECTS)
def test_data_is_judged_by_its_shape(value: object, status: OutcomeStatus) -> None:
    assert read_outcome(json.dumps(value, ensure_ascii=False)).status is status


TEXTS: list[tuple[str, OutcomeStatus]] = [
    ("Error: no such file", ERROR),
    ("error: bad date", ERROR),
    ("ERROR 500", ERROR),
    ("Exception: boom", ERROR),
    ("ValueError: boom", ERROR),
    ("Traceback (most recent call last):\n  File", ERROR),
    ("错误：余额不足", ERROR),
    ("失败：网络不通", ERROR),
    ("this model does not have noise cancelling: the function does not exist", OK),
    ("该型号没有降噪：该功能不存在", OK),
    ("Errors were found in chapter 3, says the review.", OK),
    ("The page explains Error: 404 and how to avoid it.", OK),
    ("sent", OK),
    ("731", OK),
    ("", EMPTY),
    (" \n\t", EMPTY),
    ("null", EMPTY),
    ("no rows", EMPTY),
    ("No results found.", EMPTY),
    ("Nothing found", EMPTY),
    ("0 results", EMPTY),
    ("没有数据", EMPTY),
    ("无结果", EMPTY),
    ("暂无数据。", EMPTY),
    ("没有找到相关商品", EMPTY),
    ("No rows were lost, all 30 are there.", OK),
    ("没有数据丢失，共 30 行", OK),
    ("Order 99999 not found", NOT_FOUND),
    ("订单 99999 不存在。", NOT_FOUND),
    ("查无此单", NOT_FOUND),
    ("未找到该订单", NOT_FOUND),
    ("查询中…", SHELL),
    ("查询中，请稍后再试", SHELL),
    ("订单信息同步中…", SHELL),
    ("正在查询订单信息，请稍候", SHELL),
    ("syncing, try later", SHELL),
    ("Syncing... please check back later.", SHELL),
    ("The order data is still loading", SHELL),
    ("pending", SHELL),
    ("处理中，请稍候", SHELL),
    ("已发货，物流信息同步中", OK),
    ("Loading a van takes 20 minutes.", OK),
    ("加载中心位于上海", OK),
    ("Your order is pending approval by Ms Li", OK),
    ("{'error': 'quota exceeded'}", ERROR),
    ("{'status': 'shipped', 'eta': None}", OK),
    ("{not json at all", OK),
]


@pytest.mark.parametrize(("text", "status"), TEXTS)
def test_text_is_judged_by_words_only_as_a_last_resort(text: str, status: OutcomeStatus) -> None:
    assert read_outcome(text).status is status


def test_an_exception_and_a_protocol_error_are_errors_whatever_the_text() -> None:
    assert read_outcome("all fine", raised=True) == ToolOutcome(ERROR, "all fine")
    assert read_outcome('{"a": 1}', tool_error=True).status is ERROR
    assert read_outcome("", raised=True).reason


@pytest.mark.parametrize(
    ("value", "reason"),
    [
        ({"error": "quota exceeded"}, "quota exceeded"),
        ({"error": {"message": "no\n access"}}, "no access"),
        ({"errors": ["a", {"message": "b"}]}, "a; b"),
        ({"status_code": 503, "message": "upstream down"}, "503 upstream down"),
        ({"success": False, "error": "rows must be arrays"}, "rows must be arrays"),
        ({"order_id": "1", "status": "查询中"}, "查询中"),
        ({"status": "error", "message": "bad date"}, "bad date"),
        ({"price": 3}, ""),
    ],
)
def test_the_reason_is_in_the_tools_own_words(value: object, reason: str) -> None:
    assert read_outcome(json.dumps(value, ensure_ascii=False)).reason == reason


def test_a_reason_is_short_and_can_be_stored() -> None:
    outcome = read_outcome(json.dumps({"error": "\x00a\ud800" + "x" * 5000}))
    assert outcome.status is ERROR
    assert len(outcome.reason) == 200
    assert outcome.reason.isprintable()
    outcome.reason.encode()


json_data = st.recursive(
    st.none() | st.booleans() | st.integers() | st.text(max_size=20),
    lambda inner: st.lists(inner, max_size=3) | st.dictionaries(st.text(max_size=8), inner),
    max_leaves=8,
)


@given(nested=json_data)
@settings(deadline=None, max_examples=150)
def test_an_error_further_down_is_content(nested: object) -> None:
    payload = {
        "title": "Report",
        "pages": [{"error": "Error: broken", "success": False, "code": 500, "nested": nested}],
        "body": {"errors": ["not found"], "status": "error"},
    }
    assert read_outcome(json.dumps(payload)).status is OK


@given(
    payload=st.dictionaries(st.text(max_size=8), json_data, max_size=4),
    error=st.text(min_size=1).map(lambda text: "denied " + text)
    | st.lists(st.just("denied"), min_size=1)
    | st.dictionaries(st.just("code"), st.integers(1, 9), min_size=1)
    | st.sampled_from([True, 1]),
)
@settings(deadline=None, max_examples=150)
def test_an_error_at_the_top_is_an_error(payload: dict[str, object], error: object) -> None:
    kept = {k: v for k, v in payload.items() if k.strip().lower() != "error"}
    outcome = read_outcome(json.dumps({**kept, "error": error}))
    assert outcome.status in {ERROR, NOT_FOUND}
    assert outcome.reason


@given(text=st.text(st.characters(exclude_categories=()), max_size=300))
@settings(deadline=None, max_examples=300)
def test_any_text_can_be_read(text: str) -> None:
    outcome = read_outcome(text)
    assert outcome.status is not OutcomeStatus.REFUSED
    assert (outcome.reason == "") is (outcome.status is OK)


@given(value=json_data)
@settings(deadline=None, max_examples=200)
def test_any_data_can_be_read(value: object) -> None:
    assert read_outcome(json.dumps(value)).status in set(OutcomeStatus)


@pytest.mark.parametrize(
    "text",
    [
        "[" * 10_000,
        "[" * 10_000 + "]" * 10_000,
        '{"a":' * 10_000 + "1" + "}" * 10_000,
        "{'a':" * 3_000 + "1" + "}" * 3_000,
        '{"error":' * 900 + "1" + "}" * 900,
        '{"error":' + "[" * 900 + "1" + "]" * 900 + "}",
        "9" * 1_000_000,
        "x" * 1_000_000,
        " " * 1_000_000,
        '{"a": "' + "x" * 1_000_000 + '"}',
        '{"error": "' + "x" * 1_000_000 + '"}',
        "\x00",
        "\ud800",
        '{"a": "\x00\ud800"}',
        '{"a": NaN}',
    ],
    ids=lambda text: f"{text[:8]!r}-{len(text)}",
)
def test_hostile_sizes_and_characters_do_no_harm(text: str) -> None:
    assert read_outcome(text).status in {OK, ERROR, EMPTY}
