"""hansei (反省): an agent that looks back before it goes on.

A result that nobody verified is never passed off as done: every step, the answer, the run's
status and the exit code say how far they can be trusted.
"""

from hansei.graphs.checkpoints import aopen_checkpointer, open_checkpointer
from hansei.graphs.models import chat_model
from hansei.graphs.plan_execute import create_plan_execute_agent
from hansei.graphs.run_table import ThreadBusyError
from hansei.policies.checks import Check, CheckInput, Evidence
from hansei.policies.errors import (
    EndpointError,
    HanseiError,
    OperatorError,
    UserError,
)
from hansei.policies.records import Finding
from hansei.policies.required_fields import required_fields
from hansei.policies.run_context import RunContext
from hansei.policies.settings import Settings, worst_case_calls
from hansei.policies.state import AgentInput, AgentState
from hansei.policies.words import (
    AcceptedReason,
    AnswerStatus,
    FindingKind,
    RunStatus,
    StepStatus,
    Verdict,
    VerdictSource,
)

__all__ = [
    "AcceptedReason",
    "AgentInput",
    "AgentState",
    "AnswerStatus",
    "Check",
    "CheckInput",
    "EndpointError",
    "Evidence",
    "Finding",
    "FindingKind",
    "HanseiError",
    "OperatorError",
    "RunContext",
    "RunStatus",
    "Settings",
    "StepStatus",
    "ThreadBusyError",
    "UserError",
    "Verdict",
    "VerdictSource",
    "aopen_checkpointer",
    "chat_model",
    "create_plan_execute_agent",
    "open_checkpointer",
    "required_fields",
    "worst_case_calls",
]
