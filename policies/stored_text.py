"""Texts as every store can keep them."""


def storable(text: str) -> str:
    """The text without half characters, which no file can hold, and NUL, which Postgres cannot."""
    if "\x00" in text:
        text = text.replace("\x00", "\N{REPLACEMENT CHARACTER}")
    return text.encode("utf-8", "replace").decode()
