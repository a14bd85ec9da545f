"""Phrases about what people decide in a run; `say` in phrases finds them like all others."""

HUMAN_PHRASES: dict[str, tuple[str, str]] = {
    "human_replan": (
        "人工判定：这一步要换一种做法",
        "A human decided that this must be done differently",
    ),
    "human_rewrite": (
        "人工判定：回答要重写",
        "A human decided that the answer must be written anew",
    ),
    "may_plan": (
        "这个计划可以执行吗？\n{steps}\n回答 approve，或 reject: 原因。",
        "May this plan be carried out?\n{steps}\nAnswer approve, or reject: why.",
    ),
    "may_replan": (
        "有步骤失败了。可以改做下面的步骤吗？\n{steps}\n回答 approve，或 reject: 原因。",
        "A step has failed. May these take its place?\n{steps}\nAnswer approve, or reject: why.",
    ),
    "may_call": (
        "为了“{step}”，可以执行下面的调用吗？\n{calls}\n回答 approve，或 reject: 原因。",
        'For "{step}", may these calls be made?\n{calls}\nAnswer approve, or reject: why.',
    ),
    "asked_again": (
        "上一个回答不能用：{problem}",
        "The last answer cannot be used: {problem}",
    ),
    "decision_unknown": (
        "请回答 approve、reject: 原因，或 JSON 形式的 decisions",
        "answer approve, reject: why, or decisions as JSON",
    ),
    "decision_field": ("步骤没有字段 {name}", "a step has no field {name}"),
    "decision_count": (
        "一共问了 {asked} 件事，回答里有 {given} 个决定",
        "{asked} things were asked, and the answer decides {given}",
    ),
    "decision_args": (
        "工具 {tool} 不接受这些参数：{args}",
        "the tool {tool} does not take these arguments: {args}",
    ),
    "decision_tool": (
        "问的是 {tool}，不能改成别的工具 {other}",
        "{tool} was asked about, and it cannot become another tool, {other}",
    ),
    "decision_steps": (
        "修改后的计划不能用：{problem}",
        "the edited plan cannot be used: {problem}",
    ),
    "decision_wrong_kind": (
        "修改计划要给 steps，修改调用要给 args",
        "an edit of a plan has steps, and one of a call has args",
    ),
    "rejected": ("用户没有同意", "A human did not allow it"),
    "rejected_because": ("用户没有同意：{reason}", "A human did not allow it: {reason}"),
}
"""Each phrase in Chinese and in English."""
