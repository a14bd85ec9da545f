"""Plays a scene over real HTTP, and says of the run what a caller can see of the failure."""

import threading
from collections import Counter
from collections.abc import Callable, Sequence
from dataclasses import dataclass, field
from typing import Literal

from honesty_orders import Part
from honesty_scenes import Scene
from langchain_core.tools import BaseTool, StructuredTool
from pydantic import create_model
from scripted_replies import messages_of, text_of
from scripted_server import (
    Entry,
    JsonObject,
    Reply,
    ScriptedServer,
    error,
    plan,
    structured,
    tool_call,
    verdict,
)

from hansei import Settings, chat_model, create_plan_execute_agent, worst_case_calls
from hansei.policies.endings import EXIT_CODES
from hansei.policies.state import AgentInput, AgentState
from hansei.policies.words import RunStatus

Replanner = Literal["same", "whole", "reworded", "gives up"]
"""What the replanner proposes: the failed steps word for word, the whole plan once more, the failed
steps in other words and without a tool, or nothing."""

FEWEST_CALLS, MOST_CALLS = 4, 7
"""Model calls of planning agents for the work of the control."""

_ARGUMENTS = {"query_order": "order_id", "refund_order": "order_id", "query_stock": "product"}


@dataclass
class Tools:
    """The tools of a scene, and how often each really ran with each argument."""

    tools: list[BaseTool]
    runs: Counter[tuple[str, str]] = field(default_factory=Counter[tuple[str, str]])


def build_tools(parts: Sequence[Part]) -> Tools:
    """The tools that the parts name, answering as the parts say."""
    made = Tools([])
    lock = threading.Lock()

    def make(part: Part) -> BaseTool:
        argument = _ARGUMENTS[part.tool]

        def answer(**arguments: str) -> str:
            asked = arguments[argument]
            with lock:
                made.runs[part.tool, asked] += 1
            [found] = [p for p in parts if (p.tool, p.argument) == (part.tool, asked)]
            if found.raises:
                raise ConnectionError(found.output)
            return found.output

        schema = create_model(f"{part.tool}_arguments", **{argument: (str, ...)})  # type: ignore[call-overload]
        return StructuredTool.from_function(
            func=answer,
            name=part.tool,
            description=f"{part.tool.replace('_', ' ')} by {argument}",
            args_schema=schema,
            metadata={"hansei": {"effect": part.effect}},
        )

    made.tools = list({part.tool: make(part) for part in parts}.values())
    return made


def play_script(server: ScriptedServer, scene: Scene, replanner: Replanner = "same") -> None:
    """Gives every role its replies for a scene."""
    server.script("planner", plan(*_steps(scene.parts)))
    server.script("executor", _executor(scene))
    server.script("replanner", _replanner(scene, replanner))
    server.script("synthesizer", scene.answer)
    for role in ("reflector", "reviewer"):
        server.script(role, _critic(scene), endpoint="critic")


def _steps(parts: Sequence[Part]) -> list[dict[str, object]]:
    return [{"description": part.description, "tool": part.tool} for part in parts]


def _executor(scene: Scene) -> Callable[[JsonObject], Reply | str]:
    """Calls the step's tool, then claims; or calls for ever. A reworded step is only claimed."""

    def answer(body: JsonObject) -> Reply | str:
        messages = messages_of(body)
        task = "\n".join(text_of(m) for m in messages if m.get("role") == "user")
        part = next(p for p in scene.parts if p.description in task or p.otherwise in task)
        done = messages[-1].get("role") == "tool"
        claims = done or not body.get("tools") or part.otherwise in task
        if scene.loops or not claims:
            return tool_call(part.tool, **{_ARGUMENTS[part.tool]: part.argument})
        return part.says

    return answer


def _critic(scene: Scene) -> Entry:
    match scene.judge:
        case "down":
            return error(503)
        case "prose":
            return scene.prose
        case "retry":
            return verdict("RETRY", "could be better", "make it better")
        case "approving":
            return verdict("PASS", "all good")
        case "careful":
            return _careful([part.trouble for part in scene.parts if part.trouble])


def _careful(troubles: Sequence[str]) -> Callable[[JsonObject], Reply]:
    def read(body: JsonObject) -> Reply:
        shown = "\n".join(text_of(message) for message in messages_of(body))
        if any(trouble in shown for trouble in troubles):
            return verdict("REPLAN", "the tool has no data", "say so")
        return verdict("PASS", "the evidence shows it")

    return read


def _replanner(scene: Scene, style: Replanner) -> Entry:
    match style:
        case "same":
            return plan(*_steps(scene.failing))
        case "whole":
            return plan(*_steps(scene.parts))
        case "reworded":
            return plan(*(part.otherwise for part in scene.failing))
        case "gives up":
            given_up = [i for i, part in enumerate(scene.parts, 1) if part in scene.failing]
            return structured({"analysis": "no", "steps": [], "given_up": given_up, "drop": []})


@dataclass(frozen=True)
class Outcome:
    """What a run left behind, as the caller sees it."""

    scene: Scene
    state: AgentState
    requests: int
    """Requests that reached the two endpoints."""
    bound: int
    runs: Counter[tuple[str, str]]

    @property
    def exit_code(self) -> int:
        """The command line's exit code for this run."""
        return EXIT_CODES[self.state.status]

    @property
    def tool_runs(self) -> int:
        """Tool calls that really ran."""
        return self.runs.total()

    @property
    def strong_sign(self) -> bool:
        """Whether status and exit code say that the run is not simply done."""
        return self.state.status is not RunStatus.COMPLETE and self.exit_code != 0

    @property
    def kept(self) -> bool:
        """Whether the caller still has the work.

        The facts of what went well stand in the answer, the false claims stand in the steps'
        attempts, and no false claim stands in the answer.
        """
        answer = self.state.answer
        attempts = [a.result for step in self.state.steps.values() for a in step.attempts]
        return (
            bool(answer.strip())
            and all(part.fact in answer for part in self.scene.parts)
            and all(part.says in attempts for part in self.scene.parts if not self.scene.loops)
            and not any(part.claim in answer for part in self.scene.parts if part.claim)
        )

    @property
    def disclosed(self) -> bool:
        """Whether the answer says what failed and why, or what nobody verified."""
        answer, scene = self.state.answer, self.scene
        told = [scene.unvouched] if scene.unvouched else []
        for part in scene.failing:
            told += [scene.undone, part.description, part.trouble]
        return all(words in answer for words in told)


def play(
    scene: Scene, *, settings: Settings | None = None, replanner: Replanner = "same"
) -> Outcome:
    """Runs a scene against a fresh endpoint, the critic at an address of its own."""
    chosen = settings or Settings()
    made = build_tools(scene.parts)
    with ScriptedServer(strict_pairing=True) as server:
        play_script(server, scene, replanner)
        agent = create_plan_execute_agent(
            chat_model("scripted", base_url=server.base_url, api_key="none", max_retries=0),
            made.tools,
            critic=chat_model("critic", base_url=server.critic_url, api_key="none", max_retries=0),
            settings=chosen,
        )
        state = AgentState.model_validate(agent.invoke(AgentInput(goal=scene.goal)))
        requests = server.count()
    return Outcome(scene, state, requests, worst_case_calls(chosen), made.runs)


def faults(outcome: Outcome) -> list[str]:
    """What is not as the page demands, cell by cell; empty when all is."""
    scene, state = outcome.scene, outcome.state
    wrong: list[str] = []
    if state.status is not scene.ends:
        wrong.append(f"status {state.status}, wanted {scene.ends}")
    if outcome.requests > outcome.bound:
        wrong.append(f"{outcome.requests} model calls, bound {outcome.bound}")
    if max(outcome.runs.values(), default=0) > scene.most_runs:
        wrong.append(f"one tool call ran {max(outcome.runs.values())} times")
    if not outcome.kept:
        wrong.append("the work is not kept")
    if scene.ends is RunStatus.COMPLETE:
        if not state.verified or outcome.exit_code != 0:
            wrong.append("the control is not verified")
        if not FEWEST_CALLS <= outcome.requests <= MOST_CALLS:
            wrong.append(f"the control cost {outcome.requests} model calls")
        return wrong
    if not outcome.strong_sign:
        wrong.append("no strong sign")
    if not outcome.disclosed:
        wrong.append("the failure is not disclosed")
    return wrong
