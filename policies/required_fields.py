"""A check that users add: fields that a result must have."""

import json

from hansei.policies.checks import Check, CheckInput
from hansei.policies.joining import listed
from hansei.policies.narrow import as_mapping
from hansei.policies.phrases import say
from hansei.policies.records import Finding
from hansei.policies.words import FindingKind


def required_fields(*names: str) -> Check:
    """A check that the result, or else some output, has these top-level JSON fields, filled.

    Args:
        names: Field names. A field that is absent, null or empty is missing.
    """

    def check(data: CheckInput) -> Finding | None:
        texts = [data.result, *(item.output for item in data.evidence)]
        missing = [n for n in names if not any(_has_field(text, n) for text in texts)]
        if not missing:
            return None
        reason = say("field_missing", data.language, field=listed(missing, data.language))
        return Finding(
            kind=FindingKind.VETO_RETRY, check="required_fields", reason=reason, hint=reason
        )

    return check


def _has_field(text: str, name: str) -> bool:
    try:
        value: object = json.loads(text)
    except (ValueError, RecursionError):
        return False
    return as_mapping(value).get(name) not in (None, "", [], {})
