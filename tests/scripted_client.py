"""What the tests of the scripted endpoint share: the real client, a request, a schema, a tool."""

from langchain_core.messages import BaseMessage, HumanMessage, SystemMessage
from langchain_core.tools import tool
from langchain_openai import ChatOpenAI
from pydantic import BaseModel, SecretStr


class Verdict(BaseModel):
    """A verdict."""

    analysis: str
    verdict: str
    suggestion: str


@tool
def lookup(q: str) -> str:
    """Looks something up."""
    return q


def client(url: str, *, retries: int = 0, timeout: float = 20.0) -> ChatOpenAI:
    """The real client for an endpoint, without retries unless said; `timeout` in seconds."""
    key = SecretStr("none")
    return ChatOpenAI(base_url=url, api_key=key, model="stub", max_retries=retries, timeout=timeout)


def ask(role: str, text: str = "go") -> list[BaseMessage]:
    """A request of a role: the marked system message and what the user says."""
    return [SystemMessage(f"[hansei:{role} v1]\nBe brief."), HumanMessage(text)]
