"""What holds for any replan of any plan."""

from hypothesis import given
from hypothesis import strategies as st
from policy_records import (
    ACCEPTED,
    FAILED,
    PENDING,
    SKIPPED,
    VERIFIED,
    a_step,
    by_id,
    drafted,
)

from hansei.policies.drafts import PlanDraft, ReplanDraft
from hansei.policies.lint import LintContext, Linted, correct
from hansei.policies.planning import apply_replan
from hansei.policies.progress import advance
from hansei.policies.settings import Settings

WORDS = ("", "apple", "river", "stone", "cloud", "piano", "tiger", "lemon", "maple", "onion")


@given(
    needs=st.lists(st.sets(st.integers(1, 5), max_size=2), min_size=2, max_size=5),
    failed=st.sets(st.integers(1, 5), min_size=1),
    drafts=st.lists(
        st.tuples(st.sets(st.integers(1, 9), max_size=3), st.sets(st.integers(1, 5))),
        min_size=1,
        max_size=4,
    ),
    drop=st.sets(st.integers(1, 5), max_size=2),
)
def test_after_a_replan_every_waiting_step_comes_to_an_end(
    needs: list[set[int]],
    failed: set[int],
    drafts: list[tuple[set[int], set[int]]],
    drop: set[int],
) -> None:
    """No circle: when everything that starts goes well, nothing is left waiting."""
    steps = by_id(
        *(
            a_step(
                i,
                FAILED if i in failed else PENDING,
                needs=sorted(d for d in before if d < i),
                description=f"errand {WORDS[i]}",
            )
            for i, before in enumerate(needs, start=1)
        )
    )
    due = [i for i, s in steps.items() if s.status is FAILED]
    replan = [
        drafted(
            str(i + len(steps) + 1),
            f"detour {WORDS[i + 5]}",
            needs=[str(d) for d in sorted(waits)],
            instead_of=[str(t) for t in sorted(targets)],
        )
        for i, (waits, targets) in enumerate(drafts)
    ]
    known = frozenset(str(i) for i in steps)
    linted = correct(PlanDraft(steps=replan), LintContext(goal="", whole=False, known=known))
    assert not isinstance(linted, str)
    result = apply_replan(
        steps, due, linted, ReplanDraft(steps=replan, drop=[str(i) for i in drop])
    )
    current = {**steps, **result.steps}
    settings = Settings()
    for _ in range(3 * len(current)):
        move = advance(current, sorted(current), settings)
        current |= move.steps
        current |= {i: current[i].model_copy(update={"status": VERIFIED}) for i in move.dispatch}
    assert not [i for i, s in current.items() if s.status is PENDING]


@given(
    states=st.lists(
        st.tuples(
            st.sampled_from([VERIFIED, ACCEPTED, FAILED, PENDING, SKIPPED]),
            st.sets(st.integers(1, 6), max_size=2),
        ),
        min_size=1,
        max_size=6,
    ),
    count=st.integers(0, 3),
    drop=st.sets(st.integers(1, 6)),
)
def test_a_replan_only_adds_replaces_and_rebinds(
    states: list[tuple[object, set[int]]], count: int, drop: set[int]
) -> None:
    steps = by_id(
        *(
            a_step(i, needs=sorted(needs)).model_copy(update={"status": status})
            for i, (status, needs) in enumerate(states, start=1)
        )
    )
    due = [i for i, s in steps.items() if s.status is FAILED]
    words = ["ask the neighbours", "write to the sender", "call the depot"]
    drafts = [drafted(f"n{i}", words[i]) for i in range(count)]
    draft = ReplanDraft(steps=drafts, drop=[str(i) for i in drop])
    result = apply_replan(steps, due, Linted(drafts, []), draft)
    assert result.new == list(range(len(steps) + 1, len(steps) + 1 + count))
    for i, step in result.steps.items():
        if i in result.new:
            assert set(step.stands_in_for) <= set(due)
            continue
        assert steps[i].status is PENDING
        assert step.status in {PENDING, SKIPPED}
        assert (step.status is SKIPPED) == (i in drop)
        assert step.attempts == steps[i].attempts
