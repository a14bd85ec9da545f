"""A chat model behind an OpenAI-compatible endpoint: LangChain's with other manners on the wire.

What is added to it, and why:

- The limit of a reply goes out as `max_tokens`, which every compatible server knows; only OpenAI's
  own endpoint gets its newer name. `ChatOpenAI` always sends the newer one, so others get the class
  below it, which is what LangChain's packages for such servers build on too.
- A request has one deadline for all of it. The client's own timeouts start anew with every byte, so
  a server that sends a blank now and then would hold a run for ever.
- Async calls use a client of the running event loop. The one that is shared by default breaks every
  second `asyncio.run`, as it hands out connections of a loop that is closed.
- A server on this machine is never asked through a proxy.

Slow to import (it brings in the OpenAI client), so import it inside functions.
"""

import asyncio
import functools
import importlib
import ipaddress
import ssl
import threading
import time
import weakref
from collections.abc import AsyncIterator, Iterator
from typing import TYPE_CHECKING, Literal, TypedDict
from urllib.parse import unquote, urlsplit

import openai
from langchain_openai import ChatOpenAI
from langchain_openai.chat_models.base import BaseChatOpenAI
from pydantic import BaseModel, Field, SecretStr

if TYPE_CHECKING:
    import httpx2 as httpx
    from httpx2._client import UseClientDefault
    from httpx2._types import AuthTypes
else:
    # Which of the two the OpenAI client is built on depends on its version.
    httpx = importlib.import_module(openai.DefaultHttpxClient.__bases__[0].__module__.split(".")[0])

ToolStyle = Literal["native", "schema"]

CONNECT = 5.0
"""Seconds for the connection itself: a server that is there accepts at once."""

_DEADLINE = "hansei_deadline"


class _Placed(BaseModel):
    """What a model knows about itself besides what is sent."""

    where: str = Field(default="", exclude=True)
    """Short name of the place for traces: host and port, nothing secret."""
    tool_style: ToolStyle = Field(default="native", exclude=True)
    """How tools are offered to it."""


class EndpointChat(_Placed, BaseChatOpenAI):
    """A model at a compatible endpoint, which is told the limit of a reply as `max_tokens`."""


class OpenAIChat(_Placed, ChatOpenAI):
    """A model at OpenAI's own endpoint, which only takes `max_completion_tokens`."""


def endpoint_chat(
    *,
    model: str,
    base_url: str,
    api_key: str,
    temperature: float | None,
    timeout: float,
    max_tokens: int,
    max_retries: int,
    proxy: str | None = None,
    where: str | None = None,
    tool_style: ToolStyle = "native",
) -> EndpointChat | OpenAIChat:
    """Build the model; nothing is contacted.

    Args:
        model: Name of the model at the endpoint.
        base_url: Address of the API, with `/v1` where the server has it. User and password in it
            are sent as such, and kept out of what is printed.
        api_key: Sent as bearer token.
        temperature: None leaves it to the endpoint.
        timeout: Seconds for one request with its whole reply; each retry has as many again.
        max_tokens: Limit of a reply.
        max_retries: How often the client asks again after 408, 409, 429, 5xx and lost connections.
        proxy: Address of a proxy; None uses those of the environment.
        where: Short name of the place for traces; host and port by default.
        tool_style: How tools are offered to the model.
    """
    parts = urlsplit(base_url)
    auth = None
    if parts.username is not None:
        auth = (unquote(parts.username), unquote(parts.password or ""))
    public = parts._replace(netloc=parts.netloc.rpartition("@")[2])
    local = is_loopback(parts.hostname or "")
    options = _Options(
        auth=auth,
        proxy=None if local else proxy,
        trust_env=not local,
        verify=_tls(),
    )
    common = _Common(
        model=model,
        base_url=public.geturl(),
        api_key=SecretStr(api_key),
        temperature=temperature,
        timeout=openai.Timeout(timeout, connect=min(CONNECT, timeout)),
        max_retries=max_retries,
        # Elsewhere usage in streams has to be asked for in a way that some servers refuse.
        stream_usage=True if is_openai(base_url) or where is not None else None,
        http_client=_Client(options),
        http_async_client=_ClientPerLoop(options),
        # The proxy is given to the clients above, the options are for clients that are not ours.
        openai_proxy=None,
        http_socket_options=(),
        where=where or public.netloc,
        tool_style=tool_style,
    )
    if is_openai(base_url):
        return OpenAIChat(max_completion_tokens=max_tokens, **common)
    return EndpointChat(max_tokens=max_tokens, **common)


def is_openai(base_url: str) -> bool:
    """Whether an address is OpenAI's own endpoint or OpenAI's models on Azure."""
    host = urlsplit(base_url).hostname or ""
    return host.endswith((".openai.com", ".openai.azure.com"))


def is_loopback(host: str) -> bool:
    """Whether a host is this machine, as far as its name tells."""
    try:
        return ipaddress.ip_address(host).is_loopback
    except ValueError:  # a name
        return host == "localhost" or host.endswith(".localhost")


class _Common(TypedDict):
    model: str
    base_url: str
    api_key: SecretStr
    temperature: float | None
    timeout: openai.Timeout
    max_retries: int
    stream_usage: bool | None
    http_client: openai.DefaultHttpxClient
    http_async_client: openai.DefaultAsyncHttpxClient
    openai_proxy: str | None
    http_socket_options: tuple[tuple[int, int, int], ...]
    where: str
    tool_style: ToolStyle


class _Options(TypedDict):
    auth: tuple[str, str] | None
    proxy: str | None
    trust_env: bool
    verify: ssl.SSLContext


@functools.cache
def _tls() -> ssl.SSLContext:
    """One for all clients: it takes longer to make than everything else here together."""
    return httpx.create_ssl_context()


class _Client(openai.DefaultHttpxClient):
    """Sends through a client of its own, and closes that one when the model is gone.

    It must happen before the garbage collector comes to the sockets, which then would be
    reported as leaks: it calls the finalizers of a dead circle in any order, but what watches
    the circle from outside before all of them.
    """

    def __init__(self, options: _Options) -> None:
        super().__init__(**options)
        self._inner = openai.DefaultHttpxClient(
            **options, event_hooks={"request": [_start], "response": [_watch]}
        )
        weakref.finalize(self, self._inner.close)

    def send(
        self,
        request: httpx.Request,
        *,
        stream: bool = False,
        auth: "AuthTypes | UseClientDefault | None" = httpx.USE_CLIENT_DEFAULT,
        follow_redirects: "bool | UseClientDefault" = httpx.USE_CLIENT_DEFAULT,
    ) -> httpx.Response:
        return self._inner.send(
            request, stream=stream, auth=auth, follow_redirects=follow_redirects
        )


class _ClientPerLoop(openai.DefaultAsyncHttpxClient):
    """Sends each request through a client of the event loop that it is sent from.

    No connection is kept after its request: a loop gives no notice before it is closed, and
    connections left open in it would be reported as leaks. Beside the time a model takes, the few
    milliseconds of a new connection do not count.
    """

    def __init__(self, options: _Options) -> None:
        super().__init__(**options)
        self._options = options
        self._clients: weakref.WeakKeyDictionary[asyncio.AbstractEventLoop, httpx.AsyncClient] = (
            weakref.WeakKeyDictionary()
        )
        # Loops live in threads of their own.
        self._guard = threading.Lock()

    async def send(
        self,
        request: httpx.Request,
        *,
        stream: bool = False,
        auth: "AuthTypes | UseClientDefault | None" = httpx.USE_CLIENT_DEFAULT,
        follow_redirects: "bool | UseClientDefault" = httpx.USE_CLIENT_DEFAULT,
    ) -> httpx.Response:
        return await self._of_this_loop().send(
            request, stream=stream, auth=auth, follow_redirects=follow_redirects
        )

    def _of_this_loop(self) -> httpx.AsyncClient:
        loop = asyncio.get_running_loop()
        with self._guard:
            client = self._clients.get(loop)
            if client is None:
                client = openai.DefaultAsyncHttpxClient(
                    **self._options,
                    limits=httpx.Limits(max_keepalive_connections=0),
                    event_hooks={"request": [_astart], "response": [_awatch]},
                )
                self._clients[loop] = client
            return client


def _start(request: httpx.Request) -> None:
    """Start the clock of a request; a redirect does not start it anew."""
    seconds = request.extensions.get("timeout", {}).get("read")
    if seconds is not None:
        request.extensions.setdefault(_DEADLINE, time.monotonic() + seconds)


def _watch(response: httpx.Response) -> None:
    deadline = response.request.extensions.get(_DEADLINE)
    if deadline is not None and isinstance(response.stream, httpx.SyncByteStream):
        response.stream = _Watched(response.stream, deadline)


async def _astart(request: httpx.Request) -> None:
    _start(request)


async def _awatch(response: httpx.Response) -> None:
    deadline = response.request.extensions.get(_DEADLINE)
    if deadline is not None and isinstance(response.stream, httpx.AsyncByteStream):
        response.stream = _AsyncWatched(response.stream, deadline)


def _check(deadline: float) -> None:
    if time.monotonic() > deadline:
        msg = "the reply was not complete within the time for the whole request"
        raise httpx.ReadTimeout(msg)


class _Watched(httpx.SyncByteStream):
    """A reply that ends with an error once its time is over, looked at with every chunk."""

    def __init__(self, stream: httpx.SyncByteStream, deadline: float) -> None:
        self._stream = stream
        self._deadline = deadline

    def __iter__(self) -> Iterator[bytes]:
        for chunk in self._stream:
            _check(self._deadline)
            yield chunk

    def close(self) -> None:
        self._stream.close()


class _AsyncWatched(httpx.AsyncByteStream):
    """The same for async code."""

    def __init__(self, stream: httpx.AsyncByteStream, deadline: float) -> None:
        self._stream = stream
        self._deadline = deadline

    async def __aiter__(self) -> AsyncIterator[bytes]:
        async for chunk in self._stream:
            _check(self._deadline)
            yield chunk

    async def aclose(self) -> None:
        await self._stream.aclose()
