"""The scripted model inside the process: quick, and close to what ChatOpenAI gives and raises.

    model = ScriptedChatModel()
    model.script("planner", plan("look it up"))

`model.book` is the `Script` with everything that `ScriptedServer` has as well.
"""

import asyncio
import json
import time
from collections.abc import Callable, Sequence
from importlib import import_module
from operator import itemgetter
from typing import TYPE_CHECKING, Any, cast

import openai
from langchain_core.callbacks import AsyncCallbackManagerForLLMRun, CallbackManagerForLLMRun
from langchain_core.exceptions import OutputParserException
from langchain_core.language_models import BaseChatModel, LanguageModelInput
from langchain_core.messages import AIMessage, BaseMessage, convert_to_openai_messages
from langchain_core.messages.ai import UsageMetadata
from langchain_core.output_parsers import JsonOutputParser, PydanticOutputParser
from langchain_core.output_parsers.openai_tools import (
    JsonOutputKeyToolsParser,
    PydanticToolsParser,
    make_invalid_tool_call,
    parse_tool_call,
)
from langchain_core.outputs import ChatGeneration, ChatResult
from langchain_core.runnables import Runnable, RunnableMap, RunnablePassthrough
from langchain_core.tools import BaseTool
from langchain_core.utils.function_calling import convert_to_openai_function, convert_to_openai_tool
from openai.types.chat import ChatCompletion
from pydantic import BaseModel, ConfigDict, Field
from scripted_replies import HANG, Entry, JsonObject, Reply, as_object, completion, error_body
from scripted_script import Endpoint, Recorded, Script

if TYPE_CHECKING:
    import httpx2 as httpx
else:
    # Which of the two the OpenAI client is built on depends on its version.
    httpx = import_module(openai.DefaultHttpxClient.__bases__[0].__module__.split(".")[0])

_ERRORS: dict[int, type[openai.APIStatusError]] = {
    400: openai.BadRequestError,
    401: openai.AuthenticationError,
    403: openai.PermissionDeniedError,
    404: openai.NotFoundError,
    429: openai.RateLimitError,
}
_CUT: dict[str | None, Callable[..., Exception]] = {
    "length": openai.LengthFinishReasonError,
    "content_filter": openai.ContentFilterFinishReasonError,
}


class ScriptedChatModel(BaseChatModel):
    """A chat model that answers by a script, without HTTP and without retries.

    Faults that exist only as bytes (`raw_body` with status 200, `cut_body`)
    need the server and are reported as a mistake of the test.

    Attributes:
        book: The script; two models may share one, or a running server's.
        endpoint: As which of the two endpoints this model asks.
        model_name: The name in requests and replies.
    """

    model_config = ConfigDict(arbitrary_types_allowed=True)

    book: Script = Field(default_factory=Script, exclude=True, repr=False)
    endpoint: Endpoint = "main"
    model_name: str = "scripted"

    @property
    def _llm_type(self) -> str:
        return "scripted"

    def as_critic(self) -> "ScriptedChatModel":
        """The same script, asked as the critic's own endpoint."""
        return ScriptedChatModel(book=self.book, endpoint="critic", model_name="critic")

    def script(self, role: str, *replies: Entry, endpoint: Endpoint | None = None) -> None:
        """See `Script.script`."""
        self.book.script(role, *replies, endpoint=endpoint)

    @property
    def requests(self) -> list[Recorded]:
        """See `Script.requests`."""
        return self.book.requests

    def count(self, role: str | None = None, *, endpoint: Endpoint | None = None) -> int:
        """See `Script.count`."""
        return self.book.count(role, endpoint=endpoint)

    def prompts(self, role: str, *, endpoint: Endpoint | None = None) -> list[str]:
        """See `Script.prompts`."""
        return self.book.prompts(role, endpoint=endpoint)

    def reset(self, *, keep_scripts: bool = False) -> None:
        """See `Script.reset`."""
        self.book.reset(keep_scripts=keep_scripts)

    def bind_tools(
        self,
        tools: Sequence[dict[str, Any] | type | Callable[..., Any] | BaseTool],
        *,
        tool_choice: str | dict[str, Any] | bool | None = None,
        strict: bool | None = None,
        **kwargs: Any,
    ) -> Runnable[LanguageModelInput, AIMessage]:
        """Binds tools in the form in which ChatOpenAI would send them."""
        formatted = [convert_to_openai_tool(tool, strict=strict) for tool in tools]
        if tool_choice is True or tool_choice == "any":
            tool_choice = "required"
        elif isinstance(tool_choice, str) and tool_choice not in ("auto", "none", "required"):
            tool_choice = {"type": "function", "function": {"name": tool_choice}}
        if tool_choice:
            kwargs["tool_choice"] = tool_choice
        return self.bind(tools=formatted, **kwargs)

    def with_structured_output(
        self,
        schema: dict[str, Any] | type | None,
        *,
        include_raw: bool = False,
        method: str = "json_schema",
        strict: bool | None = None,
        **kwargs: Any,
    ) -> Runnable[LanguageModelInput, dict[str, Any] | BaseModel]:
        """Asks with the same `response_format` or forced tool as ChatOpenAI and parses the reply.

        One difference: with a pydantic class and `json_schema` ChatOpenAI raises for
        a reply that does not fit even with `include_raw`; here it is `parsing_error`.
        """
        model = _pydantic(schema)
        asked: Runnable[LanguageModelInput, AIMessage]
        parser: Runnable[Any, Any]
        if method == "function_calling" and schema is not None:
            name = str(convert_to_openai_tool(schema)["function"]["name"])
            asked = self.bind_tools([schema], tool_choice=name, strict=strict, **kwargs)
            parser = (
                PydanticToolsParser(tools=[model], first_tool_only=True)
                if model
                else JsonOutputKeyToolsParser(key_name=name, first_tool_only=True)
            )
        else:
            asked = self.bind(response_format=_response_format(schema, method, strict), **kwargs)
            parser = PydanticOutputParser(pydantic_object=model) if model else JsonOutputParser()
        if not include_raw:
            return asked | parser
        parsed = RunnablePassthrough.assign(
            parsed=itemgetter("raw") | parser, parsing_error=lambda _: None
        )
        unparsed = RunnablePassthrough.assign(parsed=lambda _: None)
        return RunnableMap(raw=asked) | parsed.with_fallbacks(
            [unparsed], exception_key="parsing_error"
        )

    def _generate(
        self,
        messages: list[BaseMessage],
        stop: list[str] | None = None,
        run_manager: CallbackManagerForLLMRun | None = None,
        **kwargs: Any,
    ) -> ChatResult:
        body = self._body(messages, stop, kwargs)
        reply = self.book.answer(body, endpoint=self.endpoint)
        if 0 < reply.delay < HANG:
            time.sleep(reply.delay)
        return self._result(reply, body)

    async def _agenerate(
        self,
        messages: list[BaseMessage],
        stop: list[str] | None = None,
        run_manager: AsyncCallbackManagerForLLMRun | None = None,
        **kwargs: Any,
    ) -> ChatResult:
        body = self._body(messages, stop, kwargs)
        reply = self.book.answer(body, endpoint=self.endpoint)
        if 0 < reply.delay < HANG:
            await asyncio.sleep(reply.delay)
        return self._result(reply, body)

    def _body(
        self, messages: list[BaseMessage], stop: list[str] | None, options: dict[str, Any]
    ) -> JsonObject:
        wire = cast(list[JsonObject], convert_to_openai_messages(messages))
        for message, sent in zip(messages, wire, strict=True):
            # The conversion leaves out calls that could not be read; ChatOpenAI sends them.
            if isinstance(message, AIMessage) and message.invalid_tool_calls:
                good = cast(list[JsonObject], sent.get("tool_calls", []))
                sent["tool_calls"] = good + [
                    {
                        "id": call["id"],
                        "type": "function",
                        "function": {"name": call["name"], "arguments": call["args"]},
                    }
                    for call in message.invalid_tool_calls
                ]
        form = options.get("response_format")
        if isinstance(form, type):
            options = {**options, "response_format": _response_format(form, "json_schema", None)}
        body = {"model": self.model_name, "messages": wire, **options}
        if stop:
            body["stop"] = stop
        return cast(JsonObject, json.loads(json.dumps(body, ensure_ascii=False)))

    def _result(self, reply: Reply, body: JsonObject) -> ChatResult:
        if reply.fail_with is not None:
            raise reply.fail_with
        request = httpx.Request("POST", "http://scripted.invalid/v1/chat/completions")
        if reply.delay >= HANG:
            raise openai.APITimeoutError(request)
        if reply.drop_connection:
            raise openai.APIConnectionError(request=request)
        if reply.status >= 400:
            raise _status_error(reply, request)
        if reply.raw_body is not None or reply.cut_body:
            self.book.complain("a reply made of raw bytes needs the scripted server")
            raise TypeError("a reply made of raw bytes needs the scripted server")
        whole = completion(reply, body, self.book.ids)
        if "response_format" in body and reply.finish_reason in _CUT:
            raise _CUT[reply.finish_reason](completion=ChatCompletion.model_validate(whole))
        return ChatResult(generations=[_generation(reply, whole)])


def _status_error(reply: Reply, request: httpx.Request) -> openai.APIStatusError:
    content = reply.raw_body or error_body(reply.content or f"scripted error {reply.status}")
    response = httpx.Response(
        reply.status, headers=dict(reply.headers), content=content, request=request
    )
    try:
        data: object = json.loads(content)
    except ValueError:
        data = None
    text = f"Error code: {reply.status} - {data}" if data else content.decode()
    kind = _ERRORS.get(reply.status, openai.InternalServerError)
    return kind(text, response=response, body=as_object(data).get("error"))


def _generation(reply: Reply, whole: JsonObject) -> ChatGeneration:
    choice = cast(list[dict[str, Any]], whole["choices"])[0]
    message = AIMessage(
        content=reply.content or "",
        response_metadata={
            "finish_reason": reply.finish_reason,
            "model_name": whole["model"],
            "model_provider": "openai",
            "token_usage": whole.get("usage"),
            "logprobs": choice.get("logprobs"),
            "id": whole["id"],
        },
    )
    for call in choice["message"].get("tool_calls", []):
        try:
            message.tool_calls.append(cast(Any, parse_tool_call(call, return_id=True)))
        except OutputParserException as failure:
            message.invalid_tool_calls.append(make_invalid_tool_call(call, str(failure)))
    if reply.usage is not None:
        message.usage_metadata = UsageMetadata(
            input_tokens=reply.usage.get("prompt_tokens", 0),
            output_tokens=reply.usage.get("completion_tokens", 0),
            total_tokens=reply.usage.get("total_tokens", 0),
        )
    return ChatGeneration(message=message)


def _pydantic(schema: object) -> type[BaseModel] | None:
    return schema if isinstance(schema, type) and issubclass(schema, BaseModel) else None


def _response_format(
    schema: dict[str, Any] | type | None, method: str, strict: bool | None
) -> JsonObject:
    if method == "json_mode":
        return {"type": "json_object"}
    if schema is None or method != "json_schema":
        raise ValueError(f"no schema given, or an unknown method: {method!r}")
    if strict is None and isinstance(schema, type):
        strict = True  # as the openai client does for a class
    function = convert_to_openai_function(schema, strict=strict)
    function["schema"] = function.pop("parameters")
    return {"type": "json_schema", "json_schema": function}
