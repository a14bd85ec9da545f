"""What a run does no more often than it must: spans, bindings of models, writes of the state."""

from __future__ import annotations

import asyncio
from typing import Any, Literal
from uuid import UUID

import pytest
from broken_runs import made, scripted
from langchain_core.callbacks import BaseCallbackHandler
from langchain_core.outputs import LLMResult
from langchain_core.runnables import RunnableConfig
from langgraph.channels import BinaryOperatorAggregate
from scripted_model import ScriptedChatModel
from scripted_replies import call_then_say, plan

from hansei import AgentInput, AgentState, RunStatus, create_plan_execute_agent
from hansei.policies.state import MERGED

How = Literal["invoke", "ainvoke"]


def look(q: str) -> str:
    return f"{q}: 3 lamps in stock"


def two_steps() -> ScriptedChatModel:
    return scripted(
        plan(
            {"description": "Count the lamps", "tool": "look"},
            {"description": "Count the bulbs", "tool": "look", "depends_on": ["1"]},
        ),
        call_then_say("There are 3 lamps in stock.", "look", q="lamps"),
        answer="There are 3 lamps in stock.",
    )


class Spans(BaseCallbackHandler):
    """What a tracer would be told: spans by name, and in which span each model call was made."""

    def __init__(self) -> None:
        self.names: dict[UUID, str] = {}
        self.inside: dict[UUID, UUID | None] = {}
        self.models_in: list[str] = []

    def on_chain_start(
        self, serialized: object, inputs: object, *, run_id: UUID, **said: Any
    ) -> None:
        self.names[run_id] = said["name"]
        self.inside[run_id] = said["parent_run_id"]

    def on_chat_model_start(self, serialized: object, messages: object, **said: Any) -> None:
        self.models_in.append(self.names[said["parent_run_id"]])

    def on_llm_end(self, response: LLMResult, **said: Any) -> None:
        del response, said


@pytest.mark.parametrize("how", ["invoke", "ainvoke"])
def test_a_node_is_one_span_and_its_model_calls_are_in_it(how: How) -> None:
    spans = Spans()
    agent = create_plan_execute_agent(two_steps(), [made(look)])
    start = AgentInput(goal="Count lamps and bulbs")
    config: RunnableConfig = {"callbacks": [spans]}
    state = (
        agent.invoke(start, config)
        if how == "invoke"
        else asyncio.run(agent.ainvoke(start, config))
    )
    assert state["status"] is RunStatus.COMPLETE
    (whole,) = [run for run, parent in spans.inside.items() if parent is None]
    nodes = [run for run, parent in spans.inside.items() if parent == whole]
    assert {spans.names[run] for run in nodes} == {*spans.models_in, "begin", "tools"}
    # Below a node there are the edges out of it, and nothing that stands for the node once more.
    below = {spans.names[run] for run, parent in spans.inside.items() if parent in nodes}
    assert below <= {"route"}
    assert spans.models_in.count("executor") == 4


def test_a_model_is_bound_once_for_each_kind_of_request(monkeypatch: pytest.MonkeyPatch) -> None:
    bound: list[str] = []

    def count(name: str) -> None:
        method = getattr(ScriptedChatModel, name)

        def counted(model: ScriptedChatModel, *given: Any, **options: Any) -> object:
            bound.append(name)
            return method(model, *given, **options)

        monkeypatch.setattr(ScriptedChatModel, name, counted)

    count("bind_tools")
    count("with_structured_output")
    agent = create_plan_execute_agent(two_steps(), [made(look)])
    for _ in range(2):
        agent.invoke(AgentInput(goal="Count lamps and bulbs"))
    # The plan, the judgement of a step, the review of the answer; and the tools for the executor.
    assert sorted(bound) == ["bind_tools", *["with_structured_output"] * 3]


def test_the_fields_with_a_reducer_are_known() -> None:
    channels = create_plan_execute_agent(two_steps(), [made(look)]).channels
    reduced = {name for name, c in channels.items() if isinstance(c, BinaryOperatorAggregate)}
    assert reduced == MERGED


def test_only_what_changes_is_written() -> None:
    agent = create_plan_execute_agent(two_steps(), [made(look)])
    known: dict[str, object] = {}
    for mode, part in agent.stream(
        AgentInput(goal="Count lamps and bulbs"), stream_mode=["updates", "values"]
    ):
        assert isinstance(part, dict)
        if mode == "values":
            known = part
            continue
        for node, update in part.items():
            if node == "begin":
                assert {*update} == {*AgentState.model_fields} - GIVEN
            for key, value in (update or {}).items():
                assert node == "begin" or value != known.get(key), (node, key)


GIVEN = {"goal", "messages", "asked", "asked_goal", "language"}
"""Fields that a question brings, or that the plan makes of it."""
