"""Prompts that a run brings along: what they replace and may hold, and how a record names them."""

import asyncio
from collections.abc import Mapping

import pytest
from broken_runs import made, scripted
from cli_helpers import one_sentence
from langchain_core.runnables import RunnableConfig
from langgraph.checkpoint.memory import InMemorySaver
from scripted_model import ScriptedChatModel
from scripted_replies import call_then_say, messages_of, plan, structured
from scripted_server import verdict

from hansei import (
    AgentInput,
    AgentState,
    RunContext,
    Settings,
    UserError,
    create_plan_execute_agent,
)
from hansei.graphs.agent import Agent
from hansei.nodes.prompting import PROMPT_VERSION, TEMPLATES, block, template
from hansei.policies.narrow import as_list, as_mapping
from hansei.policies.prompt_edits import PROMPT_LENGTH
from hansei.policies.run_context import PROMPTS

GOAL = AgentInput(goal="Look it up")
EDITED: Mapping[str, str] = {f"{name}_prompt": f"You are my own {name}." for name in PROMPTS}


def look() -> str:
    return "42"


def asked(model: ScriptedChatModel) -> dict[str, str]:
    """What each role was told first, by the first line, which says who asks."""
    found: dict[str, str] = {}
    for request in model.book.requests:
        text = str(messages_of(request.body)[0]["content"])
        mark, _, rest = text.partition("\n")
        found.setdefault(mark, rest)
    return found


@pytest.fixture
def model() -> ScriptedChatModel:
    """Asks for each prompt once: two steps, one of which is given up, and an answer."""
    found = scripted(
        plan(
            {"description": "look it up", "tool": "look"},
            {"description": "weigh the stone", "depends_on": [1]},
        ),
        [call_then_say("It is 42.", "look"), "I did."],
        answer="It is 42. Not done: weigh the stone; nonsense.",
    )
    found.script("reflector", verdict("PASS"), verdict("REPLAN", "nonsense"))
    found.script("replanner", structured({"analysis": "", "steps": [], "given_up": [2]}))
    return found


def agent_of(model: ScriptedChatModel, settings: Settings | None = None) -> Agent:
    return create_plan_execute_agent(model, [made(look)], settings=settings)


def test_every_prompt_with_a_system_part_can_be_edited_and_is_bound_to_its_node() -> None:
    assert set(PROMPTS) == {n for n in TEMPLATES if "system" in template(n, "en").blocks}
    nodes = set(create_plan_execute_agent(ScriptedChatModel()).get_graph().nodes)
    properties = as_mapping(RunContext.model_json_schema()["properties"])
    for name in PROMPTS:
        field = as_mapping(properties[f"{name}_prompt"])
        assert set(as_list(field["langgraph_nodes"])) <= nodes
        assert field["langgraph_type"] == "prompt"
        assert field["default"] is None
        assert field["description"]
    assert set(RunContext.model_fields) == {*Settings.model_fields, *EDITED}


@pytest.mark.parametrize("waiting", [False, True])
def test_an_edited_prompt_is_what_the_model_reads_in_that_run(
    model: ScriptedChatModel, waiting: bool
) -> None:
    agent, context = agent_of(model), RunContext.model_validate(EDITED)
    if waiting:
        asyncio.run(agent.ainvoke(GOAL, context=context))
    else:
        agent.invoke(GOAL, context=context)
    told = asked(model)
    assert set(told) == {
        f"[hansei:{role} en]"
        for role in ("planner", "executor", "reflector", "reviewer", "replanner", "synthesizer")
    }
    for mark, text in told.items():
        assert text == f"You are my own {mark[8:-4]}."


def test_only_the_run_that_brings_it_has_it(model: ScriptedChatModel) -> None:
    agent = agent_of(model)
    agent.invoke(GOAL, context=RunContext(planner_prompt="Plan.", max_replans=0))
    agent.invoke(GOAL)
    first, second = (
        str(messages_of(r.body)[0]["content"]) for r in model.book.requests if r.role == "planner"
    )
    assert first == "[hansei:planner en]\nPlan."
    assert second == block("planner", "system", "en")


def test_what_a_retry_must_do_and_the_data_stay_where_they_were() -> None:
    model = scripted(plan({"description": "think of a number"}), ["Hm.", "It is 42."])
    model.script("reflector", verdict("RETRY", "no number", suggestion="name it"), verdict("PASS"))
    agent_of(model).invoke(GOAL, context=RunContext(executor_prompt="Think."))
    one, two = (messages_of(r.body) for r in model.book.requests if r.role == "executor")
    assert one[0]["content"] == "[hansei:executor en]\nThink."
    assert two[0]["content"] == (
        "[hansei:executor en]\nThink.\nThis is another try. This time you must: name it"
    )
    assert "think of a number" in str(one[1]["content"])


def test_a_verdict_names_the_edit_of_its_prompt(model: ScriptedChatModel) -> None:
    context = RunContext(reflector_prompt="Judge.", planner_prompt="Plan.")
    state = AgentState.model_validate(agent_of(model).invoke(GOAL, context=context))
    (version,) = {step.verdicts[-1].prompt_version for step in state.steps.values()}
    assert version.startswith(f"{PROMPT_VERSION} edited ")
    last = state.answer_attempts[-1].verdict
    assert last is not None
    assert last.prompt_version == PROMPT_VERSION
    other = RunContext(reflector_prompt="Judge again.")
    state = AgentState.model_validate(agent_of(model).invoke(GOAL, context=other))
    assert state.steps[1].verdicts[-1].prompt_version not in {PROMPT_VERSION, version}


def test_the_shipped_text_can_be_copied_and_changed() -> None:
    for name in PROMPTS:
        for language in ("zh", "en"):
            shipped = block(name, "system", language, answer_language="English")
            copied = RunContext.model_validate({f"{name}_prompt": shipped})
            assert getattr(copied, f"{name}_prompt") == shipped


def test_a_copied_first_line_does_not_stand_there_twice(model: ScriptedChatModel) -> None:
    shipped = block("planner", "system", "zh")
    agent_of(model).invoke(GOAL, context=RunContext(planner_prompt=shipped))
    text = asked(model)["[hansei:planner en]"]
    assert text == shipped.partition("\n")[2]


def test_the_variables_of_a_prompt() -> None:
    model = scripted(plan({"description": "think"}), "It is 42.")
    text = "At most {{ max_steps }}.{% if answer_language %} In {{ answer_language }}.{% endif %}"
    agent_of(model).invoke(GOAL, context=RunContext(planner_prompt=text))
    assert asked(model)["[hansei:planner en]"] == "At most 7. In English."


@pytest.mark.parametrize("blank", [None, "", " \n"])
def test_an_empty_form_field_is_the_shipped_prompt(
    model: ScriptedChatModel, blank: str | None
) -> None:
    agent_of(model).invoke(GOAL, context=RunContext(planner_prompt=blank))
    assert (
        asked(model)["[hansei:planner en]"] == block("planner", "system", "en").partition("\n")[2]
    )


WRONG = [
    ("Plan {{ goal }}.", "planner_prompt names goal, which it does not have"),
    ("Plan {{ max_steps }.", "planner_prompt cannot be read in line 1"),
    ("Plan.\n{% if max_steps %}", "planner_prompt cannot be read in line 2"),
    ("{% for i in range(9) %}{% endfor %}", "may hold text, {{ variable }} and {% if variable %}"),
    ("{{ max_steps.__class__ }}", "may hold text, {{ variable }} and {% if variable %}"),
    ("{{ 'x' * 10 }}", "may hold text, {{ variable }} and {% if variable %}"),
    ("{{ answer_language | upper }}", "may hold text, {{ variable }} and {% if variable %}"),
    ("{% include 'planner.en.j2' %}", "may hold text, {{ variable }} and {% if variable %}"),
    ("x" * (PROMPT_LENGTH + 1), f"planner_prompt is longer than {PROMPT_LENGTH:,} characters"),
    ("{% if answer_language %}{% endif %}", "planner_prompt says nothing"),
]


@pytest.mark.parametrize(("text", "said"), WRONG)
def test_a_prompt_that_cannot_be_used_is_refused_before_anything_is_written(
    model: ScriptedChatModel, text: str, said: str
) -> None:
    with pytest.raises(UserError) as caught:
        RunContext(planner_prompt=text)
    assert said in one_sentence(str(caught.value))
    thread: RunnableConfig = {"configurable": {"thread_id": "1"}}
    agent = agent_of(model).copy({"checkpointer": InMemorySaver()})
    with pytest.raises(UserError):
        agent.invoke(GOAL, thread, context={"planner_prompt": text})  # type: ignore[call-overload]
    assert list(agent.get_state_history(thread)) == []


def test_the_executor_has_fewer_variables_and_a_prompt_is_text() -> None:
    with pytest.raises(UserError, match="names max_steps, which it does not have; it may name: an"):
        RunContext(executor_prompt="{{ max_steps }}")
    with pytest.raises(UserError, match="'executor_prompt' cannot be 5: it must be text, or None"):
        RunContext.model_validate({"executor_prompt": 5})


def test_prompts_can_belong_to_an_agent(model: ScriptedChatModel) -> None:
    agent = agent_of(model, RunContext(planner_prompt="Plan.", max_replans=0))
    state = agent.invoke(GOAL, context=Settings(max_replans=1))
    assert asked(model)["[hansei:planner en]"] == "Plan."
    assert AgentState.model_validate(state).replans == 1
