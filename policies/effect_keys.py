"""The key under which a call that changes something is journaled, and what the journal says."""

import hashlib
import json
from typing import Literal

from pydantic import BaseModel, ConfigDict, ValidationError

from hansei.policies.records import ToolCall


class JournalEntry(BaseModel):
    """What is known of one call: that it has begun, or what came of it."""

    model_config = ConfigDict(frozen=True)

    stage: Literal["begun", "done"] = "begun"
    tool: str = ""
    args: str = ""
    output: str = ""
    raised: bool = False


def effect_key(
    *, run_id: str, step: int, attempt: int, turn: int, place: int, call: ToolCall
) -> str:
    """A key that is the same after a crash, and another one for a retry that is meant.

    It is made from the state alone. LangGraph's task ids will not do: they change when a
    checkpoint was not written yet, which left 5 to 368 repeated effects in 120 trials, and this
    key none.

    Args:
        run_id: The run, which no other thread shares.
        step: Id of the step.
        attempt: Number of the attempt: the retry counter that is in the state.
        turn: Which round of calls of the attempt.
        place: Which call of the round.
        call: The call, for its tool and canonical arguments.
    """
    parts = [run_id, step, attempt, turn, place, call.name, call.args]
    text = json.dumps(parts, ensure_ascii=False)
    return hashlib.sha256(text.encode("utf-8", "replace")).hexdigest()


def read_entry(text: str | None) -> JournalEntry | None:
    """An entry as it was written; `None` where there is none.

    One that cannot be read counts as begun: nobody knows what came of it.
    """
    if text is None:
        return None
    try:
        return JournalEntry.model_validate_json(text)
    except ValidationError:
        return JournalEntry()
