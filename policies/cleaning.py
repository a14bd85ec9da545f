"""An answer without what is internal: thinking, records of ours, ids of steps and calls."""

import re

from hansei.policies.reading import strip_thinking
from hansei.policies.text import is_blank

_INTERNAL_JSON = re.compile(r"\{[^{}]*\"(?:analysis|verdict|suggestion|depends_on)\"[^{}]*\}")
_INTERNAL_NOTE = re.compile(
    r"[(（][^()（）]*\b(?:verdict|attempt \d+|replan)\b[^()（）]*[)）]", re.IGNORECASE
)
_INTERNAL_REF = re.compile(
    r"\b(?:based on|according to|as per|per|from)\s+steps?\s+#?[\w-]*\d[\w-]*\s*[,:]?\s*"
    r"|(?:根据|依据|基于)\s*(?:步骤|第)\s*\d+\s*步?(?:的(?:结果|信息))?\s*[，,：:]?\s*",
    re.IGNORECASE,
)
_NAMED = re.compile(
    r"steps?\s+#?[\w-]*\d[\w-]*|attempt \d+|第\s*\d+\s*步|call_\w+|verdict|replan", re.IGNORECASE
)
"""What a note or a reference names."""

_CALL_ID = re.compile(
    r"[(（]\s*(?:see|参见|见)?\s*call_(?=\w*\d)\w+\s*[)）]|\bcall_(?=\w*\d)\w+", re.IGNORECASE
)


def clean_answer(text: str, *, spoken_of: str = "") -> str:
    """The text without thinking, internal records and step or call ids.

    Args:
        text: What the model wrote.
        spoken_of: What the user and the results speak of; a step that is named in it (step 2
            of a recipe) is no internal one.
    """
    known = spoken_of.lower()

    def taken_out(match: re.Match[str]) -> str:
        names = [name.lower() for name in _NAMED.findall(match.group())]
        return match.group() if names and all(name in known for name in names) else ""

    text = _INTERNAL_JSON.sub("", strip_thinking(text))
    for pattern in (_INTERNAL_NOTE, _INTERNAL_REF, _CALL_ID):
        text = pattern.sub(taken_out, text)
    return "" if is_blank(text) else re.sub(r"[ \t]{2,}", " ", text).strip()
