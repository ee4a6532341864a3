"""Knative's pod autoscaler: defaults and examples of its documentation (knative.dev, Autoscaling), and sequences worked by hand."""

from __future__ import annotations

import pytest

from sojourn.control import Kpa, Seen
from sojourn.control.kpa import KpaState


def test_defaults() -> None:
    """Target 100 at 70 %, stable window 60 s, panic window 10 %, panic threshold 200 %, rates 1000 and 2, decided each 2 s."""
    kpa = Kpa()
    assert (kpa.target, kpa.stable_s, kpa.panic_share, kpa.panic_threshold) == (70, 60, 0.1, 2)
    assert (kpa.up_rate, kpa.down_rate, kpa.period_s) == (1000, 2, 2)


def seen(at_s: float, concurrency: float | None, ready: int, late: bool = False) -> Seen:
    return Seen(at_s, 2, ready, ready, 10, 10, 0.5, 0.5, concurrency, 0, 0.1, late)


@pytest.mark.parametrize(
    ("stable", "panic", "ready", "wanted"),
    [
        (100, 100, 2, 2),  # 100 / 70 → 2
        (70, 70, 1, 1),
        (71, 71, 1, 2),
        (700, 700, 8, 10),
        (70, 70, 10, 5),  # max-scale-down-rate 2: not below half
        (0, 0, 5, 2),  # half of 5, rounded down
        (140, 70, 2, 2),
    ],
)
def test_stable(stable: float, panic: float, ready: int, wanted: int) -> None:
    assert Kpa().scale(stable, panic, ready, 100, KpaState())[0] == wanted


def test_up_rate_bounds_a_jump() -> None:
    assert Kpa(up_rate=2).scale(7000, 7000, 3, 0, KpaState())[0] == 6
    assert Kpa().scale(70 * 5000, 70 * 5000, 1, 0, KpaState())[0] == 1000


def test_panic_is_entered_at_twice_the_capacity_extended_and_left_after_a_stable_window() -> None:
    kpa = Kpa()
    wanted, state = kpa.scale(140, 279, 2, 0, KpaState())
    assert (wanted, state.panic_s) == (4, 0)  # 279 / 70 → 4 = twice 2: panic
    wanted, state = kpa.scale(70, 70, 4, 10, state)
    assert (wanted, state.panic_s) == (4, 0)  # never down in panic
    wanted, state = kpa.scale(300, 630, 4, 40, state)
    assert (wanted, state.panic_s) == (9, 40)  # extended, and more
    assert kpa.scale(70, 70, 9, 100, state)[0] == 9  # 60 s after is not past the window
    wanted, state = kpa.scale(70, 70, 9, 100.1, state)
    assert (wanted, state.panic_s, state.reached) == (4, None, 0)  # left: down again, to half


def test_just_below_the_threshold_is_no_panic() -> None:
    wanted, state = Kpa().scale(140, 210, 2, 0, KpaState())
    assert (wanted, state.panic_s) == (2, None)  # 3 / 2 = 1.5


def test_windows_are_means_over_60_and_6_seconds() -> None:
    kpa, state = Kpa(target=1), None
    for k in range(32):
        answer, state = kpa(seen(2.0 * (k + 1), 4, 4), state)
    answer, state = kpa(
        seen(66, 10, 4), state
    )  # stable (29 x 4 + 10) / 30 = 4.2 → 5; panic (4 + 4 + 10) / 3 = 6 → no panic
    assert answer.workers == 5
    answer, state = kpa(seen(68, 14, 5), state)  # panic (4 + 10 + 14) / 3 = 9.3 → 10 = twice 5
    assert answer.workers == 10
    answer, state = kpa(seen(70, 0, 10), state)
    assert answer.workers == 10


def test_a_restart_with_several_workers_begins_in_panic() -> None:
    answer, state = Kpa(target=1)(seen(2, 1, 8), None)
    assert answer.workers == 8
    assert Kpa(target=1)(seen(4, 1, 8), state)[0].workers == 8
    assert Kpa(target=1)(seen(2, 1, 1), None)[1].panic_s is None


def test_missing_and_late_concurrency_changes_nothing() -> None:
    assert Kpa()(seen(2, None, 3), None)[0].workers is None
    assert Kpa()(seen(2, 500, 3, late=True), None)[0].workers is None
    assert Kpa()(seen(2, float("nan"), 3), None)[0].workers is None
