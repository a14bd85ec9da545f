"""Long values in a file are squeezed, and come back as they were."""

from __future__ import annotations

import sqlite3
import zlib
from pathlib import Path

import pytest
from broken_runs import made, scripted
from langchain_core.runnables import RunnableConfig
from langgraph.checkpoint.serde.jsonplus import JsonPlusSerializer
from scripted_replies import call_then_say, plan
from stored_runs import stopped_half_way

from hansei import AgentInput, AgentState, create_plan_execute_agent, open_checkpointer
from hansei.graphs import packing
from hansei.graphs.packing import SQUEEZED_FROM, PackedSerializer, inflated
from hansei.graphs.saving import SAVED_TYPES
from hansei.policies.records import Attempt, Step

SERDE = PackedSerializer(allowed_msgpack_modules=SAVED_TYPES)
STEPS = {i: Step(id=i, attempts=[Attempt(result=f"{i} lamps " * 200)]) for i in range(1, 8)}


def test_what_is_long_is_squeezed_and_comes_back() -> None:
    kind, data = SERDE.dumps_typed(STEPS)
    plain = JsonPlusSerializer().dumps_typed(STEPS)
    assert kind == "msgpack+zlib"
    assert len(data) < len(plain[1]) / 5
    assert SERDE.loads_typed((kind, data)) == STEPS
    assert inflated(kind, data) == plain[1]


@pytest.mark.parametrize("value", [None, b"0" * SQUEEZED_FROM, {1: Step(id=1)}, "short"])
def test_what_is_short_or_no_object_keeps_its_form(value: object) -> None:
    packed = SERDE.dumps_typed(value)
    assert SERDE.loads_typed(packed) == value
    if not isinstance(value, bytes):
        assert packed == JsonPlusSerializer().dumps_typed(value)


def test_rows_of_langgraph_alone_are_read() -> None:
    assert SERDE.loads_typed(JsonPlusSerializer().dumps_typed(STEPS)) == STEPS


def test_more_types_may_be_allowed_and_the_form_stays() -> None:
    more = SERDE.with_msgpack_allowlist([("somewhere", "Else")])
    assert more is not SERDE
    assert more.loads_typed(SERDE.dumps_typed(STEPS)) == STEPS


def test_a_row_that_would_fill_the_memory_is_refused(monkeypatch: pytest.MonkeyPatch) -> None:
    kind, data = SERDE.dumps_typed(STEPS)
    monkeypatch.setattr(packing, "LARGEST", 1000)
    with pytest.raises(ValueError, match="larger than 1,000 bytes"):
        SERDE.loads_typed((kind, data))


@pytest.mark.parametrize("harm", [lambda data: data[:-8], lambda data: b"no" + data])
def test_a_damaged_row_is_told_as_such(harm: type) -> None:
    kind, data = SERDE.dumps_typed(STEPS)
    with pytest.raises(ValueError, match=r"cut off|damaged"):
        SERDE.loads_typed((kind, harm(data)))


def test_a_file_holds_squeezed_states_beside_older_ones(tmp_path: Path) -> None:
    def look(q: str) -> str:
        return "42 lamps " * 500

    file, thread = tmp_path / "runs.db", RunnableConfig(configurable={"thread_id": "1"})
    steps = [{"description": f"look up lamp {i}", "tool": "look"} for i in range(1, 6)]
    model = scripted(plan(*steps), call_then_say("It is 42. " * 50, "look", q="lamps"))
    with open_checkpointer(file) as saver:
        agent = create_plan_execute_agent(model, [made(look)], checkpointer=saver)
        ended = AgentState.model_validate(agent.invoke(AgentInput(goal="Look it up"), thread))
    with sqlite3.connect(file) as connection:
        kinds = connection.execute("SELECT DISTINCT type FROM checkpoints").fetchall()
        assert {kind for (kind,) in kinds} == set(packing.KINDS)
        (rows,) = connection.execute(
            "SELECT max(checkpoint_id) FROM checkpoints WHERE type = 'msgpack+zlib'"
        ).fetchall()
        (data,) = connection.execute(
            "SELECT checkpoint FROM checkpoints WHERE checkpoint_id = ?", rows
        ).fetchone()
        # As a version that did not squeeze would have left it.
        connection.execute(
            "UPDATE checkpoints SET type = 'msgpack', checkpoint = ? WHERE checkpoint_id = ?",
            (zlib.decompress(data), *rows),
        )
    connection.close()
    with open_checkpointer(file) as saver:
        agent = create_plan_execute_agent(model, [made(look)], checkpointer=saver)
        assert AgentState.model_validate(agent.get_state(thread).values) == ended


def test_a_thread_without_a_row_is_found_by_a_squeezed_state(tmp_path: Path) -> None:
    place = tmp_path / "runs.db"
    stopped_half_way(str(place))
    with sqlite3.connect(place) as file:
        kept = file.execute(
            "SELECT rowid, checkpoint FROM checkpoints ORDER BY checkpoint_id DESC"
        ).fetchone()
        file.execute("DELETE FROM hansei_runs")
        file.execute("DELETE FROM checkpoints WHERE rowid <> ?", (kept[0],))
        file.execute(
            "UPDATE checkpoints SET type = 'msgpack+zlib', checkpoint = ? WHERE type = 'msgpack'",
            (zlib.compress(kept[1]),),
        )
    file.close()
    with open_checkpointer(place) as saver:
        assert [row.thread_id for row in saver.threads()] == ["1"]
