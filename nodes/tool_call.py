"""One call of a LangChain tool, awaited or not, whether the tool itself can be awaited or not."""

import asyncio
import json
from collections.abc import Awaitable, Callable, Mapping
from dataclasses import replace
from typing import cast

from langchain_core.messages import ToolMessage
from langchain_core.runnables import RunnableConfig
from langchain_core.runnables.config import ContextThreadPoolExecutor
from langchain_core.tools import BaseTool, StructuredTool, Tool
from langgraph.prebuilt import ToolNode
from langgraph.prebuilt.tool_node import ToolCallRequest, ToolRuntime
from langgraph.store.base import BaseStore
from langgraph.types import Command

from hansei.policies.errors import first_of
from hansei.policies.narrow import as_mapping

Result = ToolMessage | Command[object]


def tool_node(tool: BaseTool, *, store: BaseStore | None = None) -> ToolNode:
    """LangGraph's own tool runner: it validates arguments and injects what a tool asks for.

    What a tool raises comes out as it is, since the runner's own text is an order to a model
    ("fix your mistakes") and would stand in the answer as the reason.

    Args:
        tool: The tool.
        store: The store that it gets if it asks for one and the graph is run without any.
    """

    def stored(request: ToolCallRequest) -> ToolCallRequest:
        held = request.runtime  # pyright: ignore[reportUnknownMemberType, reportUnknownVariableType]
        runtime = cast("ToolRuntime[None, dict[str, object]]", held)
        if runtime.store is not None:
            return request
        return replace(request, runtime=replace(runtime, store=store))

    def call(request: ToolCallRequest, execute: Callable[[ToolCallRequest], Result]) -> Result:
        return execute(stored(request))

    async def acall(
        request: ToolCallRequest, execute: Callable[[ToolCallRequest], Awaitable[Result]]
    ) -> Result:
        try:
            return await execute(stored(request))
        except (SystemExit, GeneratorExit) as exc:
            # An ordinary failure inside its task, where asyncio would stop.
            raise RuntimeError(said_by(exc)) from exc

    return ToolNode([tool], handle_tool_errors=False, wrap_tool_call=call, awrap_tool_call=acall)


def run_blocking(
    tool: BaseTool, request: object, config: RunnableConfig, *, store: BaseStore | None = None
) -> object:
    """Run one call and wait for it.

    A tool that can only be awaited gets an event loop and a thread of its own: the caller's
    thread may have a loop that is running.

    Args:
        tool: The tool.
        request: The input of LangGraph's tool runner.
        config: The run's config.
        store: As for `tool_node`.
    """
    node = tool_node(tool, store=store)
    if _is_async_only(tool):
        return _in_own_loop(node, request, config)
    try:
        answer: object = node.invoke(request, config)
    except NotImplementedError as exc:
        # A class of one's own can only say so when it is called, before it has done anything.
        if not _refuses_to_block(tool, exc):
            raise
        return _in_own_loop(node, request, config)
    return answer


def _is_async_only(tool: BaseTool) -> bool:
    return isinstance(tool, StructuredTool | Tool) and tool.func is None


def _refuses_to_block(tool: BaseTool, exc: NotImplementedError) -> bool:
    """Whether it was the tool's `_run` itself that raised, and there is another way."""
    place = exc.__traceback__
    while place is not None and place.tb_next is not None:
        place = place.tb_next
    code = getattr(_method(type(tool), "_run"), "__code__", None)
    raised_by_run = place is not None and place.tb_frame.f_code is code
    return raised_by_run and _method(type(tool), "_arun") is not _method(BaseTool, "_arun")


def _method(of: type[object], name: str) -> object:
    found: object = getattr(of, name)
    return found


def _in_own_loop(node: ToolNode, request: object, config: RunnableConfig) -> object:
    async def awaited() -> object:
        answer: object = await node.ainvoke(request, config)
        return answer

    with ContextThreadPoolExecutor(max_workers=1) as pool:
        return pool.submit(lambda: asyncio.run(awaited())).result()


def text_of(message: ToolMessage) -> str:
    """What a tool returned, as one text.

    Blocks of text stand one below the other; of a picture or a file only its kind and address do,
    so that it does not look like nothing. Data that a tool returned beside its blocks (MCP's
    structured content) is taken where they are not one text that says the same: a list comes as
    one block for each item.
    """
    if isinstance(message.content, str):
        return message.content
    blocks = [_shown(block) for block in message.content]
    data = as_mapping(message.artifact).get("structured_content")
    if data is not None and len(blocks) != 1 and message.status != "error":
        return json.dumps(data, ensure_ascii=False)
    return "\n".join(blocks)


def _shown(block: str | Mapping[str, object]) -> str:
    if isinstance(block, str):
        return block
    if "text" in block:
        return str(block["text"])
    about = [str(block[key]) for key in ("type", "mime_type", "url") if block.get(key)]
    return f"[{' '.join(about)}]"


def said_by(exc: BaseException) -> str:
    """An exception as text, also one whose own text cannot be had; of a group the first."""
    exc = first_of(exc)
    name = type(exc).__name__
    try:
        return f"{name}: {exc}"
    except Exception:  # noqa: BLE001 - its __str__ may be broken in any way
        return name
