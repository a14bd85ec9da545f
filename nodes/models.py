"""The only way to a model: one logical request, its reply as data, never an exception.

Structured replies are asked for by JSON schema, then by function calling, then in JSON mode,
then by the prompt alone. What an endpoint refuses is remembered for the process. Retries of
HTTP belong to the client; this module only asks again when an endpoint answered 200 with
something that is no chat completion at all, which clients do not retry.
"""

import json
import logging
import threading
from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Literal

from langchain_core.language_models import BaseChatModel
from langchain_core.messages import AIMessage, BaseMessage
from langchain_core.messages.utils import count_tokens_approximately
from langchain_core.runnables import RunnableConfig
from langgraph.errors import GraphBubbleUp

from hansei.nodes.bindings import METHODS, Bindings, CannotAsk, Method
from hansei.nodes.effects import ModelCall, ModelReply, RequestedCall
from hansei.nodes.failures import JUNK, failure_of, openai_status
from hansei.policies.narrow import as_mapping
from hansei.policies.records import RoleUsage

logger = logging.getLogger(__name__)

ToolStyle = Literal["native", "schema"]
"""How tools are offered: by the endpoint's own tool calling, or as a JSON schema of a call, for
models that write calls as text or not at all."""

STEP_METADATA = "hansei_step"
"""Under which key of a call's metadata a tracer finds the number of its step."""

_REFUSED_STATUS = frozenset({400, 404, 405, 415, 422, 501})
"""Answers that mean "not this way": the next method is tried, and this one never again."""


@dataclass
class Capabilities:
    """What the endpoint of a model was found to refuse."""

    methods: list[Method] = field(default_factory=lambda: list(METHODS))
    tools: ToolStyle = "native"


class ModelPort:
    """One chat model, asked in the best way that its endpoint understands."""

    def __init__(self, model: BaseChatModel, capabilities: Capabilities) -> None:
        self._model = model
        self._can = capabilities
        self._bindings = Bindings(model)

    @property
    def tool_style(self) -> ToolStyle:
        """How tools are best offered to this model."""
        return self._can.tools

    def invoke(
        self, call: ModelCall, config: RunnableConfig | None = None
    ) -> tuple[ModelReply, RoleUsage]:
        """Make one logical request; `config` is that of the node that asks, for its callbacks."""
        traced = traced_as(call, config)
        again = True
        while True:
            method = self._method(call)
            try:
                form = self._bindings.form(call, method)
                message = _message(form.invoke(call.messages, traced))
            except GraphBubbleUp:
                raise
            except Exception as exc:  # noqa: BLE001 - any client may raise anything; it is data here
                step = self._after(exc, call, method, again=again)
                if isinstance(step, ModelReply):
                    return step, _estimate(call, step)
                again = again and step != "junk"
                continue
            return _reply(message, call), _usage(message, call)

    async def ainvoke(
        self, call: ModelCall, config: RunnableConfig | None = None
    ) -> tuple[ModelReply, RoleUsage]:
        """Make one logical request; `config` is that of the node that asks, for its callbacks."""
        traced = traced_as(call, config)
        again = True
        while True:
            method = self._method(call)
            try:
                form = self._bindings.form(call, method)
                message = _message(await form.ainvoke(call.messages, traced))
            except GraphBubbleUp:
                raise
            except Exception as exc:  # noqa: BLE001 - any client may raise anything; it is data here
                step = self._after(exc, call, method, again=again)
                if isinstance(step, ModelReply):
                    return step, _estimate(call, step)
                again = again and step != "junk"
                continue
            return _reply(message, call), _usage(message, call)

    def _method(self, call: ModelCall) -> Method:
        return self._can.methods[0] if call.schema is not None else "prompt"

    def _after(
        self, exc: Exception, call: ModelCall, method: Method, *, again: bool
    ) -> Literal["method", "junk"] | ModelReply:
        """What to do after a failed try: another method, once more, or a failure as data."""
        cut = _cut_message(exc)
        if cut is not None:
            return ModelReply(text=cut, truncated=True)
        refused = openai_status(exc) in _REFUSED_STATUS
        unsupported = isinstance(exc, NotImplementedError)
        if method != "prompt" and (refused or unsupported or isinstance(exc, CannotAsk)):
            if method in self._can.methods:
                self._can.methods.remove(method)
            logger.info("the endpoint does not take %s; using %s", method, self._can.methods[0])
            return "method"
        junk = isinstance(exc, JUNK) and not isinstance(exc, NotImplementedError)
        if junk and again:
            logger.warning("the endpoint's reply is no chat completion; asking once more")
            return "junk"
        failure = failure_of(exc, openai_compatible=hasattr(self._model, "openai_api_base"))
        logger.warning("a model call of the %s failed: %s", call.role, failure.phrase)
        # May hold what the phrase must not, so only for those who ask for it.
        logger.debug("the failed call of the %s", call.role, exc_info=exc)
        return ModelReply(failure=failure.phrase, advice=failure.advice)


def traced_as(call: ModelCall, config: RunnableConfig | None) -> RunnableConfig:
    """The config of one call: a tracer finds it under its role."""
    metadata: dict[str, object] = {"hansei_role": call.role}
    if call.step is not None:
        metadata[STEP_METADATA] = call.step
    name = f"{call.role} repair" if call.repair else call.role
    return {**with_metadata(config or {}, metadata), "run_name": name}


def with_metadata(config: RunnableConfig, more: Mapping[str, object]) -> RunnableConfig:
    """A config with more metadata: what `merge_configs` gives, in a tenth of its time."""
    return {**config, "metadata": {**config.get("metadata", {}), **more}}


def _cut_message(exc: Exception) -> str | None:
    """The text of a structured reply that the SDK refuses because it was cut off."""
    if type(exc).__name__ != "LengthFinishReasonError":
        return None
    completion = getattr(exc, "completion", None)
    choices = getattr(completion, "choices", None)
    if not choices:
        return ""
    return str(getattr(choices[0].message, "content", "") or "")


def _message(output: object) -> AIMessage:
    raw = as_mapping(output).get("raw", output)
    if isinstance(raw, AIMessage):
        return raw
    if isinstance(raw, BaseMessage):
        return AIMessage(content=raw.text)
    msg = f"the model returned {type(raw).__name__}, not a message"
    raise TypeError(msg)


_CUT = frozenset(
    {
        *("length", "max_tokens", "MAX_TOKENS", "model_length", "model_context_window_exceeded"),
        *("content_filter", "refusal", "SAFETY", "RECITATION", "BLOCKLIST", "PROHIBITED_CONTENT"),
    }
)
"""Finish reasons of a text that is not whole: its token limit or a filter cut it off."""


def _reply(message: AIMessage, call: ModelCall) -> ModelReply:
    metadata: Mapping[str, object] = message.response_metadata
    reason = metadata.get("finish_reason") or metadata.get("stop_reason")
    truncated = reason in _CUT
    calls = [
        RequestedCall(id=item["id"] or "", name=item["name"], args=item["args"])
        for item in message.tool_calls
    ]
    calls += [
        RequestedCall(
            id=item["id"] or "",
            name=item["name"] or "",
            invalid=f"the arguments are not valid JSON: {(item['args'] or '')[:80]}",
        )
        for item in message.invalid_tool_calls
    ]
    if call.schema is not None and calls and not calls[0].invalid:
        # Function calling: the structured reply is the arguments of the one forced call.
        return ModelReply(text=json.dumps(calls[0].args, ensure_ascii=False), truncated=truncated)
    if truncated:
        # What was cut off in the middle of its arguments must not run.
        calls = [RequestedCall(id=c.id, name=c.name, invalid="the call was cut off") for c in calls]
    # A model that writes half a character must not spoil what is sent and saved after it.
    text = message.text.encode("utf-8", "replace").decode()
    return ModelReply(text=text, calls=tuple(calls), truncated=truncated)


def _usage(message: AIMessage, call: ModelCall) -> RoleUsage:
    usage = message.usage_metadata
    if usage is None:
        return _estimate(call, ModelReply(text=message.text))
    return RoleUsage(
        calls=1, input_tokens=usage["input_tokens"], output_tokens=usage["output_tokens"]
    )


def _estimate(call: ModelCall, reply: ModelReply) -> RoleUsage:
    return RoleUsage(
        calls=1,
        input_tokens=0 if reply.failure else count_tokens_approximately(list(call.messages)),
        output_tokens=count_tokens_approximately([AIMessage(content=reply.text)])
        if reply.text
        else 0,
        estimated=not reply.failure,
    )


_known: dict[str, Capabilities] = {}
_known_lock = threading.Lock()


def capabilities_of(model: BaseChatModel) -> Capabilities:
    """What is known in this process about a model's endpoint, shared by all who use it."""
    name = getattr(model, "model_name", None) or getattr(model, "model", None)
    base = getattr(model, "openai_api_base", None)
    fresh = Capabilities(tools=_tool_style(model))
    if not base or not name:
        return fresh
    key = f"{type(model).__name__}|{base}|{name}"
    with _known_lock:
        return _known.setdefault(key, fresh)


def _tool_style(model: BaseChatModel) -> ToolStyle:
    """By schema where the model's class cannot bind tools, or where the model says so."""
    if type(model).bind_tools is BaseChatModel.bind_tools:
        return "schema"
    return "schema" if getattr(model, "tool_style", "native") == "schema" else "native"
