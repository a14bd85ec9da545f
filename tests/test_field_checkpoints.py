"""What others lost in checkpoints, as tests: enums, old answers, mails sent twice, and locks."""

from __future__ import annotations

import json
import logging
import sys
from pathlib import Path
from typing import Any

import pytest
from broken_runs import made
from cli_helpers import program
from field_runs import GOAL, THREAD, agent_on, kinds, summary
from langchain_core.runnables import RunnableConfig
from load_runs import statuses
from scripted_model import ScriptedChatModel
from scripted_replies import Reply, messages_of, text_of, tool_call
from scripted_server import plan, verdict

from hansei import (
    AgentInput,
    AgentState,
    RunStatus,
    StepStatus,
    UserError,
    aopen_checkpointer,
    create_plan_execute_agent,
    open_checkpointer,
)
from hansei.graphs.agent import Agent

TESTS = str(Path(__file__).parent)


@pytest.fixture(params=["sqlite", "postgres"])
def place(request: pytest.FixtureRequest, tmp_path: Path) -> str:
    """An empty database of each kind."""
    if request.param == "sqlite":
        return str(tmp_path / "runs.db")
    url: str = request.getfixturevalue("postgres_url")
    return url


def in_a_new_process(code: str, *arguments: str, home: Path) -> Any:
    """What a new process prints as JSON, with the tests' own modules at hand."""
    done = program(f"import sys; sys.path.insert(0, {TESTS!r})\n{code}", *arguments, home=home)
    assert done.returncode == 0, done.stderr
    return json.loads(done.stdout)


# D01


RESUMED = """
import json, logging
from hansei import open_checkpointer
import field_runs as t
records = []
class Keeper(logging.Handler):
    def emit(self, record):
        records.append(record.getMessage())
logging.getLogger().addHandler(Keeper(level=logging.WARNING))
with open_checkpointer(sys.argv[1]) as saver:
    agent = t.agent_on(saver)
    found = t.kinds(agent.get_state(t.THREAD).values)
    ended = agent.invoke(None, t.THREAD, durability="sync")
    path = [str(s.metadata["step"]) + str(s.next) for s in agent.get_state_history(t.THREAD)]
print(json.dumps({"found": found, "ended": t.summary(ended), "path": path, "log": records}))
"""


def test_d01_enums_and_types_are_the_same_in_a_new_process(place: str, tmp_path: Path) -> None:
    with open_checkpointer(place) as saver:
        agent = agent_on(saver)
        agent.invoke(GOAL, THREAD, interrupt_after=["reflector"], durability="sync")
        state = agent.get_state(THREAD)
        assert state.next == ("executor",)
        before = json.loads(json.dumps(kinds(state.values)))
    told = in_a_new_process(RESUMED, place, home=tmp_path)
    assert told["found"] == before
    assert ["StepStatus", repr(StepStatus.VERIFIED)] in before["steps"]["1"][1].values()
    assert told["log"] == []
    whole: RunnableConfig = {"configurable": {"thread_id": "whole"}}
    with open_checkpointer(place) as saver:
        agent = agent_on(saver)
        ended = agent.invoke(GOAL, whole, durability="sync")
        path = [str(s.metadata["step"]) + str(s.next) for s in agent.get_state_history(whole)]  # type: ignore[index]
    assert told["ended"] == json.loads(json.dumps(summary(ended)))
    assert told["path"] == path


# D03


def test_d03_a_second_question_is_answered_anew(place: str) -> None:
    calls: list[str] = []

    def calculate() -> str:
        calls.append("calculate")
        if len(calls) == 1:
            return json.dumps({"error": "the calculator is busy"})
        return json.dumps({"product": 144})

    model = ScriptedChatModel()
    model.script("planner", plan("name the capital of Peru"))
    model.script("executor", "The capital of Peru is Lima.")
    model.script("synthesizer", "Lima.")
    for role in ("reflector", "reviewer"):
        model.script(role, verdict("PASS"))
    with open_checkpointer(place) as saver:
        agent = create_plan_execute_agent(model, [made(calculate)], checkpointer=saver)
        first = agent.invoke(AgentInput(goal="capital of Peru?"), THREAD, durability="sync")
        assert "Lima" in first["answer"]
        model.reset()
        model.script("planner", plan({"description": "multiply 12 by 12", "tool": "calculate"}))

        def twice(body: dict[str, object]) -> Reply:
            last = messages_of(body)[-1]
            if last.get("role") != "tool" or "busy" in text_of(last):
                return tool_call("calculate")
            return Reply("12 times 12 is 144.")

        model.script("executor", twice)
        model.script("reflector", verdict("RETRY", "say it shortly", "Shorter."), verdict("PASS"))
        model.script("synthesizer", "144.")
        model.script("reviewer", verdict("PASS"))
        second = agent.invoke(AgentInput(goal="12 times 12?"), THREAD, durability="sync")
    state = AgentState.model_validate(second)
    assert (state.status, state.verified) == (RunStatus.COMPLETE, True)
    assert "144" in state.answer
    assert (model.count("planner"), model.count("synthesizer")) == (1, 1)
    assert model.count("reflector") == 2  # the one RETRY, and none for the error of before
    assert [len(step.attempts) for step in state.steps.values()] == [2]
    assert state.replans == 0
    rest = state.model_dump_json(exclude={"messages"})
    assert "Lima" not in rest
    assert "Peru" not in rest


# D05

MAIL = """
import json
from hansei import open_checkpointer
import field_runs as t
place, folder, fatal = sys.argv[1:4]
with open_checkpointer(place) as saver:
    agent = t.mailing_agent(saver, folder, fatal)
    begun = saver.get_tuple(t.THREAD) is not None
    goal = t.AgentInput(goal="Send the mail and look twice")
    state = agent.invoke(None if begun else goal, t.THREAD, durability="sync")
print(json.dumps({"status": str(state["status"]), "answer": state["answer"]}))
"""


@pytest.mark.parametrize("fatal", ["lookup", "send_mail"])
def test_d05_a_mail_is_not_sent_twice_in_silence(fatal: str, tmp_path: Path) -> None:
    place = str(tmp_path / "runs.db")
    died = program(
        f"import sys; sys.path.insert(0, {TESTS!r})\n{MAIL}",
        place,
        str(tmp_path),
        fatal,
        home=tmp_path,
    )
    assert died.returncode == 9, died.stderr
    told = in_a_new_process(MAIL, place, str(tmp_path), "", home=tmp_path)
    assert (tmp_path / "mails").read_text() == "x"
    assert (tmp_path / "plans").read_text() == "x"
    if fatal == "lookup":
        assert told["status"] == "complete"
        assert (tmp_path / "lookups").read_text() == "xx"
    else:
        assert told["status"] == "needs_human"
        assert "send_mail {}" in told["answer"]


# D07


@pytest.mark.skipif(sys.platform == "win32", reason="there is no fork")
def test_d07_two_processes_share_a_file(tmp_path: Path) -> None:
    assert statuses(tmp_path / "runs.db", processes=2, runs=10) == [["complete"] * 10] * 2


async def called(agent: Agent, name: str, config: RunnableConfig) -> object:
    """One of the six calls, and what it gives."""
    match name:
        case "invoke":
            return agent.invoke(GOAL, config)["status"]
        case "stream":
            return list(agent.stream(GOAL, config))
        case "ainvoke":
            return (await agent.ainvoke(GOAL, config))["status"]
        case "astream":
            return [part async for part in agent.astream(GOAL, config)]
        case "get_state":
            return agent.get_state(config)
        case _:
            return await agent.aget_state(config)


CALLS = ("invoke", "stream", "get_state", "ainvoke", "astream", "aget_state")


@pytest.mark.parametrize("name", CALLS)
async def test_d07_a_saver_for_calls_that_block_works_or_names_the_other(
    name: str, place: str, caplog: pytest.LogCaptureFixture
) -> None:
    with open_checkpointer(place) as saver, caplog.at_level(logging.WARNING):
        agent = agent_on(saver)
        if name.startswith("a"):
            with pytest.raises(UserError, match="use aopen_checkpointer"):
                await called(agent, name, THREAD)
            assert not any(row.under_way for row in saver.runs.rows())
        else:
            assert await called(agent, name, THREAD)
    assert caplog.records == []


@pytest.mark.parametrize("name", CALLS)
async def test_d07_a_saver_for_awaited_calls_works_or_names_the_other(
    name: str, place: str, caplog: pytest.LogCaptureFixture
) -> None:
    async with aopen_checkpointer(place) as saver:
        with caplog.at_level(logging.WARNING):
            agent = agent_on(saver)
            if name.startswith("a"):
                assert await called(agent, name, THREAD)
            else:
                with pytest.raises(UserError, match="or open_checkpointer for"):
                    await called(agent, name, THREAD)
                assert not any(row.under_way for row in saver.runs.rows())
    assert caplog.records == []
