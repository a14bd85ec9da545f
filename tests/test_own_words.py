"""What hansei noted in English does not get into a Chinese answer."""

from __future__ import annotations

import ast
import re
from collections.abc import Iterator

import pytest
from broken_runs import calls, made, ran, scripted
from pydantic import BaseModel
from scripted_replies import Entry, Reply, error, plan
from tree import ROOT

from hansei.policies.language import language_of
from hansei.policies.own_words import in_language
from hansei.policies.reading import Unreadable, read_object
from hansei.policies.words import Verdict

NOTED_BY = {"Unreadable", "_outcome", "settled", "Failure", "_RefusedValueError", "ToolReply"}
NOTED_AS = {"refusal", "invalid", "told", "output", "_TOO_MUCH", "_PART"}
FILES = [
    *(ROOT / "policies" / f"{name}.py" for name in ("reading", "json_scan", "rounds", "lint")),
    *(ROOT / "nodes" / f"{name}.py" for name in ("failures", "models", "kit", "tool_runner")),
    ROOT / "nodes" / "call_record.py",
    ROOT / "tools" / "outcome.py",
]


def _texts(node: ast.AST) -> Iterator[str]:
    """The phrases in a piece of code, with something in the place of each value."""
    if isinstance(node, ast.Constant) and isinstance(node.value, str):
        yield node.value
    elif isinstance(node, ast.JoinedStr):
        yield "".join(
            str(part.value) if isinstance(part, ast.Constant) else "x1"
            for part in node.values
            if isinstance(part, ast.Constant | ast.FormattedValue)
        )
    else:
        for child in ast.iter_child_nodes(node):
            yield from _texts(child)


def _notes() -> Iterator[str]:
    for path in FILES:
        for node in ast.walk(ast.parse(path.read_text(encoding="utf-8"))):
            if isinstance(node, ast.Call) and getattr(node.func, "id", "") in NOTED_BY:
                yield from _texts(node)
            elif isinstance(node, ast.keyword) and node.arg in NOTED_AS:
                yield from _texts(node.value)
            elif isinstance(node, ast.Assign | ast.AnnAssign) and node.value is not None:
                names = {getattr(name, "id", "") for name in ast.walk(node)}
                yield from _texts(node.value) if names & NOTED_AS else ()
            elif isinstance(node, ast.FunctionDef) and node.name.startswith(("lint", "_lint")):
                for inner in node.body[1:]:
                    yield from _texts(inner)
    lint = ast.parse((ROOT / "policies" / "lint.py").read_text(encoding="utf-8"))
    for node in ast.walk(lint):
        if isinstance(node, ast.Return) and isinstance(node.value, ast.Constant):
            yield from _texts(node.value)


NOTES = sorted({text for text in _notes() if re.search(r"[a-z] [a-z]", text)})


def test_there_are_notes() -> None:
    assert len(NOTES) > 35


@pytest.mark.parametrize("note", NOTES)
def test_every_note_has_its_chinese(note: str) -> None:
    assert in_language(note, "en") == note
    told = in_language(note, "zh")
    assert language_of(told) == "zh"
    assert not re.search(r"[a-z]{2,} [a-z]{2,}", told)
    assert told.count("x1") == note.count("x1")


@pytest.mark.parametrize("said", ["Error: no line", "数据库出错", "not run", ""])
def test_what_others_say_stays_as_it_is(said: str) -> None:
    assert in_language(said, "zh") == said


class _Reply(BaseModel):
    verdict: Verdict
    quote: str
    ok: bool


@pytest.mark.parametrize(
    ("text", "told"),
    [
        ('{"quote": "x", "ok": true}', "字段不符合要求：缺少 verdict"),
        (
            '{"verdict": "YES", "quote": "x", "ok": true}',
            "字段不符合要求：verdict 只能是 'PASS'、'RETRY' 或 'REPLAN'",
        ),
        ('{"verdict": "PASS", "quote": 1, "ok": true}', "字段不符合要求：quote 应为文本"),
        (
            '{"verdict": "PASS", "quote": "x", "ok": []}',
            "字段不符合要求：ok 应为 true 或 false",
        ),
    ],
)
def test_a_field_that_does_not_fit_is_told_in_chinese(text: str, told: str) -> None:
    reply = read_object(text, _Reply)
    assert isinstance(reply, Unreadable)
    assert in_language(reply.reason, "zh") == told


def lookup(order_id: str) -> str:
    """Looks something up."""
    return ""


STEP = plan({"description": "查询订单 10001 的状态", "tool": "lookup"})
GUESS = calls(("lookup", {"order_id": "77777"}))
WRONG = calls(("lookup", {}))
OTHER = calls(("search", {"order_id": "10001"}))
PROSE = "我先想一想怎么做。"


@pytest.mark.parametrize(
    ("planner", "executor"),
    [
        (PROSE, "x"),
        ('{"analysis": "x"}', "x"),
        (STEP, [GUESS] * 9),
        (STEP, [WRONG] * 9),
        (STEP, [OTHER] * 9),
        (STEP, [error(503)] * 9),
        (STEP, [calls(("lookup", {"order_id": "10001"}))] * 9),
        (STEP, [GUESS, "没有查到"] * 4),
        (STEP, [WRONG, "没有查到"] * 4),
        (STEP, [OTHER, "没有查到"] * 4),
        (STEP, [Reply(fail_with=TimeoutError())] * 9),
        (STEP, [Reply(fail_with=ConnectionError())] * 9),
    ],
)
def test_a_chinese_answer_has_no_english_note(
    planner: Entry, executor: Entry | list[Entry]
) -> None:
    model = scripted(planner, executor, answer="很抱歉，没有办成。")
    state = ran(model, [made(lookup)], goal="查一下订单 10001 到了没")
    told = [state.answer, state.reason, *(step.reason for step in state.steps.values())]
    for text in told:
        assert not re.search(r"[A-Za-z]{2,} [A-Za-z]{2,}", text), text
