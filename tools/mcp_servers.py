"""Tools of MCP servers (Model Context Protocol), from the file in which other clients name them.

The file is that of most MCP clients:

    {"mcpServers": {"stock": {"command": "python", "args": ["stock_server.py"]}}}

A server on the network has a `url` in place of `command`. `${NAME}` stands for a variable of the
environment, so that no key need be written into the file. Each call opens a session of its own and
closes it, so a server that remembers something from call to call is better used from Python.
"""

import asyncio
import json
import os
import re
from concurrent.futures import ThreadPoolExecutor
from datetime import timedelta
from pathlib import Path
from typing import TYPE_CHECKING, ClassVar, cast

from langchain_core.tools import BaseTool
from pydantic import AliasChoices, ConfigDict, Field

from hansei.policies.errors import OperatorError, UserError, first_of
from hansei.policies.narrow import as_list, as_mapping
from hansei.policies.plain_model import PlainModel

if TYPE_CHECKING:
    from langchain_mcp_adapters.client import MultiServerMCPClient
    from langchain_mcp_adapters.sessions import Connection

TIMEOUT = 300.0
"""Seconds without an answer after which a call counts as failed: a build or a crawl takes minutes,
and a server that never answers must not keep a run for ever."""

_LISTS = ("mcpServers", "servers")
"""Keys under which clients keep their servers, most common first."""

_HTTP = frozenset({"", "http", "streamable_http", "streamable-http", "streamableHttp"})
_SSE = frozenset({"sse"})
"""What clients write as the type of a server with a `url`."""

_VARIABLE = re.compile(r"\$\{(?:env:)?(\w+)\}")
_NOT_IN_NAMES = re.compile(r"[^A-Za-z0-9_-]")
"""What MCP allows in a tool's name, and endpoints do not."""

_LONGEST_NAME = 64
_LONGEST_CAUSE = 200
"""Characters of somebody else's error that are repeated in ours, to keep it one sentence."""


def load_mcp_tools(file: str) -> list[BaseTool]:
    """Start the servers of a file, or reach them, and ask for their tools.

    Two servers that have a tool of the same name get their own names before it.

    Args:
        file: The JSON file with the servers.

    Raises:
        UserError: The file is not there or is not what it must be, or the extra `mcp` is missing.
        OperatorError: A server cannot be started or reached.
    """
    connections = read_servers(file)
    # A loop of its own, in a thread of its own: a notebook's is running already.
    with ThreadPoolExecutor(max_workers=1) as pool:
        by_server = pool.submit(lambda: asyncio.run(_ask_all(connections))).result()
    names = [_callable_name(tool.name) for tools in by_server.values() for tool in tools]
    for server, tools in by_server.items():
        for tool in tools:
            name = _callable_name(tool.name)
            tool.name = _callable_name(f"{server}_{name}") if names.count(name) > 1 else name
    return [tool for tools in by_server.values() for tool in tools]


class _Server(PlainModel):
    """One server as its file describes it; what other clients write beside this is left alone."""

    what: ClassVar[str] = "field of an MCP server"
    model_config = ConfigDict(extra="ignore")

    command: str = ""
    args: list[str] = Field(default_factory=list[str])
    env: dict[str, str] | None = None
    cwd: str | None = None
    url: str = ""
    headers: dict[str, str] | None = None
    type: str = Field(default="", validation_alias=AliasChoices("type", "transport"))
    disabled: bool = False


def read_servers(file: str) -> dict[str, "Connection"]:
    """The servers of a file, as langchain-mcp-adapters takes them.

    Raises:
        UserError: The file is not there or is not what it must be.
    """
    try:
        data: object = json.loads(Path(file).expanduser().read_text(encoding="utf-8"))
    except FileNotFoundError:
        raise UserError(f"There is no file {file} with MCP servers; check the path.") from None
    except (OSError, ValueError) as error:
        raise UserError(f"{file} cannot be read as JSON ({_cause(error)}); repair it.") from error
    root = as_mapping(data)
    listed = as_mapping(next((root[key] for key in _LISTS if key in root), None))
    servers = {
        str(name): _Server.model_validate(_filled_in(value, file))
        for name, value in listed.items()
        if as_mapping(value).get("disabled") is not True
    }
    if not servers:
        raise UserError(
            f"{file} names no MCP server; write it as "
            '{"mcpServers": {"name": {"command": "…", "args": ["…"]}}}.'
        )
    return {name: _connection(name, server, file) for name, server in servers.items()}


def _connection(name: str, server: _Server, file: str) -> "Connection":
    patience = {"read_timeout_seconds": timedelta(seconds=TIMEOUT)}
    if server.command:
        return {
            "transport": "stdio",
            "command": server.command,
            "args": server.args,
            "env": server.env,
            "cwd": server.cwd,
            "session_kwargs": patience,
        }
    if not server.url:
        raise UserError(f"The MCP server {name!r} in {file} has neither a command nor a url.")
    if server.type in _SSE:
        return {
            "transport": "sse",
            "url": server.url,
            "headers": server.headers,
            "session_kwargs": patience,
        }
    if server.type not in _HTTP:
        raise UserError(
            f"The MCP server {name!r} in {file} is of the type {server.type!r}; use http or sse."
        )
    return {
        "transport": "streamable_http",
        "url": server.url,
        "headers": server.headers,
        "session_kwargs": patience,
    }


def _filled_in(value: object, file: str) -> object:
    """The value with the environment's variables in place of `${NAME}`, at any depth."""
    if isinstance(value, str):
        for variable in _VARIABLE.findall(value):
            if variable not in os.environ:
                raise UserError(f"{file} uses ${{{variable}}}, and no such variable is set.")
        return _VARIABLE.sub(lambda match: os.environ[match[1]], value)
    if isinstance(value, dict):
        items = as_mapping(cast("object", value)).items()
        return {key: _filled_in(item, file) for key, item in items}
    if isinstance(value, list):
        return [_filled_in(item, file) for item in as_list(cast("object", value))]
    return value


async def _ask_all(connections: dict[str, "Connection"]) -> dict[str, list[BaseTool]]:
    client = _client(connections)
    found = await asyncio.gather(*(_ask(client, name) for name in connections))
    return dict(zip(connections, found, strict=True))


def _client(connections: dict[str, "Connection"]) -> "MultiServerMCPClient":
    try:
        from langchain_mcp_adapters.client import MultiServerMCPClient
    except ModuleNotFoundError as error:
        raise UserError(
            "MCP tools need the extra mcp; install it with: pip install 'hansei[mcp]'."
        ) from error
    return MultiServerMCPClient(connections)


async def _ask(client: "MultiServerMCPClient", name: str) -> list[BaseTool]:
    try:
        return await client.get_tools(server_name=name)
    except Exception as error:
        raise OperatorError(
            f"The MCP server {name!r} cannot be used ({_cause(error)}); "
            "check its command or address."
        ) from error


def _callable_name(name: str) -> str:
    return _NOT_IN_NAMES.sub("_", name)[:_LONGEST_NAME]


def _cause(error: BaseException) -> str:
    """The first error of a group of them, in a few words."""
    error = first_of(error)
    text = " ".join(str(error).split()).rstrip(".")
    return f"{type(error).__name__}: {text}"[:_LONGEST_CAUSE]
