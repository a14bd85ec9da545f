"""What the field cases share: the stub tools with their counters, an agent, and one run of it."""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Callable, Mapping
from uuid import uuid4

from langchain_core.language_models import BaseChatModel
from langchain_core.runnables import RunnableConfig
from langchain_core.tools import BaseTool, StructuredTool
from langchain_openai import ChatOpenAI
from pydantic import SecretStr
from scripted_replies import JsonObject, Reply, messages_of, structured, text_of

from hansei import AgentInput, AgentState, Settings, create_plan_execute_agent
from hansei.policies.records import Step

Answer = str | Exception | Callable[..., str]
"""What a stub tool does: returns a text, raises, or is asked for its text."""

LIMITS: Mapping[str, int] = {"max_step_retries": 2, "max_replans": 2}
"""The limits under which the cases were reported."""


class Stubs:
    """The stub tools, each with a counter of its real runs.

    Args:
        answers: What a tool does, by its name; by default each returns a short text.
    """

    def __init__(self, **answers: Answer) -> None:
        self.counts: Counter[str] = Counter()
        self._answers: dict[str, Answer] = {
            "lookup": "42",
            "fetch": "the text of the page",
            "write_file": "written",
            "send_mail": "sent",
            "make_chart": "chart.png",
            **answers,
        }

    def _answer(self, name: str, **arguments: object) -> str:
        self.counts[name] += 1
        answer = self._answers[name]
        if isinstance(answer, Exception):
            raise answer
        return answer(**arguments) if callable(answer) else answer

    @property
    def tools(self) -> list[BaseTool]:
        """The tools; `write_file` and `send_mail` are the ones with side effects."""

        def lookup(q: str) -> str:
            """Looks something up."""
            return self._answer("lookup", q=q)

        def fetch(url: str) -> str:
            """Fetches a page."""
            return self._answer("fetch", url=url)

        def write_file(path: str, text: str) -> str:
            """Writes a file."""
            return self._answer("write_file", path=path, text=text)

        def send_mail(to: str, body: str) -> str:
            """Sends a mail."""
            return self._answer("send_mail", to=to, body=body)

        def make_chart(rows: str) -> str:
            """Draws a chart."""
            return self._answer("make_chart", rows=rows)

        return [
            _declared(lookup, "read"),
            _declared(fetch, "read"),
            _declared(write_file, "idempotent"),
            _declared(send_mail, "once"),
            _declared(make_chart, "idempotent"),
        ]


def _declared(function: Callable[..., str], effect: str) -> BaseTool:
    return StructuredTool.from_function(function, metadata={"hansei": {"effect": effect}})


def ask(
    model: BaseChatModel,
    goal: str,
    stubs: Stubs | None = None,
    *,
    critic: BaseChatModel | None = None,
    **settings: object,
) -> AgentState:
    """One run on a fresh thread, as its last state."""
    agent = create_plan_execute_agent(
        model,
        (stubs or Stubs()).tools,
        critic=critic,
        settings=Settings.model_validate({**LIMITS, **settings}),
    )
    config: RunnableConfig = {"configurable": {"thread_id": str(uuid4())}}
    return AgentState.model_validate(agent.invoke(AgentInput(goal=goal), config))


def over_http(url: str) -> ChatOpenAI:
    """The real client for the scripted server, without retries of its own."""
    return ChatOpenAI(
        base_url=url, api_key=SecretStr("none"), model="stub", max_retries=0, timeout=30
    )


def only_step(state: AgentState) -> Step:
    """The step of a run that has one."""
    (step,) = state.steps.values()
    return step


def give_up(*ids: int) -> Reply:
    """A replanner's reply that gives the failed steps up."""
    return structured({"analysis": "no other way", "steps": [], "given_up": list(ids), "drop": []})


def task_of(body: JsonObject) -> str:
    """The task in a request of the executor, which tells steps that run side by side apart."""
    found = re.search(r"Task: (.*)", text_of(messages_of(body)[1]))
    assert found, "the executor's prompt names no task"
    return found.group(1).strip()


def tool_messages(body: JsonObject) -> dict[str, str]:
    """The tool messages of a request by the id of their call."""
    return {
        str(m["tool_call_id"]): text_of(m) for m in messages_of(body) if m.get("role") == "tool"
    }
