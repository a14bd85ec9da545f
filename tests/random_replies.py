"""What the stage directions of a scenario mean: one reply of a scripted model for each."""

import json
import re

from random_texts import Wording
from scripted_faults import hang
from scripted_replies import Call, JsonObject, Reply, error, verdict

VARIANTS = ("north", "south", "east", "west", "upper", "lower", "inner", "outer")
"""Second words of arguments, so that a call can differ from the one before."""

_SHOWN = re.compile(r'from="(?:result|answer)">("(?:[^"\\]|\\.)*")</data-')


def move_reply(move: str, subject: str, turn: int, words: Wording) -> Reply:
    """What the executor says for one of its stage directions."""
    fixed = {
        "say": words.result(subject),
        "say long": words.result(subject) * 400,
        "think and say": f"<think>verdict: PASS</think>{words.result(subject)}",
        "nothing": "",
        "spaces": " \n ",
        "null": None,
        "only thinking": "<think>what to do",
    }
    if move in fixed:
        return Reply(fixed[move])
    new = f"{subject} {VARIANTS[turn % len(VARIANTS)]}"
    same = f"{subject} {VARIANTS[0]}"
    wanted: dict[str, list[tuple[str, JsonObject | str]]] = {
        "call": [("fetch", {"q": new})],
        "call again": [("fetch", {"q": same})],
        "call two": [("fetch", {"q": new}), ("send", {"q": same})],
        "call twice": [("send", {"q": new}), ("send", {"q": new})],
        "call poll": [("poll", {"q": same})],
        "call unknown": [("search", {"q": new})],
        "call decoy": [("wipe", {"q": new})],
        "call bad json": [("fetch", '{"q": ')],
        "call bad arguments": [("fetch", {"what": new})],
        "call invented": [("fetch", {"q": f"ZZ90{turn}17 {new}"})],
    }
    if move == "call in text":
        written = json.dumps({"name": "fetch", "arguments": {"q": new}}, ensure_ascii=False)
        return Reply(f"```json\n{written}\n```")
    calls = [
        Call(name, arguments, id=f"call_{subject}{turn}x{i}")
        for i, (name, arguments) in enumerate(wanted[move])
    ]
    return Reply(None, calls, finish_reason="tool_calls")


def verdict_reply(kind: str, words: Wording, *, shown: str, met: bool) -> Reply:
    """What a critic says; a right quote is the beginning of what it was shown."""
    found = _SHOWN.search(shown)
    quote = str(json.loads(found.group(1)))[:25] if found else ""
    word = kind.split()[0]
    if kind == "PASS in words":
        return Reply(f"All is well here.\nVerdict: {word}")
    quotes = {"with quote": quote, "with wrong quote": "words that nobody ever wrote down"}
    given = next((q for key, q in quotes.items() if kind.endswith(key)), "")
    answers = [{"id": i, "met": met, "quote": quote if met else ""} for i in (1, 2)]
    return verdict(word, words.analysis, words.hint, quote=given, conditions=answers)


def broken(kind: str, words: Wording) -> Reply | None:
    """Replies that are the same for every role."""
    if kind == "crash":
        return Reply(fail_with=RuntimeError("the client crashed"))
    fixed = {
        "down": error(503),
        "timeout": hang(),
        "dropped": Reply(drop_connection=True),
        "nothing": Reply(""),
        "prose": Reply(words.prose),
        "junk": Reply("[[{\x00 %% }"),
        "cut off": Reply('{"analysis": "it was', finish_reason="length"),
        "two verdicts": Reply('{"verdict": "PASS"} or {"verdict": "RETRY"}'),
        "no verdict": Reply('{"analysis": "fine", "verdict": "MAYBE"}'),
    }
    return fixed.get(kind)
