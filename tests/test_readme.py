"""The READMEs do what they say, and say the same in both languages."""

import re
from pathlib import Path

import pytest
from broken_runs import made, scripted
from langchain_core.runnables import RunnableConfig
from langgraph.checkpoint.memory import InMemorySaver
from order_scene import MISSING
from scripted_model import ScriptedChatModel
from scripted_replies import call_then_say, plan, structured
from tree import ROOT
from typer.main import get_command

import hansei
from hansei import AgentInput, RunStatus, create_plan_execute_agent
from hansei.batch import WORST
from hansei.batch_command import BATCH_HELP
from hansei.cli import app
from hansei.graphs.environment import ModelEnvironment
from hansei.graphs.run_table import LEASE
from hansei.nodes.kit import IDEMPOTENCY_KEY
from hansei.policies.endings import EXIT_CODES
from hansei.policies.narrow import as_list, as_mapping
from hansei.policies.plain_model import allowed_by
from hansei.policies.run_context import PROMPTS, RunContext
from hansei.policies.settings import Settings
from hansei.tools.declared import EFFECTS

READMES = ("README.md", "README.zh.md")


def readme(name: str) -> str:
    return (ROOT / name).read_text(encoding="utf-8")


def first_cells(text: str) -> list[str]:
    """The first cell of every table row whose first cell is a code or a row id."""
    cells = re.findall(r"^\| ([^|]+) \|", text, re.MULTILINE)
    return [c.replace("、", ", ") for c in cells if re.fullmatch(r"[PX]\d+|s\d[eg]?.*|\d+", c)]


@pytest.mark.parametrize("name", READMES)
def test_the_python_of_the_readme_runs(
    name: str,
    monkeypatch: pytest.MonkeyPatch,
    capsys: pytest.CaptureFixture[str],
    tmp_path: Path,
) -> None:
    monkeypatch.chdir(tmp_path)
    model = ScriptedChatModel()
    model.script("planner", plan({"description": "查询订单 99999 的状态", "tool": "query_order"}))
    model.script("executor", call_then_say(MISSING.says, "query_order", order_id="99999"))
    model.script("replanner", structured({"analysis": "", "steps": [], "given_up": ["1"]}))
    model.script("synthesizer", MISSING.answer)
    monkeypatch.setattr(hansei, "chat_model", lambda **_: model)
    blocks = re.findall(r"```python\n(.*?)```", readme(name), re.DOTALL)
    assert len(blocks) == 7
    for code in blocks:
        exec(compile(code, name, "exec"), {})
    printed = capsys.readouterr().out
    assert printed.startswith("failed False\n")
    assert "\nfailed\n['rule', 'human', 'rule']\n" in printed
    assert printed.endswith("\nA colleague will look at it.\n")
    assert MISSING.answer in printed


def test_both_readmes_have_the_same_rows_and_code() -> None:
    english, chinese = (readme(name) for name in READMES)
    assert first_cells(english) == first_cells(chinese)
    assert english.count("\n## ") == chinese.count("\n## ")
    for pattern in (r"hansei (?:run|show|why|model)\b", r"^make \w+", r"\]\(([^)\s]+)\)"):
        found = [sorted(re.findall(pattern, text, re.MULTILINE)) for text in (english, chinese)]
        links = {"README.md", "README.zh.md"}
        assert [x for x in found[0] if x not in links] == [x for x in found[1] if x not in links]


@pytest.mark.parametrize("name", READMES)
def test_what_the_readme_names_exists(name: str) -> None:
    text = readme(name)
    for path in re.findall(r"`((?:nodes|policies|graphs|tools)/[\w/]+(?:\.py)?)/?`", text):
        assert (ROOT / path).exists(), path
    for path in re.findall(r"\]\(([^)\s]+)\)", text):
        assert (ROOT / path).exists(), path
    for option in re.findall(r"`(max_\w+|goal_blind|share_reflections|review_answer)", text):
        assert option in Settings.model_fields, option
    commands = get_command(app)
    for command in re.findall(r"^hansei (?!ended)(\w+)", text, re.MULTILINE):
        assert command in getattr(commands, "commands", {}), command
    for code in EXIT_CODES.values():
        assert f"| {code} |" in text


@pytest.mark.parametrize("name", READMES)
def test_the_readme_tells_the_effects_and_how_long_a_silent_run_holds_its_thread(name: str) -> None:
    text = readme(name)
    effects = re.findall(r"^\| `(\w+)` \|[^|]+\|[^|]+\|$", text, re.MULTILINE)
    assert tuple(effects) == EFFECTS
    assert f'config["configurable"]["{IDEMPOTENCY_KEY}"]' in text
    assert re.search(rf"\b{LEASE:.0f} (?:seconds|秒)", text)


ANY_NODE = ("planner", "executor", "tools", "reflector", "replanner", "synthesizer")


@pytest.mark.parametrize("node", [*ANY_NODE, None])
def test_after_an_edit_a_run_goes_on_as_the_readmes_say(node: str | None) -> None:
    def look() -> str:
        return "42"

    one = plan({"description": "look it up", "tool": "look"})
    model = scripted(one, call_then_say("It is 42.", "look"))
    agent = create_plan_execute_agent(model, [made(look)], checkpointer=InMemorySaver())
    thread: RunnableConfig = {"configurable": {"thread_id": "1"}}
    agent.invoke(AgentInput(goal="Look it up"), thread, interrupt_before=["tools"])
    agent.update_state(thread, {"brief": "the gist"}, as_node=node)
    assert agent.invoke(None, thread)["status"] is RunStatus.COMPLETE


@pytest.mark.parametrize("name", READMES)
def test_the_table_of_settings_is_what_settings_take(name: str) -> None:
    rows = re.findall(
        r"^\| `([a-z_]+)` \| `(\w+)` \| ([^|]+) \| [^|]+ \|$", readme(name), re.MULTILINE
    )
    assert [(row[0], row[1]) for row in rows] == [
        (field, str(default)) for field, default in Settings().model_dump().items()
    ]
    properties = as_mapping(Settings.model_json_schema()["properties"])
    for field, _, cell in rows:
        told = allowed_by(as_mapping(properties[field]))
        words = re.findall(r"\w+", told.removeprefix("one of "))
        codes = words if told.startswith("one of ") else re.findall(r"True|False|None", told)
        assert re.findall(r"`(\w+)`", cell) == codes, field
        assert re.findall(r"\d+", cell) == re.findall(r"\d+", told), field


@pytest.mark.parametrize("name", READMES)
def test_the_table_of_prompts_is_what_a_run_may_bring(name: str) -> None:
    rows = re.findall(
        r"^\| ([a-z]+)[^|]* \| `(\w+)_prompt` \| ([^|]+) \|$", readme(name), re.MULTILINE
    )
    told = {prompt: (node, set(re.findall(r"`(\w+)`", names))) for node, prompt, names in rows}
    fields = as_mapping(RunContext.model_json_schema()["properties"])
    assert told == {
        prompt: (
            as_list(as_mapping(fields[f"{prompt}_prompt"])["langgraph_nodes"])[0],
            set(names),
        )
        for prompt, names in PROMPTS.items()
    }


def test_the_example_of_the_environment_names_all_that_is_read() -> None:
    example = (ROOT / ".env.example").read_text(encoding="utf-8")
    named = set(re.findall(r"^#([A-Z_]+)=", example, re.MULTILINE))
    read = {name.upper() for name in ModelEnvironment.model_fields}
    assert named == {*read, "OPENAI_API_BASE", "HANSEI_LOG"}


@pytest.mark.parametrize("room", ["graphs", "nodes", "policies", "tools", "src/hansei"])
def test_every_row_that_code_cites_stands_in_the_table(room: str) -> None:
    rows = set(first_cells(readme("README.md")))
    for path in sorted((ROOT / room).glob("*.py")):
        cited = re.findall(r"\b([A-Z]\d{1,2})\)", path.read_text(encoding="utf-8"))
        assert set(cited) <= rows, path.name


@pytest.mark.parametrize("name", READMES)
def test_nothing_is_left_to_fill_in(name: str) -> None:
    assert "@@" not in readme(name)


def test_the_chinese_readme_has_one_word_for_one_thing() -> None:
    text = readme("README.zh.md")
    for other in ("评判", "判定", "依据", "附加项", "扩展"):
        assert other not in text, other
    for word in ("附加组件", "结论", "证据", "反思者"):
        assert word in text, word


@pytest.mark.parametrize("name", READMES)
def test_the_readme_tells_the_options_of_a_fork_and_which_code_is_the_worst(name: str) -> None:
    text = readme(name)
    for option in ("--verdict", "--step", "--result", "--why", "--hint"):
        assert f"`{option}" in text, option
    order = ", ".join(str(code) for code in WORST)
    told = {"README.md": f"from the best to the worst: {order}", "README.zh.md": "从最好到最坏"}
    assert told[name] in text
    assert told["README.md"] in BATCH_HELP


@pytest.mark.parametrize("name", READMES)
def test_a_run_that_waits_is_called_running_as_the_readme_says(name: str) -> None:
    agent = create_plan_execute_agent(
        scripted(plan("Think"), "It is 42."),
        settings=Settings(approve_plan=True),
        checkpointer=InMemorySaver(),
    )
    result = agent.invoke(AgentInput(goal="Think"), {"configurable": {"thread_id": "1"}})
    assert "__interrupt__" in result
    assert result["status"] is RunStatus.RUNNING
    assert '`result["status"]`' in readme(name)
