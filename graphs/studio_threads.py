"""Threads of Python and of the command line in Studio, whose server only opens what it knows.

It keeps a list of threads of its own. Before it is asked for that list, or for a thread that is not
on it, whatever stands in the run table is put on it, as far as its id is a UUID: others it refuses.
"""

import asyncio
import re
from collections.abc import Sequence
from uuid import UUID

from langgraph_sdk import get_client
from langgraph_sdk.client import LangGraphClient
from starlette.applications import Starlette
from starlette.middleware import Middleware
from starlette.types import ASGIApp, Receive, Scope, Send

from hansei.graphs.run_table import RunRow
from hansei.graphs.studio import accepted_runs

OWN_GRAPH = "hansei"
"""What `langgraph.json` calls the graph."""

_LIST = frozenset({"/threads/search", "/threads/count"})
_ONE = re.compile(r"/threads/([0-9a-fA-F-]{36})(?:/|$)")


class KnownThreads:
    """Tells the server of the threads in the run table, before it looks for one."""

    def __init__(self, app: ASGIApp) -> None:
        """Stand before the server's own routes."""
        self._app = app
        self._told: set[str] = set()
        self._guard = asyncio.Lock()

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        """Answer a request, after a look into the run table where it is about threads."""
        if scope["type"] == "http" and self._asks(str(scope["path"])):
            async with self._guard:
                await self._tell(await asyncio.to_thread(accepted_runs))
        await self._app(scope, receive, send)
        if scope["type"] == "http" and scope["method"] == "DELETE":
            # It may be run again under the same id.
            self._told -= set(_ONE.findall(str(scope["path"])))

    def _asks(self, path: str) -> bool:
        one = _ONE.match(path)
        return path in _LIST or (one is not None and one[1].lower() not in self._told)

    async def _tell(self, rows: Sequence[RunRow]) -> None:
        new = [row for row in rows if row.thread_id not in self._told and _is_uuid(row.thread_id)]
        if not new:
            return
        # In this process: the client finds the server around it when it gets no address.
        client = get_client(api_key=None)
        graph = await _graph(client)
        for row in new:
            about = {"goal": row.goal, "name": row.name}
            await client.threads.create(
                thread_id=row.thread_id,
                graph_id=graph,
                if_exists="do_nothing",
                metadata={key: value for key, value in about.items() if value},
            )
            self._told.add(row.thread_id)


async def _graph(client: LangGraphClient) -> str:
    """The graph under which a thread is opened: ours, or the first of another configuration."""
    found = await client.assistants.search(limit=100, sort_by="created_at", sort_order="asc")
    graphs = [assistant["graph_id"] for assistant in found]
    return OWN_GRAPH if OWN_GRAPH in graphs else graphs[0]


def _is_uuid(text: str) -> bool:
    try:
        return str(UUID(text)) == text
    except ValueError:
        return False


app = Starlette(middleware=[Middleware(KnownThreads)])
"""For the server's `http.app`."""
