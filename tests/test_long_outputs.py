"""Outputs of many pages: what they cost, and that their far ends still count as evidence."""

import json
import unicodedata
from uuid import uuid4

import pytest
from field.stubs import Stubs, ask, only_step
from langchain_core.runnables import RunnableConfig
from langchain_core.tools import BaseTool, tool
from scripted_model import ScriptedChatModel
from scripted_replies import call_then_say, plan_data, structured, tool_call

from hansei import AgentInput, AgentState, StepStatus, create_plan_execute_agent
from hansei.nodes.executor import OUTPUT_CAP
from hansei.policies.fencing import EVIDENCE_CAP, SCAN_CAP, fenced, for_prompt, scanned
from hansei.tools.outcome import OutcomeStatus

LONG = "\n".join(f"Order A{100000 + i} costs {i} yuan;\u3000三百二十件。" for i in range(100_000))
"""With wide spaces, which have to be looked at: what shows nothing is taken out, they stay."""


class Meter:
    """How much text the readers of single characters were given."""

    def __init__(self) -> None:
        self.longest = 0
        self.characters = 0


@pytest.fixture
def meter(monkeypatch: pytest.MonkeyPatch) -> Meter:
    normalize, category = unicodedata.normalize, unicodedata.category
    seen = Meter()

    def normalized(form: str, text: str) -> str:
        seen.longest = max(seen.longest, len(text))
        return normalize(form, text)  # type: ignore[arg-type]

    def classed(character: str) -> str:
        seen.characters += 1
        return category(character)

    monkeypatch.setattr(unicodedata, "normalize", normalized)
    monkeypatch.setattr(unicodedata, "category", classed)
    return seen


def test_an_output_of_megabytes_costs_no_more_than_a_few_pages(meter: Meter) -> None:
    model = ScriptedChatModel()
    model.book.script_defaults()
    said = "Order A100003 is there, and so is order B4711."
    model.script("executor", call_then_say(said, "fetch", url="http://a.org"))
    with model.book:
        step = only_step(ask(model, "fetch the page http://a.org", Stubs(fetch=LONG)))
    (call,) = step.attempts[0].calls
    assert (call.size, call.outcome) == (len(LONG), OutcomeStatus.OK)
    assert 0 < meter.longest <= SCAN_CAP + 1
    assert 0 < meter.characters < 10 * (OUTPUT_CAP + EVIDENCE_CAP)


def test_what_is_searched_holds_what_any_model_was_shown() -> None:
    ends = LONG[:3000], LONG[-1900:]
    for text in (scanned(LONG), for_prompt(LONG, OUTPUT_CAP), fenced(LONG, nonce="ab", label="x")):
        assert ends[0][:2000] in text.replace("\\n", "\n")
        assert ends[1][-1000:] in text.replace("\\n", "\n")
    assert scanned(LONG[:SCAN_CAP]) == LONG[:SCAN_CAP]


ROWS = json.dumps([{"name": f"kettle {i}", "code": f"K-{7000 + i}"} for i in range(60)])


def shelf() -> tuple[list[BaseTool], list[str]]:
    """A list of goods that is longer than an excerpt, and a look at one of them."""
    seen: list[str] = []

    @tool
    def goods() -> str:
        """Lists the goods."""
        return ROWS

    @tool
    def price(code: str) -> str:
        """The price of one of the goods."""
        seen.append(code)
        return json.dumps({"code": code, "price": 30})

    for item in (goods, price):
        item.metadata = {"hansei": {"effect": "read"}}
    return [goods, price], seen


def test_an_id_far_down_a_long_output_is_no_invented_one() -> None:
    model = ScriptedChatModel()
    model.book.script_defaults()
    model.script("executor", tool_call("goods"), tool_call("price", code="K-7050"), "It costs 30.")
    tools, seen = shelf()
    run(model, tools)
    assert seen == ["K-7050"]


def test_nor_is_one_in_the_output_of_the_step_before() -> None:
    model = ScriptedChatModel()
    model.book.script_defaults()
    steps: list[dict[str, object]] = [
        {"id": 1, "description": "List the kettles", "tool": "goods", "depends_on": []},
        {"id": 2, "description": "The price of the last one", "tool": "price", "depends_on": [1]},
    ]
    model.script("planner", structured(plan_data(*steps)))
    model.script(
        "executor",
        tool_call("goods"),
        "There are many kettles.",
        tool_call("price", code="K-7050"),
        "It costs 30.",
    )
    tools, seen = shelf()
    state = run(model, tools)
    assert seen == ["K-7050"]
    assert state.steps[2].status is not StepStatus.FAILED


def run(model: ScriptedChatModel, tools: list[BaseTool]) -> AgentState:
    """One run on a fresh thread."""
    agent = create_plan_execute_agent(model, tools)
    config: RunnableConfig = {"configurable": {"thread_id": str(uuid4())}}
    with model.book:
        found = agent.invoke(AgentInput(goal="What does the last kettle cost?"), config)
    return AgentState.model_validate(found)
