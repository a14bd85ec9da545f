"""A reflector that is down has not judged: the work stays, and nobody works again for it."""

import pytest
from field.stubs import Stubs, ask, only_step, over_http
from scripted_server import Reply, ScriptedServer, call_then_say, error, html_page

from hansei import AcceptedReason, AgentState, RunStatus, StepStatus

BODY = "the judge of judges is asleep"
DOWN = {"json": error(503, BODY), "html": html_page(503), "dropped": Reply(drop_connection=True)}


def holds(server: ScriptedServer, state: AgentState, stubs: Stubs) -> None:
    """What holds whichever way the reflector is down."""
    step = only_step(state)
    assert server.count("executor") == 2  # the call and the result, once
    assert stubs.counts == {"lookup": 1}
    assert len(step.attempts) == 1
    assert state.replans == 0
    assert server.count("replanner") == 0
    assert step.result == "The count is 731."
    assert (step.status, step.reason) == (StepStatus.ACCEPTED, AcceptedReason.NOT_JUDGED)
    (record,) = step.verdicts
    assert record.verdict is None
    assert "reflector is not available" in record.analysis
    assert not any(BODY in p or "503" in p for p in server.prompts("executor"))
    assert BODY not in state.model_dump_json()
    assert state.status is RunStatus.PARTIAL
    assert state.answer.startswith("It is 731.")
    assert "nobody has verified" in state.answer


def scripted(server: ScriptedServer) -> None:
    server.script_defaults()
    server.script("executor", call_then_say("The count is 731.", "lookup", q="count"))
    server.script("synthesizer", "It is 731.")


@pytest.mark.parametrize("kind", DOWN)
def test_the_result_is_kept_and_marked(kind: str) -> None:
    stubs = Stubs(lookup="731")
    with ScriptedServer() as server:
        scripted(server)
        server.script("reflector", DOWN[kind])
        server.script("reviewer", DOWN[kind])
        state = ask(over_http(server.base_url), "how many are there?", stubs)
        holds(server, state, stubs)
        assert server.count("reflector") == 1
        assert server.count("synthesizer") == 1


def test_a_critic_with_an_endpoint_of_its_own_may_be_down_alone() -> None:
    stubs = Stubs(lookup="731")
    with ScriptedServer() as server:
        scripted(server)
        server.break_endpoint("critic", error(503, BODY))
        critic = over_http(server.critic_url)
        state = ask(over_http(server.base_url), "how many are there?", stubs, critic=critic)
        holds(server, state, stubs)
        assert server.count(endpoint="critic") == 2  # the step's and the answer's


def test_a_judge_that_is_down_only_for_the_answer_leaves_the_step_verified() -> None:
    stubs = Stubs(lookup="731")
    with ScriptedServer() as server:
        scripted(server)
        server.script("reviewer", error(503, BODY))
        state = ask(over_http(server.base_url), "how many are there?", stubs)
    assert only_step(state).status is StepStatus.VERIFIED
    assert state.answer_reason == AcceptedReason.NOT_JUDGED
    assert state.status is RunStatus.PARTIAL
    assert state.answer.startswith("It is 731.")
    assert "not verified" in state.answer
