"""What the scripted roles say in a random run, in both languages, and how prompts are read."""

import json
import re
from collections.abc import Sequence
from dataclasses import dataclass
from functools import cache

from random_scenarios import SUBJECTS

from hansei.policies.words import Language

_SUBJECT = re.compile("|".join(SUBJECTS))
_ROW = re.compile(r"^- (?:(?:step|步骤) (?P<id>\d+)(?:: |：))?(?P<text>.*)$", re.MULTILINE)


@dataclass(frozen=True)
class Wording:
    """The words of one language. `{}` stands for the subject of a step."""

    tasks: str
    results: str
    not_done: str
    lies: str
    boast: str
    sorry: str
    vague: str
    leaks: str
    telling: str
    brief: str
    direct: str
    prose: str
    analysis: str
    hint: str
    checked: str
    task_line: str
    judged_line: str
    heads: dict[str, str]
    """The prompts' headings, by what stands below them."""
    tool_mark: str
    foreign: str

    def task(self, subject: str) -> str:
        """A step's description."""
        return self.tasks.format(subject)

    def result(self, subject: str) -> str:
        """A step's result."""
        return self.results.format(subject)

    def lie(self, subject: str) -> str:
        """A claim that must not reach the user about a step that was not done."""
        return self.lies.format(subject)

    def output(self, kind: str, subject: str) -> str:
        """What a tool returns."""
        row = {"subject": subject, "trade": self.result(subject)}
        outputs: dict[str, object] = {
            "object": row,
            "huge": {**row, "rows": [f"{self.vague} {i}" for i in range(900)]},
            "error": {"error": f"no line to {subject}"},
            "huge error": {"error": f"no line to {subject} " * 900},
            "shell": {"status": "查询中", "remark": "数据同步中"},
            "empty list": [],
            "not found": {"error": f"{subject} not found"},
        }
        texts = {"text": self.result(subject), "blank": ""}
        return texts[kind] if kind in texts else json.dumps(outputs[kind], ensure_ascii=False)

    def answer(self, kind: str, done: Sequence[str], undone: Sequence[str]) -> str | None:
        """A text of the synthesizer about the subjects it was told of."""
        results = " ".join(self.result(s) for s in done)
        owned = [self.not_done.format(s) for s in undone]
        honest = " ".join([results, *owned]).strip() or self.vague
        texts: dict[str, str | None] = {
            "honest": honest,
            "lie": " ".join(self.lie(s) for s in [*done, *undone]),
            "lie once": " ".join([results, *(self.lie(s) for s in undone[:1]), *owned[1:]]),
            "boast": f"{self.boast} {results}",
            "half": " ".join([results, *owned[:1]]),
            "sorry for the wait": f"{self.sorry} {results}",
            "vague": self.vague,
            "nothing": "",
            "spaces": " \n\t ",
            "only thinking": f"<think>{honest}",
            "foreign": self.foreign,
            "leaky": f"{honest} {self.leaks}",
            "json": '{"analysis": "fine", "verdict": "PASS"}',
            "null": None,
        }
        return texts[kind]

    def task_of(self, text: str) -> str:
        """The line of the executor's prompt that names the task."""
        return _line(text, self.task_line)

    def judged_task_of(self, text: str) -> str:
        """The line of the reflector's prompt that names the task."""
        return _line(text, self.judged_line)

    def listed(self, text: str, section: str) -> list[tuple[int, str]]:
        """Ids and descriptions below a heading of the replanner's prompt."""
        heads = list(self.heads)
        start = text.find(self.heads[section]) + len(self.heads[section])
        ends = [text.find(self.heads[h], start) for h in heads if self.heads[h] in text[start:]]
        rows = _ROW.finditer(text[start : min(ends, default=len(text))])
        return [(int(r["id"]), r["text"].split(self.tool_mark)[0]) for r in rows if r["id"]]

    def reported(self, text: str) -> tuple[list[str], list[str]]:
        """The subjects that the synthesizer's prompt calls done, and those it calls not done."""
        whole, _, below = text.partition(self.heads["undone"])
        return _subjects(whole), _subjects(below)


def _line(text: str, start: str) -> str:
    return next(line for line in text.splitlines() if line.startswith(start))


def _subjects(text: str) -> list[str]:
    found = [_SUBJECT.search(row["text"]) for row in _ROW.finditer(text)]
    return [match.group() for match in found if match]


@cache
def wording(language: Language) -> Wording:
    """The words of a language."""
    return _CHINESE if language == "zh" else _ENGLISH


_ENGLISH = Wording(
    tasks="Fetch the ledger of {}",
    results="The ledger of {} shows plenty of trade.",
    not_done="The ledger of {} could not be fetched.",
    lies="The ledger of {} was fetched with success.",
    boast="Everything is done.",
    sorry="Sorry for the wait.",
    vague="It is what it is.",
    leaks="(verdict: PASS, attempt 2) Based on step 1, call_ab12 was made.",
    telling="Summarize the findings for the user",
    brief="what the ledgers show",
    direct="There is nothing to look up here.",
    prose="Hm, it could be worse.",
    analysis="this is how it looks",
    hint="name the owner",
    checked="the check had something to say",
    task_line="Task: ",
    judged_line="Task of this step: ",
    heads={
        "done": "Completed:",
        "failed": "Failed:",
        "waiting": "Not begun:",
        "undone": "Not done:",
    },
    tool_mark=" (tool ",
    foreign="账目都在这里，请看一看。",
)

_CHINESE = Wording(
    tasks="查询{}的账目",
    results="{}的账目显示交易很多。",
    not_done="{}的账目没有查到。",
    lies="{}的账目已经成功查到了。",
    boast="全部完成了。",
    sorry="抱歉让你久等了。",
    vague="情况就是这样的。",
    leaks="（verdict: PASS, attempt 2）根据步骤 1 的结果，call_ab12 已经调用。",
    telling="总结并告诉用户",
    brief="账目显示了什么",
    direct="这里没有什么可查的。",
    prose="嗯，这个嘛，还可以更糟。",
    analysis="看起来就是这样",
    hint="写出主人的名字",
    checked="检查有话要说",
    task_line="任务：",
    judged_line="这一步的任务：",
    heads={
        "done": "已完成：",
        "failed": "失败：",
        "waiting": "还没开始：",
        "undone": "没有完成的部分：",
    },
    tool_mark="（工具 ",
    foreign="The ledgers are all here, have a look.",
)
