"""Guard rails: whatever a policy answers, it stays within them."""

from __future__ import annotations

import math
from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from sojourn.control import GuardRails, Seen, Set
from sojourn.control.guard_rails import GuardedState, guarded

number = st.one_of(st.none(), st.floats(), st.integers(-5, 10**6))
rubbish = st.one_of(
    st.none(), st.text(max_size=5), st.floats(), st.binary(max_size=3), st.lists(st.integers(), max_size=2),
    st.builds(Set, workers=st.one_of(st.none(), st.integers(), st.floats(), st.text(max_size=3), st.booleans())),
)  # fmt: skip
windows = st.lists(
    st.tuples(rubbish, st.sampled_from(["answer", "raise", "short"]), number, number, number, st.booleans()),
    max_size=30,
)
rails_ = st.builds(
    lambda low, more, step, short, n, budget: GuardRails(
        least=low, most=low + more, largest_step=step, shortest_s=short, changes=n, budget_s=budget
    ),
    st.integers(1, 20), st.integers(0, 40), st.integers(1, 10), st.floats(0, 100), st.integers(1, 5), st.floats(1, 500),
)  # fmt: skip


@settings(max_examples=300, deadline=None)
@given(rails=rails_, asked=windows, start=st.integers(-3, 100))
def test_rubbish_cannot_leave_the_bounds(rails: GuardRails, asked: list[Any], start: int) -> None:
    state, now, changed = GuardedState(), start, []
    for k, (answer, how, rate, busy, waiting, late) in enumerate(asked):

        def decide(seen: Seen, state: Any, answer: Any = answer, how: str = how) -> Any:
            if how == "raise":
                raise ValueError("a mistake of its author")
            return (answer, state) if how == "answer" else answer

        seen = Seen(10.0 * k, 10, now, max(now, 0), rate, rate, busy, busy, waiting, waiting, 0.1, late)
        decision, state = guarded(decide, rails, seen, state)
        assert type(decision.workers) is int
        assert rails.least <= decision.workers <= rails.most
        if rails.least <= now <= rails.most:
            assert abs(decision.workers - now) <= rails.largest_step
            if seen.trouble():
                assert decision.workers >= now
            if decision.workers != now:
                assert not changed or seen.window_end_s - changed[-1] >= rails.shortest_s
                assert sum(seen.window_end_s - at < rails.budget_s for at in changed) < rails.changes
        if decision.workers != now:
            changed.append(seen.window_end_s)
        now = decision.workers


@pytest.mark.parametrize("at_s", [math.nan, math.inf, -math.inf, None])
def test_a_window_without_a_place_in_time_forgets_no_change(at_s: Any) -> None:
    rails = GuardRails(shortest_s=60, changes=1, budget_s=600)
    shown = []

    def decide(seen: Seen, state: Any) -> Any:
        shown.append(seen.window_end_s)
        return Set(workers=seen.workers + 1), state

    first, state = guarded(decide, rails, seen(8, 0.0), GuardedState())
    nowhere, after = guarded(decide, rails, seen(9, at_s), state)
    assert (first.workers, nowhere.workers, nowhere.wanted_workers) == (9, 9, None)
    assert after == state
    later, _ = guarded(decide, rails, seen(9, 10.0), after)
    assert later.workers == 9
    assert "changed 10 s ago" in later.reason or "budget" in later.reason
    assert shown == [0.0, 10.0]


def seen(workers: int = 8, at_s: float = 0.0, **other: Any) -> Seen:
    fine = {
        "rate_per_s": 10.0,
        "throughput_per_s": 10.0,
        "utilisation": 0.2,
        "cpu": 0.2,
        "in_system": 1.0,
        "waiting": 0.0,
    }
    return Seen(at_s, 2.0, workers, workers, **{**fine, "response_s": 0.1, **other})


def down_to_two(seen: Seen, state: Any) -> tuple[Set, Any]:
    return Set(2, "two are enough"), state


@pytest.mark.parametrize(
    ("figures", "why"),
    [
        ({"metrics_late": True}, "no reduction: metrics are late"),
        ({"rate_per_s": None}, "no reduction: rate_per_s is missing"),
        ({"utilisation": math.nan}, "no reduction: utilisation is nan"),
        ({"throughput_per_s": -1.0}, "no reduction: throughput_per_s is -1.0"),
        ({"utilisation": 100.0}, "no reduction: utilisation is 100"),
        ({"waiting": 9.0}, "no reduction: 9 wait; the queue has to drain first"),
    ],
)
def test_no_reduction(figures: dict[str, Any], why: str) -> None:
    decision, _ = guarded(down_to_two, GuardRails(), seen(**figures), GuardedState())
    assert (decision.workers, decision.wanted_workers, decision.reason) == (8, 2, f"two are enough; {why}")


def test_reduction_on_good_figures() -> None:
    assert guarded(down_to_two, GuardRails(), seen(), GuardedState())[0].workers == 2
    assert guarded(down_to_two, GuardRails(least=4), seen(), GuardedState())[0].workers == 4


def test_step_time_and_budget() -> None:
    rails = GuardRails(largest_step=3, shortest_s=10, changes=2, budget_s=100)
    now, state, found = 8, GuardedState(), []
    for at_s in (0.0, 5.0, 10.0, 30.0):
        decision, state = guarded(down_to_two, rails, seen(now, at_s), state)
        now = decision.workers
        found.append(now)
    assert found == [5, 5, 2, 2]
    assert (
        guarded(lambda s, t: (Set(9), t), rails, seen(2, 60), state)[0].reason
        == "budget of 2 changes in 100 s is used up"
    )
    assert guarded(lambda s, t: (Set(9), t), rails, seen(2, 101), state)[0].workers == 5


def test_a_clock_that_steps_back_holds_no_longer_than_the_shortest_time() -> None:
    """By hand: a change at 5000 s, the clock steps back to 1000 s; with 30 s between changes the next one may come at 1030 s."""
    rails, state = GuardRails(shortest_s=30), GuardedState(None, (("workers", 5000.0),))
    found = []
    for at_s in (1000.0, 1029.0, 1030.0):
        decision, state = guarded(down_to_two, rails, seen(at_s=at_s), state)
        found.append(decision.workers)
    assert found == [8, 8, 2]


def test_a_policy_that_fails_changes_nothing() -> None:
    decision, state = guarded(lambda s, t: 1 / 0, GuardRails(), seen(), GuardedState("kept"))
    assert (decision.workers, decision.wanted_workers, state.inner) == (8, None, "kept")
    assert decision.reason == "the policy failed: ZeroDivisionError: division by zero"


def test_bounds_that_cross_are_refused() -> None:
    with pytest.raises(ValueError, match="give least <= most"):
        GuardRails(least=5, most=4)
