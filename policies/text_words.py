"""The words and patterns by which Chinese and English texts are read."""

import re
from decimal import Decimal
from typing import Final

ENGLISH_STOP: Final = frozenset(
    re.findall(
        r"\w+",
        """
    a about above after again all also am an and any are as at back be because been before
    being below between both but by can check could did do does doing done down each else
    ever every few find for from further get give given go had has have having he help her
    here hers him his how if i in into is it its just let like list look make many may me
    might more most much must my need no nor not now of off on once one only or other our
    out over own please query same search see she should show so some such tell than that
    the their them then there these they this those through to too two under until up us
    very want was we were what when where whether which while who whom whose why will with
    would you your yours
        """,
    )
)
"""English words that do not say what a text is about, with those that only ask."""

CHINESE_STOP: Final = frozenset(
    re.findall(
        r"\w+",
        """
    帮 帮我 帮忙 请 请问 麻烦 查 查询 查找 查看 查下 搜 搜索 找 找到 看 看看 看下 告诉
    告知 给 给我 给出 列出 提供 回答 说明 介绍 知道 了解 需要 想要 想 要 希望 可以 能 能够
    应该 有 没有 是 否 是否 到 去 来 让 使用 进行 一下 一些 什么 怎么 怎样 多少 哪些 哪个
    如何 信息 情况 内容 东西 时候 里 中 上 下 家 家里
        """,
    )
)
"""Chinese words that do not say what a text is about, with those that only ask."""

EMPTY_KINDS: Final = frozenset("mqrupcyeodfxkh")
"""First letters of jieba's word classes without content: numerals, measure words, particles …"""

REQUEST: Final = re.compile(
    r"(?:麻烦|劳烦)(?:你|您)?|帮(?:我们|我|忙|他|她)|给我|替我|(?<!因)为我"
    r"|(?:查|找|看|搜|问|算|试|写|列|说|比较|查询|搜索|介绍|了解|说明|分析|总结)"
    r"(?:一下子?|一查|一看|下(?![雨雪午周载单月次个一]))"
    r"|查查|看看|找找|告诉我|我想(?:要|知道|买)?|我(?:需要|要(?!求)|查)"
    r"|(?<![申邀聘宴恭敬])请(?![假求客柬示愿])(?:问|帮忙)?(?:你|您)?|到了没|了吗|有没有"
)
"""Phrases that only ask; jieba would glue some of them to their neighbours."""

_DATE = (
    r"(?:19|20)\d\d[-/.](?:0?[1-9]|1[0-2])(?:[-/.](?:0?[1-9]|[12]\d|3[01]))?(?:T[\d:.]+Z?)?(?!\d)"
)
_UNIT = (
    r"(?:ml|l|g|kg|mg|t|lb|oz|kb|gb|mb|tb|mah|wh|kwh|w|kw|v|hz|khz|mhz|ghz|mm|cm|m|km|in|ft|p|k|x"
    r"|th|st|nd|rd|px|dpi|fps|ms|s|min|h|hours?|days?|yuan|rmb|usd|eur)"
)
NOT_AN_ID: Final = re.compile(
    rf"{_DATE}|\d{{1,2}}[-/.]\d{{1,2}}(?:[-/.]\d{{2,4}})?|\d+[./]\d+(?:{_UNIT})?|\d+{_UNIT}"
    r"|\d{1,4}[-/]\d{1,4}|v?\d+(?:\.\d+){1,3}|(?:19|20)\d\ds|\d{1,2}(?:am|pm)|24/7|[A-Za-z]+-?[0-9]",
    re.IGNORECASE,
)
"""Dates, ranges, versions, amounts with a unit, and words with a single digit at the end."""

AMOUNT_BEFORE: Final = re.compile(
    r"[$¥￥€£]\s*$|\d[,.:]$|(?:预算|价格|价位|不超过|不到|低于|高于|超过|至少|最多|大约|约)(?:是|为|在)?\s*$"
    r"|\b(?:budget(?: of)?|under|below|over|above|than|most|least|up to|within|about)\s+$",
    re.IGNORECASE,
)
AMOUNT_AFTER: Final = re.compile(
    r"\s?(?:元|块|万|亿|千|百|年|月|天|小时|分钟|秒|人|个|件|台|次|米|公里|公斤|克|斤|岁|美元|欧元|日元|以内|以下|以上|之内|左右|%|‰"
    r"|yuan\b|rmb\b|usd\b|dollars?\b|euros?\b|people\b|items\b|days\b|hours\b|times\b|,\d{3}|\.\d|:\d)",
    re.IGNORECASE,
)

_CODE_LIKE = (
    r"(?<![\w.])(?!\d+-[A-Za-z]+(?![\w-]))(?=[\w-]*[A-Za-z])(?=[\w-]*\d)"
    r"[A-Za-z0-9]+(?:[-_][A-Za-z0-9]+)+"
)
_WORD_WITH_DIGIT = r"(?<!\w)(?!(?:usd|rmb|cny|eur|us|hkd?)\d)[A-Za-z]+\d\w*"
NO_NUMBER: Final = re.compile(
    rf"(?<!\d){_DATE}|(?:19|20)\d\d年(?:\d{{1,2}}月(?:\d{{1,2}}[日号])?)?|\d{{1,2}}月\d{{1,2}}[日号]"
    rf"|(?<!\d)\d{{1,2}}:\d\d(?::\d\d)?(?!\d)|{_CODE_LIKE}|(?<![\d.])v?\d+(?:\.\d+){{2,}}|{_WORD_WITH_DIGIT}",
    re.ASCII | re.IGNORECASE,
)
"""What holds digits and is no number: dates, times, codes, versions."""

# Runs are bounded: no amount is longer, and a text of nothing but numerals stays quick to read.
_DIGITS = "零〇一二两三四五六七八九"
NUMBER: Final = re.compile(
    r"(?P<arabic>(?:(?<![\w.)\]])-)?(?:\d{1,3}(?:,\d{3})+(?!\d)|\d+)(?:\.\d+)?)"
    r"\s*(?P<scale>万亿|百万|千万|亿|万|千(?![米克瓦卡赫帕伏字])|百(?=[元块]))?"
    rf"|(?P<chinese>(?=[{_DIGITS}]{{0,9}}[十百千万亿])(?!十)[{_DIGITS}][{_DIGITS}十百千万亿]{{0,24}}"
    rf"|十[{_DIGITS}]"
    r"|[二两三四五六七八九十](?=[个只件台款次天元块条本张份家位名套瓶双辆部间种年周小岁人斤公米]))"
)
SCALES: Final = {
    "": Decimal(1),
    "百": Decimal(100),
    "千": Decimal(1_000),
    "万": Decimal(10_000),
    "亿": Decimal(100_000_000),
    "百万": Decimal(1_000_000),
    "千万": Decimal(10_000_000),
    "万亿": Decimal(1_000_000_000_000),
}

MEANING: Final = re.compile(
    r"\d+|[不未没无非勿莫别]|(?:(?<=[a-z])|\b)(?:not|never|cannot|without)|n't", re.IGNORECASE
)
"""What a loose quote must have exactly: numbers and negations."""

PUNCTUATION: Final = str.maketrans(
    {"。": ".", "、": ",", "“": '"', "”": '"', "‘": "'", "’": "'", "「": '"', "」": '"'}
    | {
        "『": '"',
        "』": '"',
        "【": "[",
        "】": "]",
        "—": "-",
        "–": "-",
        "…": ".",
        "～": "~",
        "·": ".",
    }
)
"""Chinese marks and their plain forms, as far as NFKC leaves them apart."""

NO_LANGUAGE: Final = re.compile(
    r"```.*?(?:```|\Z)|`[^`\n]*`|\"[^\"\n]*\"|“[^“”]*”|「[^「」]*」|『[^『』]*』|<[^<>\n]*>"
    r"|(?<![A-Za-z0-9_./-])(?=[A-Za-z_./-]*\d)[A-Za-z0-9_./-]+",
    re.DOTALL | re.ASCII,
)
"""Parts of a text that say nothing about its language: code, quotations, tags, ids."""

MARKS: Final = " \t\r\n#*->.,:;!?()[]，。：；！？（）【】《》、"
"""What may stand before the first word of a text."""

CHINESE_GRAMMAR: Final = re.compile(
    r"[的了吗呢吧在是和与把被给我你他她它这那哪帮请]|多少|怎么|什么|如何|一下"
)

_ENGLISH = r"(?:英文|英语|english)"
_CHINESE = r"(?:中文|汉语|普通话|简体中文|chinese|mandarin)"
_EITHER = rf"(?:{_ENGLISH}|{_CHINESE})"
_ANSWERING = r"(?:回答|回复|作答|答复|答|写|输出|说明|解释|总结|告诉|介绍|给我|给出|报告|描述)"
_NO_TRANSLATION = r"(?:(?!\b(?:say|mean|called|word|spell|translate)\b)[^.?!。？！\n]){0,80}?"
WISH: Final = re.compile(
    rf"(?:用|以|使用|说|写成){_EITHER}(?:来|进行)?{_ANSWERING}|{_EITHER}(?:回答|回复|作答|输出)"
    rf"|(?:回答|回复|输出|答复|答案|结果|报告)(?:请)?(?:要|必须|需要)?(?:用|使用|写成){_EITHER}"
    rf"|请(?:使用|用|说|以){_EITHER}(?=\s*(?:$|[。，,.;；!！\s]))"
    r"|\b(?:answer|reply|respond|write|report|output|explain|summari[sz]e|describe|tell|give|speak"
    rf"|present)\b{_NO_TRANSLATION}\bin {_EITHER}\b|\buse {_EITHER}\b"
    rf"|(?:^|[.,;!?。，；！？(\n]\s*)(?:please\s+)?in {_EITHER}(?:,?\s+please)?\s*(?=$|[.,:;!)\n])"
    rf"|\bin {_EITHER},? please\b|\bplease{_NO_TRANSLATION}\bin {_EITHER}\s*[.!]?\s*$",
    re.IGNORECASE,
)
"""An explicit wish for the language of the answer."""

WISHED_ENGLISH: Final = re.compile(_ENGLISH, re.IGNORECASE)
REFUSED_WISH: Final = re.compile(
    r"(?:不要|不用|别|勿|不必|无需|don't|do not|never)\s*$", re.IGNORECASE
)
