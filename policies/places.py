"""Where runs are kept: a SQLite file or a Postgres URL, and how a message names the place.

A URL may hold a password. What is shown to people, and what goes into a log, never does.
"""

import re
from pathlib import Path
from urllib.parse import unquote

from hansei.policies.errors import OperatorError, UserError

MEMORY = ":memory:"
"""A database of SQLite's that ends with whoever has opened it."""

HIDDEN = "***"
"""Stands where a password stood."""

_URL = re.compile(r"[A-Za-z][A-Za-z0-9+.-]+://")
_URI = "file:"
"""How SQLite's own addresses begin, which may say that there is no file."""
_POSTGRES = re.compile(r"postgres(?:ql)?://")
_FLAT = re.compile(r"postgres(?:ql)?:/[^/]")
"""What is left of a URL after it was made a `Path`."""
_USER = re.compile(r"(?P<before>:/{1,2}[^:/?#@]*):(?P<secret>.*)@(?P<after>.*)", re.DOTALL)
"""Up to the last @, since a password that was not encoded may hold anything."""
_SECRET_KEYS = frozenset({"password", "sslpassword", "passphrase"})


def is_postgres(place: str | Path) -> bool:
    """Whether a place is the URL of a Postgres database.

    Raises:
        UserError: It is a URL of something else, or a URL that was made a `Path`, or blank.
        OperatorError: It has a password that is not written as a URL wants it.
    """
    text = str(place)
    if _POSTGRES.match(text):
        if text.partition("?")[0].count("@") > 1:
            # The driver takes the first for the end of the password, and tells the rest as a host.
            msg = f"{shown(text)} has an @ too many; in a password write it as %40."
            raise OperatorError(msg)
        return True
    if _FLAT.match(text):
        msg = f"{shown(text)} was a URL before it was made a Path; give the URL as a string."
        raise UserError(msg)
    if not text.strip():
        msg = f"{text!r} names no database: give a SQLite file or the URL of a Postgres database."
        raise UserError(msg)
    if _URL.match(text) or text.startswith(_URI):
        msg = (
            f"{shown(text)} is no place for runs: "
            "give a SQLite file, or a URL as in postgresql://user@host/database."
        )
        raise UserError(msg)
    return False


def lasting(place: str) -> str:
    """A place that is there when the next command looks.

    Raises:
        UserError: It is not.
    """
    if place == MEMORY:
        msg = (
            "A database in memory ends with the command, and no thread in it could be looked at or "
            "resumed; name a file with --db or HANSEI_DB."
        )
        raise UserError(msg)
    return place


def shown(place: str | Path) -> str:
    """The place as people may see it: without a password."""
    text = str(place)
    if not re.match(r"[A-Za-z][A-Za-z0-9+.-]+:/", text):
        return text
    address, mark, query = text.partition("?")
    pairs = [_pair(part) for part in query.split("&")]
    told = address + mark + "&".join(pairs)
    return _USER.sub(rf"\g<before>:{HIDDEN}@\g<after>", told, count=1)


def without_secrets(text: str, place: str | Path) -> str:
    """A driver's message in one line, without what `shown` hides."""
    first = next((line.strip() for line in text.splitlines() if line.strip()), "")
    for secret in _secrets(str(place)):
        for form in (secret, unquote(secret)):
            first = first.replace(form, HIDDEN)
    return first.rstrip(".")


def _pair(part: str) -> str:
    key, mark, _ = part.partition("=")
    return f"{key}={HIDDEN}" if mark and unquote(key) in _SECRET_KEYS else part


def _secrets(text: str) -> list[str]:
    address, _, query = text.partition("?")
    found = [match["secret"] for match in [_USER.search(address), _USER.search(text)] if match]
    for part in query.split("&"):
        key, _, value = part.partition("=")
        if unquote(key) in _SECRET_KEYS:
            found.append(value)
    return sorted({secret for secret in found if secret}, key=len, reverse=True)
