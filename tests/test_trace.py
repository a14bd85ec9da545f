"""What the trace says, line by line, where a word of it has puzzled somebody."""

from __future__ import annotations

from io import StringIO

import pytest
from policy_records import called
from rich.console import Console

from hansei.policies.records import AnswerAttempt, Attempt, Round, Step, VerdictRecord
from hansei.policies.words import AcceptedReason, StepStatus, VerdictSource
from hansei.tools.outcome import OutcomeStatus
from hansei.trace import Trace


class Told:
    """A trace, and what it has printed so far."""

    def __init__(self) -> None:
        self._out = StringIO()
        self.trace = Trace(Console(file=self._out, width=200))

    def lines(self) -> list[str]:
        """The lines since the last time."""
        text = self._out.getvalue()
        self._out.seek(0)
        self._out.truncate()
        return [" ".join(line.split()) for line in text.splitlines()]


UNREVIEWED = AnswerAttempt(
    text="Sorry.",
    verdict=VerdictRecord(source=VerdictSource.NONE, unjudged=AcceptedReason.NOT_REVIEWED),
)


def test_a_note_of_the_plan_is_told_once() -> None:
    told = Told()
    told.trace.update({"planner": {"steps": {1: Step(id=1)}, "notes": ["a step was left out"]}})
    assert "lint: a step was left out" in told.lines()
    notes = ["a step was left out", "refused as a repetition: x"]
    told.trace.update({"replanner": {"steps": {2: Step(id=2)}, "notes": notes}})
    assert [line for line in told.lines() if "lint" in line] == ["lint: refused as a repetition: x"]


@pytest.mark.parametrize(
    ("status", "said"),
    [
        (
            StepStatus.FAILED,
            "answer not reviewed: no step succeeded, so there is nothing to review",
        ),
        (StepStatus.ACCEPTED, "answer not reviewed"),
    ],
)
def test_why_an_answer_is_not_reviewed(status: StepStatus, said: str) -> None:
    told = Told()
    told.trace.update({"planner": {"steps": {1: Step(id=1, status=status)}}})
    told.lines()
    told.trace.update({"reflector": {"answer_attempts": [UNREVIEWED]}})
    assert told.lines() == [said]


@pytest.mark.parametrize("outcome", OutcomeStatus)
def test_what_a_call_returned_is_told_in_words(outcome: OutcomeStatus) -> None:
    told = Told()
    call = called("look", outcome=outcome, output="what it said")
    step = Step(id=1, attempts=[Attempt(number=1, rounds=[Round(calls=[call])])])
    told.trace.update({"tools": {"steps": {1: step}}})
    (line,) = told.lines()
    said = ("step 1 returned", "step 1 refused", "step 1 not allowed by a human")
    assert line.startswith(said)
    assert line.endswith(": what it said")
    assert "shell" not in line
