"""Outputs that are no clean JSON and no clean sentence, and states that may be the call's own."""

from __future__ import annotations

import json

import pytest

from hansei.tools.outcome import OutcomeStatus, read_outcome

OK, ERROR, NOT_FOUND = OutcomeStatus.OK, OutcomeStatus.ERROR, OutcomeStatus.NOT_FOUND
EMPTY, SHELL = OutcomeStatus.EMPTY, OutcomeStatus.SHELL

FAILURES: list[tuple[str, OutcomeStatus]] = [
    # Characters that nobody sees, around it.
    ('\ufeff{"error": "order not found"}', NOT_FOUND),
    ('\ufeff{"status": "error", "message": "x"}', ERROR),
    ('\x00{"error": "down"}\x00', ERROR),
    ("\ufeffError: no such file", ERROR),
    ("\u200b\ufeff", EMPTY),
    # Python's own notation.
    ('b\'{"error": "down"}\'', ERROR),
    ("b'Error: no such file'", ERROR),
    ("b'\\xe5\\xa4\\xb1\\xe8\\xb4\\xa5\\xef\\xbc\\x9a\\xe8\\xb6\\x85\\xe6\\x97\\xb6'", ERROR),
    ("b''", EMPTY),
    ('bytearray(b\'{"error": "down"}\')', ERROR),
    ("[{'error': 'down'}]", ERROR),
    # More than one value, or words around one.
    ('{"error": "down"} trailing', ERROR),
    ('{"error": "down"}\nexit status 1', ERROR),
    ('{"error": "order not found"}\n\n[request 17]', NOT_FOUND),
    ('{"error": "down"}\n{"error": "down"}\n', ERROR),
    ('{"error": "down"}{"success": false}', ERROR),
    ('{"order_id": "9", "status": "查询中"}\n{"order_id": "8", "status": "查询中"}', SHELL),
    ('Response: {"error": "down"}', ERROR),
    ('结果：{"error": "订单不存在"}', NOT_FOUND),
    ('data: {"error": "down"}', ERROR),
    # Flags and fields of other kinds.
    ('{"success": 0}', ERROR),
    ('{"success": "0", "message": "x"}', ERROR),
    ('{"ok": 0, "data": null}', ERROR),
    ('{"is_error": 1}', ERROR),
    ('{"failed": true}', ERROR),
    ('{"failed": true, "message": "the store is shut"}', ERROR),
    ('{"exception": "x"}', ERROR),
    ('{"Exception": "KeyError", "traceback": "File …"}', ERROR),
    ('{"faultString": "x", "faultCode": 4}', ERROR),
    ('{"fault": {"code": 5, "message": "x"}}', ERROR),
    ('{"code": "E_FAIL"}', ERROR),
    ('{"code": "ACCESS_DENIED", "data": null}', ERROR),
    ('{"code": "AuthFailure"}', ERROR),
    ('{"code": "ORDER_NOT_FOUND"}', NOT_FOUND),
    ('{"status": "timeout"}', ERROR),
    ('{"status": "timed_out", "message": "no reply"}', ERROR),
    ('{"status": "超时"}', ERROR),
    ('{"status": "ERR"}', ERROR),
    ('{"status": "rejected", "message": "Invalid API key"}', ERROR),
    ('{"state": "失败", "message": "请求超时"}', ERROR),
    # Short texts.
    ("ERR", ERROR),
    ("ERR: no route", ERROR),
    ("-ERR unknown command", ERROR),
    ("Timed out after 30s", ERROR),
    ("timed out after 30 seconds.", ERROR),
    ("Timeout after 2.5 s: no reply", ERROR),
    ("Timed out waiting for the server", ERROR),
    ("超时（30秒）", ERROR),
    # Objects of the program, which nobody can read.
    ("<object object at 0x7f0c1a2b3c40>", ERROR),
    ("<__main__.Order object at 0x7f0c1a2b3c40>", ERROR),
    ("<function look at 0x7f0c1a2b3c40>", ERROR),
    ("<function look.<locals>.<lambda> at 0x7f0c1a2b3c40>", ERROR),
    ("<bound method Shop.look of <shop.Shop object at 0x7f0c1a2b3c40>>", ERROR),
    ("<Response [200]>", ERROR),
    ("<Response [404 Not Found]>", ERROR),
    ("[object Object]", ERROR),
    ('{"result": "<object object at 0x7f0c1a2b3c40>"}', ERROR),
    # No value.
    ("NaN", EMPTY),
    ("nan", EMPTY),
    ('{"result": NaN}', EMPTY),
    ('{"value": "nan"}', EMPTY),
    ("[NaN]", EMPTY),
    ("undefined", EMPTY),
    ('{"result": "undefined"}', EMPTY),
    ("-", EMPTY),
    ("--", EMPTY),
    ("…", EMPTY),
    ("?", EMPTY),
    ("<NA>", EMPTY),
    ("()", EMPTY),
    ("set()", EMPTY),
]

DOUBTS: list[tuple[str, str]] = [
    ("denied", "denied"),
    ("Rejected.", "Rejected."),
    ("已拒绝", "已拒绝"),
    ("失败", "失败"),
    ('{"status": "rejected"}', "rejected"),
    ('{"order_id": "1", "status": "rejected"}', "rejected"),
    ('{"order": {"order_id": "1", "status": "denied"}}', "denied"),
    ('{"success": true, "data": {"claim_id": "7", "status": "declined"}}', "declined"),
    ('{"order_id": "1", "状态": "已驳回"}', "已驳回"),
    ('{"state": "失败"}', "失败"),
    ('{"order_id": "1", "state": "failed"}', "failed"),
    ('{"job_id": "7", "status": "timeout"}', "timeout"),
    ('{"pump": 1, "exception": "overheated"}', "overheated"),
    ('{"job": "nightly", "failed": true, "minutes": 3}', "failed"),
    ('{"error_code": 102}', "102"),
    ('{"price": 3}\n{"error": "down"}', "down"),
    ('{"error": "x"} is what the server sends when the key is missing.', "x"),
    ('{"error": "x"}\n' + "This page shows what the server may send and how to mend it. " * 3, "x"),
]

RESULTS = [
    # What is read more widely now and is a result.
    '\ufeff{"price": 3}',
    "b'price 3'",
    "b'",
    "b'not closed\"",
    "b'a', [b'b']",
    "b'a' means the byte, and so does b'b'",
    'The log says: Response: {"error": "down"}',
    "B'rith is a covenant.'",
    "[{'price': 3}]",
    '{"price": 3} trailing',
    '{"price": 3}\n{"price": 4}',
    '{"error": "down"}\n{"price": 4}',
    "{} is an empty dict",
    "{user} has two orders",
    'Response: {"price": 3}',
    "Data: {A, B}",
    '{"success": 0, "value": 4}',
    '{"success": 0, "total": 0}',
    '{"success": 3}',
    '{"succeeded": 0, "failed": 0}',
    '{"failed": 0}',
    '{"failed": false}',
    '{"failed": false, "price": 3}',
    '{"exception": null, "price": 3}',
    '{"exception": "none", "price": 3}',
    '{"opening": "9 to 5", "exceptions": ["closed on Christmas"]}',
    '{"fault": "", "pump": 1}',
    '{"code": "E102"}',
    '{"code": "SAVE10"}',
    '{"code": "LIMITED_EDITION"}',
    '{"code": "FERRARI"}',
    '{"code": "E_FAIL", "meaning": "unspecified failure"}',
    '{"code": "E_FAIL", "description": "unspecified failure"}',
    '{"error_code": 0}',
    '{"job": "nightly", "status": "timeout", "minutes": 30}',
    '{"order_id": "1", "status": "rejected", "total": 35}',
    '{"task": "deploy", "state": "failed", "minutes": 3}',
    '{"state": "Bayern"}',
    '{"state": "ok"}',
    "Denied: a novel",
    "The claim was denied.",
    "Rejected goods go back to the shop.",
    "拒绝理由：地址不全",
    "Err on the side of caution.",
    "Timed out orders are listed on page 3",
    "Timeout after 30 seconds is the default of the client.",
    "超时设置在第 3 页",
    "<p>the program stopped at 0x7f0c1a2b3c40</p>",
    "<class 'int'>",
    "<function> is a keyword",
    "<Response [200]> is what the client shows.",
    "Nan",
    '{"city": "Nan", "country": "Thailand"}',
    '{"first_name": "Nan"}',
    "undefined behaviour",
    "-5",
    "- one\n- two",
    ".",
    "/",
    "✓",
    "0",
    "false",
    "(1, 2)",
]


@pytest.mark.parametrize(("output", "status"), FAILURES, ids=repr)
def test_no_result_in_an_odd_form(output: str, status: OutcomeStatus) -> None:
    outcome = read_outcome(output)
    assert outcome.status is status
    assert outcome.reason


@pytest.mark.parametrize(("output", "doubt"), DOUBTS, ids=repr)
def test_what_may_be_the_answer_or_a_failure_is_looked_at(output: str, doubt: str) -> None:
    outcome = read_outcome(output)
    assert (outcome.status, outcome.doubt) == (OK, doubt)


@pytest.mark.parametrize("output", RESULTS, ids=repr)
def test_a_result_that_only_looks_odd(output: str) -> None:
    outcome = read_outcome(output)
    assert (outcome.status, outcome.doubt) == (OK, "")


@pytest.mark.parametrize(
    "output",
    [
        '{"a": 1}' * 100_000,
        "{" * 100_000,
        "b'" + "x" * 1_000_000 + "'",
        "b'" + "\\" * 1_001 + "'",
        "<a " * 100_000,
        "<" + "a " * 100_000 + "at 0x7f>",
        json.dumps({"a": 1}) + " " + "x" * 1_000_000,
        '{"a": ' + "[" * 5_000,
    ],
    ids=len,
)
def test_odd_forms_of_any_size_are_read_in_time(output: str) -> None:
    assert read_outcome(output).status is OK
