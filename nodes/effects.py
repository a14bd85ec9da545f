"""One body for sync and async: a node is a generator that asks, and a driver that answers.

A node's body is pure: it yields what it needs (a model call, a tool run, a look into the
store, several bodies side by side) and gets the answer back. `drive` answers with blocking
calls and threads, `adrive` with awaits; nothing else differs between the two.
"""

import asyncio
from collections.abc import Callable, Generator, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Literal, Protocol, TypeVar

from langchain_core.messages import BaseMessage
from langchain_core.runnables.config import ContextThreadPoolExecutor
from langchain_core.tools import BaseTool
from pydantic import JsonValue

from hansei.policies.words import Role

R = TypeVar("R")


@dataclass(frozen=True, slots=True)
class ModelCall:
    """One logical request to a model: what `worst_case_calls` counts."""

    role: Role
    messages: Sequence[BaseMessage]
    schema: dict[str, JsonValue] | None = None
    """JSON schema of a structured reply."""
    tools: Sequence[BaseTool] = ()
    repair: bool = False
    """Asks for a better reply than the one that came before."""
    step: int | None = None
    """The step it is about, where the node that asks has several."""


@dataclass(frozen=True, slots=True)
class RequestedCall:
    """A tool call that a model asked for."""

    id: str
    name: str
    args: dict[str, JsonValue] = field(default_factory=dict[str, JsonValue])
    invalid: str = ""
    """Why the arguments cannot be read; empty when they can."""


@dataclass(frozen=True, slots=True)
class ModelReply:
    """What came back, or why nothing did."""

    text: str = ""
    calls: Sequence[RequestedCall] = ()
    truncated: bool = False
    failure: str = ""
    """The endpoint failed: one plain phrase without secrets."""
    advice: str = ""
    """What to do about the failure, for whoever runs the model."""
    refused: str = ""
    """A budget forbade the call: which one."""


@dataclass(frozen=True, slots=True)
class RunTool:
    """Run one tool call that may run."""

    tool: BaseTool
    call: RequestedCall
    key: str = ""
    """Under which the journal knows a call that changes something; empty for one that reads."""


@dataclass(frozen=True, slots=True)
class ToolReply:
    """A tool's output as text, and whether it was an exception."""

    output: str
    raised: bool = False
    refused: bool = False
    """A budget forbade the call, so it was never made; `output` says which."""
    misfit: bool = False
    """The arguments were refused by the tool's own validation, so it did not begin."""
    unknown: bool = False
    """It was begun before a crash, and nobody knows whether it went through."""


Shelf = Literal["outputs", "journal", "entries"]
"""Where in the store a text is kept: long tool outputs, the journal of changes, or the rounds of
calls that were entered and not left."""


@dataclass(frozen=True, slots=True)
class Remember:
    """Keep a text in the run's store; an empty one is forgotten."""

    key: str
    text: str
    shelf: Shelf = "outputs"
    made: str = ""
    """The call that was made and that this tells of; a failure to keep it names the call."""


@dataclass(frozen=True, slots=True)
class Recall:
    """Read a text back."""

    key: str
    shelf: Shelf = "outputs"


@dataclass(frozen=True, slots=True)
class AskHuman:
    """Stop the run until a human has answered. What the node did before is done again then."""

    question: Mapping[str, JsonValue]


@dataclass(frozen=True, slots=True)
class HumanReply:
    """What a human has answered: anything."""

    answer: object


@dataclass(frozen=True, slots=True)
class Parallel:
    """Bodies that do not need each other; each keeps its own result."""

    bodies: Sequence["Body[None]"]


Request = ModelCall | RunTool | Remember | Recall | AskHuman | Parallel
Reply = ModelReply | ToolReply | HumanReply | str | bool | None
Body = Generator[Request, Reply, R]


class Session(Protocol):
    """Answers the requests of one node's run."""

    def call_model(self, call: ModelCall) -> ModelReply:
        """Make one model call."""
        ...

    async def acall_model(self, call: ModelCall) -> ModelReply:
        """Make one model call."""
        ...

    def run_tool(self, run: RunTool) -> ToolReply:
        """Run one tool call."""
        ...

    async def arun_tool(self, run: RunTool) -> ToolReply:
        """Run one tool call."""
        ...

    def remember(self, item: Remember) -> bool:
        """Keep a text; False when there is nowhere to keep it."""
        ...

    async def aremember(self, item: Remember) -> bool:
        """Keep a text; False when there is nowhere to keep it."""
        ...

    def recall(self, item: Recall) -> str | None:
        """Read a text back."""
        ...

    async def arecall(self, item: Recall) -> str | None:
        """Read a text back."""
        ...

    def ask_human(self, item: AskHuman) -> HumanReply:
        """Stop for an answer, or give the one that was sent."""
        ...


def ask_model(call: ModelCall) -> Body[ModelReply]:
    """Yield a model call and return its reply, typed."""
    reply = yield call
    if not isinstance(reply, ModelReply):
        raise TypeError(type(reply))
    return reply


def ask_tool(run: RunTool) -> Body[ToolReply]:
    """Yield a tool run and return its reply, typed."""
    reply = yield run
    if not isinstance(reply, ToolReply):
        raise TypeError(type(reply))
    return reply


def ask_remember(key: str, text: str, *, shelf: Shelf = "outputs", made: str = "") -> Body[bool]:
    """Keep a text, or forget it where it is empty; False when there is nowhere to keep it."""
    reply = yield Remember(key=key, text=text, shelf=shelf, made=made)
    return reply is True


def ask_recall(key: str, *, shelf: Shelf = "outputs") -> Body[str | None]:
    """Read a text back; `None` when it is gone."""
    reply = yield Recall(key=key, shelf=shelf)
    if reply is None or isinstance(reply, str):
        return reply
    raise TypeError(type(reply))


def ask_human(question: Mapping[str, JsonValue]) -> Body[object]:
    """Ask a human, and return the answer."""
    reply = yield AskHuman(question)
    if not isinstance(reply, HumanReply):
        raise TypeError(type(reply))
    return reply.answer


def side_by_side(bodies: Sequence[Body[R]]) -> Body[list[R]]:
    """Run bodies that do not need each other, and return their results in order."""
    if not bodies:
        return []
    if len(bodies) == 1:
        return [(yield from bodies[0])]
    slots: dict[int, R] = {}
    yield Parallel([_into(slots, i, body) for i, body in enumerate(bodies)])
    return [slots[i] for i in range(len(bodies))]


def _into(slots: dict[int, R], place: int, body: Body[R]) -> Body[None]:
    slots[place] = yield from body


def drive(body: Body[R], session: Session) -> R:
    """Run a body with blocking calls; bodies side by side run in threads."""
    reply: Reply = None
    while True:
        try:
            request = body.send(reply)
        except StopIteration as stop:
            result: R = stop.value
            return result
        match request:
            case ModelCall():
                reply = session.call_model(request)
            case RunTool():
                reply = session.run_tool(request)
            case Remember():
                reply = session.remember(request)
            case Recall():
                reply = session.recall(request)
            case AskHuman():
                reply = session.ask_human(request)
            case Parallel(bodies):
                with ContextThreadPoolExecutor(max_workers=len(bodies)) as pool:
                    list(pool.map(_driver(session), bodies))
                reply = None


def _driver(session: Session) -> Callable[[Body[None]], None]:
    def run(body: Body[None]) -> None:
        drive(body, session)

    return run


async def adrive(body: Body[R], session: Session) -> R:
    """Run a body with awaits; bodies side by side run as tasks."""
    reply: Reply = None
    while True:
        try:
            request = body.send(reply)
        except StopIteration as stop:
            result: R = stop.value
            return result
        match request:
            case ModelCall():
                reply = await session.acall_model(request)
            case RunTool():
                reply = await session.arun_tool(request)
            case Remember():
                reply = await session.aremember(request)
            case Recall():
                reply = await session.arecall(request)
            case AskHuman():
                reply = session.ask_human(request)
            case Parallel(bodies):
                await asyncio.gather(*(adrive(b, session) for b in bodies))
                reply = None
