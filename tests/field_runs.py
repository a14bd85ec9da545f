"""Runs of the cases about checkpoints, for the tests and for processes that they start."""

from __future__ import annotations

import os
from pathlib import Path
from typing import Any

from broken_runs import made, scripted
from langchain_core.runnables import RunnableConfig
from pydantic import BaseModel
from scripted_replies import Reply, call_then_say, messages_of, text_of
from scripted_server import plan

from hansei import AgentInput, AgentState, create_plan_execute_agent
from hansei.graphs.agent import Agent
from hansei.graphs.checkpoints import AsyncCheckpointer, Checkpointer

THREAD: RunnableConfig = {"configurable": {"thread_id": "t1"}}


def look() -> str:
    return "42"


def agent_on(saver: Checkpointer | AsyncCheckpointer) -> Agent:
    steps = plan(
        {"description": "look it up", "tool": "look"},
        {"description": "look again", "tool": "look", "depends_on": [1]},
    )
    model = scripted(steps, call_then_say("It is 42.", "look"))
    return create_plan_execute_agent(model, [made(look)], checkpointer=saver)


GOAL = AgentInput(goal="Look it up")


def kinds(value: object) -> object:
    """A value with the type of every part."""
    if isinstance(value, dict):
        return {str(name): kinds(part) for name, part in value.items()}
    if isinstance(value, list):
        return [kinds(part) for part in value]
    inner = kinds(vars(value)) if isinstance(value, BaseModel) else repr(value)
    return [type(value).__name__, inner]


def summary(result: dict[str, Any]) -> list[object]:
    steps = [(str(s.status), s.result) for s in AgentState.model_validate(result).steps.values()]
    return [str(result["status"]), result["verified"], result["answer"], steps]


def mailing_agent(saver: Checkpointer, folder: str, fatal: str) -> Agent:
    """Plans three steps, and notes each call and each question to the planner in files."""

    def note(name: str) -> None:
        with (Path(folder) / name).open("a", encoding="utf-8") as file:
            file.write("x")

    def send_mail() -> str:
        note("mails")
        if fatal == "send_mail":
            os._exit(9)
        return "sent"

    def lookup() -> str:
        if fatal == "lookup":
            os._exit(9)
        note("lookups")
        return "42"

    def planner(_: dict[str, object]) -> Reply:
        note("plans")
        return plan(
            {"description": "send the mail", "tool": "send_mail"},
            {"description": "look it up", "tool": "lookup", "depends_on": [1]},
            {"description": "look it up again", "tool": "lookup", "depends_on": [2]},
        )

    def executor(body: dict[str, object]) -> Reply:
        name = "send_mail" if "Task: send" in text_of(messages_of(body)[1]) else "lookup"
        return call_then_say(f"Done: {name}, 42.", name)(body)

    model = scripted(planner, executor, answer="The mail is sent, and it is 42.")
    tools = [made(send_mail, "once"), made(lookup)]
    return create_plan_execute_agent(model, tools, checkpointer=saver)
