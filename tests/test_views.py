"""What `why` and the tables print, where a word of it has puzzled somebody or was missing."""

from __future__ import annotations

from io import StringIO
from uuid import uuid4

import pytest
from rich.cells import cell_len
from rich.console import Console

from hansei.graphs.run_table import RunRow
from hansei.policies.records import Attempt, Finding, Step, VerdictRecord
from hansei.policies.words import FindingKind, StepStatus, Verdict, VerdictSource
from hansei.views import print_threads, print_why

BY_HUMAN = VerdictRecord(verdict=Verdict.PASS, source=VerdictSource.HUMAN, analysis="I know it")


def why(step: Step) -> list[str]:
    """The lines that `why` prints for a step, each without the space around it."""
    out = StringIO()
    print_why(Console(file=out, width=200), step)
    return [line.strip() for line in out.getvalue().splitlines()]


def test_why_tells_the_result_that_counts_where_no_attempt_gave_it() -> None:
    step = Step(
        id=1,
        status=StepStatus.VERIFIED,
        attempts=[Attempt(number=1, result="Nothing yet.")],
        verdicts=[BY_HUMAN],
        result="It has arrived.",
    )
    lines = why(step)
    assert "result: Nothing yet." in lines
    assert "result that counts: It has arrived." in lines


@pytest.mark.parametrize("result", ["", "It has arrived."])
def test_why_tells_no_result_twice(result: str) -> None:
    step = Step(id=1, attempts=[Attempt(number=1, result="It has arrived.")], result=result)
    assert [line for line in why(step) if "result" in line] == ["result: It has arrived."]


def test_why_tells_what_a_human_said_of_a_step_that_was_never_begun() -> None:
    lines = why(Step(id=1, status=StepStatus.VERIFIED, verdicts=[BY_HUMAN], result="It is there."))
    for said in ("it was never begun", "verdict: PASS, source: human", "because: I know it"):
        assert said in lines, said
    assert "result that counts: It is there." in lines


def test_why_says_once_what_is_both_the_reason_and_the_hint() -> None:
    reason = "So far there is only a shell"
    found = Finding(kind=FindingKind.VETO_REPLAN, check="tool_status", reason=reason)
    record = VerdictRecord(
        verdict=Verdict.REPLAN,
        source=VerdictSource.RULE,
        analysis=reason,
        suggestion=reason,
        findings=[found],
    )
    lines = why(Step(id=1, attempts=[Attempt(number=1)], verdicts=[record]))
    assert f"because: {reason}" in lines
    assert not [line for line in lines if line.startswith("suggestion")]
    other = record.model_copy(update={"suggestion": "Ask again later"})
    lines = why(Step(id=1, attempts=[Attempt(number=1)], verdicts=[other]))
    assert "suggestion: Ask again later" in lines


THREADS = [str(uuid4()), "order", "我的订单"]
GOAL = "帮我查一下订单 99999 到了没" * 4


def listed(width: int, note: str = "") -> list[str]:
    """The lines of the list of threads on a terminal of that width."""
    out = StringIO()
    rows = [
        RunRow(name, owner="", goal=GOAL, accepted_at=0.0, expires_at=0.0, name=name, note=note)
        for name in THREADS
    ]
    print_threads(Console(file=out, width=width), rows, dict.fromkeys(THREADS, "stopped"))
    return out.getvalue().splitlines()


@pytest.mark.parametrize("width", [40, 80, 100])
def test_the_list_of_threads_shortens_the_goal_and_never_the_thread(width: int) -> None:
    lines = listed(width)
    assert len(lines) == 1 + len(THREADS)
    for line, name in zip(lines[1:], THREADS, strict=True):
        assert line.startswith(f"{name} ")
        assert "stopped" in line
        assert GOAL[:4] in line
        assert line.endswith("…")
    assert width == 40 or max(map(cell_len, lines)) <= width


def test_the_list_of_threads_tells_the_whole_note_of_a_run() -> None:
    note = "The endpoint did not answer within its time, and nobody else did. " * 4
    assert " ".join(note.split()) in listed(80, note)[2]
