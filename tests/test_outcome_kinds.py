"""Failures in the many shapes that tools give them, and what only looks like one."""

import json

import pytest

from hansei.tools.outcome import OutcomeStatus, read_outcome

OK, ERROR, NOT_FOUND = OutcomeStatus.OK, OutcomeStatus.ERROR, OutcomeStatus.NOT_FOUND
EMPTY, SHELL = OutcomeStatus.EMPTY, OutcomeStatus.SHELL

FAILURES: list[tuple[object, OutcomeStatus]] = [
    # In a list that holds nothing else.
    ([{"error": "down"}], ERROR),
    ([{"error": "down"}, {"error": "down"}], ERROR),
    ([{"id": "99999", "error": "down"}], ERROR),
    ([{"url": "http://a.org", "error": "timed out"}], ERROR),
    ([{"success": False}], ERROR),
    ([{"error": "order not found"}], NOT_FOUND),
    ([{"order_id": "99999", "status": "查询中"}], SHELL),
    ([{"status": "failed"}], ERROR),
    # In an envelope.
    ({"data": {"error": "quota exceeded"}}, ERROR),
    ({"data": {"error": "quota exceeded", "retry_after": 30}}, ERROR),
    ({"data": {"error": "查无此单"}}, NOT_FOUND),
    ({"result": {"success": False}}, ERROR),
    ({"result": {"success": False, "order_id": "7"}}, ERROR),
    ({"data": {"found": False}}, NOT_FOUND),
    ({"result": {"data": {"error": "down"}}}, ERROR),
    ({"data": [{"error": "down"}]}, ERROR),
    ({"code": 0, "data": {"error": "down"}}, ERROR),
    ({"code": 200, "message": "ok", "data": {"status": "error", "message": "bad date"}}, ERROR),
    ({"data": [{"order_id": "99999", "status": "订单信息同步中"}]}, SHELL),
    ({"result": "Error: no such file"}, ERROR),
    ({"result": "操作失败"}, ERROR),
    # Alone under a name of its own.
    ({"order": {"order_id": "99999", "status": "查询中"}}, SHELL),
    ({"order": {"id": "99999", "status": "查询中", "items": []}}, SHELL),
    ({"order_id": "99999", "order": {"status": "查询中"}}, SHELL),
    ({"orders": [{"order_id": "99999", "status": "查询中"}], "total": 1}, SHELL),
    ({"order": {"error": "down"}}, ERROR),
    ({"response": {"error": "down"}}, ERROR),
    ({"Response": {"Error": {"Code": "AuthFailure", "Message": "no"}, "RequestId": "z"}}, ERROR),
    ({"results": [{"url": "a", "error": "down"}, {"url": "b", "error": "down"}]}, ERROR),
    # A code beside a message.
    ({"code": 40001, "msg": "invalid credential"}, ERROR),
    ({"code": 40001, "message": "invalid credential", "data": None}, ERROR),
    ({"code": 40001, "message": "invalid credential", "data": {}}, ERROR),
    ({"code": "40001", "msg": "参数错误"}, ERROR),
    ({"code": -1, "msg": "系统繁忙"}, ERROR),
    ({"code": 1, "msg": "参数错误"}, ERROR),
    ({"code": "A0201", "msg": "用户账户不可用"}, ERROR),
    ({"code": "PERMISSION_DENIED", "message": "no access to this project"}, ERROR),
    ({"code": "order_not_found", "message": "no such order"}, NOT_FOUND),
    ({"ret": -4, "msg": "check of the signature failed"}, ERROR),
    ({"errcode": 40013, "errmsg": "invalid appid"}, ERROR),
    ({"errcode": 40013, "errmsg": "invalid appid", "rid": "6a-1"}, ERROR),
    ({"errcode": 40013, "msg": "invalid appid", "hint": "x", "extra": None}, ERROR),
    ({"error_code": 110, "error_msg": "Access token invalid"}, ERROR),
    # Fields of other names, flags as text.
    ({"err": "no route to host"}, ERROR),
    ({"error_message": "quota exceeded"}, ERROR),
    ({"errMsg": "request:fail"}, ERROR),
    ({"success": "false"}, ERROR),
    ({"success": "False", "data": None}, ERROR),
    ({"ok": "no", "message": "denied"}, ERROR),
    ({"is_error": "true", "content": "x"}, ERROR),
    # Nothing but a remark that says so.
    ({"message": "Forbidden"}, ERROR),
    ({"message": "Internal Server Error"}, ERROR),
    ({"msg": "查询失败，请重试", "data": None}, ERROR),
    ({"detail": "Not found."}, NOT_FOUND),
    # JSON in JSON.
    ('{"error": "down"}', ERROR),
    ('[{"error": "down"}]', ERROR),
    # Nothing in it.
    ([{}], EMPTY),
    ([None], EMPTY),
    ([[], {}], EMPTY),
    ({"data": [{}]}, EMPTY),
    ({"data": [None], "total": 0}, EMPTY),
]

RESULTS: list[object] = [
    {"error": "ok"},
    {"error": "none"},
    {"error": "None", "data": None},
    {"error": "0"},
    {"error": False},
    {"error": None},
    {"error": "success", "id": 4},
    {"err": "无错误"},
    {"errcode": 0, "errmsg": "ok"},
    {"errcode": 0, "errmsg": "请求成功", "openid": "o6"},
    {"error": {"code": 0}},
    {"error": {"code": 0, "message": "ok"}},
    {"payment": {"status": "failed", "amount": 3}},
    {"order": {"order_id": "1", "status": "shipped"}},
    {"results": [{"line": 3, "error": "unused import"}]},
    {"ok": True, "results": [{"error": "down"}]},
    {"error_code": "E102", "description": "pump blocked"},
    {"code": 40001, "description": "kettle"},
    {"errors": 3, "lines": 100},
    {"errors": 0, "lines": 100},
    {"value": 4.5, "err": 1},
    {"code": 0, "msg": "操作成功"},
    {"code": 0, "msg": "done"},
    {"code": 200, "msg": "短信已提交"},
    {"code": "200", "message": "accepted"},
    {"code": "OK", "message": "queued for delivery"},
    {"code": "00000", "msg": "一切正常"},
    {"code": 20000, "message": "hello"},
    {"code": 1, "msg": "success"},
    {"code": 1, "msg": "短信已发送"},
    {"code": 1, "message": "here", "data": {"price": 3}},
    {"code": 86, "country": "China"},
    {"code": "CN", "message": "China"},
    {"code": "SAVE10", "description": "10% off"},
    {"code": 40001, "name": "kettle", "message": "sold in two colours"},
    {"code": 40001, "price": 30},
    {"code": 40001},
    {"error_code": 102, "meaning": "paper jam", "message": "see page 4"},
    {"success": "true"},
    {"success": 3, "failed": 1},
    {"success": True, "result": {"error": "the form said: enter a phone number"}},
    [{"line": 3, "rule": "F401", "error": "unused import"}],
    [{"order": "1", "total": 30, "status": "failed"}],
    [{"error": "down"}, {"price": 3}],
    [{"error": None}, {"price": 3}],
    [[{"error": "x"}, 1]],
    [0],
    [False],
    {"data": {"title": "Errors and how to mend them", "body": "Error: 404"}},
    {"message": "The film was forbidden in 1998."},
    {"result": "Access to the roof is denied to guests after ten."},
]


@pytest.mark.parametrize(("value", "status"), FAILURES)
def test_a_failure_in_another_shape(value: object, status: OutcomeStatus) -> None:
    outcome = read_outcome(json.dumps(value, ensure_ascii=False))
    assert outcome.status is status
    assert outcome.reason


@pytest.mark.parametrize("value", RESULTS, ids=str)
def test_a_result_that_looks_like_a_failure(value: object) -> None:
    outcome = read_outcome(json.dumps(value, ensure_ascii=False))
    assert (outcome.status, outcome.doubt) == (OK, "")


FAILED_TEXTS = [
    "操作失败",
    "操作失败！",
    "查询失败，请重试",
    "订单查询失败：网络超时",
    "系统繁忙，请稍后再试",
    "网络异常",
    "服务不可用",
    "请求超时",
    "参数错误",
    "没有权限",
    "无权访问",
    "访问被拒绝",
    "请先登录。",
    "抱歉，系统出错了",
    "退款失败：余额不足",
    "没有权限访问该订单",
    "接口返回错误",
    "超时",
    "❌ Failed to load the page",
    "Failed: no such index",
    "[Error] down",
    "fatal error: no such file",
    "An error occurred while fetching: no route",
    "No permission",
    "Sorry, the request failed.",
    "<error>down</error>",
    "<html><head><title>502 Bad Gateway</title></head></html>",
    '```json\n{"error": "down"}\n```',
    "Access denied",
    "Access denied.",
    "Permission denied (publickey).",
    "500 Internal Server Error",
    "HTTP 503 Service Unavailable",
    "HTTP/1.1 502 Bad Gateway",
    "Error 403 Forbidden",
    "HTTP error 500",
    "Internal Server Error",
    "Unauthorized",
    "Forbidden",
    "Request failed, please try again",
    "Request timed out",
    "The request timed out.",
    "Connection refused",
    "Service temporarily unavailable",
    "Rate limit exceeded",
    "Too many requests",
    "Invalid API key",
    "Something went wrong",
    "An unexpected error occurred.",
    "Failed to connect to the database",
    "Unable to fetch the page",
    "error",
    "Error: the file is a directory",
    "Error: no such file",
]

ORDINARY_TEXTS = [
    "Error: the movie is a 1998 film by Li Wen about a typist.",
    "Error is a 1998 film.",
    "Failed states of the 20th century",
    "<html><head><title>Errors</title></head></html>",
    '```json\n{"price": 3}\n```',
    "抱歉，本店周一不营业",
    "Fatal: a novel. It is a novel about a judge.",
    "错误：这是一部 1998 年的电影，讲一名打字员。",
    "this model does not have noise cancelling: the function does not exist",
    "The error was mended in 1998.",
    "操作失败的订单共 3 个",
    "查询失败率为 2%",
    "支付正常，物流正常",
    "订单异常件共 2 件，已经补发",
    "500 Internal Road, Berlin",
    "Forbidden City is in Beijing.",
    "Access denied doors are listed on page 3",
    "Request letters must be sent by May",
    "Timeout settings are on page 3",
    "The connection leaves at 9:30.",
    "Unable to swim, he took the boat.",
    "The service was down for 3 hours in May and has run well since.",
]


@pytest.mark.parametrize("text", FAILED_TEXTS)
def test_a_text_that_only_reports_a_failure(text: str) -> None:
    assert read_outcome(text).status is ERROR


@pytest.mark.parametrize("text", ORDINARY_TEXTS)
def test_a_text_that_has_the_words_and_is_a_result(text: str) -> None:
    assert read_outcome(text).status is OK


@pytest.mark.parametrize(
    ("value", "doubt"),
    [
        ({"order_id": "1", "status": "processing"}, "processing"),
        ({"order_id": "1", "status": "处理中"}, "处理中"),
        ({"order_id": "1", "status": "in_progress", "tracking_no": None}, "in_progress"),
        ({"success": True, "data": {"job": "7", "status": "queued"}}, ""),
        ({"success": True, "data": {"job_id": "7", "status": "queued"}}, "queued"),
        ("processing", "processing"),
        ("处理中", "处理中"),
        ("failed", "failed"),
        ("支付失败", "支付失败"),
        ({"order": {"order_id": "1", "status": "processing"}}, "processing"),
        ({"code": 0, "msg": "操作失败"}, "操作失败"),
        ({"order_id": "1", "status": "processing", "total": 35}, ""),
    ],
)
def test_a_state_that_may_be_the_answer_is_looked_at(value: object, doubt: str) -> None:
    outcome = read_outcome(json.dumps(value, ensure_ascii=False))
    assert (outcome.status, outcome.doubt) == (OK, doubt)


@pytest.mark.parametrize(
    "value",
    [
        {
            "order_id": "99999",
            "status": "查询中",
            "items": [],
            "remark": "订单信息同步中，请稍后再查",
        },
        {"order_id": "99999", "status": "pending"},
        {"order_id": "99999", "status": "processing", "items": []},
        {"order_id": "99999", "status": "processing", "result": None},
        {"order_id": "99999", "status": "processing", "remark": "请稍后再查"},
        {"order_id": "99999", "status": "processing, please wait"},
        {"code": 0, "data": {"order_id": "99999", "status": "处理中", "events": []}},
        "处理中，请稍候",
        "pending",
    ],
)
def test_a_state_of_the_call_is_a_shell(value: object) -> None:
    assert read_outcome(json.dumps(value, ensure_ascii=False)).status is SHELL


@pytest.mark.parametrize(
    "output",
    [
        '{"result": "error", "value": null}',
        '{"success": "partial", "failed": 3, "sent": 0}',
        "<generator object gen.<locals>.g at 0x7f0c1a2b3c40>",
        "HTTP 500: the value could not be read, because the backend is down and nothing can be "
        "returned to you now, sorry about it.",
    ],
)
def test_a_failure_in_an_odd_form_is_a_failure(output: str) -> None:
    assert read_outcome(output).status is OutcomeStatus.ERROR


def test_a_number_that_is_none_is_nothing() -> None:
    assert read_outcome('{"value": NaN}').status is OutcomeStatus.EMPTY


@pytest.mark.parametrize(
    "output",
    [
        '{"result": "error", "lines": 42, "file": "a.log"}',
        '{"failed": 3, "sent": 5}',
        '{"failed": 0, "sent": 0, "value": 7}',
        "HTTP 500 is the status code of a server error.",
    ],
)
def test_what_only_looks_like_one_is_a_result(output: str) -> None:
    assert read_outcome(output).status is OutcomeStatus.OK
