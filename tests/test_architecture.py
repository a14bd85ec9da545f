"""The house holds to its own description: rooms, drawing, front door."""

import ast
import re
from pathlib import Path
from typing import get_args

import pytest
from scripted_model import ScriptedChatModel
from tree import ROOT

import hansei
from hansei import create_plan_execute_agent
from hansei.nodes.executor import Goto
from hansei.policies.state import AgentInput, AgentState, StepTask
from hansei.policies.words import Verdict

MAY_IMPORT = {
    "policies": {"policies", "tools.outcome"},
    "tools": {"tools", "policies"},
    "nodes": {"nodes", "policies", "tools"},
    "graphs": {"graphs", "nodes", "policies", "tools"},
}

TOOLS_LEAD_TO = ("executor", "reflector")
"""After its calls a step goes back to the executor; one that broke waits to be judged."""


def _imports(path: Path) -> set[str]:
    found: set[str] = set()
    for node in ast.walk(ast.parse(path.read_text(encoding="utf-8"))):
        if isinstance(node, ast.ImportFrom) and node.module:
            names = [f"{node.module}.{alias.name}" for alias in node.names]
            found |= {n.removeprefix("hansei.") for n in names if n.startswith("hansei.")}
        elif isinstance(node, ast.Import):
            found |= {
                a.name.removeprefix("hansei.") for a in node.names if a.name.startswith("hansei.")
            }
    return found


@pytest.mark.parametrize("room", sorted(MAY_IMPORT))
def test_rooms_import_only_what_lies_below(room: str) -> None:
    allowed = MAY_IMPORT[room]
    strays = [
        f"{path.name}: {name}"
        for path in sorted((ROOT / room).rglob("*.py"))
        for name in sorted(_imports(path))
        if not any(name == a or name.startswith(f"{a}.") for a in allowed)
    ]
    assert not strays


def test_the_drawing_in_the_architecture_is_the_graph() -> None:
    graph = create_plan_execute_agent(ScriptedChatModel()).get_graph()
    real = {
        (edge.source.strip("_"), edge.target.strip("_"), str(edge.data or ""))
        for edge in graph.edges
    }
    text = (ROOT / "ARCHITECTURE.md").read_text(encoding="utf-8")
    drawing = text.split("```mermaid")[1].split("```")[0]
    names = {"finish": "end"}
    drawn = {
        (
            names.get(m["source"], m["source"]),
            names.get(m["target"], m["target"]),
            (m["label"] or "").strip(),
        )
        for m in re.finditer(
            r"^\s*(?P<source>\w+)(?:\(.*?\))?\s+(?:-->|-\.(?P<label>[^.]*)\.->)\s+(?P<target>\w+)",
            drawing,
            re.MULTILINE,
        )
    }
    assert drawn == real


@pytest.mark.parametrize(("node", "ways"), [("executor", get_args(Goto)), ("tools", TOOLS_LEAD_TO)])
def test_a_step_goes_only_where_the_graph_lets_it(node: str, ways: tuple[str, ...]) -> None:
    graph = create_plan_execute_agent(ScriptedChatModel()).get_graph()
    assert sorted(e.target for e in graph.edges if e.source == node) == sorted(ways)


def test_every_verdict_is_a_conditional_edge() -> None:
    graph = create_plan_execute_agent(ScriptedChatModel()).get_graph()
    labels = " ".join(str(e.data) for e in graph.edges if e.source == "reflector" and e.conditional)
    for verdict in Verdict:
        assert verdict.value in labels


def test_public_names_exist_and_are_sorted() -> None:
    assert list(hansei.__all__) == sorted(hansei.__all__)
    for name in hansei.__all__:
        assert getattr(hansei, name) is not None


def test_the_graph_keeps_nothing_that_is_no_field_of_its_schemas() -> None:
    channels = create_plan_execute_agent(ScriptedChatModel()).channels
    ours = {name for name in channels if not name.startswith(("__", "branch:"))}
    schemas = (AgentState, AgentInput, StepTask)
    assert ours == {name for schema in schemas for name in schema.model_fields}


def test_every_field_of_the_state_has_a_default() -> None:
    assert AgentState().state_version == 1
