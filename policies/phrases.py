"""Plain sentences that the rules say to users and models, in Chinese and in English."""

from hansei.policies.human_phrases import HUMAN_PHRASES
from hansei.policies.words import Language

_PHRASES: dict[str, tuple[str, str]] = {
    **HUMAN_PHRASES,
    # reasons and hints of the rules
    "tool_error": ("工具报错：{reason}", "A tool reported an error: {reason}"),
    "not_found": ("查不到数据：{reason}", "There is no such data: {reason}"),
    "shell": (
        "目前只查到“{reason}”，还没有真正的数据",
        'So far there is only "{reason}"; the data itself is not there yet',
    ),
    "empty": ("没有查到任何数据", "Nothing was found"),
    "refused": (
        "有一个调用被拒绝：{reason}",
        "A call was refused: {reason}",
    ),
    "hint_partial": (
        "只重做失败的调用 {tool}，已经成功的不要再做",
        "Only redo the failed call of {tool}; what succeeded must not be done again",
    ),
    "hint_other_tool": (
        "工具 {tool} 的调用没有成功（{reason}）：再试一次；还是不行，就在结果里写明这一点，"
        "它该给的内容不要编造",
        "The call of {tool} did not succeed ({reason}): try it once more; if it fails again, say "
        "so in the result, and make up nothing that it should have given",
    ),
    "doubtful": (
        "工具只返回了“{reason}”，不一定是要查的结果",
        'A tool only returned "{reason}", which may not be what was asked for',
    ),
    "hint_empty": ("换一种参数再查一次", "Query again with other arguments"),
    "hint_refused": (
        "只使用任务里给出的编号和数字，以及工具有的参数",
        "Use only ids and numbers that the task gives, and arguments that the tool has",
    ),
    "no_call": (
        "这一步要用工具 {tool}，但没有调用任何工具",
        "This step needs the tool {tool}, but no tool was called",
    ),
    "not_called": ("这项操作没有真正执行", "The change itself was never made"),
    "no_evidence": (
        "没有查到能作为依据的内容",
        "Nothing was found that could back it up",
    ),
    "hint_no_evidence": (
        "先用工具取得依据，再陈述结果；查不到就照实说没有查到",
        "Get evidence from a tool before you state the result; if there is none, say so",
    ),
    "no_effect": ("没有真正办成任何操作", "Nothing was really changed"),
    "hint_no_effect": (
        "用工具真正办成这件事；办不成就照实说没有办成",
        "Really do it with a tool; if that cannot be done, say so",
    ),
    "hint_no_call": ("调用工具 {tool}，再陈述结果", "Call the tool {tool}, then state the result"),
    "no_lookup": (
        "这一步涉及具体的编号，但没有调用任何工具",
        "This step is about an id, but no tool was called",
    ),
    "hint_lookup": (
        "先调用合适的工具查询，再陈述结果",
        "Look it up with a tool, then state the result",
    ),
    "other_tool": (
        "计划用 {tool}，实际没有用到它",
        "The plan named the tool {tool}, but it was not used",
    ),
    "claimed": (
        "结果说“{claim}”，但没有调用任何能做到这件事的工具",
        'The result says "{claim}", but no tool was called that could have done it',
    ),
    "hint_claimed": (
        "调用能做到这件事的工具；做不到就如实说没有做",
        "Call the tool that does it, or say plainly that it was not done",
    ),
    "blank": ("结果是空的", "The result is empty"),
    "recites": (
        "这里重复了给模型的说明（“{words}”），不是结果",
        'This repeats the instructions to the model ("{words}") and is no result',
    ),
    "hint_recites": (
        "只写内容本身，不要重复任务、说明或给出的格式",
        "Write only the content itself; repeat neither the task nor the instructions",
    ),
    "cut": ("结果在中途被截断", "The result was cut off in the middle"),
    "hint_cut": ("写得更短，只写结果", "Be shorter and state only the result"),
    "ungrounded": (
        "结果里的编号 {ids} 在依据里找不到",
        "The result names {ids}, which no evidence shows",
    ),
    "field_missing": ("缺少必需的字段 {field}", "The required field {field} is missing"),
    "check_broke": (
        "检查 {check} 没能运行（{reason}）",
        "The check {check} could not run ({reason})",
    ),
    # conditions
    "condition_missing": (
        "没有考虑用户的条件“{quote}”",
        'The user\'s condition "{quote}" is not dealt with',
    ),
    "hint_condition": (
        "第一句就针对“{quote}”给出明确的建议，原样写出这句话，并说明与它最相关的理由",
        'Begin with a clear recommendation for "{quote}", in these words, and the reason that '
        "matters most for it",
    ),
    "hint_situation": (
        "针对“{quote}”写明依据里有什么，原样写出这个词；依据里没有，就写没有查到",
        'Say what the evidence holds about "{quote}", in these words; if it holds nothing, say so',
    ),
    "hint_limit": (
        "写出与“{quote}”对应的数值，只列出符合它的",
        'State the figure that "{quote}" is about, and name only what keeps it',
    ),
    "hint_exclusion": (
        "按用户的要求“{quote}”去掉相应的内容",
        'Leave out what the user does not want: "{quote}"',
    ),
    "hint_named": (
        "写明“{quote}”查到了什么，原样写出它；没有查到就照实说",
        'Say what was found for "{quote}", written as it stands; if nothing was, say so',
    ),
    "condition_broken": (
        "违反了用户的条件“{quote}”：{found}",
        'The user\'s condition "{quote}" is broken: {found}',
    ),
    "hint_broken": ("结果必须满足“{quote}”", 'The result must keep "{quote}"'),
    # faults of an attempt
    "fault_endpoint": ("模型服务出错：{reason}", "The model endpoint failed: {reason}"),
    "fault_exception": ("执行时出现异常：{reason}", "An exception ended the step: {reason}"),
    "fault_empty_reply": ("模型没有给出任何内容（empty reply）", "The model gave an empty reply"),
    "fault_only_calls": (
        "模型一直在调用工具，没有给出结果",
        "The model kept calling tools and never stated a result",
    ),
    "fault_crashes": (
        "这一步的工具 {calls} 已经 {times} 次使程序中断，不再重试",
        "The tools of this step, {calls}, have ended the process {times} times and are not run "
        "again",
    ),
    "fault_unknown": (
        "程序在执行 {reason} 时中断，不知道它有没有成功",
        "The process was stopped during {reason}, and nobody knows whether it went through",
    ),
    "waits": ("需要你来回答：{question}", "The run waits for your answer: {question}"),
    "needs_human": (
        "需要人工核实：{reason}。核实之前不会重复执行。",
        "This needs a human: {reason}. It is not done again until somebody has looked.",
    ),
    "fault_budget": ("预算已用完：{reason}", "The budget is used up: {reason}"),
    # the budget that is used up; the setting's name stands in it, so that one knows what to raise
    "budget_call_budget": (
        "模型调用次数的上限 {limit} 已经用完",
        "the limit on model calls, {limit}, is used up",
    ),
    "budget_token_budget": (
        "词元的上限 {limit} 已经用完",
        "the limit on tokens, {limit}, is used up",
    ),
    "budget_deadline": (
        "运行时间的上限 {limit} 已经用完",
        "the limit on the time of a run, {limit}, is used up",
    ),
    # verdicts without a verdict
    "reflector_down": ("反思模型不可用：{reason}", "The reflector is not available: {reason}"),
    "reflector_unreadable": (
        "反思模型的回复无法读取：{reason}",
        "The reflector's reply could not be read: {reason}",
    ),
    "unmet_unknown": (
        "反思模型认为有要求没有满足：对照任务逐项检查结果",
        "The reflector found a requirement unmet: go through the task point by point",
    ),
    "quote_missing": (
        "反思模型引用的话在结果里找不到",
        "The reflector vouched with words that are not in the result",
    ),
    "evaluator_unknown": (
        "有检查没能运行，结果无人担保",
        "A check could not run, so nobody vouches for the result",
    ),
    "replan_left_out": (
        "重新规划时去掉了这一步",
        "A new plan left this step out",
    ),
    "too_long": (
        "计划超过了 {limit} 步的上限",
        "The plan was longer than the limit of {limit} steps",
    ),
    "depends_on_failed": (
        "它所依赖的一步没有完成：{steps}",
        "A step it depends on was not done: {steps}",
    ),
    "planner_unreadable": (
        "没有得到可用的计划：{reason}。请换一种说法，或换一个模型再试",
        "No usable plan was made: {reason}. Put the goal differently, or try another model",
    ),
    # the answer
    "not_done": ("没有完成：{step}。原因：{reason}。", "Not done: {step}. Reason: {reason}."),
    "not_done_given_up": (
        "没有完成：{step}。",
        "Not done: {step}.",
    ),
    "unverified": (
        "注意：以下内容没有得到核对：{steps}。",
        "Note: nobody has verified this part: {steps}.",
    ),
    "answer_unverified": (
        "注意：这份回答没有通过核对。",
        "Note: this answer was not verified.",
    ),
    "not_reviewed": (
        "（按设置没有核对：以上结果未经反思确认。）",
        "(Not reviewed, by your settings: nothing above was confirmed by a look back.)",
    ),
    "parts_not_reviewed": (
        "（按设置没有反思：{parts}。）",
        "(By your settings nobody looked back at: {parts}.)",
    ),
    "answer_itself": ("回答本身", "the answer itself"),
    "direct": (
        "（这是模型直接给出的回答：没有查询，也没有核对。）",
        "(Answered by the model straight away: nothing was looked up or checked.)",
    ),
    "nothing_to_check": ("没有需要核对的内容", "nothing to check"),
    "nothing_done": (
        "很抱歉，这件事没有办成。",
        "Sorry, this could not be done.",
    ),
    "not_confirmed": (
        "没有得到确认：{step}。原因：{reason}。",
        "Not confirmed: {step}. Reason: {reason}.",
    ),
    "not_confirmed_given_up": ("没有得到确认：{step}。", "Not confirmed: {step}."),
    "carried_out": (
        "注意：这项操作已经执行过，只是结果没有得到确认：{calls}。再试之前请先核实，以免重复。",
        "Note: this was carried out, although its outcome was not confirmed: {calls}. "
        "Check it before you try again, or it may happen twice.",
    ),
    "maybe_carried_out": (
        "注意：这项操作可能已经生效，但没有得到确认：{calls}。再试之前请先核实，以免重复。",
        "Note: this may have gone through, although nothing confirms it: {calls}. "
        "Check it before you try again, or it may happen twice.",
    ),
    "but_carried_out": (
        "{reason}；但这项操作已经执行：{calls}",
        "{reason}; but this was carried out: {calls}",
    ),
    "what_now": (
        "建议核对所给的信息，或稍后再试。",
        "Please check the details you gave, or try again later.",
    ),
    "exhausted": (
        "运行因预算用完而提前结束（{reason}）。",
        "The run ended early because its budget was used up ({reason}).",
    ),
    "hello": ("你好！有什么可以帮你的吗？", "Hello! What can I do for you?"),
    "step_done": ("{result}", "{result}"),
    "disclose": (
        "没有说明这一部分没有完成：{step}（{reason}）",
        "The answer hides that this part was not done: {step} ({reason})",
    ),
    "hint_disclose": (
        "明确告诉用户这一部分没有完成以及原因：{step}（{reason}）；不要声称它已完成",
        "Tell the user plainly that this was not done, and why: {step} ({reason}); "
        "do not claim that it was",
    ),
    "uncovered": (
        "没有提到已完成的一步的关键事实：{step}",
        "The key facts of a completed step are left out: {step}",
    ),
    "hint_uncovered": (
        "把这一步的结果写进回答：{step}",
        "Put the result of this step into the answer: {step}",
    ),
    "denied": (
        "回答说没有办成，但记录显示已经完成：{step}（{result}）",
        "The answer says that this was not done, but the records show that it was: {step} "
        "({result})",
    ),
    "hint_denied": (
        "如实写明这一步已经完成，不要让用户再做一次：{step}（{result}）",
        "Say that this was done, and do not ask for it again: {step} ({result})",
    ),
    "no_record": (
        "注意：没有任何记录支持这句话：“{claim}”",
        'Note: nothing on record bears this out: "{claim}"',
    ),
    "hint_no_record": (
        "去掉没有依据的内容，只写真正做过、查到的事：“{claim}”",
        'Leave out what no result bears out, and tell only what was done and found: "{claim}"',
    ),
    "wrong_language": ("回答的语言不对", "The answer is in the wrong language"),
    "hint_language": ("用中文回答", "Answer in English"),
    "after_partial_work": (
        "{reason}；工具最后返回：{output}",
        "{reason}; the tools last returned: {output}",
    ),
}


def say(key: str, language: Language, **values: str) -> str:
    """The phrase `key` in `language`, filled with `values`.

    Raises:
        KeyError: The phrase or one of its values does not exist; that is a bug of ours.
    """
    chinese, english = _PHRASES[key]
    return (chinese if language == "zh" else english).format(**values)


def phrase_keys() -> frozenset[str]:
    """Every phrase there is, for the test that both languages take the same values."""
    return frozenset(_PHRASES)
