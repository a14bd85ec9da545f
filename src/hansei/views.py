"""What `show`, `why`, `history` and `threads` print: tables and text for people."""

import time
from collections.abc import Mapping, Sequence

from rich.console import Console
from rich.markup import escape
from rich.table import Table

from hansei.console import print_rows
from hansei.graphs.run_table import RunRow
from hansei.history import Moment, last_verdict, told_steps
from hansei.policies.records import Attempt, Step, VerdictRecord
from hansei.policies.state import AgentState
from hansei.trace import COLOURS, call_line, short


def print_run(console: Console, state: AgentState) -> None:
    """Print a run as a table of its steps."""
    table = Table(title=escape(state.goal), title_justify="left", show_lines=False)
    for name in ("step", "what", "status", "why", "tries"):
        table.add_column(name)
    for i in state.in_order:
        step = state.steps[i]
        colour = COLOURS.get(step.status.value, "white")
        table.add_row(
            str(step.id),
            escape(step.description),
            f"[{colour}]{step.status.value}[/{colour}]",
            escape(short(step.reason)),
            str(len(step.attempts)),
        )
    console.print(table)


def print_threads(console: Console, rows: Sequence[RunRow], standings: Mapping[str, str]) -> None:
    """Print the threads as a table, the latest first."""
    cells = [
        (
            row.name or row.thread_id,
            time.strftime("%Y-%m-%d %H:%M", time.localtime(row.accepted_at)),
            standings[row.thread_id],
            row.goal,
        )
        for row in rows
    ]
    head = ("thread", "since", "now", "last goal")
    print_rows(console, head, cells, notes=[row.note for row in rows])


def print_history(console: Console, moments: Sequence[Moment]) -> None:
    """Print the checkpoints of a thread as a table, the oldest first."""
    table = Table(show_lines=False)
    for name in ("no", "from", "checkpoint", "then comes", "steps", "last verdict"):
        table.add_column(name)
    for moment in moments:
        comes = ", ".join(dict.fromkeys(moment.next)) or f"(end: {moment.state.status.value})"
        made = {"update": " (edited)", "fork": " (fork)"}.get(moment.source, "")
        table.add_row(
            str(moment.number),
            f"{moment.parent or '-'}{made}",
            f"…{moment.id[-12:]}",
            comes,
            escape(told_steps(moment.state)),
            escape(last_verdict(moment.state)),
        )
    console.print(table)


def print_why(console: Console, step: Step) -> None:
    """Print everything that led to the status of one step."""
    console.print(f"[bold]{step.id}. {escape(step.description)}[/bold]", highlight=False)
    console.print(f"status: {step.status.value} {escape(step.reason)}", highlight=False)
    tried = {attempt.number for attempt in step.attempts}
    if not tried:
        console.print("it was never begun")
    for attempt in step.attempts:
        _print_attempt(console, attempt)
        for record in [r for r in step.verdicts if r.attempt == attempt.number]:
            _print_record(console, record)
    # What a human decided about a step that nobody has tried.
    for record in [r for r in step.verdicts if r.attempt not in tried]:
        _print_record(console, record)
    if step.result.strip() and step.result.strip() != step.last_attempt.result.strip():
        console.print(f"\nresult that counts: {escape(step.result)}", highlight=False)


def _print_attempt(console: Console, attempt: Attempt) -> None:
    console.print(f"\n[bold]attempt {attempt.number}[/bold]", highlight=False)
    rows = [("hint", attempt.hint)]
    rows += [("call", f"{c.name}({c.args}) → {call_line(c)}") for c in attempt.calls]
    rows += [("result", attempt.result), ("broke off", attempt.fault_reason)]
    for name, text in rows:
        if text:
            console.print(f"  {name}: {escape(text)}", highlight=False)


def _print_record(console: Console, record: VerdictRecord) -> None:
    word = str(record.verdict or f"no verdict ({record.unjudged or ''})")
    console.print(f"  verdict: {word}, source: {record.source}", highlight=False)
    rows = [("because", record.analysis)]
    # A rule's reason may be its hint as well.
    rows += [("suggestion", record.suggestion)] if record.suggestion != record.analysis else []
    rows += [(f"{f.kind.value} of {f.check}", f.reason) for f in record.findings]
    if record.model_verdict is not None:
        rows.append(("the model's own word", record.model_verdict.value))
    if record.quote:
        found = "found" if record.quote_found else "not found"
        rows.append(("its quote", f"{record.quote} ({found})"))
    rows += [
        (f"condition {c.condition}", f"{'met' if c.met else 'not met'}, quote: {c.quote}")
        for c in record.conditions
    ]
    rows.append(("what could not be read", record.raw))
    for name, text in rows:
        if text:
            console.print(f"    {name}: {escape(text)}", highlight=False)
