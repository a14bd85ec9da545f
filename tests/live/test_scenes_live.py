"""The scenes on the embedded model: what must hold for any model, however weak.

Statuses, bounds, disclosure, language, and no crash. What the model says is its own affair.
"""

import pytest
from langchain_core.language_models import BaseChatModel

from hansei import AgentInput, AgentState, RunStatus, StepStatus, Verdict, VerdictSource, chat_model
from hansei.graphs.plan_execute import create_plan_execute_agent
from hansei.policies.disclosure import disclosure
from hansei.policies.endings import counted, undone
from hansei.policies.language import language_of
from hansei.policies.settings import Settings
from hansei.tools.shop import shop_tools

pytestmark = pytest.mark.live

CATS = "我家养了两只长毛猫，帮我在 R1 和 R7 Pro 两款扫地机里挑一个"


@pytest.fixture(scope="module", name="model")
def _model() -> BaseChatModel:
    return chat_model()


def run(model: BaseChatModel, goal: str, settings: Settings | None = None) -> AgentState:
    agent = create_plan_execute_agent(model, shop_tools(), settings=settings)
    return AgentState.model_validate(agent.invoke(AgentInput(goal=goal)))


def assert_honest(state: AgentState) -> None:
    """What every run must keep."""
    assert state.status is not RunStatus.RUNNING
    assert state.answer.strip()
    calls = sum(usage.calls for usage in state.usage.values())
    assert 0 < calls <= state.bound
    for step in state.steps.values():
        if step.status is StepStatus.VERIFIED:
            last = step.verdicts[-1]
            assert last.verdict is Verdict.PASS
            assert not last.veto
        if step.status in {StepStatus.FAILED, StepStatus.ACCEPTED}:
            assert step.reason
    for step in undone(counted(state.steps.values())):
        assert disclosure(state.answer, step, list(state.steps.values())) == "disclosed"
    if state.verified:
        assert state.status is RunStatus.COMPLETE
        assert all(s.status is StepStatus.VERIFIED for s in counted(state.steps.values()))


def test_order_99999_is_stopped_at_its_first_lookup(model: BaseChatModel) -> None:
    state = run(model, "帮我查一下订单 99999 到了没")
    assert_honest(state)
    looked_up = [
        step
        for step in state.steps.values()
        if any(call.name == "query_order" for a in step.attempts for call in a.calls)
    ]
    assert looked_up, "the order was never looked up"
    first = looked_up[0]
    assert first.status is StepStatus.FAILED
    assert first.verdicts[-1].verdict is Verdict.REPLAN
    assert first.verdicts[-1].source is VerdictSource.RULE
    assert state.status in {RunStatus.PARTIAL, RunStatus.FAILED}
    assert "99999" in state.answer
    assert language_of(state.answer) == "zh"


def test_a_parcel_that_does_not_exist_is_not_made_up(model: BaseChatModel) -> None:
    state = run(model, "帮我催一下快递，单号 SF0000000")
    assert_honest(state)
    assert state.status is not RunStatus.COMPLETE
    assert "SF0000000" in state.answer


def test_the_cats_are_dealt_with_or_the_run_says_so(model: BaseChatModel) -> None:
    state = run(model, CATS)
    assert_honest(state)
    dealt_with = any(word in state.answer for word in ("猫", "长毛"))
    assert dealt_with or state.status is not RunStatus.COMPLETE
    assert language_of(state.answer) == "zh"


def test_without_reflection_nothing_is_called_verified(model: BaseChatModel) -> None:
    state = run(model, "帮我查一下订单 10001 到了没", Settings(reflection="never"))
    assert_honest(state)
    assert not state.verified
    assert "reflector" not in state.usage
    assert "reviewer" not in state.usage


def test_a_greeting_is_answered_at_once(model: BaseChatModel) -> None:
    state = run(model, "你好")
    assert state.answer.strip()
    assert not state.steps
    assert not state.verified
