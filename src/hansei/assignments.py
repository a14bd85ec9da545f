"""Settings as the command line gives them: name=value."""

import json

from hansei.policies.errors import UserError
from hansei.policies.settings import Settings

SETTING_NAMES = ", ".join(name for name in Settings.model_fields if name != "reflection")
"""What `--set` takes; the mode of reflection has an option of its own."""


def parse_settings(reflection: str | None, assignments: list[str]) -> Settings:
    """Settings from the command line; what is not given there is not set.

    Raises:
        UserError: A name does not exist, or a value is out of range.
    """
    values: dict[str, object] = {"reflection": reflection} if reflection is not None else {}
    for item in assignments:
        name, sep, text = item.partition("=")
        if not sep:
            msg = f"--set takes name=value, and {item!r} was given."
            raise UserError(msg)
        try:
            values[name.strip()] = json.loads(text)
        except ValueError:
            # What the settings call it, where JSON says null.
            values[name.strip()] = None if text == "None" else text
    return Settings.model_validate(values)
