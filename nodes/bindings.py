"""The forms of one chat model that its requests need, each made once."""

from collections.abc import Callable, Hashable, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any, Literal, cast

from langchain_core.language_models import BaseChatModel, LanguageModelInput
from langchain_core.messages import BaseMessage
from langchain_core.runnables import (
    Runnable,
    RunnableBinding,
    RunnableConfig,
    RunnableParallel,
    RunnableSequence,
)
from pydantic import JsonValue

from hansei.nodes.effects import ModelCall

Method = Literal["json_schema", "function_calling", "json_mode", "prompt"]
METHODS: tuple[Method, ...] = ("json_schema", "function_calling", "json_mode", "prompt")
"""Ways to ask for a structured reply, best first."""

_KEPT = 32
"""Forms kept of one model: ten times what its roles need. Where tools are offered by a schema of a
call, each step has a schema of its own, and those must not pile up."""

Bound = Runnable[LanguageModelInput, object]


@dataclass(frozen=True, slots=True)
class Form:
    """A model and what is sent along with the messages."""

    model: Bound
    options: Mapping[str, Any] = field(default_factory=dict[str, Any])

    def invoke(self, messages: Sequence[BaseMessage], config: RunnableConfig) -> object:
        """Ask it; the config brings the callbacks."""
        return self.model.invoke(list(messages), config, **self.options)

    async def ainvoke(self, messages: Sequence[BaseMessage], config: RunnableConfig) -> object:
        """Ask it; the config brings the callbacks."""
        return await self.model.ainvoke(list(messages), config, **self.options)


class CannotAsk(Exception):  # noqa: N818 - never leaves the port
    """The model's class refuses a way of asking before anything is sent."""


class Bindings:
    """A chat model with tools or a schema bound to it.

    Binding converts schemas and signatures, which takes longer than the rest of a call that is
    answered at once.
    """

    def __init__(self, model: BaseChatModel) -> None:
        """Bind this model."""
        self._model = model
        self._plain = Form(model)
        # What a form was made of is kept beside it, so that its id stays its own.
        self._made: dict[Hashable, tuple[object, Form]] = {}

    def form(self, call: ModelCall, method: Method) -> Form:
        """The model in the form that a call needs.

        Raises:
            CannotAsk: Its class does not know the method.
        """
        schema = call.schema
        if schema is not None and method != "prompt":
            key: Hashable = (method, id(schema))
            return self._kept(key, schema, lambda: self._structured(schema, method))
        if call.tools:
            tools = list(call.tools)
            key = tuple(id(tool) for tool in tools)
            return self._kept(key, tools, lambda: self._model.bind_tools(tools))
        return self._plain

    def _kept(self, key: Hashable, made_of: object, make: Callable[[], Bound]) -> Form:
        found = self._made.get(key)
        if found is None:
            if len(self._made) >= _KEPT:
                self._made.clear()
            found = self._made[key] = (made_of, _form(make()))
        return found[1]

    def _structured(self, schema: dict[str, JsonValue], method: Method) -> Bound:
        structured: Callable[..., Bound] = self._model.with_structured_output
        try:
            return _without_parser(structured(schema, method=method, include_raw=True))
        except Exception as exc:
            raise CannotAsk(str(exc)) from exc


def _form(bound: Bound) -> Form:
    """A binding in its two parts: taking them apart anew costs each call a tenth of its time."""
    kind: type[object] = type(bound)
    if kind is RunnableBinding:
        binding = cast("RunnableBinding[LanguageModelInput, object]", bound)
        if not binding.config and not binding.config_factories:
            return Form(binding.bound, binding.kwargs)
    return Form(bound)


def _without_parser(asked: Bound) -> Bound:
    """The part of a structured model that asks: replies are read by a reader of our own.

    LangChain's part reads each reply once more, in threads and with spans of its own. Where a
    class builds its answer in another way, it stays as it is.
    """
    first: object = asked.first if isinstance(asked, RunnableSequence) else None
    if isinstance(first, RunnableParallel) and list(first.steps__) == ["raw"]:
        return first.steps__["raw"]
    return asked
