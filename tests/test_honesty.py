"""No failure of the work or of its check is passed off as done, over real HTTP."""

from __future__ import annotations

from dataclasses import replace
from functools import cache
from typing import get_args

import pytest
from honesty_runs import Outcome, Replanner, faults, play
from honesty_scenes import Scene, scenes

from hansei import AcceptedReason, AnswerStatus, RunStatus, Settings, StepStatus, VerdictSource
from hansei.policies.words import Language, Verdict

LANGUAGES: tuple[Language, ...] = get_args(Language)
NAMES = ["s0", "s1e", "s1g", "s2e", "s2g", "s3", "s4", "s5", "s6", "s7", "s8", "s9"]
SCENES = {(language, s.name): s for language in LANGUAGES for s in scenes(language)}

each_scene = pytest.mark.parametrize("scene", SCENES.values(), ids=map("-".join, SCENES))
each_language = pytest.mark.parametrize("language", LANGUAGES)


play_once = cache(play)
"""Tests that only look at a scene as it comes share its run."""


def failing_by_rule(*names: str) -> pytest.MarkDecorator:
    chosen = {f"{lang}-{name}": SCENES[lang, name] for lang in LANGUAGES for name in names}
    return pytest.mark.parametrize("scene", chosen.values(), ids=list(chosen))


def test_the_scenes_are_those_of_the_measurement() -> None:
    assert [name for _, name in SCENES] == NAMES * len(LANGUAGES)


@each_scene
def test_a_scene_ends_as_it_must(scene: Scene) -> None:
    assert faults(play_once(scene)) == []


@failing_by_rule("s1g", "s2g", "s3", "s7", "s8")
@pytest.mark.parametrize("replanner", ["whole", "reworded", "gives up"])
def test_no_replan_talks_a_failure_away(scene: Scene, replanner: Replanner) -> None:
    outcome = play(scene, replanner=replanner)
    assert faults(outcome) == []
    statuses = {step.status for step in outcome.state.steps.values()}
    assert StepStatus.RECOVERED not in statuses
    assert StepStatus.FAILED in statuses


@failing_by_rule("s1g", "s2g", "s3", "s7", "s8", "s9")
def test_without_reflection_the_rules_still_see_it(scene: Scene) -> None:
    outcome = play(scene, settings=Settings(reflection="never"))
    assert faults(outcome) == []
    assert not any(step.status is StepStatus.VERIFIED for step in outcome.state.steps.values())


@failing_by_rule("s1e", "s1g", "s2e", "s2g", "s3")
def test_the_first_step_is_stopped_by_a_rule_and_nobody_is_asked(scene: Scene) -> None:
    outcome = play_once(scene)
    [record] = outcome.state.steps[1].verdicts
    assert (record.verdict, record.source) == (Verdict.REPLAN, VerdictSource.RULE)
    assert record.model_verdict is None
    assert outcome.state.usage.keys().isdisjoint({"reflector", "reviewer"})


@each_language
def test_a_judge_that_is_down_is_named_as_the_cause(language: Language) -> None:
    state = play_once(SCENES[language, "s4"]).state
    [record] = state.steps[1].verdicts
    assert (record.verdict, record.unjudged) == (None, AcceptedReason.NOT_JUDGED)
    assert "HTTP 503" in record.analysis
    assert (state.steps[1].status, state.steps[1].reason) == (StepStatus.ACCEPTED, "not_judged")
    assert (state.answer_status, state.answer_reason) == (AnswerStatus.ACCEPTED, "not_judged")


@each_language
def test_a_judge_that_only_chats_has_given_no_verdict(language: Language) -> None:
    scene = SCENES[language, "s5"]
    [record] = play_once(scene).state.steps[1].verdicts
    assert (record.verdict, record.source) == (None, VerdictSource.NONE)
    assert scene.prose in record.raw


@each_language
def test_a_judge_that_never_approves_costs_one_retry_and_no_second_tool_run(
    language: Language,
) -> None:
    outcome = play_once(SCENES[language, "s6"])
    [step] = outcome.state.steps.values()
    assert (step.status, step.reason) == (StepStatus.ACCEPTED, "retries_used_up")
    assert [attempt.number for attempt in step.attempts] == [1, 2]
    assert outcome.tool_runs == 1
    assert len(outcome.state.answer_attempts) == 2


@each_language
def test_the_parts_that_went_well_stay_verified(language: Language) -> None:
    steps = play_once(SCENES[language, "s7"]).state.steps
    assert [steps[i].status for i in (1, 2, 3)] == [
        StepStatus.VERIFIED,
        StepStatus.FAILED,
        StepStatus.VERIFIED,
    ]


@each_language
def test_a_loop_ends_when_the_rounds_are_used_up(language: Language) -> None:
    outcome = play_once(SCENES[language, "s8"])
    attempt = outcome.state.steps[1].last_attempt
    assert attempt.fault == "only_calls"
    assert len(attempt.calls) == Settings().max_tool_rounds
    assert [call.from_record for call in attempt.calls] == [False, True, True]


CLAIMS = {
    ("zh", "s1g"): "抱歉让您久等了，订单 99999 已送达。",
    ("en", "s1g"): "Your parcel is here, enjoy!",
    ("zh", "s7"): "三项均已办妥。",
    ("en", "s7"): "Unfortunately it took a while, but the refund arrives within three days; order "
    "10001 came on 2026-06-05 and 66 pieces of R1 are in stock.",
}
"""Texts that claim success without the words that a rule would look for first."""


@pytest.mark.parametrize("key", CLAIMS, ids="-".join)
def test_no_wording_gets_a_false_claim_into_the_answer(key: tuple[Language, str]) -> None:
    outcome = play(replace(SCENES[key], answer=CLAIMS[key]))
    assert faults(outcome) == []
    assert CLAIMS[key] not in outcome.state.answer


HONEST = {
    ("zh", "s1g"): "暂时无法确认订单 99999 是否送达，订单信息还在同步中，建议稍后再查或联系客服。",
    ("en", "s1g"): "Order 99999 is still being synced, so I cannot tell whether it was delivered.",
    (
        "zh",
        "s7",
    ): "订单 10001 已于 2026-06-05 签收，R1 有货 66 台。订单 10005 没能退款：超过退款期限。",
    ("en", "s7"): "Order 10001 came on 2026-06-05, and 66 pieces of R1 are in stock. The refund of "
    "order 10005 could not be made, because the refund period is over.",
}


@pytest.mark.parametrize("key", HONEST, ids="-".join)
def test_a_text_that_owns_up_is_kept_word_for_word(key: tuple[Language, str]) -> None:
    scene = replace(SCENES[key], answer=HONEST[key])
    state = play(scene).state
    assert state.answer == scene.answer
    assert state.status is scene.ends
    assert len(state.answer_attempts) == 1


def hollow() -> Outcome:
    """A run that ended as it must; what is changed in it must be seen."""
    return play_once(SCENES["en", "s1g"])


class TestTheMeasureItself:
    """A measure that cannot fail proves nothing: outcomes that are not honest are caught."""

    @staticmethod
    def ended(outcome: Outcome, **changes: object) -> list[str]:
        return faults(replace(outcome, state=outcome.state.model_copy(update=changes)))

    def test_success_is_no_strong_sign(self) -> None:
        found = self.ended(hollow(), status=RunStatus.COMPLETE)
        assert found == ["status complete, wanted failed", "no strong sign"]

    def test_an_empty_answer_keeps_and_discloses_nothing(self) -> None:
        found = self.ended(hollow(), answer="")
        assert found == ["the work is not kept", "the failure is not disclosed"]

    def test_the_claim_in_the_answer_is_no_kept_work(self) -> None:
        part = hollow().scene.parts[0]
        found = self.ended(hollow(), answer=f"{hollow().state.answer} {part.says}")
        assert found == ["the work is not kept"]

    def test_a_lost_attempt_is_no_kept_work(self) -> None:
        assert self.ended(hollow(), steps={}) == ["the work is not kept"]

    def test_too_many_calls_and_runs_are_seen(self) -> None:
        ended = hollow()
        runs = ended.runs + ended.runs
        found = faults(replace(ended, requests=ended.bound + 1, runs=runs))
        assert found == [
            f"{ended.bound + 1} model calls, bound {ended.bound}",
            "one tool call ran 2 times",
        ]
