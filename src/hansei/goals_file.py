"""The file of a batch: one goal a line, as text or as JSON with a thread of its own."""

import hashlib
import json
import re
from collections.abc import Iterable
from dataclasses import dataclass
from pathlib import Path

from hansei.policies.errors import UserError
from hansei.policies.goals import checked_goal
from hansei.policies.narrow import as_mapping

KEYS = ("goal", "thread")
"""What a line of JSON may say."""

_MARK = 10
"""Hexadecimal digits that tell the goals of a file apart: a million goals share one of them with a
chance below one in two."""


@dataclass(frozen=True, slots=True)
class Job:
    """One goal of a file."""

    line: int
    """Its number in the file, from 1."""
    goal: str
    thread: str
    """The name of its thread: the same whenever the file is read."""


def read_jobs(text: str, *, source: str) -> list[Job]:
    """The goals of a file; blank lines count for nothing.

    A goal without a thread gets one whose name is made of the file's name and of the goal, so that
    the same file finds its runs again, also where lines were added or moved.

    Args:
        text: What stands in the file.
        source: The file's name, or `-`.

    Raises:
        UserError: There is no goal, one cannot be, or two lines name the same thread.
    """
    jobs: list[Job] = []
    seen: dict[str, int] = {}
    lines: dict[str, int] = {}
    # Only what ends a line of a file: `splitlines` also splits at signs that JSON text may hold.
    for number, line in enumerate(re.split(r"\r\n|\n|\r", text.lstrip("\ufeff")), start=1):
        if not line.strip():
            continue
        goal, thread = _said(line, number)
        if not thread:
            seen[goal] = seen.get(goal, 0) + 1
            thread = _name(source, goal, seen[goal])
        if thread in lines:
            raise UserError(
                f"Lines {lines[thread]} and {number} name the same thread {thread!r}; "
                "give each goal a thread of its own."
            )
        lines[thread] = number
        jobs.append(Job(line=number, goal=goal, thread=thread))
    if not jobs:
        raise UserError(f"There is no goal in {source}; write one a line.")
    return jobs


def _said(line: str, number: int) -> tuple[str, str]:
    """Goal and thread of one line; the thread is empty where none is named."""
    goal, thread = line, ""
    if line.lstrip().startswith("{"):
        given = _object(line, number)
        goal, thread = given.get("goal", ""), given.get("thread", "")
        if thread and not (thread.strip() and thread.isprintable()):
            raise UserError(f"Line {number}: {thread!r:.80} cannot name a thread; use plain text.")
    try:
        return checked_goal(goal), thread
    except UserError as error:
        raise UserError(f"Line {number}: {error}") from error


def _object(line: str, number: int) -> dict[str, str]:
    try:
        value: object = json.loads(line)
    except (ValueError, RecursionError) as error:
        raise UserError(
            f'Line {number} is no JSON ({error}); write it as {{"goal": "…", "thread": "…"}}.'
        ) from error
    given = as_mapping(value)
    _check_keys(map(str, given), number)
    for key, text in given.items():
        if not isinstance(text, str):
            raise UserError(f"Line {number}: {key!r} must be text, and it is {text!r:.80}.")
    return {str(key): str(text) for key, text in given.items()}


def _check_keys(given: Iterable[str], number: int) -> None:
    for key in given:
        if key not in KEYS:
            raise UserError(f"Line {number} has a key {key!r}; there are: {', '.join(KEYS)}.")


def _name(source: str, goal: str, time: int) -> str:
    place = "" if source == "-" else str(Path(source).resolve())
    mark = hashlib.sha256(f"{place}\n{goal}\n{time}".encode()).hexdigest()[:_MARK]
    return f"{'stdin' if source == '-' else Path(source).stem}-{mark}"
