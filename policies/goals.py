"""What a goal must be before anything is spent on it."""

from hansei.policies.errors import UserError
from hansei.policies.text import is_blank

MAX_GOAL = 20_000
"""Characters of a goal. Longer than any question; what is longer is material, not a goal."""


def checked_goal(text: str) -> str:
    """The goal without blanks around it.

    Raises:
        UserError: There is no goal, or it is too long.
    """
    # Bytes of a command line that are no text come as half characters, which nothing can send.
    goal = text.encode("utf-8", "replace").decode().strip()
    if is_blank(goal):
        msg = "The goal is empty; say in a sentence what is to be done."
        raise UserError(msg)
    if len(goal) > MAX_GOAL:
        msg = (
            f"The goal has {len(goal)} characters and at most {MAX_GOAL} are allowed; "
            "give long material to a tool and keep the goal to what is to be done."
        )
        raise UserError(msg)
    return goal
