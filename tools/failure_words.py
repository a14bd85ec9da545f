"""The texts by which tools say in plain words that a call failed, Chinese and English."""

import re
from typing import Final

APOLOGY: Final = re.compile(
    r"^(?:[❌✗×⚠\ufe0f\s]|(?:很?抱歉|对不起|不好意思|sorry)[，,\s])+", re.IGNORECASE
)
"""What stands before a report and says nothing itself."""

FAILED_STATE: Final = re.compile(
    r"(?:failed|failure|[\u4e00-\u9fff]{0,4}失败)[\s.。!！]*", re.IGNORECASE
)
"""A whole text that is the state of a thing as well as a failed call."""

ERROR_TEXT: Final = re.compile(
    r"(?:(?i:(?:fatal |api |internal |tool |unexpected )?error|exception|fatal|failed)\s*[:：]"
    r"|(?i:https?(?: error)?(?: status)?(?: code)?) [45]\d\d\s*[:：-]"
    r"|<(?:async_)?generator object \S+ at 0x|<coroutine object \S+ at 0x"
    r"|<[\w.]+(?: [\w.<>-]+){0,8} at 0x[0-9a-fA-F]+[^\n]{0,200}>\Z"
    r"|<\w*Response \[\d{3}[^\]\n]{0,40}\]>\Z|(?:\[object \w+\][\s,]*)+\Z"
    r"|ERROR\b|-ERR\b|Traceback\b|[\[【](?i:error|fatal|错误)[\]】]|Exception in thread\b"
    r"|(?i:<(?:\?xml[^>]{0,80}>\s*<)?errors?\b"
    r"|<(?:!doctype html|html)\b.{0,600}?<title>\s*[45]\d\d\b)"
    r"|[A-Z]\w*(?:Error|Exception)\s*[:：]|(?:错误|失败|异常|出错|报错|调用失败|查询失败)\s*[:：])",
    re.DOTALL,
)
"""The first words of a failure, however long it is."""

SAYS_WHAT_IT_IS: Final = re.compile(
    r"[^.。\n]{0,80}?(?:(?:\bis|\bwas|[:：]) (?:an?|the) (?:[\w'’,-]+ ){0,6}?(?:film|movie|novel"
    r"|book|album|song|series|band|game|play|comic|story|magazine|podcast)\b"
    r"|是.{0,20}?(?:电影|影片|小说|专辑|歌曲|漫画|电视剧|剧集|游戏|乐队))",
    re.IGNORECASE,
)
"""Behind a first word "Error:" the description of a work of that name, not a failure."""

_THING_ZH = r"(?:订单|物流|商品|用户|数据|信息|结果)*"
_CALLED_ZH = (
    r"(?:操作|查询|请求|调用|获取|连接|加载|访问|执行|读取|检索|搜索|更新|写入|保存|提交|发送|下载"
    r"|上传|登录|认证|鉴权|验证|解析|处理|服务器?|系统|网络|接口|数据库|工具)"
)
_WENT_WRONG_ZH = (
    r"(?:失败了?|出错了?|异常|超时|繁忙|错误|不可用|暂不可用|暂时不可用|出现(?:错误|异常))"
)
_HTTP = (
    r"(?:unauthori[sz]ed|forbidden|bad request|internal server error|bad gateway"
    r"|service (?:temporarily )?unavailable|gateway time-?out|too many requests)"
)
_HTTP_WITH_CODE = (
    rf"(?:{_HTTP}|payment required|method not allowed|not acceptable|request time-?out|conflict"
    r"|gone|unprocessable (?:entity|content)|not implemented)"
)
_DOER = (
    r"(?:request|operation|query|call|connection|search|lookup|authentication|login|upload"
    r"|download|server|service|api|tool)"
)

_REPORTS = (
    rf"{_THING_ZH}{_CALLED_ZH}{{1,3}}(?:返回|发生)?{_WENT_WRONG_ZH}",
    r"(?:退款|取消|支付|付款|下单|预订|预定|修改|删除|创建|添加|转账|充值|催单|发货)失败(?=[:：，,])",
    r"(?:参数|请求|令牌|密钥|签名)(?:错误|无效|非法|过期|已过期|不合法|缺失)",
    r"(?:没有|无|缺少)(?:访问|操作|查询)?权限(?:(?:访问|查询|操作)\S{0,8})?",
    r"权限不足|无权(?:访问|操作|查询)|拒绝访问|访问被拒绝?|未授权|未登录|请先登录|请求过于频繁",
    r"请求次数超限|内部错误|未知错误",
    rf"(?:https?(?:/[\d.]+)? )?(?:error )?[45]\d\d:? {_HTTP_WITH_CODE}",
    r"(?:http|status)(?: error)?(?: code)?:? [45]\d\d",
    r"(?:the |your )?(?:access|permission|authori[sz]ation) (?:was |is )?denied",
    rf"(?:the |your )?{_DOER}(?: call| request| is| was| has| temporarily| currently)*"
    r" (?:failed|timed out|time-?out|refused|reset|rejected|aborted|not permitted|not allowed"
    r"|unavailable|down|error)(?: by \w+)?",
    r"(?:rate limit|quota)(?: was| has been| is)? (?:exceeded|reached)",
    r"(?:invalid|expired|missing) (?:api key|access token|token|credentials?|arguments?"
    r"|parameters?|request)",
    r"something went wrong|an? (?:\w+ )?error (?:has )?occurred\b[^.]{0,40}?|rate limited",
    r"timed out (?:waiting for|(?:while|when) \w+ing)\b[^.,:;]{0,60}",
    r"no permission(?: to [\w ]{1,30})?|(?:exit|error) code [1-9]\d*",
    r"(?:failed|unable|could not|cannot|can't) (?:to )?(?:connect|fetch|load|retrieve|reach"
    r"|authenticate|execute|complete the request)\b[^.,:;]*",
)
"""Each with room for what follows: a reason, or what to do."""

_BARE_WORDS = (
    r"(?:timed out|time-?out)"
    r"(?: after [\d.,]+ ?(?:ms|s|secs?|min|(?:millisecond|second|minute)s?))?"
    r"|超时(?:\s*[（(]?\s*\d+\s*(?:毫秒|秒|分钟|ms|s)\s*[)）]?)?"
    rf"|err|errors?|internal error|{_HTTP}"
)
"""Alone, or before a colon; before anything else they may be part of a sentence."""

FAILED_TEXT: Final = re.compile(
    rf"(?:{'|'.join(_REPORTS)})(?:[\s.。!！]*|\s*[,，;；:：.。!！(（-].*)"
    rf"|(?:{_BARE_WORDS})(?:[\s.。!！]*|\s*[:：].*)",
    re.IGNORECASE | re.DOTALL,
)
"""A short text that is nothing but the report of a failed call."""


def tells_failure(text: str, *, short: int) -> bool:
    """Says whether a text is the report of a failed call.

    Args:
        text: The text, without spaces around it.
        short: Characters below which the whole text is looked at, not only how it starts.
    """
    start = ERROR_TEXT.match(text)
    if start is not None:
        return not SAYS_WHAT_IT_IS.match(text)
    if len(text) >= short or not FAILED_TEXT.fullmatch(text):
        return False
    return not SAYS_WHAT_IT_IS.match(text)
