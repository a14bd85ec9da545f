"""The demo scenes in which something is chosen: the cats' vacuum, and the set under a budget."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

import pytest
from scripted_replies import messages_of, text_of
from scripted_server import Entry, JsonObject, Reply, call_then_say, plan, tool_call, verdict
from shop_cli import APPROVES, Shop, by_step, open_shop

CATS = "我家养了两只长毛猫，帮我在 R1 和 R7 Pro 两款扫地机里挑一个"
BUDGET = "预算 1500 元以内，帮我配一套：一副耳机、一个充电宝和一盏台灯"


@pytest.fixture
def shop(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Iterator[Shop]:
    with open_shop(tmp_path, monkeypatch) as shop:
        yield shop


class TestTheCats:
    FIRST = "R1：1299 元，吸力 4000 Pa，红外避障。R7 Pro：2999 元，吸力 8000 Pa，结构光避障。"
    SECOND = (
        "家有长毛猫，最要紧的是主刷：R7 Pro 是防缠绕主刷，约两个月清理一次；R1 是毛刷，易缠绕。"
        "推荐 R7 Pro。"
    )
    ANSWER = "您家有两只长毛猫，推荐 R7 Pro：防缠绕主刷，约两个月清理一次，R1 的毛刷容易缠毛。"

    def script(self, shop: Shop, critic: Entry | list[Entry]) -> None:
        def executor(body: JsonObject) -> Reply | str:
            messages = messages_of(body)
            if messages[-1].get("role") != "tool":
                return tool_call("compare_products", names=["R1", "R7 Pro"])
            told = "长毛猫" in "".join(text_of(message) for message in messages)
            return self.SECOND if told else self.FIRST

        shop.script(
            planner=plan(
                {"description": "对比扫地机 R1 和 R7 Pro 并推荐一款", "tool": "compare_products"},
                conditions=[{"quote": "我家养了两只长毛猫", "hard": False, "steps": [1]}],
                brief="推荐哪一款以及原因",
            ),
            executor=executor,
            reflector=critic,
            synthesizer=self.ANSWER,
        )

    @pytest.mark.parametrize(
        "critic",
        [[verdict("RETRY", "没有结合长毛猫", "先讲毛发缠绕"), APPROVES], APPROVES],
        ids=["the critic sees it", "only the rule sees it"],
    )
    def test_the_comparison_comes_back_with_the_cats_in_the_hint(
        self, shop: Shop, critic: Entry | list[Entry]
    ) -> None:
        self.script(shop, critic)
        told = shop.run(CATS)
        [step] = told.state.steps.values()
        assert [attempt.result for attempt in step.attempts] == [self.FIRST, self.SECOND]
        assert [record.verdict for record in step.verdicts] == ["RETRY", "PASS"]
        assert "长毛猫" in step.attempts[1].hint
        assert step.result.index("主刷") < step.result.index("推荐")
        assert (told.report["status"], told.report["verified"], told.exit_code) == (
            "complete",
            True,
            0,
        )
        assert told.answer == self.ANSWER

    def test_the_executor_knows_of_the_cats_only_from_the_hint(self, shop: Shop) -> None:
        self.script(shop, APPROVES)
        told = shop.run(CATS)
        first, second, *_ = (
            prompt for prompt in shop.server.prompts("executor") if "tool:" not in prompt
        )
        assert "猫" not in first
        assert "长毛猫" in second
        calls = [call for attempt in told.state.steps[1].attempts for call in attempt.calls]
        assert [call.from_record for call in calls] == [False, True]


class TestTheSetUnderABudget:
    QUIETLY_OVER = "推荐 MoonPods 耳机 1299 元、PowerCube 20000 充电宝 199 元和护眼台灯 L1 159 元。"
    OVER = QUIETLY_OVER.replace("。", "，合计 1657 元。")
    WITHIN = (
        "推荐 AirX 耳机 899 元、PowerCube 10000 充电宝 129 元和护眼台灯 L1 159 元，合计 1187 元。"
    )

    def script(self, shop: Shop, *answers: str) -> None:
        def search(says: str, **arguments: object) -> Entry:
            return call_then_say(says, "search_products", **arguments)

        shop.script(
            planner=plan(
                {"description": "搜索耳机", "tool": "search_products"},
                {"description": "搜索充电宝", "tool": "search_products"},
                {"description": "搜索台灯", "tool": "search_products"},
                conditions=[{"quote": "预算 1500 元以内", "hard": True, "steps": []}],
            ),
            executor=by_step(
                耳机=search("耳机有 AirX（899 元）和 MoonPods（1299 元）。", category="耳机"),
                充电宝=search(
                    "充电宝有 PowerCube 10000（129 元）和 PowerCube 20000（199 元）。",
                    query="充电宝",
                ),
                台灯=search("台灯有护眼台灯 L1（159 元）。", query="台灯"),
            ),
            synthesizer=list(answers),
        )

    def test_a_rule_catches_the_sum_that_the_critic_lets_pass(self, shop: Shop) -> None:
        self.script(shop, self.OVER, self.WITHIN)
        told = shop.run(BUDGET)
        first, second = told.state.answer_attempts
        assert first.verdict is not None
        assert (first.verdict.verdict, first.verdict.source) == ("RETRY", "rule")
        assert first.verdict.model_verdict == "PASS"
        assert "1500 元以内" in shop.server.prompts("synthesizer")[1]
        assert second.verdict is not None
        assert second.verdict.verdict == "PASS"
        assert told.answer == self.WITHIN
        assert (told.report["status"], told.report["verified"], told.exit_code) == (
            "complete",
            True,
            0,
        )

    def test_the_reflector_catches_the_sum_that_no_sentence_states(self, shop: Shop) -> None:
        self.script(shop, self.QUIETLY_OVER, self.WITHIN)
        over = verdict("RETRY", "合计 1657 元，超出预算 1500 元", "换便宜的耳机")
        shop.script(reviewer=[over, APPROVES])
        told = shop.run(BUDGET)
        first = told.state.answer_attempts[0].verdict
        assert first is not None
        assert (first.verdict, first.source) == ("RETRY", "critic")
        assert "换便宜的耳机" in shop.server.prompts("synthesizer")[1]
        assert (told.answer, told.exit_code) == (self.WITHIN, 0)

    def test_an_answer_that_stays_over_is_not_verified(self, shop: Shop) -> None:
        self.script(shop, self.OVER)
        told = shop.run(BUDGET)
        assert (told.report["status"], told.exit_code) == ("partial", 3)
        assert (told.report["answer_status"], told.report["answer_reason"]) == (
            "accepted",
            "retries_used_up",
        )
        assert told.answer.startswith(self.OVER)
        assert told.answer.endswith("注意：这份回答没有通过核对。")
