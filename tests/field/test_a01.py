"""A verdict in a fence, with a raw line break inside a string, is read at once."""

from field.stubs import ask, only_step
from scripted_model import ScriptedChatModel

from hansei import StepStatus, Verdict, VerdictSource

FENCED = """```json
{"verdict": "PASS",
 "analysis": "Row count matches.
Second check also matches.",
 "suggestion": ""}
```"""


def test_the_first_reply_counts() -> None:
    model = ScriptedChatModel()
    model.book.script_defaults()
    model.script("reflector", FENCED)
    with model.book:
        state = ask(model, "look it up")
    step = only_step(state)
    (record,) = step.verdicts
    assert model.count("reflector") == 1
    assert (record.verdict, record.source) == (Verdict.PASS, VerdictSource.CRITIC)
    assert record.analysis == "Row count matches.\nSecond check also matches."
    assert step.status is StepStatus.VERIFIED
    assert len(step.attempts) == 1
    assert state.replans == 0
