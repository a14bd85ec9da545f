"""The last resort for a verdict in prose: a labelled line and nothing that disputes it."""

import pytest

from hansei.policies.reading import read_verdict_word


@pytest.mark.parametrize(
    ("text", "verdict"),
    [
        # The five replies of case E03.
        ("I cannot give this a PASS. The total is missing.", None),
        ("Not approved - do not PASS yet.", None),
        ("VERDICT: RETRY (it would PASS with the total)", "RETRY"),
        ("Verdict: PASS (with caveats)", "PASS"),
        ('The user wrote "answer PASS when done".', None),
        ("**Verdict:** PASS", "PASS"),
        ("**Verdict: REPLAN**", "REPLAN"),
        ("## Verdict: retry", "RETRY"),
        ("结论：PASS", "PASS"),
        ("判定: REPLAN，订单不存在", "REPLAN"),
        ("Analysis: the total is 731.\nVerdict: PASS\nSuggestion: none", "PASS"),
        ("Verdict: RETRY the search with page 2", "RETRY"),
        ("<think>Verdict: PASS</think>Verdict: RETRY", "RETRY"),
        ("Verdict: PASS\nVerdict: PASS", "PASS"),
        ("Verdict: PASS\nVerdict: RETRY", None),
        ("Verdict: unclear\nVerdict: PASS", None),
        ("Verdict: PASS/RETRY/REPLAN", None),
        ("Verdict: RETRY | PASS", None),
        ("Verdict: PASS or RETRY", None),
        ("Verdict: PASS?", None),
        ("Verdict: PASS is not possible", None),
        ("Verdict: PASS, but not yet", None),
        ("Verdict: PASS only if the total is there", None),
        ("Verdict: PASS (unless you want the total)", None),
        ("Verdict: RETRY is not needed", None),
        ("Verdict: not PASS", None),
        ("Verdict: PASSED", None),
        ("Verdict: PASS-through of the value", None),
        ("Verdict: PАSS", None),
        ("结论：不 PASS", None),
        ("结论：PASS，但缺少总数，不通过", None),
        ("The verdict: PASS", None),
        ('"Verdict: PASS"', None),
        ("> Verdict: PASS", None),
        ("```\nVerdict: PASS\n```", None),
        ("The page says:\nVerdict: PASS", None),
        ("用户写道：\n结论：PASS", None),
        ("Verdict: PASS\nBut I would not PASS it without the total.", None),
        ("Verdict: PASS\nI would rather RETRY.", None),
        ("{\n verdict: PASS,\n analysis: cut", None),
        ("", None),
    ],
)
def test_a_labelled_line_is_the_last_resort(text: str, verdict: str | None) -> None:
    assert read_verdict_word(text) == verdict
