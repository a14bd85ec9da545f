"""What a tool, a page or a model said, made safe to stand in a prompt as data."""

import json
import re
import unicodedata

EVIDENCE_CAP = 4000
"""Characters of one tool output in a prompt: two such outputs and the rest of a reflector's
prompt fit into the 4096 tokens that one slot of the embedded model has."""

QUOTED_CAP = 6000
"""Characters of a text that stands among others in a list, as long as a step may state a result."""

LABEL_CAP = 2000
"""Characters of what says where a text comes from, such as a call with its arguments."""

SCAN_CAP = 60_000
"""Characters of one output that rules search for ids and words: ten times what any model is
shown of it (6000), so whatever a model can have read there is found, and an output of many
megabytes costs no more than one of a page."""

_ROLE_TOKENS = re.compile(
    r"<\|[^|>]{0,40}\|>|</?s>|\[/?INST\]|<</?SYS>>|#{2,}\s*\(?(?:system|assistant|user)[^\n]*",
    re.IGNORECASE,
)
"""Marks of chat templates, which must not look like a change of speaker."""

_UNSEEN = frozenset({"Cc", "Cf", "Cs"})
"""Unicode's classes of control, format and half characters."""


def plain(text: str) -> str:
    """The text without control, zero-width and bidi characters, role marks made harmless.

    Half characters go too: no request to a model could hold them. Unicode's own line breaks become
    plain ones, which a string writes in letters.
    """
    kept = text
    if not text.isprintable():
        kept = text.replace("\u2028", "\n").replace("\u2029", "\n")
        if not kept.replace("\n", " ").replace("\t", " ").isprintable():
            kept = "".join(c for c in kept if c in "\n\t" or unicodedata.category(c) not in _UNSEEN)
    if "<" not in kept and "[" not in kept and "#" not in kept:
        return kept
    return _ROLE_TOKENS.sub(
        lambda m: m.group().replace("<", "‹").replace("[", "⟦").replace("#", "＃"), kept
    )


def sendable(text: str) -> str:
    """The text with a question mark for each half character: nothing could send or store one."""
    return text.encode("utf-8", "replace").decode()


def capped(text: str, cap: int = EVIDENCE_CAP) -> str:
    """The text, shortened in the middle to `cap` characters, saying how much was left out."""
    if len(text) <= cap:
        return text
    head = cap * 2 // 3
    tail = cap - head
    return f"{text[:head]} …[{len(text) - cap} characters left out]… {text[-tail:]}"


def for_prompt(text: str, cap: int) -> str:
    """What a prompt shows of a text of any length: its two ends, made harmless."""
    return plain(capped(text, cap))


def one_line(text: str) -> str:
    """The text on one line, made harmless: an entry of a list that can begin no other one."""
    return " ".join(plain(text).split())


def quoted(text: str, *, cap: int = QUOTED_CAP) -> str:
    """The text as one JSON string, which no text can leave, and which is one line."""
    return json.dumps(for_prompt(text, cap), ensure_ascii=False)


def shown(text: str, *, cap: int = QUOTED_CAP) -> str:
    """The text as it is where it is one line, else as one JSON string.

    For those who work with a text; whoever judges one is shown where it begins and ends.
    """
    kept = for_prompt(text.strip(), cap)
    return json.dumps(kept, ensure_ascii=False) if len(kept.splitlines()) > 1 else kept


def scanned(text: str) -> str:
    """What rules search of an output: all of it, or the two ends of a very long one."""
    if len(text) <= SCAN_CAP:
        return text
    head = SCAN_CAP * 2 // 3
    return f"{text[:head]}\n{text[head - SCAN_CAP :]}"


def fenced(text: str, *, nonce: str, label: str, cap: int = EVIDENCE_CAP) -> str:
    """The text as one JSON string between marks that carry a nonce.

    A text that holds the nonce is an attack on the fence; the nonce is taken out of it.
    """
    body, source = (
        json.dumps(for_prompt(part, most).replace(nonce, "…"), ensure_ascii=False)
        for part, most in ((text, cap), (label, LABEL_CAP))
    )
    return f"<data-{nonce} from={source}>{body}</data-{nonce}>"
