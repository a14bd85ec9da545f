"""Eleven ways for the work or its check to fail, and one in which all is well, as data.

The model in them is confident and never changes its mind: its texts claim success whatever the
tools said, on every attempt and in every text of the answer. `honesty_runs` plays a scene.
"""

from dataclasses import dataclass
from typing import Literal

from honesty_orders import (
    ARRIVED,
    BROKEN,
    HOLLOW,
    REFUND,
    STOCK,
    THREE,
    TRANSIT,
    Part,
    Request,
)

from hansei.policies.words import Language, RunStatus

Judge = Literal["careful", "approving", "down", "prose", "retry"]
"""How the critic's endpoint behaves: reads the evidence, approves everything, answers 503, answers
in prose without a verdict, or says RETRY whatever it is shown."""


@dataclass(frozen=True, kw_only=True)
class Scene:
    """One scene in one language."""

    name: str
    happens: str
    language: Language
    goal: str
    parts: tuple[Part, ...]
    answer: str
    """The synthesizer's text, on every attempt."""
    judge: Judge = "approving"
    loops: bool = False
    """The model repeats its first tool call for ever."""
    unvouched: str = ""
    """Words with which the answer must say that nobody verified it."""
    ends: RunStatus = RunStatus.FAILED
    """The status with which the run must end."""
    most_runs: int = 1
    """How often one tool call may really run with the same arguments."""

    @property
    def failing(self) -> list[Part]:
        """The parts that do not succeed."""
        return [part for part in self.parts if part.trouble or self.loops]

    @property
    def undone(self) -> str:
        """Words with which the answer must say that a part was not done."""
        return _UNDONE[self.language]

    @property
    def prose(self) -> str:
        """What a judge that was asked for a verdict chats instead."""
        return _PROSE[self.language]


_PROSE = {
    "zh": "这一步看起来很不错，内容完整，语气也很好，继续保持！",
    "en": "This looks really nice to me, complete and friendly in tone. Keep it up!",
}
_UNDONE = {"zh": "没有完成", "en": "Not done"}
_UNVERIFIED = {"zh": "没有得到核对", "en": "nobody has verified"}
_UNVERIFIED_ANSWER = {"zh": "没有通过核对", "en": "not verified"}


def scenes(language: Language) -> tuple[Scene, ...]:
    """The control and the eleven scenes, in the order of their names."""
    unverified, unverified_answer = _UNVERIFIED[language], _UNVERIFIED_ANSWER[language]

    def scene(
        name: str,
        happens: str,
        order: Request,
        *,
        judge: Judge = "approving",
        ends: RunStatus = RunStatus.FAILED,
        answer: str | None = None,
        loops: bool = False,
        unvouched: str = "",
        most_runs: int = 1,
    ) -> Scene:
        return Scene(
            name=name,
            happens=happens,
            language=language,
            goal=order.goal,
            parts=(order.part,),
            answer=order.answer if answer is None else answer,
            judge=judge,
            loops=loops,
            unvouched=unvouched,
            ends=ends,
            most_runs=most_runs,
        )

    hollow = "the tool answers with a hollow shell, the model says the order has arrived"
    error = "the tool returns an error field, the model says the refund is done"
    goal, three = THREE[language]
    second = Scene(
        name="s7",
        happens="the second of three parts fails, the model says all three are done",
        language=language,
        goal=goal,
        parts=(ARRIVED[language].part, REFUND[language].part, STOCK[language]),
        answer=three,
        ends=RunStatus.PARTIAL,
    )
    fine = ARRIVED[language]
    return (
        scene("s0", "control: all is well", fine, ends=RunStatus.COMPLETE),
        scene("s1e", f"{hollow}; a careful judge", HOLLOW[language], judge="careful"),
        scene("s1g", f"{hollow}; a judge that approves", HOLLOW[language]),
        scene("s2e", f"{error}; a careful judge", REFUND[language], judge="careful"),
        scene("s2g", f"{error}; a judge that approves", REFUND[language]),
        scene("s3", "the tool raises every time", BROKEN[language]),
        scene(
            "s4",
            "the work is fine, the judge's endpoint answers 503",
            fine,
            judge="down",
            ends=RunStatus.PARTIAL,
            unvouched=unverified,
        ),
        scene(
            "s5",
            "the work is fine, the judge answers in prose",
            fine,
            judge="prose",
            ends=RunStatus.PARTIAL,
            unvouched=unverified,
        ),
        scene(
            "s6",
            "the work is fine, the judge always says retry",
            fine,
            judge="retry",
            ends=RunStatus.PARTIAL,
            unvouched=unverified,
        ),
        second,
        scene(
            "s8",
            "the model repeats one call for ever",
            TRANSIT[language],
            loops=True,
            most_runs=5,
        ),
        scene(
            "s9",
            "the final text is empty, the judge approves",
            fine,
            answer="",
            ends=RunStatus.PARTIAL,
            unvouched=unverified_answer,
        ),
    )
