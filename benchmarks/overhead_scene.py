"""What the overhead is measured with: a model that answers at once, and a tool that only reads.

The scene is a plan of steps that look up one item each: every step calls the tool once and states
its result, the reflector passes it, and at the end an answer is written and reviewed. No run asks
for the items of another one, so nothing that is remembered between runs helps.
"""

import asyncio
import importlib
import json
import re
import time
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any, Protocol

import openai
from langchain_core.callbacks import CallbackManagerForLLMRun
from langchain_core.messages import AIMessage, BaseMessage, ToolCall
from langchain_core.outputs import ChatGeneration, ChatResult
from langchain_core.tools import BaseTool, tool
from langchain_openai import ChatOpenAI
from pydantic import PrivateAttr, SecretStr

GOAL = "Tell me how many pieces of each item are in stock."

# The HTTP library of the installed client, which has changed its name.
_http: Any = importlib.import_module(
    openai.DefaultHttpxClient.__bases__[0].__module__.partition(".")[0]
)


class _Request(Protocol):
    content: bytes


@dataclass(frozen=True, slots=True)
class Reply:
    """What the model says: a text, or the item that it looks up."""

    text: str = ""
    item: int = 0


@dataclass
class Script:
    """Decides every reply from the request alone.

    Attributes:
        steps: Steps of its plans.
        chained: Each step depends on the one before.
        runs: Plans made so far.
    """

    steps: int = 5
    chained: bool = True
    runs: int = 0

    def reply(self, shown: str, *, schema: str, tools: bool, answered: bool) -> Reply:
        """The reply to one request.

        Args:
            shown: Everything that the messages say.
            schema: Name of the structured reply that is asked for; empty: none is.
            tools: Tools are offered.
            answered: The last message is a tool's.
        """
        if schema == "plan":
            self.runs += 1
            return Reply(json.dumps(self._plan(first=10 * self.runs + 1)))
        # What a step depends on comes before it, so the step's own item is the last one.
        items = sorted({int(number) for number in re.findall(r"\bitem (\d+)", shown)})
        if schema:
            return Reply(json.dumps(_verdict(items[-1])))
        if not tools:
            return Reply(" ".join(_result(item) for item in items))
        return Reply(_result(items[-1])) if answered else Reply(item=items[-1])

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
    return {
        "analysis": f"The result says how many pieces of item {item} there are.",
        "conditions": [],
        "quote": f"{item % 7 + 40} pieces of item {item} in stock",
        "verdict": "PASS",
        "suggestion": "",
    }


def instant_model(script: Script, *, seconds: float = 0.0) -> ChatOpenAI:
    """langchain-openai's own model, whose endpoint answers inside this process.

    So a call costs what it costs in a real run, without the wait.

    Args:
        script: What it says.
        seconds: How long it waits all the same.
    """

    def answer(request: _Request) -> object:
        time.sleep(seconds)
        return _completion(script, json.loads(request.content))

    async def aanswer(request: _Request) -> object:
        await asyncio.sleep(seconds)
        return _completion(script, json.loads(request.content))

    return ChatOpenAI(
        model="instant",
        api_key=SecretStr("none"),
        base_url="http://instant.invalid/v1",
        http_client=_http.Client(transport=_http.MockTransport(answer)),
        http_async_client=_http.AsyncClient(transport=_http.MockTransport(aanswer)),
    )


def _completion(script: Script, body: Mapping[str, Any]) -> object:
    messages = body["messages"]
    reply = script.reply(
        "\n".join(str(message.get("content") or "") for message in messages),
        schema=_schema_of(body),
        tools="tools" in body,
        answered=messages[-1]["role"] == "tool",
    )
    message: dict[str, object] = {"role": "assistant", "content": reply.text or None}
    if reply.item:
        call = {"name": "stock_of", "arguments": json.dumps(_args(reply.item))}
        message["tool_calls"] = [{"id": f"call_{reply.item}", "type": "function", "function": call}]
    reason = "tool_calls" if reply.item else "stop"
    whole = {
        "id": "completion",
        "object": "chat.completion",
        "created": 1,
        "model": "instant",
        "choices": [{"index": 0, "finish_reason": reason, "message": message, "logprobs": None}],
        "usage": {"prompt_tokens": 500, "completion_tokens": 50, "total_tokens": 550},
    }
    response: object = _http.Response(200, json=whole)
    return response


def _schema_of(options: Mapping[str, Any]) -> str:
    return str(options.get("response_format", {}).get("json_schema", {}).get("name", ""))


def _args(item: int) -> dict[str, str]:
    return {"item": f"item {item}"}


@dataclass(frozen=True, slots=True)
class Sent:
    """One request as it came to a model."""

    messages: list[BaseMessage]
    options: Mapping[str, Any]

    @property
    def schema(self) -> str:
        """The name of the structured reply that was asked for; empty where none was."""
        return _schema_of(self.options)


class ClientlessModel(ChatOpenAI):
    """The same model without its client: nothing is encoded, sent or decoded.

    What is left of a call is what langchain-core does around it.
    """

    _script: Script = PrivateAttr(default_factory=Script)
    _sent: list[Sent] = PrivateAttr(default_factory=list[Sent])

    def _generate(
        self,
        messages: list[BaseMessage],
        stop: list[str] | None = None,
        run_manager: CallbackManagerForLLMRun | None = None,
        **kwargs: object,
    ) -> ChatResult:
        sent = Sent(messages, kwargs)
        self._sent[:] = [*self._sent[-99:], sent]
        reply = self._script.reply(
            "\n".join(message.text for message in messages),
            schema=sent.schema,
            tools="tools" in kwargs,
            answered=messages[-1].type == "tool",
        )
        calls = []
        if reply.item:
            id_ = f"call_{reply.item}"
            calls = [ToolCall(name="stock_of", args=_args(reply.item), id=id_, type="tool_call")]
        message = AIMessage(
            reply.text,
            tool_calls=calls,
            response_metadata={"model_name": "instant", "finish_reason": "stop"},
            usage_metadata={"input_tokens": 500, "output_tokens": 50, "total_tokens": 550},
        )
        return ChatResult(generations=[ChatGeneration(message=message)])

    def sent(self) -> Sequence[Sent]:
        """The last hundred requests, in order."""
        return list(self._sent)


def clientless_model(script: Script) -> ClientlessModel:
    """A model without a client."""
    model = ClientlessModel(model="instant", api_key=SecretStr("none"))
    model._script = script
    return model


def stock_tool(*, size: int = 200, seconds: float = 0.0) -> BaseTool:
    """A tool that only reads.

    Args:
        size: Bytes of its output, about.
        seconds: How long it takes.
    """

    @tool
    def stock_of(item: str) -> str:
        """How many pieces of an item are in stock."""
        time.sleep(seconds)
        pieces = int(item.removeprefix("item ")) % 7 + 40
        found: dict[str, object] = {"item": item, "stock": pieces, "place": "the main house"}
        line = f"{item} was counted on shelf "
        lines = (size - len(json.dumps(found))) // (len(line) + 8)
        return json.dumps({**found, "log": [f"{line}{number:04}" for number in range(lines)]})

    stock_of.metadata = {"hansei": {"effect": "read"}}
    return stock_of
