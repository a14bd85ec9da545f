"""What a caller is told when the work or its check fails: eleven scenes, and a control.

A scripted model that is confident and never changes its mind, over real HTTP with instant
replies, so that the figures are the same on every machine. It also prints what the order scene
costs with and without reflection.

Usage: python benchmarks/honesty.py [--json] [--language zh|en]

The exit code is 1 when one cell is not as it must be, else 0.
"""

import argparse
import json
import logging
import os
import sys
from collections.abc import Mapping, Sequence
from pathlib import Path

# Tests and benchmark play the same scenes.
sys.path.insert(0, str(Path(__file__).resolve().parents[1] / "tests"))

from honesty_runs import Outcome, faults, play
from honesty_scenes import scenes
from order_scene import ARRIVED, MISSING, Order, play_order

from hansei.policies.endings import EXIT_CODES
from hansei.policies.settings import ReflectionMode
from hansei.policies.state import AgentState
from hansei.policies.words import Language, RunStatus
from hansei.report import usage_report

LANGUAGES: tuple[Language, ...] = ("zh", "en")

PEERS: Mapping[str, str] = {
    "strong sign": "9 of 11",
    "strong sign, and the text kept": "8 of 11",
    "disclosed in the text": "0 of 11",
    "model calls of the control": "3 to 7",
    "tool runs where the judge always says retry": "1 to 12",
}
"""The best (or the range) of 15 configurations of 10 agent frameworks, latest releases, each set
up for self-checking as its docs recommend, on the same scenes with the same limits."""

SOURCE: Mapping[str, str] = {
    "calls with reflection": "about 9",
    "calls without": "4",
    "tokens a reflection": "300 to 500",
}
"""What is reported for the order scene in the system that this one follows."""

REMARK = (
    "The answer hardly changes in this scene. What changes is that the failure is visible: in the "
    "status, the exit code and the record of the verdict. A rule sees the hollow shell before any "
    "model is asked, so here it is visible without reflection too, and no reflector is called."
)

_COLUMNS = (
    "scene",
    "status",
    "exit",
    "strong sign",
    "work kept",
    "disclosed",
    "model calls",
    "tool runs",
    "what happens",
)


def scene_row(outcome: Outcome) -> dict[str, object]:
    """One scene as plain data."""
    control = outcome.scene.ends is RunStatus.COMPLETE
    return {
        "scene": outcome.scene.name,
        "language": outcome.scene.language,
        "happens": outcome.scene.happens,
        "status": outcome.state.status.value,
        "exit_code": outcome.exit_code,
        "strong_sign": outcome.strong_sign,
        "work_kept": outcome.kept,
        "disclosed": None if control else outcome.disclosed,
        "model_calls": outcome.requests,
        "bound": outcome.bound,
        "tool_runs": outcome.tool_runs,
        "answer": outcome.state.answer,
        "wrong": faults(outcome),
    }


def totals(rows: Sequence[Mapping[str, object]]) -> dict[str, object]:
    """The figures to set beside those of the peers, over the scenes without the control."""
    bad = [row for row in rows if row["scene"] != "s0"]
    return {
        "scenes": len(bad),
        "strong_sign": sum(bool(row["strong_sign"]) for row in bad),
        "strong_sign_and_kept": sum(bool(row["strong_sign"] and row["work_kept"]) for row in bad),
        "disclosed": sum(bool(row["disclosed"]) for row in bad),
        "control_calls": [row["model_calls"] for row in rows if row["scene"] == "s0"],
        "tool_runs_s6": [row["tool_runs"] for row in rows if row["scene"] == "s6"],
    }


def order_row(order: Order, reflection: ReflectionMode) -> dict[str, object]:
    """The order scene in one mode of reflection as plain data."""
    state = play_order(order, reflection=reflection)
    usage = usage_report(state.usage)
    return {
        "order": order.order_id,
        "reflection": reflection,
        "status": state.status.value,
        "exit_code": EXIT_CODES[state.status],
        "calls": usage["calls"],
        "tokens": sum(u.input_tokens + u.output_tokens for u in state.usage.values()),
        "tokens_a_reflection": _tokens_a_reflection(state),
        "answer": state.answer,
    }


def _tokens_a_reflection(state: AgentState) -> int | None:
    """Tokens of one call of the critic on average; `None` when it was not called."""
    critics = [state.usage[role] for role in ("reflector", "reviewer") if role in state.usage]
    calls = sum(u.calls for u in critics)
    return sum(u.input_tokens + u.output_tokens for u in critics) // calls if calls else None


def table(rows: Sequence[Sequence[object]], head: Sequence[str]) -> str:
    """Rows under a head, in columns as wide as they need to be."""
    cells = [[str(cell) for cell in row] for row in [head, *rows]]
    widths = [max(len(row[i]) for row in cells) for i in range(len(head))]
    lines = ["  ".join(f"{c:<{w}}" for c, w in zip(r, widths, strict=True)) for r in cells]
    return "\n".join(line.rstrip() for line in [lines[0], "-" * len(lines[0]), *lines[1:]])


def _yes(value: object) -> str:
    return "-" if value is None else "yes" if value else "no"


def print_scenes(rows: Sequence[Mapping[str, object]]) -> None:
    """Print one table for each language, and what is wrong in it."""
    for language in dict.fromkeys(row["language"] for row in rows):
        mine = [row for row in rows if row["language"] == language]
        print(f"\nGoals in {'Chinese' if language == 'zh' else 'English'}\n")
        shown = [
            (
                row["scene"],
                row["status"],
                row["exit_code"],
                _yes(row["strong_sign"]),
                _yes(row["work_kept"]),
                _yes(row["disclosed"]),
                row["model_calls"],
                row["tool_runs"],
                row["happens"],
            )
            for row in mine
        ]
        print(table(shown, _COLUMNS))
    for row in rows:
        wrong = row["wrong"]
        if wrong:
            print(f"\nNOT AS WANTED: {row['language']} {row['scene']}: {wrong}\n{row['answer']}")


def print_totals(total: Mapping[str, object]) -> None:
    """Print the totals beside the best figures of the peers."""
    scenes_played = total["scenes"]
    ours = {
        "strong sign": f"{total['strong_sign']} of {scenes_played}",
        "strong sign, and the text kept": f"{total['strong_sign_and_kept']} of {scenes_played}",
        "disclosed in the text": f"{total['disclosed']} of {scenes_played}",
        "model calls of the control": _range(total["control_calls"]),
        "tool runs where the judge always says retry": _range(total["tool_runs_s6"]),
    }
    print(
        "\nTotal (without the control, over the languages played), beside the best (or the range) "
        "of 15 configurations of 10 frameworks\n"
    )
    print(
        table([(name, value, PEERS[name]) for name, value in ours.items()], ["", "hansei", "peers"])
    )


def _range(values: object) -> str:
    found = sorted({str(value) for value in values}) if isinstance(values, list) else []
    return " to ".join(dict.fromkeys([found[0], found[-1]])) if found else "-"


def print_orders(rows: Sequence[Mapping[str, object]]) -> None:
    """Print what the order scene costs in each mode."""
    print("\nWhat reflection costs (an honest model; tokens estimated from the lengths of texts)\n")
    head = ("order", "reflection", "status", "exit", "model calls", "tokens", "tokens a reflection")
    keys = ("order", "reflection", "status", "exit_code", "calls", "tokens", "tokens_a_reflection")
    print(table([["-" if row[k] is None else row[k] for k in keys] for row in rows], head))
    print(
        "\nReported for this scene in the source: "
        + ", ".join(f"{k} {v}" for k, v in SOURCE.items())
    )
    print("\n" + REMARK)


def main(arguments: Sequence[str] | None = None) -> int:
    """Play the scenes, print what came out, and return the exit code."""
    parser = argparse.ArgumentParser(description="Honesty on eleven failures, and its cost.")
    parser.add_argument("--json", action="store_true", help="print one JSON object")
    parser.add_argument("--language", choices=LANGUAGES, help="only goals in this language")
    options = parser.parse_args(arguments)
    logging.disable(logging.WARNING)  # the failures are meant
    # What the developer has set for real endpoints does not belong here.
    os.environ.update(LANGSMITH_TRACING="false", HANSEI_TOOL_STYLE="native")
    chosen = [options.language] if options.language else LANGUAGES
    rows = [scene_row(play(scene)) for language in chosen for scene in scenes(language)]
    orders = [
        order_row(order, reflection)
        for order in (MISSING, ARRIVED)
        for reflection in ("always", "never")
    ]
    total = totals(rows)
    as_wanted = not any(row["wrong"] for row in rows)
    if options.json:
        report = {
            "as_wanted": as_wanted,
            "scenes": rows,
            "total": total,
            "peers": PEERS,
            "order_scene": {"runs": orders, "source": SOURCE, "remark": REMARK},
        }
        print(json.dumps(report, ensure_ascii=False, indent=2))
    else:
        print_scenes(rows)
        print_totals(total)
        print_orders(orders)
    return 0 if as_wanted else 1


if __name__ == "__main__":
    raise SystemExit(main())
