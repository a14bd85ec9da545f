"""What a text says, as far as rules can tell."""

import subprocess
import sys
from decimal import Decimal

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from hansei.policies import text as text_module
from hansei.policies.language import asked_language, language_of
from hansei.policies.text import (
    contains_quote,
    content_terms,
    identifiers,
    is_blank,
    mentions,
    names_id,
    normal_id,
    numbers,
    quoted,
    sentences,
    similarity,
    tokens,
)

any_text = st.text(st.characters(exclude_categories=()), max_size=120)


def test_tokens_are_words_numbers_and_whole_ids() -> None:
    assert tokens("订单 INV-2024-001 到了, Tom's iPhone 15!") == [
        "订单",
        "inv-2024-001",
        "到",
        "了",
        "tom",
        "iphone",
        "15",
    ]


@pytest.mark.parametrize(
    ("text", "terms"),
    [
        ("两只长毛猫", {"长毛", "猫"}),
        ("家里有两只长毛猫", {"长毛", "猫"}),
        ("帮我查一下订单 99999 到了没", {"订单", "99999"}),
        ("帮我找一款两千元以内的降噪耳机，要有现货", {"降噪", "耳机", "现货"}),
        ("请查一下 iPhone 15 Pro 的价格", {"iphone", "pro", "价格"}),
        ("我的退货申请怎么样了", {"退货", "申请"}),
        ("请假流程", {"请假", "流程"}),
        ("查一下下雨的城市", {"下雨", "城市"}),
        ("SF0000000 的物流", {"sf0000000", "物流"}),
        ("Please look up the weather in Paris for my trip", {"weather", "paris", "trip"}),
        ("one 7 the please 一个 这 了", set()),
        ("", set()),
    ],
)
def test_content_terms_say_what_a_text_is_about(text: str, terms: set[str]) -> None:
    assert content_terms(text) == terms


@pytest.mark.parametrize("result", ["这款机器人适合养猫的家庭", "长毛宠物也能用"])
def test_a_result_that_speaks_of_the_cats_mentions_them(result: str) -> None:
    assert mentions(result, content_terms("家里有两只长毛猫"))


def test_a_result_that_does_not_speak_of_them_does_not() -> None:
    assert not mentions("吸力 5000 Pa，续航 180 分钟", content_terms("家里有两只长毛猫"))


@pytest.mark.parametrize(
    ("text", "terms", "found"),
    [
        ("A Cat sat", ["cat"], True),
        ("Two cats sat", ["cat"], True),
        ("One cat sat", ["cats"], True),
        ("The catalog", ["cat"], False),
        ("concatenate", ["cat"], False),
        ("支持iPhone连接", ["iphone"], True),
        ("ＩＰＨＯＮＥ", ["iphone"], True),
        ("INV-2024-001 is here", ["inv-2024-001"], True),
        ("C++ (fast)", ["c++"], True),
        ("glasses", ["glass"], True),
        ("anything", [], False),
        ("anything", ["", " "], False),
    ],
)
def test_latin_terms_count_as_whole_words(text: str, terms: list[str], found: bool) -> None:
    assert mentions(text, terms) is found


@pytest.mark.parametrize(
    ("text", "found"),
    [
        ("帮我查一下订单 99999 到了没", ["99999"]),
        ("帮我查一下订单99999到了没", ["99999"]),
        ("SF0000000 and INV-2024-001.", ["SF0000000", "INV-2024-001"]),
        ("order #A1B2C3, twice: a1b2c3", ["A1B2C3"]),
        ("Sony WH-1000XM5", ["WH-1000XM5"]),
        ("2026-08-01 到 2026/8/3，2026年8月", []),
        ("2026-08-01T10:30:00Z at 12:30", []),
        ("¥3000, $4500, 3000元, 2000 块, 1299.00, 12,999", []),
        ("预算3000以内，不超过 2500", []),
        ("16GB, 5000mAh, 1080p, 500 days", []),
        ("in 1990s, v1.2.3, 10-20, 24/7", []),
        ("https://example.com/a/99999 me2024@example.com", []),
        ("abc no digits, 123", []),
        ("a-b", []),
        ("20260801001", ["20260801001"]),
    ],
)
def test_ids_are_found_and_dates_and_amounts_are_none(text: str, found: list[str]) -> None:
    assert identifiers(text) == found


@pytest.mark.parametrize(
    ("one", "other", "same"),
    [
        ("INV-2024-001", "inv 2024 001", True),
        ("INV-2024-001", "INV–2024–001", True),
        ("#SF0000000", "ＳＦ0000000", True),
        ("99999", "999990", False),
        ("SF0000000", "SF000000O", False),
    ],
)
def test_ids_are_compared_without_their_layout(one: str, other: str, same: bool) -> None:
    assert (normal_id(one) == normal_id(other)) is same


@given(text=any_text)
@settings(deadline=None, max_examples=150)
def test_every_id_stands_in_its_text(text: str) -> None:
    for found in identifiers(text):
        assert normal_id(found) in normal_id(text.encode("utf-8", "replace").decode())
        assert any(character.isdigit() for character in found)


def test_quotation_marks_of_every_kind() -> None:
    text = "say “a b”, \"c\", 「d」, 『e』, 'f', ‘g’ and `h`; it's Tom's, \"\" and “ ”"
    assert quoted(text) == ["a b", "c", "d", "e", "f", "g", "h"]


@pytest.mark.parametrize(
    ("text", "found"),
    [
        ("1,299.00 元", ["1299"]),
        ("1299.50", ["1299.5"]),
        ("12,345,678", ["12345678"]),
        ("1,2,3", ["1", "2", "3"]),
        ("１２３", ["123"]),
        ("3万, 1.2亿, 3千, 2百万", ["30000", "120000000", "3000", "2000000"]),
        ("3千米 5千克", ["3", "5"]),
        ("两千元以内", ["2000"]),
        ("三千二百", ["3200"]),
        ("一百零五", ["105"]),
        ("十二个，三只，十人", ["12", "3", "10"]),
        ("一个，一下，千万不要，十分好", []),
        ("-4 度, 3-5 天", ["-4", "3", "5"]),
        ("2026-08-01 12:30 2026年8月3日", []),
        ("INV-2024-001 iPhone15 v1.2.3", []),
        ("a 30-day trial, USD100", ["30", "100"]),
        ("80%", ["80"]),
        ("9" * 40, []),
        ("none", []),
    ],
)
def test_numbers_are_read_with_their_scale(text: str, found: list[str]) -> None:
    assert [str(number) for number in numbers(text)] == found


@given(value=st.integers(0, 10**9))
@settings(deadline=None, max_examples=100)
def test_a_number_reads_the_same_with_separators(value: int) -> None:
    assert numbers(f"共 {value:,} 元") == numbers(f"共 {value} 元") == [Decimal(value)]


@pytest.mark.parametrize(
    ("text", "quote", "found"),
    [
        ("订单状态：已发货，预计 8月3日 送达。", "已发货, 预计8月3日送达", True),
        ("The Total is 731.", "the total  is 731", True),
        ("“好”，他说", '"好"', True),
        ("abc", "a", False),
        ("abc", " ", False),
        ("abc", "", False),
        ("short text", "a much longer quote than the text is", False),
        ("The parcel was shipped from Hangzhou on Monday", "parcel was shiped from Hangzhou", True),
        ("The parcel weighs 12 kilograms in all", "parcel weighs 13 kilograms in all", False),
        (
            "The parcel was never shipped from Hangzhou",
            "parcel was ever shipped from Hangzhou",
            False,
        ),
        (
            "该包裹目前已由收件人本人在前台当面签收完毕",
            "该包裹目前未由收件人本人在前台当面签收完毕",
            False,
        ),
        ("已签收", "未签收", False),
    ],
)
def test_a_quote_must_stand_in_the_text(text: str, quote: str, found: bool) -> None:
    assert contains_quote(text, quote) is found


@given(text=st.text(min_size=4, max_size=80), start=st.integers(0, 70), length=st.integers(2, 20))
@settings(deadline=None, max_examples=150)
def test_any_piece_of_a_text_is_a_quote_of_it(text: str, start: int, length: int) -> None:
    piece = text[start : start + length]
    squeezed = text_module._squeezed(piece)
    if len(squeezed) >= 2 and squeezed in text_module._squeezed(text):
        assert contains_quote(text, piece)


def test_similarity_knows_same_other_and_reordered() -> None:
    assert similarity("查询订单 99999", "查询订单99999") == 1.0
    assert similarity("", "") == 1.0
    assert similarity("查询订单的物流信息", "写一首关于春天的诗") < 0.4
    assert similarity("搜索耳机价格", "耳机价格搜索") > 0.9
    assert similarity("look up the price", "the price look up") > 0.9


@given(a=any_text, b=any_text)
@settings(deadline=None, max_examples=100)
def test_similarity_is_a_share(a: str, b: str) -> None:
    assert 0.0 <= similarity(a, b) <= 1.0
    assert similarity(a, a) == 1.0


@pytest.mark.parametrize(
    ("text", "found"),
    [
        ("今天下雨。明天呢？晴！", ["今天下雨。", "明天呢？", "晴！"]),
        ("他说：“走吧。”然后走了。", ["他说：“走吧。”", "然后走了。"]),
        ("It rains. Mr. Li, e.g. 3.5 mm! What?!", ["It rains.", "Mr. Li, e.g. 3.5 mm!", "What?!"]),
        ("1. First\n2. Second", ["1. First", "2. Second"]),
        ("one\n\ntwo", ["one", "two"]),
        ("", []),
    ],
)
def test_sentences(text: str, found: list[str]) -> None:
    assert sentences(text) == found


@given(text=any_text)
@settings(deadline=None, max_examples=100)
def test_sentences_lose_nothing_but_space(text: str) -> None:
    assert "".join("".join(sentences(text)).split()) == "".join(text.split())


@pytest.mark.parametrize(
    ("text", "blank"),
    [
        ("", True),
        (" \n\t\u3000", True),
        ("\u200b\u200d\ufeff", True),
        ("\u2800\u3164 ", True),
        ("\u200b0", False),
        ("👍", False),
    ],
)
def test_what_shows_nothing_is_blank(text: str, blank: bool) -> None:
    assert is_blank(text) is blank


@given(text=any_text)
@settings(deadline=None, max_examples=150)
def test_no_text_makes_anything_raise(text: str) -> None:
    tokens(text)
    content_terms(text)
    numbers(text)
    quoted(text)
    contains_quote(text, text[:20])
    mentions(text, [text[:5]])
    assert language_of(text) in {"zh", "en"}
    assert asked_language(text) in {"zh", "en"}


@pytest.mark.parametrize(
    "unit", ["x", "a1-", "9", ".", "“", "`", "http://a ", "一", "不 ", "1,", "http://a 9999 ", "a@"]
)
def test_a_large_text_of_one_kind_is_read(unit: str) -> None:
    text = unit * (200_000 // len(unit))
    content_terms(text)
    identifiers(text)
    numbers(text)
    quoted(text)
    sentences(text)
    contains_quote(text, "something that is not in there")
    assert language_of(text) in {"zh", "en"}


def test_dictionaries_load_only_when_they_are_needed() -> None:
    code = (
        "import sys, hansei.policies.text as t, hansei.policies.language as l; "
        "t.tokens('plain English'); t.numbers('12'); l.language_of('中文'); "
        "assert not {'rjieba', 'cn2an'} & set(sys.modules); "
        "t.tokens('中文'); assert 'rjieba' in sys.modules"
    )
    subprocess.run([sys.executable, "-c", code], check=True)


@pytest.mark.parametrize(
    ("text", "code", "there"),
    [
        ("查一下订单 99999 到了没", "99999", True),
        ("查一下订单99999到了没", "99999", True),
        ("查一下订单 99999 到了没", "9999", False),
        ("the parcel SF-2606 001", "sf2606001", True),
        ("预算 2 万以内", "20000", True),
        ("at most 1,299 yuan", "1299", True),
        ("order A1299B", "1299", False),
        ("", "1299", False),
        ("1299", "", False),
    ],
)
def test_an_id_is_named_as_a_whole_or_not_at_all(text: str, code: str, there: bool) -> None:
    assert names_id([text], code) is there
