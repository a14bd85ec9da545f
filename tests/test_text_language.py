"""In which language a text is written, and an answer is wanted."""

import pytest

from hansei.policies.language import asked_language, fits_language, language_of
from hansei.policies.words import Language


@pytest.mark.parametrize(
    ("text", "language"),
    [
        ("上海明天会下雨吗？", "zh"),
        ("It will rain in Shanghai tomorrow.", "en"),
        ("帮我查 Sony WH-1000XM5 Wireless Noise Cancelling Headphones 的价格", "zh"),
        ("比较 MacBook Air 和 Surface Laptop Studio", "zh"),
        ("查 orders table", "zh"),
        ("iPhone 15 多少钱", "zh"),
        ("Who is 张三丰?", "en"),
        ("What is the price of 北京烤鸭 in Shanghai?", "en"),
        ("Please tell me about 上海", "en"),
        ("The tool says “订单信息同步中，请稍后再查，谢谢您的耐心等待”.", "en"),
        ("The status is 订单信息同步中 so please check later.", "en"),
        ("订单 INV-2024-001 已发货。", "zh"),
        ("代码如下：\n```python\nfor item in the_list: print(item)\n```\n运行即可", "zh"),
        ("731", "en"),
        ("", "en"),
    ],
)
def test_the_language_of_a_text(text: str, language: str) -> None:
    assert language_of(text) == language


@pytest.mark.parametrize(
    ("goal", "language"),
    [
        ("上海明天会下雨吗？", "zh"),
        ("上海明天会下雨吗？请用英文回答。", "en"),
        ("用英语介绍一下故宫", "en"),
        ("上海天气，请用英文", "en"),
        ("英文回答：上海在哪", "en"),
        ("Will it rain in Shanghai? 请用中文回答", "zh"),
        ("Will it rain in Shanghai? Answer in Chinese.", "zh"),
        ("Summarize the report in Chinese", "zh"),
        ("上海明天会下雨吗？ Answer in English please", "en"),
        ("上海明天会下雨吗？In English, please.", "en"),
        ("How do you say hello in Chinese?", "en"),
        ("Tell me how to say hello in Chinese", "en"),
        ("找几本英文小说", "zh"),
        ("不要用英文回答，上海明天会下雨吗？", "zh"),
        ("用中文回答，不，请用英文回答：上海在哪", "en"),
    ],
)
def test_a_wish_for_a_language_wins(goal: str, language: str) -> None:
    assert asked_language(goal) == language


@pytest.mark.parametrize(
    ("text", "wanted", "fits"),
    [
        ("2", "zh", True),
        ("￥1299", "zh", True),
        ("SF0000001", "zh", True),
        ("AirX Pro", "zh", True),
        ("```python\nprint('hello and welcome to the show')\n```", "zh", True),
        ("https://example.com/a", "zh", True),
        ("", "zh", True),
        ("It has arrived.", "zh", False),
        ("delivered yesterday by courier", "zh", False),
        ("已送达", "zh", True),
        ("已送达", "en", False),
        ("2", "en", True),
        ("It has arrived.", "en", True),
    ],
)
def test_what_is_in_no_language_fits_any(text: str, wanted: Language, fits: bool) -> None:
    assert fits_language(text, wanted) is fits
