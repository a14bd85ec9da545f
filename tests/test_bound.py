"""The bound on model calls (invariant 2): the worst case reaches it, call for call.

The adversary is a reflector that sends every step back until it may no more, and asks for the
replan on the last attempt of each plan's last step; an executor that uses every tool round with
arguments that are new each time; structured replies that are unreadable as often as a repair
is allowed; and an answer that is sent back once.
"""

import itertools
import re
from collections import Counter

import pytest
from hypothesis import given
from hypothesis import strategies as st
from langchain_core.runnables import RunnableConfig
from langchain_core.tools import StructuredTool
from scripted_model import ScriptedChatModel
from scripted_replies import (
    JsonObject,
    Reply,
    messages_of,
    plan_data,
    structured,
    text_of,
    tool_call,
    verdict,
)

from hansei import Settings, create_plan_execute_agent, worst_case_calls
from hansei.policies.state import AgentInput, AgentState
from hansei.policies.words import RunStatus, StepStatus

WORDS = (
    *("amber", "birch", "copper", "damask", "fennel", "garnet", "hazel", "indigo"),
    *("jasper", "kelp", "lilac", "maple", "nutmeg", "ochre", "poppy", "quartz"),
)
"""One for each step, unlike the others, so that no step says again what a failed one said."""

_TASK = re.compile(r"^(?:Task|Task of this step): .*? (\w+)$", re.MULTILINE)


def by_hand(*, n: int, r: int, k: int, m: int, t: int, p: int) -> int:
    """The formula of the theory, written down a second time: calls before the answer's review."""
    steps = n + k * m
    return 1 + (1 + k) * (1 + p) + steps * (r + 1) * (t + 2 + p)


class Adversary:
    """Says whatever costs the most calls that the settings allow."""

    def __init__(self, settings: Settings, *, steps: int) -> None:
        self.settings = settings
        self.words = iter(WORDS)
        self.asked: Counter[str] = Counter()
        self.judged: Counter[str] = Counter()
        self.plans = 0
        self.last_words: set[str] = set()
        self.first = steps
        self.model = ScriptedChatModel()
        for role, reply in {
            "planner": self.plan,
            "executor": self.work,
            "reflector": self.judge,
            "replanner": self.replan,
            "synthesizer": self.tell,
            "reviewer": self.review,
        }.items():
            self.model.script(role, reply)

    def _unreadable(self, question: str) -> bool:
        """Whether this request of a question is one of those that its repairs allow to fail."""
        self.asked[question] += 1
        return self.asked[question] % (self.settings.max_repairs + 1) != 0

    def _steps(self, count: int) -> JsonObject:
        names = list(itertools.islice(self.words, count))
        self.plans += 1
        if self.plans <= self.settings.replans:
            self.last_words.add(names[-1])
        tool = "look" if self.settings.max_tool_rounds else None
        return plan_data(*({"description": f"Weigh the {name}", "tool": tool} for name in names))

    def plan(self, body: JsonObject) -> Reply:
        return Reply("hm") if self._unreadable("plan") else structured(self._steps(self.first))

    def replan(self, body: JsonObject) -> Reply:
        if self._unreadable("replan"):
            return Reply("hm")
        return structured(self._steps(self.settings.max_steps))

    def work(self, body: JsonObject) -> Reply:
        name = _task(body)
        self.asked[name] += 1
        turn = self.asked[name] % (self.settings.max_tool_rounds + 1)
        if turn:
            side = ("left", "right", "upper", "lower")[self.asked[name] % 4]
            return tool_call("look", q=f"{name} {side} {'again ' * self.asked[name]}")
        return Reply(f"The {name} is heavy.")

    def judge(self, body: JsonObject) -> Reply:
        name = _task(body)
        if self._unreadable(f"verdict on {name}"):
            return Reply("hm")
        self.judged[name] += 1
        last_attempt = self.judged[name] > self.settings.retries
        if last_attempt and name in self.last_words:
            return verdict("REPLAN", "another way is needed")
        return verdict("RETRY", "not good enough", "be more careful")

    def tell(self, body: JsonObject) -> Reply:
        self.asked["answer"] += 1
        if not self.settings.reviews_answer and self.asked["answer"] == 1:
            # No model reviews it, so only a rule can send it back.
            return Reply("")
        return Reply(" ".join(re.findall(r"The \w+ is heavy\.", messages_text(body))))

    def review(self, body: JsonObject) -> Reply:
        if self._unreadable("review"):
            return Reply("hm")
        return verdict("RETRY", "not good enough", "say it better")


def _task(body: JsonObject) -> str:
    found = _TASK.search(messages_text(body))
    assert found is not None
    return found.group(1)


def messages_text(body: JsonObject) -> str:
    return "\n".join(text_of(message) for message in messages_of(body))


def _look() -> StructuredTool:
    def look(q: str) -> str:
        """Look at something."""
        return f"{q}: heavy"

    return StructuredTool.from_function(look, metadata={"hansei": {"effect": "read"}})


def run(settings: Settings, *, steps: int) -> tuple[Adversary, AgentState]:
    adversary = Adversary(settings, steps=steps)
    agent = create_plan_execute_agent(adversary.model, [_look()], settings=settings)
    config: RunnableConfig = {"configurable": {"thread_id": "t"}}
    result = agent.invoke(AgentInput(goal="Weigh everything"), config)
    adversary.model.book.check()
    return adversary, AgentState.model_validate(result)


GRID = [
    (n, r, k, m, t, p)
    for (n, m), r, k, (t, p) in itertools.product(
        ((1, 1), (1, 2), (2, 2)), (0, 1, 2), (0, 1, 2), ((0, 1), (1, 0))
    )
    if (r, k) != (2, 2)
]
"""Small parameter sets; what is largest is left to `LARGE`, because every call is really made."""

LARGE = [(3, 2, 2, 3, 1, 0), (1, 2, 2, 2, 0, 1), (2, 2, 2, 2, 2, 2), (3, 1, 2, 4, 3, 1)]
"""Where everything is allowed at once, plans longer than the first one included."""


@pytest.mark.parametrize(("n", "r", "k", "m", "t", "p"), [*GRID, *LARGE])
def test_worst_case_is_reached(n: int, r: int, k: int, m: int, t: int, p: int) -> None:
    settings = Settings(
        max_step_retries=r,
        max_replans=k,
        max_steps=m,
        max_tool_rounds=t,
        max_repairs=p,
        max_parallel=1,
    )
    adversary, result = run(settings, steps=n)
    expected = by_hand(n=n, r=r, k=k, m=m, t=t, p=p) + 2 * (1 + p) + 1
    assert adversary.model.count() == expected
    assert worst_case_calls(settings, steps=n) == expected
    assert sum(cost.calls for cost in result.usage.values()) == expected


@pytest.mark.parametrize("n", [1, 2, 3])
@pytest.mark.parametrize(("r", "k", "t", "p"), [(0, 0, 0, 0), (1, 1, 1, 1), (2, 0, 2, 1)])
def test_without_review_of_the_answer(n: int, r: int, k: int, t: int, p: int) -> None:
    settings = Settings(
        max_step_retries=r,
        max_replans=k,
        max_steps=3,
        max_tool_rounds=t,
        max_repairs=p,
        max_parallel=1,
        review_answer=False,
    )
    adversary, _ = run(settings, steps=n)
    # A rule can still send the first text back, so there are two of them.
    expected = by_hand(n=n, r=r, k=k, m=3, t=t, p=p) + 1
    assert adversary.model.count() == worst_case_calls(settings, steps=n) == expected


@pytest.mark.parametrize("n", [1, 2, 3])
@pytest.mark.parametrize(("t", "p"), [(0, 0), (1, 1), (2, 0)])
def test_without_reflection(n: int, t: int, p: int) -> None:
    settings = Settings(
        reflection="never", max_steps=3, max_tool_rounds=t, max_repairs=p, max_parallel=1
    )
    adversary, _ = run(settings, steps=n)
    expected = (1 + p) + n * (t + 1) + 1
    assert adversary.model.count() == worst_case_calls(settings, steps=n) == expected


def test_side_by_side_costs_the_same() -> None:
    alone = Settings(max_steps=3, max_tool_rounds=1, max_parallel=1)
    together = alone.model_copy(update={"max_parallel": 3})
    counts = {run(chosen, steps=3)[0].model.count() for chosen in (alone, together)}
    assert counts == {worst_case_calls(alone, steps=3)}


def test_the_ending_of_the_worst_case_is_honest() -> None:
    settings = Settings(max_steps=2, max_tool_rounds=1, max_parallel=1)
    _, result = run(settings, steps=2)
    statuses = {step.status for step in result.steps.values()}
    assert statuses == {StepStatus.ACCEPTED, StepStatus.RECOVERED}
    assert result.status is RunStatus.PARTIAL
    assert not result.verified


counts = st.integers(0, 12)


@given(n=counts, r=counts, k=counts, m=st.integers(1, 12), t=counts, p=counts)
def test_bound_is_the_formula(n: int, r: int, k: int, m: int, t: int, p: int) -> None:
    settings = Settings(
        max_step_retries=r, max_replans=k, max_steps=m, max_tool_rounds=t, max_repairs=p
    )
    expected = by_hand(n=n, r=r, k=k, m=m, t=t, p=p) + 2 * (1 + p) + 1
    assert worst_case_calls(settings, steps=n) == expected
    assert worst_case_calls(settings) == worst_case_calls(settings, steps=m)


@pytest.mark.parametrize(
    ("p", "bound"),
    [(1, 259 + 5), (0, 2 + 2 + 21 * 2 * 5 + 2 + 1)],
)
def test_defaults(p: int, bound: int) -> None:
    assert worst_case_calls(Settings(max_repairs=p)) == bound


def test_a_call_budget_is_a_bound_too() -> None:
    assert worst_case_calls(Settings(call_budget=10)) == 10
    assert worst_case_calls(Settings(call_budget=1000)) == worst_case_calls(Settings())


def test_a_negative_number_of_steps_is_refused() -> None:
    with pytest.raises(ValueError, match="must not be negative"):
        worst_case_calls(Settings(), steps=-1)
