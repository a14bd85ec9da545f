"""The demo scenes end as they are told, from the command line, on the real shop."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

import pytest
from scripted_server import Entry, call_then_say, error, plan, verdict
from shop_cli import APPROVES, Shop, by_step, open_shop

MISSING = "帮我查一下订单 99999 到了没"
PARCEL = "帮我催一下快递，单号 SF0000000"
BOTH = "帮我对比 AirX 耳机和 WatchFit 手表，顺便查一下订单 99999 到了没"


@pytest.fixture
def shop(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Iterator[Shop]:
    with open_shop(tmp_path, monkeypatch) as shop:
        yield shop


def asks_order(order: str, says: str) -> Entry:
    return call_then_say(says, "query_order", order_id=order)


HONEST = "订单 99999 的状态是“查询中”，信息还在同步，没有查到是否签收。"
SORRY = "很抱歉，暂时无法查到订单 99999 是否已到，信息还在同步中。请稍后再查，或联系客服。"
LIE = "订单 99999 已送达，由本人签收。"
PROSE = "这个结果很棒，非常完整！"


class TestTheOrderThatCannotBeFound:
    def script(self, shop: Shop, says: str, answer: str) -> None:
        shop.script(
            planner=plan({"description": "查询订单 99999 的状态", "tool": "query_order"}),
            executor=asks_order("99999", says),
            synthesizer=answer,
        )

    @pytest.mark.parametrize(
        ("says", "critic"),
        [
            (HONEST, APPROVES),
            (LIE, APPROVES),
            ("已签收。", verdict("RETRY", "太笼统", "写详细")),
            ("订单一切正常", PROSE),
            (LIE, error(400)),
        ],
        ids=["honest", "lies", "short lie", "vague lie", "no critic"],
    )
    def test_step_1_is_stopped_by_replan_every_single_time(
        self, shop: Shop, says: str, critic: Entry
    ) -> None:
        self.script(shop, says, says)
        shop.script(reflector=critic, reviewer=critic)
        told = shop.run(MISSING)
        record = told.state.steps[1].verdicts[0]
        assert (record.verdict, record.source, record.veto) == ("REPLAN", "rule", True)
        assert (told.report["status"], told.exit_code) == ("failed", 4)
        assert shop.server.count(endpoint="critic") == 0
        assert "查询中" in told.answer
        assert not any(word in told.answer for word in ("送达", "已签收", "正常"))

    def test_the_answer_says_so_and_what_to_do_next(self, shop: Shop) -> None:
        self.script(shop, HONEST, SORRY)
        told = shop.run(MISSING)
        assert told.answer == SORRY
        assert (told.report["status"], told.report["verified"]) == ("failed", False)
        assert told.state.usage.keys() == {"planner", "executor", "replanner", "synthesizer"}

    def test_a_lie_is_replaced_by_the_records_and_what_to_do_next(self, shop: Shop) -> None:
        self.script(shop, LIE, LIE)
        told = shop.run(MISSING)
        sorry, undone, next_steps = told.answer.splitlines()
        assert sorry == "很抱歉，这件事没有办成。"
        assert undone.startswith("没有完成：查询订单 99999 的状态。原因：")
        assert "查询中" in undone
        assert "稍后再试" in next_steps
        assert told.state.steps[1].attempts[0].result == LIE


@pytest.mark.parametrize(
    ("answer", "kept"),
    [
        ("很抱歉，单号 SF0000000 不存在，没能帮您催件。请核对单号后再试。", True),
        ("已经帮您催过啦，单号 SF0000000 今天就到！", False),
    ],
    ids=["honest", "lies"],
)
def test_the_parcel_whose_number_does_not_exist(shop: Shop, answer: str, kept: bool) -> None:
    shop.script(
        planner=plan({"description": "查询快递 SF0000000 的物流", "tool": "query_logistics"}),
        executor=call_then_say(answer, "query_logistics", tracking_no="SF0000000"),
        synthesizer=answer,
    )
    told = shop.run(PARCEL)
    record = told.state.steps[1].verdicts[0]
    assert (record.verdict, record.source) == ("REPLAN", "rule")
    assert (told.report["status"], told.exit_code) == ("failed", 4)
    assert "不存在" in told.answer
    assert "核对" in told.answer
    assert (told.answer == answer) is kept
    assert "今天就到" not in told.answer
    assert shop.server.count(endpoint="critic") == 0


def test_a_well_formed_forged_answer_passes(shop: Shop) -> None:
    # What reflection cannot do: it checks against the goal and the evidence, not the truth.
    shop.script(
        planner=plan({"description": "查询订单 88888 的状态", "tool": "query_order"}),
        executor=asks_order("88888", "订单 88888 已签收，时间是 2026-11-22 16:30:00。"),
        synthesizer="您的订单 88888 已于 2026-11-22 16:30 签收。",
    )
    told = shop.run("帮我查一下订单 88888 到了没")
    assert (told.report["status"], told.report["verified"], told.exit_code) == ("complete", True, 0)
    assert "已于 2026-11-22 16:30 签收" in told.answer


class TestAComparisonAndAnOrder:
    COMPARED = "AirX 是耳机，899 元，续航 8 小时；WatchFit 是手表，1299 元，续航 14 天。"

    def script(self, shop: Shop, answer: str) -> None:
        shop.script(
            planner=plan(
                {"description": "对比 AirX 耳机和 WatchFit 手表", "tool": "compare_products"},
                {"description": "查询订单 99999 的状态", "tool": "query_order"},
            ),
            executor=by_step(
                对比=call_then_say(self.COMPARED, "compare_products", names=["AirX", "WatchFit"]),
                订单=asks_order("99999", LIE),
            ),
            synthesizer=answer,
        )

    def test_both_parts_are_in_the_answer(self, shop: Shop) -> None:
        answer = (
            "AirX 耳机 899 元，续航 8 小时；WatchFit 手表 1299 元，续航 14 天。"
            "订单 99999 的状态没有查到，信息还在同步中，请稍后再查。"
        )
        self.script(shop, answer)
        told = shop.run(BOTH)
        assert (told.report["status"], told.exit_code) == ("partial", 3)
        assert told.answer == answer
        assert [step.status for step in told.state.steps.values()] == ["verified", "failed"]
        assert told.report["answer_status"] == "verified"

    def test_a_text_that_only_boasts_is_replaced(self, shop: Shop) -> None:
        self.script(shop, "两件事都办好了：AirX 更合适，订单 99999 已送达。")
        told = shop.run(BOTH)
        assert (told.report["status"], told.exit_code) == ("partial", 3)
        assert self.COMPARED in told.answer
        assert "没有完成：查询订单 99999 的状态" in told.answer
        assert "送达" not in told.answer


@pytest.mark.parametrize(
    ("reflection", "verified", "calls"),
    [("always", True, 6), ("auto", False, 5), ("never", False, 4)],
)
def test_an_order_that_has_arrived(shop: Shop, reflection: str, verified: bool, calls: int) -> None:
    answer = "您的订单 10001 已经到了，2026-06-05 11:05 签收。"
    shop.script(
        planner=plan({"description": "查询订单 10001 的状态", "tool": "query_order"}),
        executor=asks_order("10001", "订单 10001 已签收，时间是 2026-06-05 11:05:00。"),
        synthesizer=answer,
    )
    told = shop.run("帮我查一下订单 10001 到了没", "--reflection", reflection)
    assert (told.report["status"], told.report["verified"], told.exit_code) == (
        "complete",
        verified,
        0,
    )
    assert told.answer.startswith(answer)
    assert ("按设置没有" in told.answer) is not verified
    assert shop.server.count() == calls
