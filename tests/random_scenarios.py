"""What may happen in a random run: the vocabulary of each role and tool, and how it is drawn.

A scenario is plain data. `random_world.World` plays it; the words below are its stage
directions. Every step is about one subject, an invented word, so that whatever a role or a
tool does can depend on the step alone and not on the order in which threads arrive.
"""

from collections.abc import Sequence
from dataclasses import dataclass, field, replace

from hypothesis import strategies as st

from hansei import Settings
from hansei.policies.words import Language

UNNAMED = "unnamed"
"""The subject of a step that a plan has not named: one about the goal as a whole."""

_HEADS = ("quor", "blin", "mezz", "frax", "gulb", "sniv", "dorp", "hyxa", "wump", "jorb")
_TAILS = (
    *("vexo", "itar", "ipod", "onyk", "rath", "elwi", "muck", "lute", "shaw", "enza"),
    *("brom", "quip", "zent", "oska", "fyld", "gwen", "hask", "jilt", "krod", "pyxe"),
)
SUBJECTS = tuple(
    head + _TAILS[(place + shift) % len(_TAILS)]
    for shift in range(len(_TAILS))
    for place, head in enumerate(_HEADS)
)
"""One for each step, with neighbours unlike, so that no step says again what another one said."""

SAYING = ("say", "say long", "say", "think and say")
CALLING = ("call", "call", "call again", "call two", "call twice", "call in text", "call poll")
ODD_CALLS = ("call unknown", "call decoy", "call bad json", "call bad arguments", "call invented")
NOTHING = ("nothing", "spaces", "null", "only thinking", "cut off")
BROKEN = ("down", "timeout", "dropped", "crash")

GOOD_OUTPUTS = ("object", "text", "huge")
BAD_OUTPUTS = ("error", "shell", "blank", "empty list", "not found", "raises", "huge error")

PASSES = ("PASS", "PASS with quote", "PASS in words")
REPLANS = ("REPLAN", "REPLAN with quote")
JUDGED = (*PASSES, "PASS with wrong quote", "RETRY", "RETRY", *REPLANS, "REPLAN with wrong quote")
UNREADABLE = ("prose", "junk", "cut off", "two verdicts", "no verdict", "nothing")

CHECKS = (*("",) * 10, "pass", "signal", "unknown", "raises", "veto retry", "veto replan")

PLANS = ("good",) * 8 + ("circular", "too many", "twins", "unknown tool", "with telling")
NO_PLANS = ("answer", "no steps", "only telling")
REPLANNED = (
    *("give up", "empty", "repeat", "new", "new", "new", "new unspoken", "for one only"),
    *("circular", "too many", "unknown tool", "twins", "drop", "on done", "on failed", "telling"),
)
TEXTS = (
    *("honest",) * 4,
    *("lie", "lie once", "boast", "half", "sorry for the wait", "vague", "nothing", "spaces"),
    *("only thinking", "foreign", "leaky", "json", "null"),
)
REVIEWS = (*("PASS",) * 4, "PASS with wrong quote", "PASS with quote", "RETRY", "REPLAN")


@dataclass(frozen=True)
class Habit:
    """How things go for one subject: each list in order, then its usual or its last entry."""

    moves: Sequence[str] = ()
    """What the executor does, before it does what it should."""
    endless: bool = False
    """The last move is repeated for ever."""
    outputs: Sequence[str] = ("object",)
    """What the tools return, by the arguments of the call."""
    verdicts: Sequence[str] = ("PASS",)
    check: str = ""
    """What the user's own check says."""
    met: bool = True
    """What the reflector says about each condition of the goal."""


@dataclass(frozen=True)
class Drafted:
    """One step of the scripted plan."""

    tool: str | None = None
    depends_on: Sequence[int] = ()
    needs_reflection: bool = True


@dataclass(frozen=True)
class Scenario:
    """One random run, fixed down to the last reply."""

    language: Language = "en"
    goal: str = "Fetch the ledgers for me."
    plans: Sequence[str] = ("good",)
    steps: Sequence[Drafted] = (Drafted("fetch"),)
    habits: Sequence[Habit] = (Habit(),)
    """By subject; the last one holds for all subjects beyond."""
    replans: Sequence[str] = ("new",)
    texts: Sequence[str] = ("honest",)
    reviews: Sequence[str] = ("PASS",)
    settings: Settings = field(default_factory=Settings)


GOALS: dict[Language, Sequence[str]] = {
    "en": (
        "Fetch the ledgers for me.",
        "Fetch the ledgers and recommend one under 500 dollars.",
        "I have two old cats. Compare the ledgers and pick one, without Zorgon.",
        'Fetch the ledger of order QX77120 and "the blue book".',
    ),
    "zh": (
        "帮我把这些账目查一下。",
        "帮我查账目，推荐一个不超过 500 元的。",
        "我家养了两只老猫，帮我对比这些账目挑一个，不要左格牌。",
        "帮我查订单 QX77120 的账目，还有“蓝皮书”。",
    ),
}


def under(scenario: Scenario, settings: Settings) -> Scenario:
    """The scenario with other settings, in the language that follows from them."""
    spoken: Language = "zh" if scenario.goal in GOALS["zh"] else "en"
    language = spoken if settings.language == "auto" else settings.language
    return replace(scenario, settings=settings, language=language)


def _some(words: Sequence[str], *, most: int, least: int = 0) -> st.SearchStrategy[list[str]]:
    return st.lists(st.sampled_from(words), min_size=least, max_size=most)


_MOVES = (*SAYING * 2, *CALLING * 4, *ODD_CALLS, *NOTHING, *BROKEN)
_OUTPUTS = (*GOOD_OUTPUTS * 3, *BAD_OUTPUTS)

_odd_habits = st.builds(
    Habit,
    moves=st.just([]) | _some(_MOVES, most=4),
    endless=st.sampled_from((False, False, False, False, True)),
    outputs=_some(_OUTPUTS, least=1, most=3),
    verdicts=_some((*JUDGED * 2, *UNREADABLE, *BROKEN), least=1, most=4),
    check=st.sampled_from(CHECKS),
    met=st.sampled_from((True, True, False)),
)
_fair_habits = st.builds(
    Habit,
    outputs=_some(GOOD_OUTPUTS, least=1, most=2),
    verdicts=_some((*PASSES, *PASSES, "RETRY", *UNREADABLE, "down"), most=1).map(
        lambda drawn: [*drawn, "PASS"]
    ),
)
habits = _fair_habits | _odd_habits


@st.composite
def drafted(draw: st.DrawFn) -> list[Drafted]:
    """1 to 5 steps, each of which may depend on earlier ones."""
    count = draw(st.integers(1, 5))
    return [
        Drafted(
            tool=draw(st.sampled_from(("fetch", "fetch", "send", "poll", None))),
            depends_on=sorted(draw(st.sets(st.integers(1, place - 1), max_size=2)))
            if place > 1 and draw(st.booleans())
            else [],
            needs_reflection=draw(st.booleans()),
        )
        for place in range(1, count + 1)
    ]


_NO_BUDGETS = {
    "call_budget": st.none(),
    "token_budget": st.none(),
    "deadline": st.none(),
}
_BUDGETS = {
    "call_budget": st.none() | st.integers(0, 25),
    "token_budget": st.sampled_from((None, None, 100, 500, 1500)),
    "deadline": st.sampled_from((None, None, None, 1e-6, 1e6)),
}


def settings_strategy(*, budgets: bool) -> st.SearchStrategy[Settings]:
    """Random settings, with or without budgets."""
    return st.builds(
        Settings,
        reflection=st.sampled_from(
            ("always", "always", "always", "always", "flagged", "on_signal", "auto", "never")
        ),
        max_step_retries=st.sampled_from((1, 2, 0)),
        max_replans=st.sampled_from((1, 2, 0)),
        max_steps=st.sampled_from((5, 7, 4, 3, 2, 1)),
        max_tool_rounds=st.sampled_from((2, 3, 1, 3, 2, 0)),
        max_parallel=st.sampled_from((1, 2, 3, 4)),
        max_repairs=st.sampled_from((1, 0, 2)),
        goal_blind=st.booleans(),
        review_answer=st.booleans(),
        share_reflections=st.booleans(),
        conditions=st.booleans(),
        provenance=st.booleans(),
        retry_mode=st.sampled_from(("fresh", "repair", "resample")),
        language=st.sampled_from(("auto", "auto", "en", "zh")),
        **(_BUDGETS if budgets else _NO_BUDGETS),
    )


def _rarely(draw: st.DrawFn, one_in: int) -> bool:
    return draw(st.integers(1, one_in)) == one_in


@st.composite
def scenarios(draw: st.DrawFn, *, budgets: bool = True) -> Scenario:
    """A random run."""
    spoken: Language = draw(st.sampled_from(("en", "zh")))
    settings = draw(settings_strategy(budgets=budgets and _rarely(draw, 5)))
    plans = [draw(st.sampled_from(NO_PLANS if _rarely(draw, 12) else PLANS))]
    if _rarely(draw, 5):
        plans.insert(0, draw(st.sampled_from((*UNREADABLE, *BROKEN))))
    fair = draw(st.booleans()) and draw(st.booleans())
    how = _fair_habits if fair else habits
    scenario = Scenario(
        goal=draw(st.sampled_from(GOALS[spoken])),
        plans=plans,
        steps=draw(drafted()),
        habits=draw(st.lists(how, min_size=3, max_size=9)),
        replans=draw(_some((*REPLANNED * 2, *UNREADABLE, *BROKEN), least=1, most=3)),
        texts=["honest"] if fair else draw(_some((*TEXTS * 2, *BROKEN), least=1, most=2)),
        reviews=["PASS"]
        if fair
        else draw(_some((*REVIEWS * 2, *UNREADABLE, *BROKEN), least=1, most=3)),
    )
    return under(scenario, settings)
