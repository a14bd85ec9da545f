"""The graph in LangGraph Studio's server, through its SDK: what Studio itself uses."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from typing import Any

import pytest
from langgraph_sdk import get_sync_client
from langgraph_sdk.client import SyncLangGraphClient
from langgraph_sdk.errors import BadRequestError
from order_scene import ARRIVED, MISSING, order_script
from scripted_replies import messages_of
from studio_server import Studio

from hansei import AgentInput, AgentState, RunContext
from hansei.policies.run_context import PROMPTS

pytestmark = pytest.mark.xdist_group("studio")

GOAL: dict[str, Any] = {"goal": "帮我查一下订单 99999 到了没"}

LOCALHOST = "0100007F"
"""127.0.0.1 as the system's table of sockets writes it."""


@pytest.fixture
def honest(studio_server: Studio) -> Studio:
    """The server with the honest model of the order scene behind it."""
    studio_server.model.reset()
    order_script(studio_server.model, MISSING)
    return studio_server


@pytest.fixture
def client(honest: Studio) -> Iterator[SyncLangGraphClient]:
    with get_sync_client(url=honest.url) as found:
        yield found


@pytest.fixture
def thread(client: SyncLangGraphClient) -> str:
    return client.threads.create()["thread_id"]


def values_of(client: SyncLangGraphClient, thread: str) -> Mapping[str, Any]:
    found = client.threads.get_state(thread)["values"]
    assert isinstance(found, dict)
    return found


def stop_before_the_reflector(client: SyncLangGraphClient, thread: str) -> None:
    client.runs.wait(thread, "hansei", input=GOAL, interrupt_before=["reflector"])
    assert client.threads.get_state(thread)["next"] == ["reflector"]


def go_on(client: SyncLangGraphClient, thread: str, **options: Any) -> Mapping[str, Any]:
    ended = client.runs.wait(thread, "hansei", input=None, **options)
    assert isinstance(ended, dict)
    return ended


def test_the_forms_come_from_the_schemas(client: SyncLangGraphClient) -> None:
    (assistant,) = client.assistants.search(graph_id="hansei")
    schemas = client.assistants.get_schemas(assistant["assistant_id"])
    given, context = schemas["input_schema"], schemas["context_schema"]
    assert given is not None
    assert context is not None
    assert set(given["properties"]) == set(AgentInput.model_fields)
    assert set(context["properties"]) == set(RunContext.model_fields)
    for field in (*given["properties"].values(), *context["properties"].values()):
        assert field["title"]
        assert field["description"]
        assert "default" in field or field is given["properties"]["messages"]
    limit, mode = context["properties"]["max_steps"], context["properties"]["reflection"]
    assert (limit["type"], limit["minimum"], limit["default"]) == ("integer", 1, 7)
    assert mode["enum"] == ["always", "flagged", "on_signal", "auto", "never"]
    for name in PROMPTS:
        assert context["properties"][f"{name}_prompt"]["langgraph_type"] == "prompt"
    # A narrowed one would hide from Studio what the nodes do.
    assert schemas["output_schema"] is not None
    assert set(schemas["output_schema"]["properties"]) == set(AgentState.model_fields)


def test_the_order_scene_is_stopped_edited_and_resumed(
    honest: Studio, client: SyncLangGraphClient, thread: str
) -> None:
    stop_before_the_reflector(client, thread)
    client.threads.update_state(thread, {"steps": {"1": {"needs_reflection": False}}})
    step = values_of(client, thread)["steps"]["1"]
    assert step["needs_reflection"] is False
    assert step["attempts"][0]["rounds"][0]["calls"][0]["name"] == "query_order"
    asked = honest.model.count("executor")
    ended = go_on(client, thread)
    assert (ended["status"], ended["verified"]) == ("failed", False)
    assert ended["steps"]["1"]["verdicts"][-1]["source"] == "rule"
    assert honest.model.count("executor") == asked


def test_a_step_with_another_task_is_done_anew(
    honest: Studio, client: SyncLangGraphClient, thread: str
) -> None:
    stop_before_the_reflector(client, thread)
    asked = honest.model.count("executor")
    client.threads.update_state(thread, {"steps": {"1": {"description": "查询 99999 的物流"}}})
    step = values_of(client, thread)["steps"]["1"]
    assert (step["description"], step["attempts"]) == ("查询 99999 的物流", [])
    ended = go_on(client, thread)
    assert (ended["status"], ended["verified"]) == ("failed", False)
    step = ended["steps"]["1"]
    assert [v["source"] for v in step["verdicts"]] == ["human", "rule"]
    assert len(step["attempts"]) == 1
    assert honest.model.count("executor") > asked
    assert "查询 99999 的物流" in honest.model.prompts("executor")[-1]


@pytest.mark.parametrize(
    ("edit", "tries", "verdict"),
    [
        ({"steps": {"1": {"verdict": {"verdict": "retry", "hint": "查物流"}}}}, 2, "RETRY"),
        ({"verdict": "replan"}, 1, "REPLAN"),
    ],
)
def test_a_verdict_edited_as_plain_json_is_the_humans(
    honest: Studio,
    client: SyncLangGraphClient,
    thread: str,
    edit: dict[str, Any],
    tries: int,
    verdict: str,
) -> None:
    stop_before_the_reflector(client, thread)
    client.threads.update_state(thread, edit)
    ended = go_on(client, thread)
    step = ended["steps"]["1"]
    assert (step["verdicts"][0]["verdict"], step["verdicts"][0]["source"]) == (verdict, "human")
    assert [a["hint"] for a in step["attempts"]] == ["", "查物流"][:tries]
    assert ("查物流" in honest.model.prompts("executor")[-1]) is (tries == 2)
    assert honest.model.count("reflector") == 0
    assert ended["status"] == "failed"


def test_an_older_checkpoint_is_forked_and_its_branch_stays(
    client: SyncLangGraphClient, thread: str
) -> None:
    first = client.runs.wait(thread, "hansei", input=GOAL)
    assert isinstance(first, dict)
    before = client.threads.get_history(thread, limit=100)
    judged = [point for point in before if point["next"] == ["reflector"]][-1]
    forked = client.threads.update_state(
        thread, {"verdict": "pass"}, checkpoint_id=judged["checkpoint"]["checkpoint_id"]
    )
    ended = go_on(client, thread, checkpoint=forked["checkpoint"])
    assert ended["steps"]["1"]["verdicts"][-1]["source"] == "human"
    assert ended["steps"]["1"]["status"] == "verified"
    after = client.threads.get_history(thread, limit=100)
    kept = {point["checkpoint"]["checkpoint_id"]: point["values"] for point in after}
    for point in before:
        assert kept[point["checkpoint"]["checkpoint_id"]] == point["values"]
    old_end = kept[before[0]["checkpoint"]["checkpoint_id"]]
    assert isinstance(old_end, dict)
    assert old_end["answer"] == first["answer"]


MODES: Sequence[Any] = (
    *("values", "updates", "custom", "messages-tuple", "tasks", "checkpoints", "debug"),
    "events",
)


def test_every_mode_streams(client: SyncLangGraphClient, thread: str) -> None:
    stop_before_the_reflector(client, thread)
    parts = list(client.runs.stream(thread, "hansei", input=None, stream_mode=list(MODES)))
    events = {part.event for part in parts}
    # Tokens come under the name of their own mode.
    assert events >= {*MODES, "messages"} - {"messages-tuple"}
    assert "error" not in events
    updates = [next(iter(part.data)) for part in parts if part.event == "updates"]
    assert updates == ["reflector", "replanner", "synthesizer", "reflector"]
    assert all(part.data[node] for part in parts if part.event == "updates" for node in part.data)
    assert [p.data for p in parts if p.event == "values"][-1]["status"] == "failed"


def test_chat_mode_takes_messages_and_appends_the_answer(
    honest: Studio, client: SyncLangGraphClient, thread: str
) -> None:
    said: dict[str, Any] = {"messages": [{"role": "user", "content": GOAL["goal"]}]}
    parts = list(
        client.runs.stream(thread, "hansei", input=said, stream_mode=["messages-tuple", "values"])
    )
    told = [part.data for part in parts if part.event == "messages"]
    written = [m["content"] for m, about in told if about["langgraph_node"] == "synthesizer"]
    assert len([text for text in written if text]) > 1  # piece by piece
    assert "".join(written) == MISSING.answer
    ended = values_of(client, thread)
    assert [(m["type"], m["content"]) for m in ended["messages"]] == [
        ("human", GOAL["goal"]),
        ("ai", ended["answer"]),
    ]
    assert MISSING.answer in ended["answer"]
    honest.model.reset()
    order_script(honest.model, ARRIVED)
    again: dict[str, Any] = {"messages": [{"role": "user", "content": "那订单 10001 呢？"}]}
    client.runs.wait(thread, "hansei", input=again)
    ended = values_of(client, thread)
    assert [m["type"] for m in ended["messages"]] == ["human", "ai", "human", "ai"]
    assert ended["goal"] == "那订单 10001 呢？"
    assert (ended["status"], ended["verified"]) == ("complete", True)


BAD_EDITS: Sequence[tuple[Any, str]] = (
    ({"goal": 5}, "The state field 'goal' cannot be 5: it must be text."),
    ({"verdict": "maybe"}, "There is no verdict 'maybe'; give PASS, RETRY or REPLAN."),
    ({"steps": {"one": {}}}, "Steps are named by their numbers, and 'one' is none."),
    (
        {"steps": {"1": {"status": "done"}}},
        "The step field 'status' of step 1 cannot be 'done': Input should be 'pending', 'verified',"
        " 'accepted', 'failed', 'skipped', 'recovered' or 'replaced'.",
    ),
    (
        {"steps": 3},
        "The state field 'steps' cannot be 3: it must be an object with the numbers of steps, each"
        " with the fields to change.",
    ),
)


@pytest.mark.parametrize(("edit", "said"), BAD_EDITS)
def test_a_bad_edit_is_refused_in_a_sentence_and_changes_nothing(
    client: SyncLangGraphClient, thread: str, edit: Any, said: str
) -> None:
    stop_before_the_reflector(client, thread)
    before = client.threads.get_history(thread, limit=100)
    with pytest.raises(BadRequestError) as refused:
        client.threads.update_state(thread, edit)
    assert refused.value.body == {"detail": said}
    assert client.threads.get_history(thread, limit=100) == before
    assert go_on(client, thread)["status"] == "failed"


def test_settings_and_prompts_of_a_run_are_its_context(
    honest: Studio, client: SyncLangGraphClient, thread: str
) -> None:
    context: dict[str, Any] = {
        "max_replans": 0,
        "planner_prompt": "Plan it.",
        "executor_prompt": "",
    }
    client.runs.wait(thread, "hansei", input=GOAL, context=context)
    assert values_of(client, thread)["replans"] == 0
    (asked,) = honest.model.asked("planner")
    assert messages_of(asked.body)[0]["content"] == "[hansei:planner zh]\nPlan it."
    assert "你是执行者" in honest.model.prompts("executor")[0]


@pytest.mark.parametrize(
    ("context", "said"),
    [
        ({"planner_prompt": "{{ goal }}"}, "The prompt planner_prompt names goal, which it does"),
        ({"max_steps": 0}, "The setting 'max_steps' cannot be 0"),
    ],
)
def test_a_context_that_cannot_be_is_refused_before_anything_is_asked(
    honest: Studio, client: SyncLangGraphClient, thread: str, context: Any, said: str
) -> None:
    parts = list(client.runs.stream(thread, "hansei", input=GOAL, context=context))
    (error,) = [part.data for part in parts if part.event == "error"]
    assert error["error"] == "UserError"
    assert error["message"].startswith(said)
    assert honest.model.count() == 0
    assert client.threads.get_history(thread) == []


def test_a_plan_waits_in_the_server_for_a_humans_leave(
    honest: Studio, client: SyncLangGraphClient, thread: str
) -> None:
    asked = client.runs.wait(thread, "hansei", input=GOAL, context={"approve_plan": True})
    assert isinstance(asked, dict)
    assert "__interrupt__" in asked
    assert client.threads.get(thread)["status"] == "interrupted"
    refused = client.runs.wait(thread, "hansei", command={"resume": "reject: 太贵"})
    assert isinstance(refused, dict)
    assert refused["status"] == "failed"
    assert "太贵" in refused["steps"]["1"]["reason"]
    assert honest.model.count("executor") == 0


def test_nobody_but_this_machine_can_reach_the_server(honest: Studio) -> None:
    port = int(honest.url.rpartition(":")[2])
    with open("/proc/net/tcp", encoding="ascii") as table:
        rows = [line.split()[1:4] for line in table.readlines()[1:]]
    listening = [local for local, _, state in rows if state == "0A"]
    assert [place for place in listening if place.endswith(f":{port:04X}")] == [
        f"{LOCALHOST}:{port:04X}"
    ]
