"""The main graph: plan, execute, reflect, replan, synthesize.

START → planner → executor ⇄ tools → reflector ─ PASS ───→ next steps, or synthesizer
                     ↑                  ├─ RETRY ──→ executor, with the hint
                     └── replanner ←────┴─ REPLAN
synthesizer → reflector ─ PASS → END, or back to the synthesizer once with the hint
"""

# LangGraph's signatures of add_node and compile hold types that it does not name.
# pyright: reportUnknownMemberType=false

import logging
from collections.abc import Callable, Hashable, Mapping, Sequence
from dataclasses import replace

from langchain_core.language_models import BaseChatModel
from langchain_core.tools import BaseTool
from langchain_core.utils.function_calling import convert_to_openai_tool
from langgraph.checkpoint.base import BaseCheckpointSaver
from langgraph.graph import END, START, StateGraph
from langgraph.store.base import BaseStore

from hansei.graphs.agent import A, Agent, agent_of
from hansei.graphs.arguments import (
    check_checks,
    check_models,
    check_settings,
    check_stores,
    checked_tools,
    undeclared_effects,
)
from hansei.graphs.checkpoints import lent_store, store_beside
from hansei.nodes import bodies
from hansei.nodes.kit import Kit
from hansei.nodes.models import ModelPort, capabilities_of
from hansei.nodes.plain_tool import is_plain
from hansei.nodes.prompting import load_all
from hansei.policies.approvals import check_gates
from hansei.policies.checks import Check
from hansei.policies.errors import UserError
from hansei.policies.kept import in_force
from hansei.policies.progress import after_edit, next_node
from hansei.policies.records import Step
from hansei.policies.run_context import RunContext
from hansei.policies.settings import Settings, worst_case_calls
from hansei.policies.state import AgentInput, AgentState, StepTask
from hansei.policies.words import ROLES, Role
from hansei.tools.declared import is_declared, tool_effect, tool_is_volatile

logger = logging.getLogger(__name__)

LEAST_SUPERSTEPS = 2000
"""Supersteps allowed at the least: four times those of the default settings' worst case."""

_LIKE: Mapping[Role, Role] = {"replanner": "planner", "reviewer": "reflector"}
"""Whose model a role takes when models are given by role and it has none."""

_CRITICS: frozenset[Role] = frozenset({"reflector", "reviewer"})

_PLANNED: dict[Hashable, str] = {
    "steps to run": "executor",
    "nothing to run": "synthesizer",
    "answered at once": END,
    "leave is asked for": "approval",
}
_ALLOWED: dict[Hashable, str] = {
    "steps allowed": "executor",
    "nothing allowed": "synthesizer",
}
_JUDGED: dict[Hashable, str] = {
    "RETRY, or PASS with steps left": "executor",
    "REPLAN": "replanner",
    "PASS, all steps settled": "synthesizer",
    "answer settled": END,
    # Only where somebody has given a verdict by hand, or edited what waits for one.
    "edited by hand": "reflector",
    "edited before leave is given": "approval",
}
_REPLANNED: dict[Hashable, str] = {
    "new steps": "executor",
    "given up": "synthesizer",
    "leave is asked for": "approval",
}


def create_plan_execute_agent(
    model: BaseChatModel | Mapping[Role, BaseChatModel],
    tools: Sequence[BaseTool] = (),
    *,
    critic: BaseChatModel | None = None,
    settings: Settings | None = None,
    checks: Sequence[Check] = (),
    checkpointer: BaseCheckpointSaver[str] | bool | None = None,
    store: BaseStore | None = None,
) -> Agent:
    """Build the agent that plans, executes, reflects, replans and synthesizes.

    Args:
        model: The chat model of every role, or one for each role by name.
        tools: LangChain tools. Their `metadata={"hansei": {"effect": …}}` says whether they
            only read; one that says nothing counts as having an effect.
        critic: Another model that judges steps and the answer; by default it is `model`.
        settings: Limits and switches; by default those of `Settings()`.
        checks: Your own rules: functions from `CheckInput` to a `Finding` or `None`. One that
            finds `PASS` stands in for the critic on that step.
        checkpointer: A LangGraph saver, for runs that can be resumed; `open_checkpointer` opens
            one that knows the types of a run. For an agent inside another graph: `None` uses
            that graph's saver for each run anew, `True` keeps its state there from run to run,
            `False` keeps none.
        store: Where long tool outputs and the journal of changes are kept; by default beside the
            checkpoints of `open_checkpointer`, else where the graph or the server that runs this
            one keeps things, else in memory.

    Returns:
        A compiled LangGraph graph. Invoke it with `{"goal": …}` or `{"messages": […]}`; a
        `Settings` as `context` overrides settings for that run, a `RunContext` prompts as well.

    Raises:
        UserError: An argument is not what it must be, two tools share a name, a role has no model
            or does not exist, a declaration is wrong, or calls of a tool that is not there are to
            wait for leave.
    """
    check_models(model, critic)
    check_settings(settings)
    check_checks(checks)
    check_stores(checkpointer, store)
    chosen = settings or Settings()
    given = checked_tools(tools)
    check_gates(chosen, frozenset(tool.name for tool in given))
    kept = store or store_beside(checkpointer)
    kit = make_kit(make_ports(model, critic), given, settings=chosen, checks=checks, store=kept)
    return compiled(kit, Agent, checkpointer=checkpointer)


def compiled(
    kit: Kit, kind: type[A], *, checkpointer: BaseCheckpointSaver[str] | bool | None = None
) -> A:
    """The agent of a kit, ready to run."""
    lent = kit if kit.store else replace(kit, lent_store=lent_store)
    graph = build_graph(lent).compile(checkpointer=checkpointer, store=kit.store, name="hansei")
    agent = agent_of(graph, kind)
    return agent.with_config(recursion_limit=_superstep_limit(kit.settings))


def reading_agent(checkpointer: BaseCheckpointSaver[str]) -> Agent:
    """The same graph without models and tools, to read what runs have left behind."""
    kit = Kit(models={}, tools={}, schemas={}, settings=Settings())
    return compiled(kit, Agent, checkpointer=checkpointer)


def _superstep_limit(settings: Settings) -> int:
    """A backstop that an honest run never meets, also when its context raises the limits.

    Each model call is followed by at most one superstep without one (tools, or a judgement by
    rule), so twice the bound on calls bounds the supersteps.
    """
    unlimited = settings.model_copy(update={"call_budget": None})
    return max(2 * worst_case_calls(unlimited) + 10, LEAST_SUPERSTEPS)


def build_graph(kit: Kit) -> StateGraph[AgentState, Settings, AgentInput, AgentState]:
    """The graph's nodes and edges, not compiled."""
    graph: StateGraph[AgentState, Settings, AgentInput, AgentState] = StateGraph(
        AgentState, context_schema=RunContext, input_schema=AgentInput
    )
    graph.add_node("begin", bodies.beginning(kit))
    graph.add_node("planner", bodies.planner(kit))
    graph.add_node(
        "executor",
        bodies.executor(kit),
        input_schema=StepTask,
        destinations={"tools": "calls", "reflector": "result", "executor": "nudge"},
    )
    graph.add_node(
        "tools",
        bodies.tools(kit),
        input_schema=StepTask,
        destinations={"executor": "outputs", "reflector": "broken"},
    )
    graph.add_node("reflector", bodies.reflector(kit))
    graph.add_node("replanner", bodies.replanner(kit))
    graph.add_node("synthesizer", bodies.synthesizer(kit))
    graph.add_edge(START, "begin")
    graph.add_edge("begin", "planner")
    graph.add_node("approval", bodies.approval(kit))
    for name, edges in (
        ("planner", _PLANNED),
        ("approval", _ALLOWED),
        ("reflector", _JUDGED),
        ("replanner", _REPLANNED),
    ):
        graph.add_conditional_edges(name, _router(edges, kit), edges)
    graph.add_edge("synthesizer", "reflector")
    return graph


def _router(
    edges: Mapping[Hashable, str], kit: Kit
) -> Callable[[AgentState], Hashable | Sequence[Hashable]]:
    """The edge out of a node: `next_node` decides, this only finds its name in the drawing."""
    names = {node: name for name, node in edges.items()}

    def route(state: AgentState) -> Hashable | Sequence[Hashable]:
        steps: Sequence[Step] = bodies.dispatched(state)
        if bodies.edited():
            settings = in_force(kit.settings, None, state.kept)
            after = after_edit(state, settings, tools=frozenset(kit.tools))
            if after.look_back:
                return [*bodies.tasks(state, after.steps), names["reflector"]]
            steps = after.steps
            state = state.model_copy(update={"dispatch": [step.id for step in steps]})
        chosen = next_node(state)
        if chosen == "executor":
            return bodies.tasks(state, steps)
        if chosen == "wait":
            return []
        return names[END if chosen == "end" else chosen]

    return route


def make_kit(
    models: Mapping[Role, ModelPort],
    tools: Sequence[BaseTool],
    *,
    settings: Settings,
    checks: Sequence[Check] = (),
    store: BaseStore | None = None,
) -> Kit:
    """What the nodes of one agent share; prompts are read now, not inside a run."""
    load_all()
    by_name = {tool.name: tool for tool in tools}
    undeclared = undeclared_effects(tools)
    if undeclared:
        logger.warning("%s", undeclared)
    return Kit(
        models=models,
        tools=by_name,
        schemas={
            name: convert_to_openai_tool(tool)["function"]["parameters"]
            for name, tool in by_name.items()
        },
        settings=settings,
        effects=frozenset(t.name for t in tools if tool_effect(t) != "read"),
        acts=frozenset(t.name for t in tools if is_declared(t) and tool_effect(t) != "read"),
        once=frozenset(t.name for t in tools if tool_effect(t) == "once"),
        volatile=frozenset(t.name for t in tools if tool_is_volatile(t)),
        plain=frozenset(t.name for t in tools if is_plain(t)),
        checks=tuple(checks),
        store=store,
    )


def make_ports(
    model: BaseChatModel | Mapping[Role, BaseChatModel], critic: BaseChatModel | None
) -> dict[Role, ModelPort]:
    """The way to the model of each role."""
    ports: dict[Role, ModelPort] = {}
    for role in ROLES:
        chosen = critic if critic is not None and role in _CRITICS else _model_of(model, role)
        ports[role] = ModelPort(chosen, capabilities_of(chosen))
    return ports


def _model_of(model: BaseChatModel | Mapping[Role, BaseChatModel], role: Role) -> BaseChatModel:
    if isinstance(model, BaseChatModel):
        return model
    fallback: Role = _LIKE.get(role, role)
    for name in (role, fallback):
        chosen = model.get(name)
        if chosen is not None:
            return chosen
    given = ", ".join(model) or "none"
    msg = (
        f"No model is given for the role {role} (given: {given}); add one, or pass a single model."
    )
    raise UserError(msg)
