"""The field names and phrases by which tools say how a call went, Chinese and English."""

import re
from typing import Final

SHORT_TEXT: Final = 80
"""Characters of a text that can be nothing but "no rows" or "syncing, try later"."""

ERROR_KEYS: Final = (
    *("error", "errors", "错误", "err", "error_message", "error_msg", "errormessage"),
    *("errmsg", "err_msg", "错误信息", "报错"),
)
CODE_MESSAGE_KEYS: Final = (
    *("message", "msg", "error_message", "error_msg", "errormessage", "errmsg", "err_msg"),
    *("消息", "错误信息"),
)
"""Beside a code these tell how the call went; a description tells what the code's thing is."""

ERROR_CODE_KEYS: Final = ("errcode", "err_code", "errorcode", "error_code", "errno", "错误码")
CODE_KEYS: Final = (
    *("code", "ret", "retcode", "ret_code", "result_code", "resultcode", "return_code"),
    *("status_code", "statuscode"),
)
"""Fields whose code may also be a product's or a country's."""

FAULT_KEYS: Final = (
    *("exception", "traceback", "stacktrace", "stack_trace", "faultstring", "faultcode"),
)
"""Fields that tell of a failure where nothing is told beside them; else they may be content."""

FAILED_CODE: Final = re.compile(
    r"(?:\w*[_.])?(?:err|error|fail|failed|failure|denied|invalid|not_?found|unauthori[sz]ed"
    r"|forbidden|time_?out|unavailable|exception)(?:[_.]\w*)?|err(?:or)?[_-]?\d+"
    r"|\w*(?-i:[Ee]rror|Failure|Failed|Exception|Denied|NotFound|Timeout|Unauthorized)",
    re.IGNORECASE,
)
"""A code that says by itself that a call failed."""

SUCCESS_KEYS: Final = ("success", "ok", "succeeded", "is_success", "issuccess")
FAILED_COUNT_KEYS: Final = ("failed", "failures", "failed_count", "error_count", "失败数")
FAILED_FLAGS: Final = ("failed", "is_failed", "isfailed", "失败")
GOOD_COUNT_KEYS: Final = (
    *("sent", "succeeded", "success_count", "successful", "done", "updated", "created", "成功数"),
)
"""How many went well: none beside failures is a failed call."""

HTTP_KEYS: Final = ("status_code", "statuscode", "http_status", "httpstatus", "status")
STATUS_KEYS: Final = ("status", "state", "状态")
REMARK_KEYS: Final = (
    "message",
    "msg",
    "error_message",
    "error_msg",
    "errormessage",
    "errmsg",
    "err_msg",
    "错误信息",
    "detail",
    "details",
    "reason",
    "description",
    "remark",
    "remarks",
    "note",
    "notes",
    "hint",
    "tip",
    "备注",
    "说明",
    "提示",
    "消息",
    "原因",
)
WRAPPER_KEYS: Final = ("data", "result", "数据", "结果")
CONTAINER_KEYS: Final = (
    "results",
    "result",
    "data",
    "items",
    "rows",
    "records",
    "list",
    "结果",
    "数据",
    "列表",
    "记录",
)
COUNT_KEYS: Final = frozenset(
    {"count", "total", "total_count", "size", "progress", "percent", "数量", "总数", "进度"}
)
"""Numbers that are zero when there is nothing yet."""

CONTENT_KEYS: Final = frozenset(
    {"answer", "summary", "content", "text", "body", "title", "value", "摘要", "内容", "答案"}
)
"""Short texts under these names are results, not what was asked repeated."""

SILENT_KEYS: Final = frozenset(
    {
        *SUCCESS_KEYS,
        *ERROR_KEYS,
        *ERROR_CODE_KEYS,
        *CODE_KEYS,
        *FAULT_KEYS,
        *("found", "http_status", "httpstatus", "is_error"),
        *("iserror", "page", "page_size", "pagesize", "limit", "offset", "took", "took_ms"),
        *("elapsed", "elapsed_ms", "duration_ms", "timestamp", "has_more", "next", "cursor"),
        *("query_time", "查询时间", "更新时间", "updated_at", "version"),
    }
)
"""Fields that tell about the call and not about what was asked for."""

ENVELOPE_KEYS: Final = frozenset(
    {
        *SILENT_KEYS,
        *REMARK_KEYS,
        *WRAPPER_KEYS,
        *STATUS_KEYS,
        *("request_id", "requestid", "trace_id", "traceid", "rid", "path", "url", "type"),
        *("error_type", "error_subcode", "fbtrace_id", "doc_url", "help_url", "retry_after"),
    }
)
"""Fields of a wrapper around the data proper."""

ECHO_KEY: Final = re.compile(
    r"(?:.*[_-])?(?:ids?|no|num|number|query|q|keyword|keywords|sku|key)"
    r"|.*(?:单号|编号|号码|查询|关键词|关键字)|(?:order|tracking)_?(?:id|no|number)?",
    re.IGNORECASE,
)
"""Names of fields that usually repeat what the caller passed in."""

YES: Final = frozenset({"true", "yes", "y", "是"})
NO: Final = frozenset({"false", "no", "n", "fail", "failed", "否", "失败"})
NO_ERROR: Final = re.compile(
    r"(?:none|null|nil|false|no|no errors?|n/?a|0+|ok|okay|success|successful|succeeded"
    r"|无|没有|无错误|没有错误|正常|(?:查询|操作|请求|调用)?成功)?[\s.。!！]*",
    re.IGNORECASE,
)
GOOD_CODE: Final = re.compile(r"(?:0+|2\d\d|20+|ok|success|succeeded|成功)?", re.IGNORECASE)
"""Codes that say all went well: 0, 200, 20000, OK."""

BAD_CODE: Final = re.compile(
    r"-?\d+|[A-Za-z]\d{3,}|[\w.]*(?:err|error|fail(?:ed|ure)?|denied|invalid|not_?found|missing"
    r"|unauthori[sz]ed|forbidden|timeout|exceeded|unavailable|limited|exception)[\w.]*",
    re.IGNORECASE,
)
SAYS_DONE: Final = re.compile(
    r"^(?!.*(?:失败|[未没不]|错误|\b(?:not|no|fail\w*|error|invalid|denied|cannot|unable)\b))"
    r".*(?:成功|已\w|完成|\b(?:ok|okay|success\w*|sent|done|created|saved|updated|deleted"
    r"|completed?|accepted|succeeded)\b)",
    re.IGNORECASE | re.DOTALL,
)
"""A message that says all went well, whatever the code beside it."""
BLANK: Final = re.compile(
    r"(?:none|null|nil|n/?a|<na>|unknown|undefined|(?-i:nan|NaN|NaT)|[-—–/.…]+"
    r"|无|暂无|未知|待更新|待定)?",
    re.IGNORECASE,
)
ERROR_STATUS: Final = re.compile(
    r"err|errors?|failed|failure|fail|exception|失败|错误|异常|出错|调用失败|查询失败|请求失败",
    re.IGNORECASE,
)
TIMEOUT_STATUS: Final = re.compile(
    r"(?:time|timed)[ _-]?out|(?:请求|查询|连接|调用)?超时", re.IGNORECASE
)
REFUSED_STATE: Final = re.compile(
    r"(?:rejected|denied|refused|declined|(?:已|被|已被)?(?:拒绝|驳回))[\s.。!！]*", re.IGNORECASE
)
"""What happened to a request, or to the call: only looked at twice."""

SPEAKS_OF_IT: Final = re.compile(
    r"(?:is|was|are|were|means?|would|will|can|and|or)\b|[是表说意即和或]", re.IGNORECASE
)
"""Words behind a piece of JSON that make a sentence about it."""

GOOD_STATUS: Final = re.compile(
    r"ok|okay|success|successful|succeeded|200|成功|正常|查询成功|操作成功|请求成功", re.IGNORECASE
)
NOT_FOUND: Final = re.compile(
    r"不存在|未找到|找不到|没有找到|没找到|查无|未查到|查不到|无此"
    r"|(?:\b|_)not[ _]?found(?:\b|_)|\bno such\b"
    r"|\bdoes(?: not|n't) exist\b|\bunknown (?:order|id|user|item)\b",
    re.IGNORECASE,
)
NOT_FOUND_STATUS: Final = re.compile(
    r"not[ _-]?found|missing|不存在|未找到|没有找到|找不到|查无.{0,8}|无此.{0,8}", re.IGNORECASE
)

_FETCHING = r"查询|同步|加载|获取|检索|刷新|拉取|读取"
_WAIT_ZH = r"(?:[，,;；。.\s…]*请?(?:您)?(?:稍后|稍候|稍等|耐心等待|等待)[^，,。；;]{0,10})?"
_DOTS = r"[\s.…。!！~～]*"
_ON_ITS_WAY_ZH = re.compile(
    rf"(?:(?!.*(?:已|未|不))\w{{0,12}}?(?:正在|还在|仍在)?(?:{_FETCHING})中"
    rf"|(?:系统|数据)?(?:正在|还在|仍在)(?:{_FETCHING})[^，,。；;已未不]{{0,12}}?){_WAIT_ZH}{_DOTS}"
)
_FETCHING_EN = (
    r"(?:querying|syncing|synchroni[sz]ing|loading|fetching|refreshing|retrieving|sync in progress)"
)
_WAIT_EN = (
    r"(?:[\s,;.:…-]*(?:please|try|wait|check|come|back|again|later|soon|in|a|few|moments?"
    r"|minutes?|shortly|and)\b)*"
)
_ON_ITS_WAY_EN = re.compile(
    rf"(?:[\w #-]{{0,40}}\b(?:is|are|still|currently|being)\s+)?{_FETCHING_EN}"
    r"(?:\s+(?:the|your|order|orders|data|info|information|status|results?|details|records?))*"
    rf"{_WAIT_EN}{_DOTS}",
    re.IGNORECASE,
)
AMBIGUOUS_STATUS: Final = re.compile(
    r"(?:pending|processing|in[ _-]?progress|queued|waiting|running|scheduled|submitted"
    r"|处理中|待处理|排队中|等待中|进行中|请稍候|请稍后)"
    rf"(?:{_WAIT_EN}|{_WAIT_ZH}){_DOTS}",
    re.IGNORECASE,
)
REAL_STATE: Final = re.compile(
    r"(?:processing|in[ _-]?progress|queued|running|scheduled|submitted|处理中|排队中|进行中)"
    rf"{_DOTS}",
    re.IGNORECASE,
)
"""Those of them that an order or a job can really be in: only looked at twice."""

COME_BACK: Final = re.compile(
    rf"(?:{_FETCHING})中(?!心|国|文|央|间|学)|正在(?:{_FETCHING})|(?:稍后|稍候|稍等).{{0,4}}(?:再|重)?"
    r"|\btry again (?:later|soon|in)\b|\bcheck back\b|\btry later\b"
    r"|\b(?:is|are|still|being|currently) (?:syncing|synced|loading|fetching|refreshing|querying)\b"
    r"|^(?:syncing|loading|fetching|refreshing|querying)\b",
    re.IGNORECASE,
)

_THING_EN = r"rows?|results?|records?|matches|match|data|items?|entries|hits|documents?|files?"
_THING_ZH = r"数据|结果|记录|内容|信息|匹配项|商品|订单|物流|文件"
NOTHING_TEXT: Final = re.compile(
    rf"(?:none|null|nil|undefined|(?-i:nan|NaN|NaT)|<na>|[-—–…?？]+|\.{{3,}}|\(\)"
    rf"|(?:set|dict|list|tuple)\(\)|\[\]|\{{\}}|n/?a|empty|nothing(?: was)?(?: found)?"
    rf"|(?:no|0|zero)(?: (?:matching|relevant|such))? (?:{_THING_EN})"
    r"(?: (?:found|were found|was found|available|returned))?"
    rf"|(?:暂|目前)?(?:没有|无)(?:任何|相关|符合条件的|匹配的)*(?:{_THING_ZH})"
    rf"|(?:没有|没|未)(?:找到|查到|查询到)(?:任何|相关|符合条件的|匹配的)*(?:{_THING_ZH})"
    r"|无|空|暂无)[\s.。!！]*",
    re.IGNORECASE,
)
NOT_FOUND_TEXT: Final = re.compile(
    r"(?:(?:the )?(?:order|record|user|item|product|file|page|resource|id|key|city)?"
    r"[\s#:]*(?:[\w./-]*\d[\w./-]*)?\s*(?:was |is |could |)(?:not (?:be )?found)|404 not found"
    r"|no such (?:order|record|user|item|product|file|page|resource|city)[\w\s.:#-]{0,30}"
    r"|(?:该|此)?(?:订单|单号|记录|用户|商品|文件|页面|快递|物流)号?[\s#:：]*[A-Za-z0-9_-]*\s*"
    r"(?:不存在|未找到|找不到|没有找到)"
    r"|查无此?[\u4e00-\u9fff]{0,6}"
    r"|(?:未找到|找不到|没有找到)(?:该|此|这个)?(?:订单|单号|记录|用户|商品|文件|页面|快递)号?"
    r"[\s#:：]*[A-Za-z0-9_-]*)[\s.。!！]*",
    re.IGNORECASE,
)


def is_on_its_way(text: str) -> bool:
    """Says whether a short text is nothing but "syncing", "查询中，请稍后再试" and the like."""
    if len(text) >= SHORT_TEXT:
        return False
    return bool(_ON_ITS_WAY_ZH.fullmatch(text) or _ON_ITS_WAY_EN.fullmatch(text))
