"""An invented id is refused as often as it is asked for."""

from langchain_core.tools import tool
from scripted_model import ScriptedChatModel
from scripted_replies import plan, tool_call, verdict

from hansei import RunStatus, create_plan_execute_agent
from hansei.policies.state import AgentInput, AgentState


def test_a_refusal_is_no_source_for_the_id_it_names() -> None:
    ran: list[str] = []

    @tool
    def refund(order_id: str) -> str:
        """Refund an order."""
        ran.append(order_id)
        return "refunded"

    refund.metadata = {"hansei": {"effect": "once"}}
    model = ScriptedChatModel()
    model.script("planner", plan({"description": "Refund order 12345", "tool": "refund"}))
    invented = tool_call("refund", order_id="99871")
    model.script("executor", invented, invented, "Order 12345 is refunded.")
    model.script("reflector", verdict("PASS"))
    model.script("reviewer", verdict("PASS"))
    model.script("replanner", plan())
    model.script("synthesizer", "Order 12345 is refunded.")
    agent = create_plan_execute_agent(model, [refund])
    state = AgentState.model_validate(agent.invoke(AgentInput(goal="Refund order 12345.")))
    assert ran == []
    assert state.status is RunStatus.FAILED
