"""Calls of plain tools: functions whose arguments all come from the model.

LangGraph's runner has nothing to inject into them, and starts a thread for each call, which takes
three times as long as a quick tool does.
"""

import asyncio
from inspect import signature
from typing import TypeGuard

import langgraph.errors
from langchain_core.messages import AIMessage, ToolCall, ToolMessage
from langchain_core.runnables import RunnableConfig
from langchain_core.tools import BaseTool, StructuredTool
from langgraph.prebuilt.tool_node import ToolInvocationError
from pydantic import BaseModel, ValidationError

from hansei.nodes.tool_call import tool_node

_CONFIG = frozenset({"config", "callbacks", "run_manager"})
"""Parameters that LangChain itself fills in."""


def is_plain(tool: BaseTool) -> bool:
    """Whether a tool can be called without the runner."""
    schema = getattr(tool, "args_schema", None)
    if not isinstance(tool, StructuredTool) or tool.func is None or not _is_model(schema):
        return False
    try:
        parameters = signature(tool.func).parameters
        shown = tool.tool_call_schema
    except (TypeError, ValueError):
        return False
    own = set(schema.model_fields)
    return (
        "runtime" not in parameters  # LangGraph injects by this name, whatever its type
        and set(parameters) <= own | _CONFIG
        and _is_model(shown)
        and set(shown.model_fields) == own
    )


def _is_model(schema: object) -> TypeGuard[type[BaseModel]]:
    return isinstance(schema, type) and issubclass(schema, BaseModel)


def in_a_loop() -> bool:
    """Whether an event loop runs in this thread: a tool could not start one of its own in it."""
    try:
        asyncio.get_running_loop()
    except RuntimeError:
        return False
    return True


def call_plain(tool: BaseTool, call: ToolCall, config: RunnableConfig) -> object:
    """Make one call, with the outcome that the runner gives it.

    Args:
        tool: A plain tool.
        call: The call.
        config: The run's config.
    """
    try:
        answer: object = tool.invoke(call, config)
    except ValidationError as exc:
        if _is_wrong_answer(exc):
            raise
        raise ToolInvocationError(call["name"], exc, call["args"], exc.errors()) from exc
    if isinstance(answer, ToolMessage) and isinstance(answer.content, str):
        return [answer]

    def given(**_: object) -> object:
        return answer

    # Blocks, commands and several messages have rules of their own, which the runner knows.
    hand_over = StructuredTool.from_function(
        func=given,
        name=tool.name,
        description=tool.description,
        args_schema=tool.args_schema,
    )
    checked: object = tool_node(hand_over).invoke(request_of(call), config)
    return checked


def request_of(call: ToolCall) -> dict[str, list[AIMessage]]:
    """A call as the runner takes it."""
    return {"messages": [AIMessage(content="", tool_calls=[call])]}


def _is_wrong_answer(exc: ValidationError) -> bool:
    """Whether it is about the answer to a question that the tool asked, not about its arguments."""
    known: object = getattr(langgraph.errors, "is_invalid_resume", None)  # not in 1.2.0
    return callable(known) and known(exc) is True
