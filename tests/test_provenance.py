"""Where tool arguments come from (row P18), and when two calls are the same call."""

from collections.abc import Mapping, Sequence

import pytest
from hypothesis import given
from hypothesis import strategies as st
from policy_records import (
    EMPTY,
    ERROR,
    FAILED,
    NOT_FOUND,
    OK,
    PENDING,
    REFUSED,
    SHELL,
    a_step,
    by_id,
    called,
    tried,
)
from pydantic import JsonValue

from hansei.policies.provenance import (
    MAX_REAL_RUNS,
    calls_of,
    canonical,
    from_record,
    given_up,
    given_up_calls,
    invented,
    standing_calls,
    standing_rounds,
)
from hansei.policies.records import ToolCall

json_values: st.SearchStrategy[JsonValue] = st.recursive(
    st.none() | st.booleans() | st.integers(-99, 99) | st.text(max_size=4),
    lambda inner: (
        st.lists(inner, max_size=3) | st.dictionaries(st.text(max_size=3), inner, max_size=3)
    ),
    max_leaves=8,
)
arguments = st.dictionaries(st.text(max_size=4), json_values, max_size=4)


@given(args=arguments)
def test_the_order_of_arguments_does_not_matter(args: dict[str, JsonValue]) -> None:
    backwards = dict(reversed(args.items()))
    assert canonical(args) == canonical(backwards)


@given(one=arguments, two=arguments)
def test_different_arguments_are_told_apart(
    one: dict[str, JsonValue], two: dict[str, JsonValue]
) -> None:
    # Compared as text, because for Python True is 1.
    assert (canonical(one) == canonical(two)) is (_spelled(one) == _spelled(two))


def _spelled(value: JsonValue | dict[str, JsonValue]) -> str:
    if isinstance(value, dict):
        return "{" + ",".join(f"{k!r}:{_spelled(v)}" for k, v in sorted(value.items())) + "}"
    if isinstance(value, list):
        return "[" + ",".join(_spelled(item) for item in value) + "]"
    return repr(value)


SOURCES = ["Look up order A-7712 for Li Ming", "results: B8001, 4502"]
INVENTED: Mapping[str, tuple[dict[str, JsonValue], list[str]]] = {
    "as the task has it": ({"order_id": "A-7712"}, []),
    "in another spelling": ({"order_id": "a7712"}, []),
    "from a result": ({"order_id": "b8001"}, []),
    "made up": ({"order_id": "C9002"}, ["C9002"]),
    "a part of another one": ({"order_id": "A-77"}, ["A-77"]),
    "a number": ({"target": 9917, "order": 4502}, ["9917"]),
    "how many is no id": ({"limit": 1000}, []),
    "a short number under a name that says id": ({"order_no": 12}, ["12"]),
    "a short number under another name": ({"page": 12}, []),
    "words": ({"name": "Wang Wu", "order_id": "the last one"}, []),
    "true is no number": ({"order_id": True}, []),
    "nothing": ({"order_id": None}, []),
    "deep inside": ({"filter": {"ids": ["A7712", "X9999"]}}, ["X9999"]),
    "each once": ({"a": "X9999", "b": ["X9999"]}, ["X9999"]),
}


@pytest.mark.parametrize("name", INVENTED)
def test_invented_ids_are_found(name: str) -> None:
    args, expected = INVENTED[name]
    assert invented(args, SOURCES) == expected


PUBLIC: list[dict[str, JsonValue]] = [
    {"zip_code": "10115"},
    {"zipCode": "10115-1234"},
    {"zip": 10115},
    {"postcode": "SW1A 1AA"},
    {"postal_code": "100000"},
    {"address": {"postalCode": "100000"}},
    {"country_code": "49"},
    {"phone_country_code": 86},
    {"country_calling_code": "+86"},
    {"area_code": "010"},
    {"city_code": "101010100"},
    {"adcode": "110000"},
    {"currency_code": "978"},
    {"language_code": "zh-Hans-1"},
    {"airport_code": "PEK1"},
    {"timezone": "UTC+0800"},
    {"stock_code": "600519"},
    {"邮编": "100000"},
]
RECORDED: list[tuple[str, JsonValue]] = [
    ("order_id", "9917"),
    ("order_no", "12"),
    ("order_code", "9917"),
    ("code", "9917"),
    ("tracking_no", "SF9917"),
    ("tracking_code", "SF9917"),
    ("sku", "B12"),
    ("sku_code", "B12"),
    ("product_code", "B12"),
    ("coupon_code", "SAVE10"),
    ("promo_code", "A12"),
    ("discount_code", "A12"),
    ("verification_code", "123456"),
    ("phone_code", "123456"),
    ("user_id", "43"),
    ("userId", "43"),
    ("city_id", "43"),
    ("country_id", "43"),
    ("timezone_id", "43"),
    ("zip_code", "6217000010001234567"),
    ("订单编号", "9917"),
]


@pytest.mark.parametrize("args", PUBLIC, ids=str)
def test_a_code_that_everybody_may_know_is_not_invented(args: dict[str, JsonValue]) -> None:
    assert invented(args, SOURCES) == []


@pytest.mark.parametrize(("name", "value"), RECORDED)
def test_what_names_a_record_must_come_from_somewhere(name: str, value: JsonValue) -> None:
    assert invented({name: value}, SOURCES) == [value]
    assert invented({name: value}, [f"It is {value}."]) == []


CALL = called(outcome=None)
OLD_OK = called(outcome=OK, output="here")
OLD_ERROR = called(outcome=ERROR)
REPEATED = called(outcome=ERROR, from_record=True)
Record = tuple[Sequence[ToolCall], Sequence[ToolCall], ToolCall | None]
RECORDS: Mapping[str, Record] = {
    "never asked": ([], [], None),
    "with other arguments": ([called(args='{"q":"y"}')], [], None),
    "another tool": ([called("search")], [], None),
    "not run yet": ([called(outcome=None)], [], None),
    "it has an answer": ([OLD_OK], [], OLD_OK),
    "the latest answer": ([OLD_OK, called(outcome=EMPTY)], [], called(outcome=EMPTY)),
    "that there is nothing is an answer": (
        [called(outcome=NOT_FOUND)],
        [],
        called(outcome=NOT_FOUND),
    ),
    "a shell is an answer": ([called(outcome=SHELL)], [], called(outcome=SHELL)),
    "it failed once": ([OLD_ERROR], [], None),
    "it failed twice": ([OLD_ERROR] * MAX_REAL_RUNS, [], OLD_ERROR),
    "it failed once and was answered from the record": ([OLD_ERROR, REPEATED], [], None),
    "it was refused": ([called(outcome=REFUSED)], [], None),
    "it failed in a step that was given up": ([], [OLD_ERROR], OLD_ERROR),
    "it answered in a step that was given up": ([], [OLD_OK], OLD_OK),
    "it was refused there": ([], [called(outcome=REFUSED)], None),
}


@pytest.mark.parametrize("name", RECORDS)
def test_a_call_that_need_not_run_again(name: str) -> None:
    mine, there, expected = RECORDS[name]
    assert from_record(CALL, mine, there) == expected


def test_calls_of_all_tries() -> None:
    step = a_step(1, PENDING, tried([OLD_ERROR]), tried([OLD_OK], [CALL], number=2))
    assert calls_of(step) == [OLD_ERROR, OLD_OK, CALL]


def test_what_stands_behind_a_retry() -> None:
    kept = called("search", OK)
    again = called("fetch", OK)
    step = a_step(
        1,
        PENDING,
        tried([called("fetch", ERROR), kept], [called("search", REFUSED)], [kept]),
        tried([again], number=2),
    )
    assert [[c.name for c in item.calls] for item in standing_rounds(step)] == [
        ["search"],
        ["search"],
        ["fetch"],
    ]
    assert standing_calls(step) == [kept, again]


def test_before_the_first_try_nothing_stands() -> None:
    assert standing_calls(a_step(1)) == []


def test_who_was_given_up_for_a_step() -> None:
    steps = by_id(
        a_step(1, FAILED, tried([OLD_ERROR])),
        a_step(2, FAILED, tried([OLD_OK]), instead_of=[1, 3]),
        a_step(3, FAILED, instead_of=[2]),
        a_step(4, instead_of=[2, 9]),
    )
    assert [s.id for s in given_up(steps[4], steps)][-1] == 2
    assert {s.id for s in given_up(steps[4], steps)} == {1, 2, 3}
    assert given_up_calls(steps[4], steps) == [OLD_ERROR, OLD_OK]
    assert given_up_calls(steps[1], steps) == []
