"""A reply without the forced call, or with nothing in it, is a failure that is noticed."""

import pytest
from field.stubs import ask, only_step, over_http
from scripted_server import Reply, ScriptedServer, verdict

from hansei import AcceptedReason, AgentState, RunStatus, StepStatus, Verdict
from hansei.policies.critic_reply import ReflectorReply

PROSE = "The step looks good to me."
FOUR = [
    PROSE,
    "Still fine, as I said.",
    "Everything was done as it should be.",
    "There is nothing to add.",
]

both_ways = pytest.mark.parametrize("refuse_json_schema", [False, True], ids=["schema", "function"])
"""Function calling is what the reply is asked by where the endpoint takes no schema."""


def run(*replies: Reply | str, refuse_json_schema: bool) -> tuple[AgentState, ScriptedServer]:
    with ScriptedServer(refuse_json_schema=refuse_json_schema) as server:
        server.script_defaults()
        server.script("reflector", *replies)
        return ask(over_http(server.base_url), "look it up"), server


@both_ways
@pytest.mark.parametrize("first", [PROSE, ""], ids=["a", "b"])
def test_one_repair_request_restates_the_schema(first: str, refuse_json_schema: bool) -> None:
    retry = verdict("RETRY", "too short", "say more")
    passed = verdict("PASS")
    state, server = run(first, retry, passed, refuse_json_schema=refuse_json_schema)
    step = only_step(state)
    assert [v.verdict for v in step.verdicts] == [Verdict.RETRY, Verdict.PASS]
    assert step.attempts[1].hint == "say more"
    asked = [request for request in server.asked("reflector") if request.status == 200]
    # The reply that cannot be used, its repair, and the verdict on the second attempt.
    assert len(asked) == 3
    repair = asked[1].prompt.rpartition("user:")[2]
    assert all(name in repair for name in ReflectorReply.model_fields)
    key = "tools" if refuse_json_schema else "response_format"
    assert asked[1].body[key] == asked[0].body[key]


@both_ways
def test_prose_for_ever_is_no_verdict(refuse_json_schema: bool) -> None:
    state, server = run(*FOUR, refuse_json_schema=refuse_json_schema)
    step = only_step(state)
    (record,) = step.verdicts
    assert (record.verdict, record.unjudged) == (None, AcceptedReason.NOT_JUDGED)
    assert step.status is StepStatus.ACCEPTED
    assert len([r for r in server.asked("reflector") if r.status == 200]) == 2
    # What the model said is there to be read, both times.
    assert FOUR[0] in record.raw
    assert FOUR[1] in record.raw
    assert state.status is RunStatus.PARTIAL
    assert "nobody has verified" in state.answer
