"""Who is asked how often in each mode of reflection, at steps and at the answer."""

from __future__ import annotations

import re
from collections.abc import Mapping

import pytest
from langchain_core.tools import BaseTool, tool
from scripted_model import ScriptedChatModel
from scripted_replies import Entry, JsonObject, Reply, messages_of, text_of
from scripted_server import call_then_say, error, plan, verdict

from hansei import (
    AnswerStatus,
    RunStatus,
    Settings,
    StepStatus,
    VerdictSource,
    create_plan_execute_agent,
)
from hansei.policies.settings import ReflectionMode
from hansei.policies.state import AgentInput, AgentState

READS = {"hansei": {"effect": "read"}}
PASS = verdict("PASS")
RETRY = verdict("RETRY", "too thin", "name the hotel")


@tool
def look_up(what: str) -> str:
    """Looks something up."""
    return f"{what} is fine"


@tool
def search(what: str) -> str:
    """Searches for something."""
    return f"{what} was found"


@tool
def book(what: str) -> str:
    """Books something."""
    return f"{what} is booked"


look_up.metadata = READS
search.metadata = READS
book.metadata = {"hansei": {"effect": "once"}}
TOOLS: list[BaseTool] = [look_up, search, book]

STEPS: Mapping[str, Mapping[str, object]] = {
    "plain": {"description": "Look up the weather", "tool": "look_up", "needs_reflection": False},
    "flagged": {"description": "Look up the tides", "tool": "look_up", "needs_reflection": True},
    "depended on": {
        "description": "Look up the hotels",
        "tool": "look_up",
        "needs_reflection": False,
    },
    "depends": {
        "description": "Choose one for two nights",
        "depends_on": [3],
        "needs_reflection": False,
    },
    "outside": {"description": "Book the ferry", "tool": "book", "needs_reflection": False},
    "signal": {"description": "Look up the trains", "tool": "look_up", "needs_reflection": False},
}
"""A plan with one step for each thing that a mode may look at. The step "signal" is planned with
one tool and uses another, which no rule vetoes."""

WHO: Mapping[ReflectionMode, set[str]] = {
    "always": set(STEPS),
    "flagged": {"flagged"},
    "on_signal": {"signal"},
    "auto": {"depended on", "depends", "outside", "signal"},
    "never": set(),
}

ANSWER = "Weather, tides, hotels, the night, the ferry and the trains are all settled."


def executor(body: JsonObject) -> Reply | str:
    asked = "\n".join(text_of(m) for m in messages_of(body) if m.get("role") == "user")
    task = next(str(s["description"]) for s in STEPS.values() if str(s["description"]) in asked)
    word = task.split()[-1]
    if task == STEPS["depends"]["description"]:
        return "The hotel by the sea."
    called = {"Book the ferry": "book", "Look up the trains": "search"}.get(task, "look_up")
    entry = call_then_say(f"The {word} are settled.", called, what=word)
    return entry(body)


def run(settings: Settings, *, answers: Entry = ANSWER, **critics: Entry | list[Entry]) -> Run:
    """One run of the plan; `critics` are the replies of reflector and reviewer."""
    model = ScriptedChatModel()
    model.script("planner", plan(*STEPS.values()))
    model.script("executor", executor)
    model.script("synthesizer", answers)
    for role in ("reflector", "reviewer"):
        entry = critics.get(role, PASS)
        model.script(role, *(entry if isinstance(entry, list) else [entry]))
    agent = create_plan_execute_agent(model, TOOLS, settings=settings)
    goal = AgentInput(goal="Plan my trip to the island")
    state = AgentState.model_validate(agent.invoke(goal))
    model.book.check()
    return Run(model, state)


class Run:
    """A finished run and what its model was asked."""

    def __init__(self, model: ScriptedChatModel, state: AgentState) -> None:
        self.model = model
        self.state = state

    @property
    def looked_at(self) -> set[str]:
        """The steps that the reflector's model was asked about, by the prompts."""
        tasks = {str(step["description"]): name for name, step in STEPS.items()}
        found = [
            re.findall("|".join(map(re.escape, tasks)), prompt.split("Evidence")[0])[0]
            for prompt in self.model.prompts("reflector")
        ]
        assert len(found) == len(set(found))
        return {tasks[task] for task in found}


@pytest.mark.parametrize("mode", WHO)
class TestEachMode:
    def run(self, mode: ReflectionMode) -> Run:
        # Without the chain, so that a prompt names no step but its own.
        return run(Settings(reflection=mode, share_reflections=False))

    def test_the_model_looks_at_the_steps_that_the_mode_names(self, mode: ReflectionMode) -> None:
        ran = self.run(mode)
        assert ran.looked_at == WHO[mode]
        assert ran.model.count("reviewer") == (0 if mode == "never" else 1)

    def test_a_step_is_verified_only_if_somebody_looked(self, mode: ReflectionMode) -> None:
        steps = self.run(mode).state.steps
        for step_id, name in enumerate(STEPS, start=1):
            step = steps[step_id]
            [record] = step.verdicts
            if name in WHO[mode]:
                assert (step.status, record.source) == (StepStatus.VERIFIED, VerdictSource.CRITIC)
            else:
                assert (step.status, step.reason) == (StepStatus.ACCEPTED, "not_reviewed")
                assert (record.verdict, record.source) == (None, VerdictSource.NONE)

    def test_what_was_left_out_by_choice_is_complete_and_not_verified(
        self, mode: ReflectionMode
    ) -> None:
        state = self.run(mode).state
        assert state.status is RunStatus.COMPLETE
        assert state.verified is (mode == "always")
        assert ("Not reviewed" in state.answer) is (mode == "never")


def test_the_signal_reaches_the_reflector() -> None:
    ran = run(Settings(reflection="on_signal"))
    [prompt] = ran.model.prompts("reflector")
    assert "The plan named the tool look_up, but it was not used" in prompt


@pytest.mark.parametrize(
    ("settings", "reflector", "reviewer"),
    [
        (Settings(), 6, 1),
        (Settings(review_answer=False), 6, 0),
        (Settings(reflection="flagged"), 1, 1),
        (Settings(reflection="flagged", review_answer=False), 1, 0),
        (Settings(reflection="never"), 0, 0),
        (Settings(reflection="never", review_answer=True), 0, 0),
    ],
)
def test_step_and_answer_are_looked_at_alone_or_together(
    settings: Settings, reflector: int, reviewer: int
) -> None:
    ran = run(settings)
    assert (ran.model.count("reflector"), ran.model.count("reviewer")) == (reflector, reviewer)
    answer = (ran.state.answer_status, ran.state.answer_reason)
    verified = (AnswerStatus.VERIFIED, "")
    assert answer == (verified if reviewer else (AnswerStatus.ACCEPTED, "not_reviewed"))
    assert ran.state.status is RunStatus.COMPLETE


def test_without_reflection_the_same_nodes_run_in_one_go() -> None:
    ran = run(Settings(reflection="never"))
    assert ran.state.usage.keys() == {"planner", "executor", "synthesizer"}
    assert all(len(step.attempts) == 1 for step in ran.state.steps.values())


class TestTheAnswerIsReviewed:
    """By easier criteria, with one retry; what was not passed is not verified."""

    @pytest.mark.parametrize("first", ["RETRY", "REPLAN"])
    def test_it_is_sent_back_once_with_the_hint(self, first: str) -> None:
        ran = run(Settings(), reviewer=[verdict(first, "too thin", "name the hotel"), PASS])
        assert ran.model.count("synthesizer") == 2
        first_prompt, second_prompt = ran.model.prompts("synthesizer")
        assert "name the hotel" not in first_prompt
        assert "name the hotel" in second_prompt
        assert ran.state.answer_status is AnswerStatus.VERIFIED
        assert (ran.state.status, ran.state.verified) == (RunStatus.COMPLETE, True)

    def test_the_second_text_is_reviewed_too(self) -> None:
        ran = run(Settings(), reviewer=RETRY)
        assert (ran.model.count("synthesizer"), ran.model.count("reviewer")) == (2, 2)
        assert (ran.state.answer_status, ran.state.answer_reason) == (
            AnswerStatus.ACCEPTED,
            "retries_used_up",
        )
        assert ran.state.status is RunStatus.PARTIAL
        assert "not verified" in ran.state.answer

    def test_a_reviewer_that_is_down_leaves_it_unverified(self) -> None:
        ran = run(Settings(), reviewer=error(503))
        assert (ran.state.answer_status, ran.state.answer_reason) == (
            AnswerStatus.ACCEPTED,
            "not_judged",
        )
        assert ran.state.status is RunStatus.PARTIAL
        assert ran.state.answer.startswith(ANSWER)

    def test_the_reviewer_sees_the_goal_and_the_synthesizer_does_not(self) -> None:
        ran = run(Settings())
        goal = "Plan my trip to the island"
        assert goal in ran.model.prompts("reviewer")[0]
        assert goal not in ran.model.prompts("synthesizer")[0]
        assert not any(goal in prompt for prompt in ran.model.prompts("executor"))
