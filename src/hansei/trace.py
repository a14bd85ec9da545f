"""The live trace of a run and its ending: plain text for people."""

from collections.abc import Mapping, Sequence

from rich.console import Console
from rich.markup import escape

from hansei.policies.answers import unreviewed_note
from hansei.policies.lint import is_small_talk
from hansei.policies.narrow import as_list, as_mapping
from hansei.policies.phrases import say
from hansei.policies.records import AnswerAttempt, Step, ToolCall, VerdictRecord
from hansei.policies.state import AgentState
from hansei.policies.words import (
    USABLE,
    AcceptedReason,
    Language,
    RunStatus,
    StepStatus,
    Verdict,
    VerdictSource,
)
from hansei.tools.outcome import OutcomeStatus

COLOURS: Mapping[str, str] = {
    "PASS": "green",
    "RETRY": "yellow",
    "REPLAN": "red",
    "verified": "green",
    "complete": "green",
    "accepted": "yellow",
    "partial": "yellow",
    "failed": "red",
    "skipped": "red",
    "exhausted": "red",
    "needs_human": "magenta",
}

_RETURNED: Mapping[OutcomeStatus, str] = {
    OutcomeStatus.OK: "returned",
    OutcomeStatus.SHELL: "returned (hollow)",
    OutcomeStatus.EMPTY: "returned (empty)",
    OutcomeStatus.NOT_FOUND: "returned (not found)",
    OutcomeStatus.ERROR: "returned (error)",
    OutcomeStatus.REFUSED: "refused",
    OutcomeStatus.DECLINED: "not allowed by a human",
    OutcomeStatus.UNKNOWN: "returned nothing: it may or may not have gone through",
}
"""What a call did, as a verb: the bare name of an outcome reads like a label of something else."""

_SHOWN = 300
"""Characters of a result or output in the trace; `why` and `--json` have the whole."""


class Trace:
    """Prints what the nodes report while a run goes on."""

    def __init__(self, console: Console) -> None:
        self._console = console
        self._steps: dict[int, Step] = {}
        self._notes = 0

    def update(self, chunk: Mapping[object, object]) -> None:
        """Print one chunk of LangGraph's `updates` stream."""
        for node, value in chunk.items():
            change = as_mapping(value)
            steps = _steps_of(change)
            match node:
                case "planner":
                    self._plan("plan", change, steps)
                case "replanner":
                    self._plan("replan", change, steps)
                case "executor" | "tools":
                    self._work(steps)
                case "reflector":
                    self._verdicts(change, steps)
                case _:
                    pass
            self._steps.update(steps)

    def _line(self, head: str, text: str) -> None:
        self._console.print(f"[bold]{head:<9}[/bold] {escape(text)}", highlight=False)

    def _plan(self, head: str, change: Mapping[object, object], steps: Mapping[int, Step]) -> None:
        new = [s for i, s in steps.items() if i not in self._steps or head == "plan"]
        if head == "replan" and not new:
            self._line(head, "nothing takes its place; what failed stays failed")
        again = head == "replan"
        for step in new:
            tool = f"  [{step.tool}]" if step.tool else ""
            after = f"  after {_ids(step.depends_on)}" if step.depends_on else ""
            place = f"  in place of {_ids(step.stands_in_for)}" if step.stands_in_for else ""
            self._line(head, f"{step.id}. {step.description}{tool}{after}{place}")
            head = ""
        if "notes" in change:
            notes = as_list(change["notes"])
            # A replan adds to the notes of the plan, which have been told.
            for note in notes[self._notes if again else 0 :]:
                self._line("", f"lint: {note}")
            self._notes = len(notes)
        self._skipped(steps)

    def _work(self, steps: Mapping[int, Step]) -> None:
        for step in steps.values():
            attempt = step.last_attempt
            last = attempt.rounds[-1] if attempt.rounds else None
            if attempt.result:
                self._line(f"step {step.id}", f"result: {short(attempt.result)}")
            elif attempt.fault:
                self._line(f"step {step.id}", f"broke off: {attempt.fault_reason}")
            elif last is not None and last.calls:
                for call in last.calls:
                    self._line(f"step {step.id}", call_line(call))

    def _verdicts(self, change: Mapping[object, object], steps: Mapping[int, Step]) -> None:
        for step in steps.values():
            known = self._steps.get(step.id)
            for record in step.verdicts[len(known.verdicts) if known else 0 :]:
                self._verdict(f"step {step.id}", record, step)
        for last in as_list(change.get("answer_attempts"))[-1:]:
            if isinstance(last, AnswerAttempt) and last.verdict is not None:
                self._verdict("answer", last.verdict, None)
        self._skipped(steps)

    def _verdict(self, where: str, record: VerdictRecord, step: Step | None) -> None:
        word = str(record.verdict or "not judged")
        colour = COLOURS.get(word, "yellow")
        by = f" by {record.source}" if record.source is not VerdictSource.NONE else ""
        why = f": {record.analysis}" if record.analysis else ""
        if record.unjudged is AcceptedReason.NOT_REVIEWED:
            word, why = "not reviewed", self._why_not_reviewed(step)
        text = f"[{colour}]{word}[/{colour}]{escape(f'{by}{short(why)}')}"
        self._console.print(f"[bold]{where:<9}[/bold] {text}", highlight=False)
        if record.verdict is Verdict.RETRY and record.suggestion:
            self._line("", f"hint: {short(record.suggestion)}")
        if step is not None and step.status is StepStatus.ACCEPTED:
            self._line("", f"used all the same: {step.reason}")

    def _why_not_reviewed(self, step: Step | None) -> str:
        """Why no model was asked, where that is no choice of the user's."""
        if step is None and not any(s.status in USABLE for s in self._steps.values()):
            return ": no step succeeded, so there is nothing to review"
        return ""

    def _skipped(self, steps: Mapping[int, Step]) -> None:
        for step in steps.values():
            if step.status is StepStatus.SKIPPED:
                self._line(f"step {step.id}", f"skipped: {step.description}")


def _steps_of(change: Mapping[object, object]) -> dict[int, Step]:
    value = change.get("steps")
    # The planner starts a run afresh, so its steps come wrapped in an Overwrite.
    value = getattr(value, "value", value)
    return {s.id: s for s in as_mapping(value).values() if isinstance(s, Step)}


def call_line(call: ToolCall) -> str:
    """A call, or what came back from it, on one line."""
    if call.outcome is None:
        return f"calls {call.name}({call.args})"
    again = ", from the record" if call.from_record else ""
    return f"{_RETURNED[call.outcome]}{again}: {short(call.output)}"


def _ids(ids: Sequence[int]) -> str:
    return ", ".join(str(i) for i in ids)


def short(text: str) -> str:
    """The beginning of a text, on one line."""
    flat = " ".join(text.split())
    return flat if len(flat) <= _SHOWN else f"{flat[:_SHOWN]}…"


def print_ending(console: Console, state: AgentState, *, exit_code: int, thread: str) -> None:
    """Print the answer, the status and what it has cost."""
    console.print()
    console.print(state.answer, markup=False, highlight=False)
    console.print()
    colour = COLOURS.get(state.status.value, "white")
    trust = "verified" if state.verified else _doubt(state, state.language)
    ended = f"({trust}), exit code {exit_code}"
    if state.status is RunStatus.RUNNING:
        ended = f"({trust}): {state.reason}"
    console.print(
        f"[bold]status[/bold]    [{colour}]{state.status.value}[/{colour}] {escape(ended)}",
        highlight=False,
    )
    calls = ", ".join(f"{role} {u.calls}" for role, u in state.usage.items() if u.calls)
    total = sum(u.calls for u in state.usage.values())
    tokens = sum(u.input_tokens + u.output_tokens for u in state.usage.values())
    guess = " (partly estimated)" if any(u.estimated for u in state.usage.values()) else ""
    cost = f"{total} model calls of at most {state.bound} ({calls}); {tokens} tokens{guess}"
    console.print(f"[bold]cost[/bold]      {escape(cost)}", highlight=False)
    console.print(f"[bold]thread[/bold]    {escape(thread)}", highlight=False)


def _doubt(state: AgentState, language: Language) -> str:
    if state.status is not RunStatus.COMPLETE:
        return "not verified"
    if not state.steps:
        key = "nothing_to_check" if is_small_talk(state.goal) else "direct"
        return say(key, language).strip("（）()。.")
    steps = list(state.steps.values())
    note = unreviewed_note(steps, answer_reason=state.answer_reason, language=language)
    return note.strip("（）()。.")
