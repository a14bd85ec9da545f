"""`hansei batch`: many goals, each on its own thread, taken up again by the same command."""

from __future__ import annotations

import json
import signal
import subprocess
import sys
import time
from collections.abc import Iterator
from pathlib import Path
from typing import Any
from uuid import uuid4

import pytest
from broken_runs import made, scripted
from cli_helpers import CLI, PATIENCE, Done, environment, hansei, one_sentence, refused
from cli_scenes import GIVE_UP, endpoint
from langchain_core.runnables import RunnableConfig
from scripted_replies import JsonObject, Reply, call_then_say, error, messages_of, plan, text_of
from scripted_server import ScriptedServer

from hansei import AgentState, RunStatus, create_plan_execute_agent, open_checkpointer
from hansei.batch import WORST
from hansei.goals_file import read_jobs
from hansei.graphs.run_table import RunTable
from hansei.policies.endings import EXIT_CODES
from hansei.policies.errors import UserError
from hansei.threads import thread_id


@pytest.fixture
def server(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Iterator[ScriptedServer]:
    """See `endpoint`; the planner's step is the goal, and a goal with "gone" in it fails."""
    with endpoint(tmp_path, monkeypatch) as running:
        running.script("planner", planned)
        running.script("executor", executed)
        running.script("replanner", GIVE_UP)
        yield running


def goal_of(body: JsonObject) -> str:
    return text_of(messages_of(body)[-1]).split("Goal: ")[-1].split("\n")[0]


def planned(body: JsonObject) -> Reply:
    return plan({"description": goal_of(body), "tool": "lookup"})


def executed(body: JsonObject) -> Reply:
    gone = "gone" in text_of(messages_of(body)[1])
    return call_then_say("The result is 42.", "lookup", q="gone" if gone else "it")(body)


def goals(*lines: str, name: str = "goals.txt") -> str:
    Path(name).write_text("\n".join(lines) + "\n", encoding="utf-8")
    return name


def batch(file: str, *more: str) -> Done:
    return hansei("batch", file, "--tools", "my_tools.py", "--db", "runs.db", *more)


def lines_of(done: Done) -> dict[int, dict[str, Any]]:
    found: dict[int, dict[str, Any]] = {}
    for line in done.stdout.splitlines():
        data = json.loads(line)
        found[data["line"]] = data
    return found


def test_each_goal_has_its_own_thread_and_one_line_of_json(server: ScriptedServer) -> None:
    done = batch(goals("find the lamp", "", "find what is gone", "find the bulb"), "--json")
    assert done.stderr == ""
    found = lines_of(done)
    assert {number: data["goal"] for number, data in found.items()} == {
        1: "find the lamp",
        3: "find what is gone",
        4: "find the bulb",
    }
    assert [found[n]["status"] for n in (1, 3, 4)] == ["complete", "failed", "complete"]
    assert [found[n]["exit_code"] for n in (1, 3, 4)] == [0, 4, 0]
    assert done.code == 4
    assert len({data["thread"] for data in found.values()}) == 3
    shown = hansei("show", found[4]["thread"], "--db", "runs.db")
    assert "find the bulb" in shown.stdout


def test_the_same_command_again_runs_nothing_twice(server: ScriptedServer) -> None:
    file = goals("find the lamp", "find the bulb")
    first = lines_of(batch(file, "--json"))
    asked = server.count()
    # Lines may move, and others may come.
    done = batch(goals("find the bulb", "find the lamp", "find the cable"), "--json")
    again = lines_of(done)
    assert server.count("planner") == 3
    assert server.count() == asked + asked // 2
    assert again[1]["thread"] == first[2]["thread"]
    assert [again[n]["before"] for n in (1, 2, 3)] == [True, True, False]
    assert one_sentence(done.stderr).startswith("2 of 3 had ended before")


def test_without_json_there_is_a_table(server: ScriptedServer) -> None:
    file = goals(
        '{"goal": "find the lamp", "thread": "lamp"}',
        '{"goal": "find what is gone"}',
        name="g.jsonl",
    )
    done = batch(file)
    rows = [line.split() for line in done.stdout.splitlines()]
    assert rows[0] == ["line", "thread", "status", "code", "answer"]
    assert rows[1][:5] == ["1", "lamp", "complete,", "verified", "0"]
    assert rows[2][0] == "2"
    assert rows[2][2:4] == ["failed", "4"]
    assert done.stderr == ""  # no bar where nobody looks


def test_the_table_never_cuts_a_thread(server: ScriptedServer) -> None:
    thread = f"{uuid4()} and what it is about"
    done = batch(goals(f'{{"goal": "find the lamp", "thread": "{thread}"}}', name="g.jsonl"))
    assert f" {thread}  complete, verified " in done.stdout
    assert len(done.stdout.splitlines()) == 2


def test_somebody_who_looks_sees_a_bar(
    server: ScriptedServer, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("FORCE_COLOR", "1")
    done = batch(goals("find the lamp", "find what is gone"), "--json")
    assert "2/2" in done.stderr
    assert "complete 1, failed 1" in done.stderr
    assert len(lines_of(done)) == 2


@pytest.mark.parametrize("parallel", ["1", "4"])
def test_a_run_that_cannot_be_run_stops_no_other(server: ScriptedServer, parallel: str) -> None:
    def planner(body: JsonObject) -> Reply:
        return error(401) if "bad" in goal_of(body) else planned(body)

    server.script("planner", planner)
    file = goals("find the lamp", "find the bad one", "find the bulb")
    done = batch(file, "--json", "--parallel", parallel)
    found = lines_of(done)
    assert [found[n]["status"] for n in (1, 2, 3)] == ["complete", "not run", "complete"]
    assert found[2]["exit_code"] == done.code == 7
    assert "key" in found[2]["reason"]
    # Mended, the same command runs what is left.
    server.script("planner", planned)
    mended = lines_of(batch(file, "--json"))
    assert [mended[n]["status"] for n in (1, 2, 3)] == ["complete"] * 3
    assert [mended[n]["before"] for n in (1, 2, 3)] == [True, False, True]


def test_a_thread_that_is_busy_is_told_and_the_others_run(server: ScriptedServer) -> None:
    file = goals('{"goal": "find the lamp", "thread": "mine"}', "find the bulb", name="g.jsonl")
    with open_checkpointer("runs.db") as saver, saver.runs.held(thread_id("mine")):
        found = lines_of(batch(file, "--json"))
    assert found[1]["exit_code"] == 2
    assert f"The thread mine ({thread_id('mine')}) has a run under way" in found[1]["reason"]
    assert found[2]["status"] == "complete"


def test_another_goal_on_a_thread_of_the_file_is_a_new_question(server: ScriptedServer) -> None:
    batch(goals('{"goal": "find the lamp", "thread": "mine"}'), "--json")
    found = lines_of(batch(goals('{"goal": "find the bulb", "thread": "mine"}'), "--json"))
    assert (found[1]["goal"], found[1]["before"]) == ("find the bulb", False)


def test_goals_come_from_stdin_too(server: ScriptedServer) -> None:
    arguments = ("batch", "-", "--tools", "my_tools.py", "--db", "runs.db", "--json")
    done = hansei(*arguments, stdin="find the lamp\n")
    assert lines_of(done)[1]["thread"].startswith("stdin-")


def test_ctrl_c_says_how_to_go_on_and_the_command_does(
    server: ScriptedServer, tmp_path: Path
) -> None:
    def executor(body: JsonObject) -> Reply:
        slow = "bulb" in text_of(messages_of(body)[1])
        reply = executed(body)
        return Reply(reply.content, reply.tool_calls, delay=3.0) if slow else reply

    server.script("executor", executor)
    file = goals("find the lamp", "find the bulb", "find the cable")
    arguments = ["batch", file, "--tools", "my_tools.py", "--db", "runs.db", "--json"]
    with subprocess.Popen(
        [sys.executable, "-c", CLI, *arguments],
        cwd=tmp_path,
        env=environment(tmp_path),
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
        text=True,
    ) as process:
        until = time.monotonic() + PATIENCE
        while not any("bulb" in prompt for prompt in server.prompts("executor")):
            assert process.poll() is None, process.communicate()
            assert time.monotonic() < until
            time.sleep(0.05)
        process.send_signal(signal.SIGINT)
        stdout, stderr = process.communicate(timeout=PATIENCE)
    done = Done(process.returncode, stdout, stderr)
    assert done.code == 130
    assert list(lines_of(done)) == [1]
    assert (
        "Stopped; `hansei batch goals.txt --tools my_tools.py --db runs.db --json` goes on"
    ) in done.stderr
    assert not any("cable" in prompt for prompt in server.prompts("planner"))
    server.script("executor", executed)
    again = lines_of(batch(file, "--json"))
    assert [again[n]["status"] for n in (1, 2, 3)] == ["complete"] * 3
    assert [again[n]["before"] for n in (1, 2, 3)] == [True, False, False]
    assert server.count("planner") == 3  # the plan of the bulb was kept


# The file


@pytest.mark.parametrize(
    ("text", "said"),
    [
        ("", "There is no goal"),
        ("\n \n", "There is no goal"),
        ("fine\n{broken", "Line 2 is no JSON"),
        ('{"goal": ""}', "Line 1: The goal is empty"),
        ('{"thread": "a"}', "Line 1: The goal is empty"),
        ('{"goal": 5}', "'goal' must be text"),
        ('{"goal": "a", "treads": "b"}', "has a key 'treads'; there are: goal, thread"),
        ('{"gaol": 1}', "Line 1 has a key 'gaol'; there are: goal, thread"),
        ("fine\n" + "x" * 30_000, "Line 2: The goal has 30000 characters"),
        ('{"goal": "a", "thread": "t"}\n{"goal": "b", "thread": "t"}', "Lines 1 and 2 name"),
    ],
)
def test_a_file_that_cannot_be_run_is_refused_before_anything_is(text: str, said: str) -> None:
    with pytest.raises(UserError, match=said) as refusal:
        read_jobs(text, source="goals.txt")
    assert "\n" not in str(refusal.value)


def test_a_goal_that_stands_twice_has_two_threads_that_stay() -> None:
    first = read_jobs("same\nsame\nother", source="goals.txt")
    assert len({job.thread for job in first}) == 3
    assert first == read_jobs("same\nsame\nother", source="goals.txt")
    moved = read_jobs("\ufeffother\n\nsame\r\nsame\n", source="goals.txt")
    assert {job.thread for job in moved} == {job.thread for job in first}
    assert [job.line for job in moved] == [1, 3, 4]
    assert read_jobs("same", source="more/goals.txt")[0].thread != first[0].thread


def test_a_file_that_is_not_there_is_wrong_use(server: ScriptedServer) -> None:
    assert "There is no file nope.txt" in refused(batch("nope.txt"), 2)
    Path("bytes.txt").write_bytes(b"\xff\xfe\x00")
    assert "cannot be read as text" in refused(batch("bytes.txt"), 2)
    assert not Path("runs.db").exists()


def test_the_order_of_exit_codes_names_them_all() -> None:
    assert set(WORST) == {*EXIT_CODES.values(), 1, 2, 7}
    assert [WORST.index(EXIT_CODES[status]) for status in RunStatus if status != "running"] == [
        0,
        1,
        2,
        3,
        4,
    ]


# From Python


def look(q: str) -> str:
    return f"{q}: 42"


def test_langgraphs_own_batch_works(tmp_path: Path) -> None:
    model = scripted(
        plan({"description": "look it up", "tool": "look"}), call_then_say("42", "look", q="it")
    )
    configs: list[RunnableConfig] = [{"configurable": {"thread_id": str(i)}} for i in range(4)]
    with open_checkpointer(tmp_path / "runs.db") as saver:
        agent = create_plan_execute_agent(model, [made(look)], checkpointer=saver)
        given: list[Any] = [{"goal": f"Look up number {i}"} for i in range(4)]
        results = [AgentState.model_validate(raw) for raw in agent.batch(given, configs)]
        rows = RunTable.rows(saver.runs)
    assert [state.goal for state in results] == [f"Look up number {i}" for i in range(4)]
    assert all(state.verified for state in results)
    assert {row.goal for row in rows} == {state.goal for state in results}


async def test_langgraphs_own_abatch_works() -> None:
    model = scripted(
        plan({"description": "look it up", "tool": "look"}), call_then_say("42", "look", q="it")
    )
    agent = create_plan_execute_agent(model, [made(look)])
    given: list[Any] = [{"goal": f"Look up number {i}"} for i in range(4)]
    results = await agent.abatch(given, {"max_concurrency": 2})
    assert [raw["status"] for raw in results] == [RunStatus.COMPLETE] * 4


def test_lines_end_where_files_end_them() -> None:
    jobs = read_jobs('one\u2028two\r\n{"goal": "three\u2028four"}\n', source="goals.txt")
    assert [job.goal for job in jobs] == ["one\u2028two", "three\u2028four"]


@pytest.mark.parametrize("line", ['{"goal":"x","thread":"\\ud800"}', '{"a":' * 3000])
def test_an_odd_line_is_named(line: str) -> None:
    with pytest.raises(UserError, match="Line 2"):
        read_jobs(f"one\n{line}\n", source="goals.txt")
