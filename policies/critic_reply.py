"""What a critic may say, and whether the parts of its reply fit together."""

import re
from typing import Final

from pydantic import (
    BaseModel,
    ConfigDict,
    Field,
    ModelWrapValidatorHandler,
    PrivateAttr,
    model_validator,
)

from hansei.policies.drafts import Text
from hansei.policies.narrow import as_mapping
from hansei.policies.words import Verdict

_LOOKED_AT: Final = 2000
"""Characters of an analysis: five times a long one; of more, its end, where a verdict stands."""


class ConditionReply(BaseModel):
    """What the reflector's model says about one condition."""

    model_config = ConfigDict(extra="ignore")

    id: int = 0
    met: bool = False
    quote: Text = ""


class ReflectorReply(BaseModel):
    """What the reflector's model may say. The analysis comes before the verdict."""

    model_config = ConfigDict(extra="ignore")

    analysis: Text = ""
    conditions: list[ConditionReply] = Field(default_factory=list[ConditionReply])
    quote: Text = ""
    verdict: Verdict
    suggestion: Text = ""

    _of_step: int | None = PrivateAttr(default=None)

    @model_validator(mode="wrap")
    @classmethod
    def _own(
        cls, data: object, handler: ModelWrapValidatorHandler["ReflectorReply"]
    ) -> "ReflectorReply":
        """Keeps the number of the step that it says it judges, which nobody asks it for."""
        given = as_mapping(data)
        if isinstance(given.get("properties"), dict):
            msg = "the schema was written back with a verdict in it"
            raise ValueError(msg)
        reply = handler(data)
        number = str(given.get("step", given.get("step_id", ""))).strip()
        reply._of_step = int(number) if re.fullmatch(r"[0-9]{1,6}", number) else None
        return reply

    @property
    def of_step(self) -> int | None:
        """The step that it says it judges; None if it does not say."""
        return self._of_step


def problems(reply: ReflectorReply, *, step: int | None) -> list[str]:
    """What makes a reply no judgement, for a request for repair.

    Only a PASS is held against its analysis: what objects verifies nothing anyway.

    Args:
        reply: The reply.
        step: The step that is judged; None for the answer.
    """
    if reply.of_step not in {None, step}:
        return [f"it judges step {reply.of_step}, which was not asked about"]
    if reply.verdict is not Verdict.PASS or not all(item.met for item in reply.conditions):
        return []
    if _NO_ANALYSIS.fullmatch(reply.analysis.strip()):
        return ["analysis is empty, and must say why it is a PASS"]
    said = own_verdict(reply.analysis)
    if said not in {"", Verdict.PASS}:
        return [f"analysis says {said} and verdict says PASS, which contradict each other"]
    return []


_NO_ANALYSIS: Final = re.compile(
    r"[\W_]*(?:why|reason|analysis|string|为什么|分析|原因)?[\W_]*", re.IGNORECASE
)
"""Nothing, or the name of the field."""

_WORD: Final = r"(?:PASS|RETRY|REPLAN|FAIL(?:ED)?)(?![\w-])"
_MARK: Final = r"[\s*_`\"'“‘]*"
_END: Final = r"[\s*_`\"'”’.。!！]*\Z"
_SEVERAL: Final = re.compile(rf"{_WORD}(?:\s*(?:[/|,，、]|or\b|and\b|或|和|还是)+\s*{_WORD})+")
"""Several of the words in a row: what there is to choose from, no choice."""

_QUOTED: Final = re.compile(r"\"[^\"\n]*[\s:：][^\"\n]*\"|“[^”\n]*[\s:：][^”\n]*”")
"""Words of somebody else; a verdict alone between quotation marks is still the critic's."""

_OWN: Final = re.compile(
    rf"""(?:
        \A{_MARK}(?P<first>{_WORD})(?={_END}|\s*[:：,，;；.。!！—–→-]|\s+(?:because|since|as)\b|\s*因为)
      | (?:(?i:verdict|judge?ment|decision)|结论|判定|判断|评判)
        (?:{_MARK}(?:[:：=→]|\bis\b|是|为)|(?<=[\u4e00-\u9fff])){_MARK}(?:[:：]|a\b|an\b)?{_MARK}
        (?P<label>(?i:PASS|RETRY|REPLAN)(?![\w-])|FAIL(?:ED)?(?![\w-]))
      | (?:[.。;；,，:：—–→=]|->)\s*(?:(?i:so|therefore|thus|hence|then|所以|因此|故|应)[\s,，]*)?
        {_MARK}(?P<last>{_WORD})(?={_END})
      | \b(?:I|we|We)\s+(?:choose|say|judge|give|answer|vote|recommend|suggest|conclude)
        \s*:?\s*(?:(?:a|for|it|on)\s+)?(?P<chosen>{_WORD})
      | \b(?i:should\ be|must\ be|has\ to\ be|this\ is|it\ is|it's|needs?(?:\ to)?|requires?)
        \s+(?:an?\s+)?(?P<due>{_WORD})
      | (?:应该?|应当|需要|必须|我?判|评|给出?|选择?|建议|属于|所以|因此)[为是]?\s*(?P<zh>{_WORD})
    )""",
    re.VERBOSE,
)
_EARLIER: Final = re.compile(
    r"\b(?:earlier|previous(?:ly)?|prior|first|former|last|old|before|initial(?:ly)?|was|were)\b"
    r"|上一?次|此前|之前|先前|原来|原先|第一次",
    re.IGNORECASE,
)
"""Words before a verdict by which it was given earlier."""

_DENIED: Final = re.compile(
    r"\b(?:not|no|never|nothing|neither|nor|without)\b|n't\b|[不没无未非]", re.IGNORECASE
)
"""Words in its clause by which it is not given."""

_IN_CASE: Final = re.compile(
    r"\b(?:if|would|otherwise|unless|else)\b|如果|要是|若|否则|除非", re.IGNORECASE
)
"""Words in its sentence by which it would be given."""

_SENTENCE: Final = re.compile(r"[.。;；!！?？\n]")
_CLAUSE: Final = re.compile(r"[.。;；!！?？\n,，:：—–→]")


def own_verdict(analysis: str) -> str:
    """The verdict that an analysis gives as its own, the last one of several; else empty."""
    text = _SEVERAL.sub(" ", _QUOTED.sub(" ", analysis[-_LOOKED_AT:]))
    said = ""
    for found in _OWN.finditer(text):
        given = str(found.lastgroup)
        sentence = _SENTENCE.split(text[: found.start(given)])[-1]
        clause = _CLAUSE.split(text[: found.start()])[-1]
        # At the end of a text it is what follows from all that stands before, denials too.
        denied = given != "last" and _DENIED.search(clause)
        if not (denied or _EARLIER.search(clause) or _IN_CASE.search(sentence)):
            said = found[given].upper()
    return said
