"""Tools of an MCP server over stdio: what they declare, what they answer, and the command line."""

from __future__ import annotations

import asyncio
import json
import os
import re
import sys
from collections.abc import Sequence
from pathlib import Path
from typing import Literal

import pytest
from broken_runs import scripted
from cli_helpers import hansei
from cli_scenes import endpoint, report
from langchain_core.messages import ToolMessage
from langchain_core.tools import BaseTool
from langchain_mcp_adapters.client import MultiServerMCPClient
from scripted_replies import Reply, call_then_say, plan, tool_call
from tree import ROOT

from hansei import (
    AgentInput,
    AgentState,
    RunStatus,
    create_plan_execute_agent,
    open_checkpointer,
)
from hansei.graphs.arguments import undeclared_effects
from hansei.nodes.tool_call import said_by, text_of
from hansei.policies.errors import OperatorError, UserError
from hansei.policies.records import ToolCall
from hansei.tools.declared import tool_effect
from hansei.tools.loading import load_tools
from hansei.tools.mcp_servers import read_servers
from hansei.tools.outcome import OutcomeStatus

SERVER = ROOT / "tests" / "mcp_stock_server.py"
How = Literal["invoke", "ainvoke"]


def config(folder: Path, name: str = "servers.json", **servers: object) -> str:
    """A file with servers; the stock alone unless others are given."""
    stock = {"command": sys.executable, "args": [str(SERVER), str(folder / "ledger")]}
    path = folder / name
    path.write_text(json.dumps({"mcpServers": servers or {"stock": stock}}))
    return str(path)


@pytest.fixture(scope="module")
def folder(tmp_path_factory: pytest.TempPathFactory) -> Path:
    return tmp_path_factory.mktemp("mcp")


@pytest.fixture(scope="module")
def tools(folder: Path) -> list[BaseTool]:
    """The server's tools; asked for once, since each time starts a process."""
    return load_tools(f"mcp:{config(folder)}")


def ran(tools: Sequence[BaseTool], how: How, *calls: Reply) -> AgentState:
    name = calls[0].tool_calls[0][0]
    model = scripted(
        plan({"description": "Look after the lamp", "tool": name}),
        [*calls, Reply("Done: the lamp is fine.")],
        answer="The lamp is fine.",
    )
    agent = create_plan_execute_agent(model, tools)
    given = AgentInput(goal="Look after the lamp")
    raw = agent.invoke(given) if how == "invoke" else asyncio.run(agent.ainvoke(given))
    return AgentState.model_validate(raw)


def first_call(state: AgentState) -> ToolCall:
    return state.steps[1].attempts[0].calls[0]


def test_effects_come_from_the_servers_hints(tools: Sequence[BaseTool]) -> None:
    assert {tool.name: tool_effect(tool) for tool in tools} == {
        "stock": "read",
        "shelves": "read",
        "picture": "read",
        "rename": "idempotent",
        "order": "once",
        "stock_count": "once",  # says nothing; its name is one that endpoints take
        "crash": "read",
    }
    assert "for stock_count, so" in undeclared_effects(tools)


def test_what_a_user_declares_goes_before_the_hints(tools: Sequence[BaseTool]) -> None:
    stock = tools[0].model_copy(update={"metadata": {**(tools[0].metadata or {})}})
    assert stock.metadata is not None
    stock.metadata["hansei"] = {"effect": "once"}
    assert tool_effect(stock) == "once"


@pytest.mark.parametrize("how", ["invoke", "ainvoke"])
def test_a_tool_is_called_and_its_answer_read(tools: Sequence[BaseTool], how: How) -> None:
    state = ran(tools, how, tool_call("stock", item="lamp"))
    call = first_call(state)
    assert call.outcome is OutcomeStatus.OK
    assert json.loads(call.output) == {"item": "lamp", "stock": 3}
    assert (state.status, state.verified) == (RunStatus.COMPLETE, True)


@pytest.mark.parametrize(
    ("call", "status", "said"),
    [
        (tool_call("shelves", item="lamp"), OutcomeStatus.OK, '[{"shelf": "A1"}, {"shelf": "B2"}]'),
        (tool_call("shelves", item="none"), OutcomeStatus.EMPTY, "[]"),
        (tool_call("picture", item="lamp"), OutcomeStatus.OK, "[image image/png]"),
        (tool_call("rename", item="lamp", name="light"), OutcomeStatus.OK, "is now called light"),
        (tool_call("stock_count"), OutcomeStatus.OK, "42"),
        (tool_call("crash", item="lamp"), OutcomeStatus.ERROR, "Connection closed"),
        (tool_call("stock"), OutcomeStatus.ERROR, "Field required"),
    ],
)
def test_answers_are_outcomes(
    tools: Sequence[BaseTool], call: Reply, status: OutcomeStatus, said: str
) -> None:
    made = first_call(ran(tools, "ainvoke", call))
    assert made.outcome is status
    assert said in made.output


def test_an_error_of_a_change_is_not_tried_again(tools: Sequence[BaseTool], folder: Path) -> None:
    ledger = folder / "ledger"
    ledger.unlink(missing_ok=True)
    ask = tool_call("order", item="lamp", amount=200)
    state = ran(tools, "ainvoke", ask, Reply("It failed."), ask)
    call = first_call(state)
    assert (call.outcome, call.raised) == (OutcomeStatus.ERROR, True)
    assert "more than the shelf holds" in call.reason
    assert ledger.read_text().splitlines() == ["lamp 200"]  # it raised after it had begun
    assert state.status is RunStatus.FAILED


def test_the_journal_knows_the_calls_of_an_mcp_tool(
    tools: Sequence[BaseTool], tmp_path: Path
) -> None:
    model = scripted(
        plan({"description": "Order a lamp", "tool": "order"}),
        [tool_call("order", item="lamp", amount=1), Reply("Ordered 1 lamp.")],
        answer="Ordered 1 lamp.",
    )
    with open_checkpointer(tmp_path / "runs.db") as saver:
        agent = create_plan_execute_agent(model, tools, checkpointer=saver)
        agent.invoke(AgentInput(goal="Order a lamp"), {"configurable": {"thread_id": "1"}})
        (entry,) = saver.store.search(("hansei", "journal"))
    assert json.loads(entry.value["text"])["output"] == "ordered 1 of lamp"


def test_tools_of_the_librarys_own_client_work_as_they_are(folder: Path) -> None:
    async def state() -> AgentState:
        client = MultiServerMCPClient(
            {
                "stock": {
                    "transport": "stdio",
                    "command": sys.executable,
                    "args": [str(SERVER), str(folder / "ledger")],
                }
            }
        )
        stock = [tool for tool in await client.get_tools() if tool.name == "stock"]
        model = scripted(
            plan({"description": "Count the lamps", "tool": "stock"}),
            [tool_call("stock", item="lamp"), Reply("There are 3.")],
            answer="There are 3 lamps.",
        )
        agent = create_plan_execute_agent(model, stock)
        return AgentState.model_validate(await agent.ainvoke(AgentInput(goal="Count the lamps")))

    assert asyncio.run(state()).verified


def test_tools_are_loaded_where_a_loop_is_running(folder: Path) -> None:
    async def names() -> list[str]:
        return [tool.name for tool in load_tools(f"mcp:{config(folder)}, shop")]

    found = asyncio.run(names())
    assert {"stock", "query_order"} <= set(found)


def test_two_servers_with_the_same_tools_keep_them_apart(folder: Path) -> None:
    one = {"command": sys.executable, "args": [str(SERVER), str(folder / "ledger")]}
    found = load_tools(f"mcp:{config(folder, 'two.json', north=one, south=one)}")
    names = [tool.name for tool in found]
    assert {"north_stock", "south_stock", "north_stock_count"} <= set(names)


def test_the_example_of_the_readmes_runs(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    texts = [(ROOT / name).read_text("utf-8") for name in ("README.md", "README.zh.md")]
    section = texts[0].split("\n## MCP tools\n")[1].split("\n## ")[0]
    (code,) = re.findall(r"```python\n(.*?)```", section, re.DOTALL)
    (servers,) = re.findall(r"```json\n(.*?)```", section, re.DOTALL)
    assert servers in texts[1]
    # As after `source .venv/bin/activate`.
    monkeypatch.setenv("PATH", f"{Path(sys.executable).parent}{os.pathsep}{os.environ['PATH']}")
    with endpoint(tmp_path, monkeypatch) as model:
        Path("stock_server.py").write_text(code)
        Path("servers.json").write_text(servers)
        model.script("planner", plan({"description": "Count the lamps", "tool": "stock"}))
        model.script("executor", call_then_say("There are 3 lamps.", "stock", item="lamp"))
        model.script("synthesizer", "There are 3 lamps.")
        asked = ("run", "how many lamps are there?", "--tools", "mcp:servers.json")
        done = hansei(*asked, "--db", "runs.db", "--json")
    data = report(done)
    assert (data["status"], data["verified"]) == ("complete", True)
    assert data["steps"][0]["status"] == "verified"


# The file


def test_a_file_is_read_as_other_clients_read_it(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("STOCK_KEY", "secret")
    given = {
        "stock": {"command": "python", "args": ["s.py"], "env": {"KEY": "${STOCK_KEY}"}, "x": 1},
        "web": {"url": "https://mcp.example/mcp", "headers": {"A": "Bearer ${env:STOCK_KEY}"}},
        "old": {"type": "sse", "url": "https://mcp.example/sse"},
        "off": {"command": "no", "disabled": True},
    }
    servers = read_servers(config(tmp_path, "servers.json", **given))
    assert {name: server["transport"] for name, server in servers.items()} == {
        "stock": "stdio",
        "web": "streamable_http",
        "old": "sse",
    }
    assert servers["stock"].get("env") == {"KEY": "secret"}
    assert servers["web"].get("headers") == {"A": "Bearer secret"}
    vscode = tmp_path / "mcp.json"
    vscode.write_text(json.dumps({"servers": {"stock": given["stock"]}}))
    assert list(read_servers(str(vscode))) == ["stock"]


@pytest.mark.parametrize(
    ("text", "said"),
    [
        (None, "There is no file"),
        ("{", "cannot be read as JSON"),
        ("[]", "names no MCP server"),
        ('{"mcpServers": {}}', "names no MCP server"),
        ('{"mcpServers": {"a": {}}}', "neither a command nor a url"),
        ('{"mcpServers": {"a": {"command": ["x"]}}}', "'command' cannot be"),
        ('{"mcpServers": {"a": {"url": "x", "type": "smoke"}}}', "of the type 'smoke'"),
        ('{"mcpServers": {"a": {"command": "${NO_SUCH_VARIABLE}"}}}', "NO_SUCH_VARIABLE"),
    ],
)
def test_a_file_that_cannot_be_used_is_refused(tmp_path: Path, text: str | None, said: str) -> None:
    path = tmp_path / "servers.json"
    if text is not None:
        path.write_text(text)
    with pytest.raises(UserError, match=said) as refused:
        load_tools(f"mcp:{path}")
    assert "\n" not in str(refused.value)


@pytest.mark.parametrize(
    "server",
    [
        {"command": "no-such-program"},
        {"command": sys.executable, "args": ["-c", "import sys; sys.exit(1)"]},
        {"url": "http://127.0.0.1:9/mcp"},
    ],
)
def test_a_server_that_is_down_is_told_in_one_sentence(
    tmp_path: Path, server: dict[str, object]
) -> None:
    with pytest.raises(OperatorError, match="The MCP server 'stock' cannot be used") as down:
        load_tools(f"mcp:{config(tmp_path, stock=server)}")
    assert "\n" not in str(down.value)
    assert "TaskGroup" not in str(down.value)


def test_without_the_extra_it_says_what_to_install(
    folder: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setitem(sys.modules, "langchain_mcp_adapters.client", None)
    with pytest.raises(UserError, match=r"pip install 'hansei\[mcp\]'"):
        load_tools(f"mcp:{config(folder)}")


# The parts


@pytest.mark.parametrize(
    ("content", "artifact", "text"),
    [
        ("plain", None, "plain"),
        ([{"type": "text", "text": "one"}, {"type": "text", "text": "two"}], None, "one\ntwo"),
        (["one", {"type": "file", "url": "http://x/y"}], None, "one\n[file http://x/y]"),
        ([], {"structured_content": {"result": []}}, '{"result": []}'),
        ([{"type": "text", "text": "3"}], {"structured_content": {"result": 3}}, "3"),
        ([], None, ""),
    ],
)
def test_blocks_become_one_text(
    content: str | list[str | dict[str, object]], artifact: object, text: str
) -> None:
    message = ToolMessage(content=content, tool_call_id="1", artifact=artifact)
    assert text_of(message) == text


def test_of_a_group_of_errors_the_first_is_told() -> None:
    inner = ExceptionGroup("inner", [ValueError("no lamp")])
    assert said_by(ExceptionGroup("outer", [inner])) == "ValueError: no lamp"
