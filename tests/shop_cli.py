"""The demo scenes' stage: the command line on the real shop, before a scripted endpoint."""

import json
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path

import pytest
from scripted_replies import messages_of, text_of
from scripted_script import Endpoint
from scripted_server import Entry, JsonObject, Reply, ScriptedServer, structured, verdict
from typer.testing import CliRunner

from hansei.cli import app
from hansei.policies.state import AgentState

APPROVES = verdict("PASS", "没有问题")
GIVES_UP = structured({"analysis": "没有别的查法", "steps": [], "given_up": [1, 2], "drop": []})


@dataclass(frozen=True)
class Told:
    """What the command line gave back."""

    exit_code: int
    report: dict[str, object]

    @property
    def state(self) -> AgentState:
        """The report read back as a state, for typed access to steps and attempts."""
        steps = self.report["steps"]
        assert isinstance(steps, list)
        usage = self.report["usage"]
        assert isinstance(usage, dict)
        fields = {"steps": {step["id"]: step for step in steps}, "usage": usage["roles"]}
        return AgentState.model_validate({**self.report, **fields})

    @property
    def answer(self) -> str:
        """What the user reads."""
        return self.state.answer


class Shop:
    """The command line before a scripted endpoint, the critic at an address of its own."""

    def __init__(self, server: ScriptedServer, folder: Path) -> None:
        self.server = server
        self.folder = folder

    def script(self, **roles: Entry | list[Entry]) -> None:
        """Replies of each role; the critics' only at their own endpoint."""
        for role, entry in roles.items():
            entries = entry if isinstance(entry, list) else [entry]
            endpoint: Endpoint | None = "critic" if role in ("reflector", "reviewer") else None
            self.server.script(role, *entries, endpoint=endpoint)

    def run(self, goal: str, *options: str) -> Told:
        """`hansei run GOAL --tools shop --json`."""
        database = str(self.folder / "threads.db")
        words = ["run", goal, "--tools", "shop", "--json", "--db", database, *options]
        done = CliRunner().invoke(app, words)
        assert done.stdout, done.output
        return Told(done.exit_code, json.loads(done.stdout))


@contextmanager
def open_shop(folder: Path, patch: pytest.MonkeyPatch) -> Iterator[Shop]:
    """A shop whose critics approve and whose replanner gives up, unless scripted otherwise."""
    patch.chdir(folder)
    with ScriptedServer(strict_pairing=True) as server:
        patch.setenv("OPENAI_BASE_URL", server.base_url)
        patch.setenv("HANSEI_CRITIC_BASE_URL", server.critic_url)
        patch.setenv("HANSEI_MODEL", "scripted")
        shop = Shop(server, folder)
        shop.script(replanner=GIVES_UP, reflector=APPROVES, reviewer=APPROVES)
        yield shop


def by_step(**steps: Entry) -> Callable[[JsonObject], Reply | str]:
    """An executor that looks for a word of the step's description in what it is asked."""

    def answer(body: JsonObject) -> Reply | str:
        asked = "\n".join(text_of(m) for m in messages_of(body) if m.get("role") == "user")
        entry = next(entry for word, entry in steps.items() if word in asked)
        return entry(body) if callable(entry) else entry

    return answer
