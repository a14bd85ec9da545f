"""The world of a scenario: its models, tools and checks, and a log of what really happened."""

import itertools
import re
import threading
from collections import defaultdict
from collections.abc import Callable, Sequence
from dataclasses import dataclass, field

from langchain_core.tools import BaseTool, StructuredTool
from langgraph.checkpoint.base import BaseCheckpointSaver
from random_replies import VARIANTS, broken, move_reply, verdict_reply
from random_scenarios import SUBJECTS, UNNAMED, Habit, Scenario
from random_texts import Wording, wording
from scripted_model import ScriptedChatModel
from scripted_replies import (
    JsonObject,
    Reply,
    messages_of,
    plan_data,
    structured,
    text_of,
)

from hansei import create_plan_execute_agent
from hansei.graphs.agent import Agent
from hansei.policies.checks import CheckInput
from hansei.policies.records import Finding
from hansei.policies.words import FindingKind

_FOUND = re.compile("|".join(SUBJECTS))


class Tape:
    """The next entry of a list for each key: in order, and the last one for ever."""

    def __init__(self) -> None:
        self._lock = threading.Lock()
        self._places: dict[str, int] = defaultdict(int)

    def place(self, key: str) -> int:
        """How often `key` was asked for before."""
        with self._lock:
            self._places[key] += 1
            return self._places[key] - 1

    def next(self, key: str, entries: Sequence[str]) -> str:
        """The next of `entries`."""
        return entries[min(self.place(key), len(entries) - 1)]


@dataclass
class World:
    """The scripted model, the tools and the checks of one scenario, with a log of all they did."""

    scenario: Scenario
    tools_run: list[tuple[str, str, str]] = field(default_factory=list[tuple[str, str, str]])
    """Name, argument and kind of output of each tool call that really ran."""
    verdicts: dict[str, list[str]] = field(default_factory=lambda: defaultdict(list))
    """What the reflector was scripted to say, by subject."""
    said: dict[str, list[str]] = field(default_factory=lambda: defaultdict(list))
    """What planner, replanner, synthesizer and reviewer were scripted to say."""
    model: ScriptedChatModel = field(default_factory=ScriptedChatModel)
    first: int = 0
    """Place of the first subject, so that two runs can speak of different ones."""

    def __post_init__(self) -> None:
        self._begin()
        replies: dict[str, Callable[[JsonObject], Reply]] = {
            "planner": self._plan,
            "executor": self._work,
            "reflector": self._judge,
            "replanner": self._replan,
            "synthesizer": self._tell,
            "reviewer": self._review,
        }
        for role, reply in replies.items():
            self.model.script(role, reply)

    def _begin(self) -> None:
        self._tape = Tape()
        self._new = itertools.count(self.first + len(self.scenario.steps))
        self.words: Wording = wording(self.scenario.language)

    def again(self, scenario: Scenario) -> None:
        """Go on with another scenario and other subjects, with clean logs."""
        self.scenario = scenario
        self.first += len(SUBJECTS) // 2
        self.tools_run.clear()
        self.verdicts.clear()
        self.said.clear()
        self.model.reset(keep_scripts=True)
        self._begin()

    def habit(self, subject: str) -> Habit:
        """The habit of a subject."""
        habits = self.scenario.habits
        return habits[min(self._place(subject), len(habits) - 1)]

    def _place(self, subject: str) -> int:
        return 0 if subject == UNNAMED else max(0, SUBJECTS.index(subject) - self.first)

    def output(self, kind: str, subject: str) -> str:
        """What a tool returns."""
        return self.words.output(kind, subject)

    def agent(self, checkpointer: BaseCheckpointSaver[str]) -> Agent:
        """The agent of the scenario."""
        return create_plan_execute_agent(
            self.model,
            self.tools(),
            settings=self.scenario.settings,
            checks=[self.check],
            checkpointer=checkpointer,
        )

    # tools and checks

    def tools(self) -> list[BaseTool]:
        """One that reads, one that changes something, one whose answer changes."""
        return [
            self._tool("fetch", {"effect": "read"}),
            self._tool("send", {"effect": "once"}),
            self._tool("poll", {"effect": "read", "volatile": True}),
        ]

    def _tool(self, name: str, declared: dict[str, object]) -> BaseTool:
        def run(q: str) -> str:
            subject = subject_in(q)
            outputs = self.habit(subject).outputs
            kind = outputs[VARIANTS.index(q.split()[-1]) % len(outputs)]
            self.tools_run.append((name, q, kind))
            if kind == "raises":
                raise ConnectionError("the line broke")
            return self.output(kind, subject)

        description = f"{name} what is known about something"
        metadata = {"hansei": declared}
        return StructuredTool.from_function(
            run, name=name, description=description, metadata=metadata
        )

    def check(self, data: CheckInput) -> Finding | None:
        """The user's own check."""
        kind = self.habit(subject_in(data.step.description)).check
        if kind == "raises":
            raise RuntimeError("the check broke")
        kinds = {
            "pass": FindingKind.PASS,
            "signal": FindingKind.SIGNAL,
            "unknown": FindingKind.UNKNOWN,
            "veto retry": FindingKind.VETO_RETRY,
            "veto replan": FindingKind.VETO_REPLAN,
        }
        if kind not in kinds:
            return None
        return Finding(kind=kinds[kind], check="mine", reason=self.words.checked)

    # roles

    def _plan(self, body: JsonObject) -> Reply:
        kind = self._tape.next("plan", self.scenario.plans)
        self.said["planner"].append(kind)
        fault = broken(kind, self.words)
        if fault is not None:
            return fault
        steps = self.scenario.steps
        rows = [
            self._row(
                place,
                SUBJECTS[self.first + place - 1],
                tool=draft.tool,
                depends_on=list(draft.depends_on),
                needs_reflection=draft.needs_reflection,
            )
            for place, draft in enumerate(steps, start=1)
        ]
        if kind == "answer":
            return structured(plan_data(answer=self.words.direct))
        if kind == "no steps":
            return structured(plan_data())
        if kind == "only telling":
            return structured(plan_data({"description": self.words.telling}))
        return structured(plan_data(*self._bent(kind, rows), brief=self.words.brief))

    def _row(self, key: int, subject: str, **extra: object) -> JsonObject:
        return {"id": key, "description": self.words.task(subject), "tool": "fetch", **extra}

    def _bent(self, kind: str, rows: list[JsonObject]) -> list[JsonObject]:
        """The rows with the fault that `kind` names."""
        if kind == "circular":
            last = rows[-1]["id"]
            rows[0]["depends_on"] = [last]
            rows[-1]["depends_on"] = [rows[0]["id"]]
        if kind == "twins":
            rows += [{**self._row(0, self._fresh()), "id": rows[0]["id"]}]
        if kind == "unknown tool":
            rows[0]["tool"] = "wipe"
        if kind == "with telling":
            rows += [{"id": "end", "description": self.words.telling}]
        if kind == "too many":
            more = self.scenario.settings.max_steps + 2 - len(rows)
            rows += [self._row(90 + i, self._fresh()) for i in range(max(0, more))]
        return rows

    def _fresh(self) -> str:
        return SUBJECTS[next(self._new)]

    def _work(self, body: JsonObject) -> Reply:
        subject = subject_in(self.words.task_of(prompt_of(body)))
        habit = self.habit(subject)
        turn = self._tape.place(f"work {subject}")
        spoken = "tool" in [m.get("role") for m in messages_of(body)]
        usual = "say" if spoken or not body.get("tools") else "call"
        moves = habit.moves
        move = moves[turn] if turn < len(moves) else usual
        if habit.endless and moves:
            move = moves[min(turn, len(moves) - 1)]
        return broken(move, self.words) or move_reply(move, subject, turn, self.words)

    def _judge(self, body: JsonObject) -> Reply:
        text = prompt_of(body)
        subject = subject_in(self.words.judged_task_of(text))
        habit = self.habit(subject)
        kind = self._tape.next(f"judge {subject}", habit.verdicts)
        self.verdicts[subject].append(kind)
        reply = verdict_reply(kind, self.words, shown=text, met=habit.met)
        return broken(kind, self.words) or reply

    def _review(self, body: JsonObject) -> Reply:
        kind = self._tape.next("review", self.scenario.reviews)
        self.said["reviewer"].append(kind)
        reply = verdict_reply(kind, self.words, shown=prompt_of(body), met=True)
        return broken(kind, self.words) or reply

    def _replan(self, body: JsonObject) -> Reply:
        kind = self._tape.next("replan", self.scenario.replans)
        self.said["replanner"].append(kind)
        fault = broken(kind, self.words)
        if fault is not None:
            return fault
        text = prompt_of(body)
        failed = self.words.listed(text, "failed")
        done = self.words.listed(text, "done")
        waiting = self.words.listed(text, "waiting")
        ids = [key for key, _ in failed]
        if kind == "give up":
            return structured({"analysis": "a", "steps": [], "given_up": ids, "drop": []})
        if kind == "empty":
            return structured({"analysis": "a", "steps": []})
        if kind == "telling":
            return structured({"analysis": "a", "steps": [{"description": self.words.telling}]})
        if kind == "repeat":
            again = [
                {"id": 80 + i, "description": said, "tool": self._tool_of(said)}
                for i, (_, said) in enumerate(failed)
            ]
            return structured({"analysis": "a", "steps": again})
        rows = [self._row(70, self._fresh()), self._row(71, self._fresh(), depends_on=[70])]
        for row in rows:
            row["stands_in_for"] = [] if kind == "new unspoken" else ids
        if kind == "for one only":
            rows[0]["stands_in_for"] = ids[:1]
            rows[1]["stands_in_for"] = []
        if kind == "on done":
            rows[0]["depends_on"] = [key for key, _ in done]
        if kind == "on failed":
            rows[0]["depends_on"] = ids
        drop = [key for key, _ in waiting] if kind == "drop" else []
        return structured({"analysis": "a", "steps": self._bent(kind, rows), "drop": drop})

    def _tool_of(self, description: str) -> str | None:
        subject = subject_in(description)
        place, steps = self._place(subject), self.scenario.steps
        return steps[place].tool if place < len(steps) else "fetch"

    def _tell(self, body: JsonObject) -> Reply:
        kind = self._tape.next("tell", self.scenario.texts)
        self.said["synthesizer"].append(kind)
        done, undone = self.words.reported(prompt_of(body))
        return broken(kind, self.words) or Reply(self.words.answer(kind, done, undone))


def prompt_of(body: JsonObject) -> str:
    """What the library itself wrote for the model, apart from the rules of the role."""
    return "\n".join(text_of(m) for m in messages_of(body) if m.get("role") == "user")


def subject_in(text: str) -> str:
    """The first subject in a text."""
    found = _FOUND.search(text)
    return found.group() if found else UNNAMED
