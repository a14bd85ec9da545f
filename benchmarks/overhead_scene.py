"""What the overhead is measured with: a model that answers at once, and a tool that only reads.

The scene is a plan of steps that look up one item each: every step calls the tool once and states
its result, the reflector passes it, and at the end an answer is written and reviewed. No run asks
for the items of another one, so nothing that is remembered between runs helps.
"""

import asyncio
import json
import re
import time
from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

from langchain_core.callbacks import AsyncCallbackManagerForLLMRun, CallbackManagerForLLMRun
from langchain_core.messages import AIMessage, BaseMessage, ToolMessage
from langchain_core.outputs import ChatGeneration, ChatResult
from langchain_core.tools import BaseTool, tool
from langchain_openai import ChatOpenAI
from pydantic import PrivateAttr, SecretStr

GOAL = "Tell me how many pieces of each item are in stock."


@dataclass(frozen=True, slots=True)
class Sent:
    """One request as it came to the model."""

    messages: list[BaseMessage]
    options: Mapping[str, Any]

    @property
    def schema(self) -> str:
        """The name of the structured reply that was asked for; empty where none was."""
        return str(self.options.get("response_format", {}).get("json_schema", {}).get("name", ""))


class InstantModel(ChatOpenAI):
    """langchain-openai's own class, whose requests are answered at once instead of sent.

    Attributes:
        steps: Steps of its plan.
        chained: Each step depends on the one before.
        seconds: How long an answer takes.
    """

    steps: int = 5
    chained: bool = True
    seconds: float = 0.0
    _sent: list[Sent] | None = PrivateAttr(default=None)
    _runs: int = PrivateAttr(default=0)

    def record(self) -> list[Sent]:
        """Keep every request from now on, in the list that is returned."""
        self._sent = []
        return self._sent

    def _generate(
        self,
        messages: list[BaseMessage],
        stop: list[str] | None = None,
        run_manager: CallbackManagerForLLMRun | None = None,
        **kwargs: object,
    ) -> ChatResult:
        if self.seconds:
            time.sleep(self.seconds)
        return self._answer(Sent(messages, kwargs))

    async def _agenerate(
        self,
        messages: list[BaseMessage],
        stop: list[str] | None = None,
        run_manager: AsyncCallbackManagerForLLMRun | None = None,
        **kwargs: object,
    ) -> ChatResult:
        if self.seconds:
            await asyncio.sleep(self.seconds)
        return self._answer(Sent(messages, kwargs))

    def _answer(self, sent: Sent) -> ChatResult:
        if self._sent is not None:
            self._sent.append(sent)
        message = self._reply(sent)
        message.response_metadata = {"model_name": "instant", "finish_reason": "stop"}
        message.usage_metadata = {"input_tokens": 500, "output_tokens": 50, "total_tokens": 550}
        return ChatResult(generations=[ChatGeneration(message=message)])

    def _reply(self, sent: Sent) -> AIMessage:
        if sent.schema == "plan":
            self._runs += 1
            return AIMessage(json.dumps(self._plan(first=10 * self._runs + 1)))
        shown = "\n".join(message.text for message in sent.messages)
        # What a step depends on comes before it, so the step's own item is the last one.
        items = sorted({int(number) for number in re.findall(r"\bitem (\d+)", shown)})
        if sent.schema:
            return AIMessage(json.dumps(_verdict(items[-1])))
        if "tools" not in sent.options:
            return AIMessage(" ".join(_result(item) for item in items))
        if isinstance(sent.messages[-1], ToolMessage):
            return AIMessage(_result(items[-1]))
        args = {"item": f"item {items[-1]}"}
        call = {"name": "stock_of", "args": args, "id": f"call_{items[-1]}", "type": "tool_call"}
        return AIMessage("", tool_calls=[call])

    def _plan(self, *, first: int) -> dict[str, object]:
        steps = [
            {
                "id": number,
                "description": f"Look up the stock of item {first + number}",
                "tool": "stock_of",
                "depends_on": [number - 1] if self.chained and number > 1 else [],
                "needs_reflection": True,
            }
            for number in range(1, self.steps + 1)
        ]
        return {"analysis": "One lookup each.", "conditions": [], "steps": steps, "brief": "stock"}


def _result(item: int) -> str:
    return f"There are {item % 7 + 40} pieces of item {item} in stock, all in the main house."


def _verdict(item: int) -> dict[str, object]:
    quote = f"{item % 7 + 40} pieces of item {item} in stock"
    analysis = f"The result says how many pieces of item {item} there are."
    return {
        "analysis": analysis,
        "conditions": [],
        "quote": quote,
        "verdict": "PASS",
        "suggestion": "",
    }


def instant_model(*, steps: int = 5, chained: bool = True, seconds: float = 0.0) -> InstantModel:
    """A model that answers at once, or after some seconds."""
    key = SecretStr("none")
    return InstantModel(model="instant", api_key=key, steps=steps, chained=chained, seconds=seconds)


def stock_tool(*, size: int = 200, seconds: float = 0.0) -> BaseTool:
    """A tool that only reads.

    Args:
        size: Bytes of its output, about.
        seconds: How long it takes.
    """

    @tool
    def stock_of(item: str) -> str:
        """How many pieces of an item are in stock."""
        if seconds:
            time.sleep(seconds)
        pieces = int(item.removeprefix("item ")) % 7 + 40
        found: dict[str, object] = {"item": item, "stock": pieces, "place": "the main house"}
        line = f"{item} was counted on shelf "
        lines = (size - len(json.dumps(found))) // (len(line) + 8)
        return json.dumps({**found, "log": [f"{line}{number:04}" for number in range(lines)]})

    stock_of.metadata = {"hansei": {"effect": "read"}}
    return stock_of
