"""Where runs are kept, and how a message names the place: never with a password."""

from __future__ import annotations

from pathlib import Path
from urllib.parse import quote

import pytest
from hypothesis import given
from hypothesis import strategies as st

from hansei.policies.errors import OperatorError, UserError
from hansei.policies.places import HIDDEN, is_postgres, shown, without_secrets

words = st.text(st.characters(codec="utf-8", exclude_categories=("C", "Z")), min_size=8)
names = st.text("abcdefghij", min_size=1, max_size=5)


@given(names, words, names, st.sampled_from(["", "/db", ":5432/db", "/db?sslmode=require"]))
def test_no_password_is_shown(user: str, secret: str, host: str, rest: str) -> None:
    for form in (secret, quote(secret, safe="")):
        url = f"postgresql://{user}:{form}@{host}{rest}"
        assert form not in shown(url).replace(HIDDEN, "")
        assert form not in without_secrets(f"no such role: {form}, or so", url).replace(HIDDEN, "")
        assert shown(url).startswith(f"postgresql://{user}:{HIDDEN}@")


@pytest.mark.parametrize(
    ("place", "told"),
    [
        ("runs.db", "runs.db"),
        (Path("a:b@c/runs.db"), "a:b@c/runs.db"),
        (":memory:", ":memory:"),
        ("C:\\runs.db", "C:\\runs.db"),
        ("postgresql://host/db", "postgresql://host/db"),
        ("postgresql://me@host:5432/db", "postgresql://me@host:5432/db"),
        ("postgresql://host:5432,other:5433/db?user=me", None),
        ("postgresql://me:a/b:c@host/db", "postgresql://me:***@host/db"),
        ("postgresql:///db?host=/tmp&password=x&user=me", None),
        (
            "postgres://h/d?pass%77ord=x&sslpassword=y",
            "postgres://h/d?pass%77ord=***&sslpassword=***",
        ),
    ],
)
def test_a_place_is_shown_as_it_is_but_for_a_password(place: str | Path, told: str | None) -> None:
    assert shown(place) == (told or str(place).replace("password=x", "password=***"))


@pytest.mark.parametrize(
    ("place", "postgres"),
    [
        ("runs.db", False),
        ("folder/runs.db", False),
        (":memory:", False),
        ("C:\\runs.db", False),
        ("postgres", False),
        ("postgresql://host/db", True),
        ("postgres:///", True),
    ],
)
def test_a_postgres_url_is_known(place: str, postgres: bool) -> None:
    assert is_postgres(place) is postgres


@pytest.mark.parametrize(
    "place",
    [
        *("mysql://h/d", "sqlite:///runs.db", "file://x", "http://x"),
        *("file:x.db?mode=memory", "file:x.db", "file::memory:?cache=shared"),
    ],
)
def test_other_urls_are_refused(place: str) -> None:
    with pytest.raises(UserError, match="is no place for runs"):
        is_postgres(place)


@pytest.mark.parametrize("place", ["", " ", "\t\n"])
def test_a_blank_place_is_refused(place: str) -> None:
    with pytest.raises(UserError, match="names no database"):
        is_postgres(place)


def test_a_url_that_became_a_path_is_told() -> None:
    with pytest.raises(UserError, match="give the URL as a string"):
        is_postgres(Path("postgresql://host/db"))


def test_a_second_at_sign_is_refused_and_not_told() -> None:
    with pytest.raises(OperatorError, match="write it as %40") as told:
        is_postgres("postgresql://bob:SECRET@PW@127.0.0.1:1/x")
    assert "PW" not in str(told.value)
    assert "SECRET" not in str(told.value)
