"""Sequences of windows through `hpa` and `kpa`, worked by hand from the rules of their documentation and of their controllers
(kubernetes.io, Horizontal Pod Autoscaling; knative.dev, Autoscaling). After each decision all workers are as it says."""

from __future__ import annotations

from typing import Any

import pytest

from sojourn.control import Hpa, Kpa, Seen

LATE = "late"
NAN = float("nan")
Window = float | str | tuple[float, int] | None  # the metric; none, late; or with so many workers not ready


def told(window: Window, at_s: float, length_s: float, workers: int) -> Seen:
    value, unready = window if isinstance(window, tuple) else (window, 0)
    late = value == LATE
    number = 1.0 if late else value
    return Seen(at_s, length_s, workers, workers - unready, 10, 10, number, number, number, 0.0, 0.1, late)  # type: ignore[arg-type]


def follow(policy: Any, start: int, windows: list[Window], first_s: float, every_s: float) -> list[int]:
    found, workers, state = [], start, None
    for k, window in enumerate(windows):
        chosen, state = policy(told(window, first_s + k * every_s, every_s, workers), state)
        workers = workers if chosen.workers is None else chosen.workers
        found.append(workers)
    return found


def hpa(**given: Any) -> Hpa:
    """Target 0.5, and down at once unless told."""
    return Hpa.model_validate({"target": 0.5, "down": rule(100, 15)} | given)


def rule(
    percent: int = 0, period_s: float = 15, pods: int = 0, select: str = "max", window_s: float = 0, **more: Any
) -> Any:
    both = (("percent", percent), ("pods", pods))
    policies = [{"kind": kind, "value": value, "period_s": period_s} for kind, value in both if value]
    return {"policies": policies, "select": select, "stabilisation_s": window_s} | more


HPA: dict[str, tuple[Hpa, int, list[Window], list[int]]] = {
    # tolerance
    "1.1 and 0.9 are within; 1.12 x 10 = 11.2, 0.88 x 12 = 10.56": (hpa(), 10, [0.55, 0.45, 0.56, 0.44], [10, 10, 12, 11]),
    "none: 10.2; 1; 0.98 x 11 = 10.78; 9.9": (hpa(tolerance=0), 10, [0.51, 0.5, 0.49, 0.45], [11, 11, 11, 10]),
    "0.05 up, 0.2 down: 1.04, 1.06 x 20 = 21.2, 0.82, 0.78 x 22 = 17.16": (
        hpa(up=rule(100, tolerance=0.05), down=rule(100, tolerance=0.2)), 20, [0.52, 0.53, 0.41, 0.39], [20, 22, 22, 18],
    ),
    "of one: 1.1, 1.102, 0.54 x 2 = 1.08, 0.5 x 2": (hpa(), 1, [0.55, 0.551, 0.27, 0.25], [1, 2, 2, 1]),
    "nothing to do is the least": (hpa(), 5, [0.0, 0.0], [1, 1]),
    "0.3/0.1 x 3 = 9, of which 3 + 4 are allowed": (hpa(target=0.1), 3, [0.3], [7]),
    # stabilisation
    "what is there at the start counts for 300 s": (Hpa(target=0.5), 10, [0.25] * 21, [*[10] * 20, 5]),
    "going up begins no new window: 8 at 0 s": (Hpa(target=0.5), 4, [1.0, *[0.25] * 20], [*[8] * 20, 4]),
    "60 s down: 12 at 0 s": (hpa(down=rule(100, window_s=60)), 12, [0.25] * 5, [*[12] * 4, 6]),
    "60 s down: 6 6 10 6 6 of 12, then 5 5 of 10": (
        hpa(down=rule(100, window_s=60)), 12, [0.25, 0.25, 0.4, *[0.25] * 4], [12, 12, 12, 12, 10, 10, 6],
    ),
    "30 s up: 4 at 0 s": (hpa(up=rule(100, window_s=30)), 4, [1.0] * 3, [4, 4, 8]),
    "30 s up: 8 8 4 8 8 of 4, then 16 of 8": (hpa(up=rule(100, window_s=30)), 4, [1.0, 1.0, 0.5, 1.0, 1.0, 1.0], [4, 4, 4, 4, 8, 8]),
    "30 s both ways: 8 2 8 2 of 4": (hpa(up=rule(100, window_s=30), down=rule(100, window_s=30)), 4, [1.0, 0.25] * 2, [4] * 4),
    "no window down, by the default up": (hpa(), 4, [1.0, 0.25, 1.0], [8, 4, 8]),
    # policies
    "2 pods a minute: from 10 at 0 s, from 8 at 60 s": (hpa(down=rule(pods=2, period_s=60)), 10, [0.05] * 5, [8, 8, 8, 8, 6]),
    "50 % in 30 s: of 10, of 5 (2.5 cut off), of 2": (hpa(down=rule(50, 30)), 10, [0.05] * 5, [5, 5, 2, 2, 1]),
    "the least change: 7 or 5, 4 or 3, 1 or 2, below 0 or 1": (hpa(down=rule(50, pods=3, select="min")), 10, [0.05] * 4, [7, 4, 2, 1]),
    "the largest change: 7 or 5, 2 or 2": (hpa(down=rule(50, pods=3)), 10, [0.05] * 3, [5, 2, 1]),
    "never down": (hpa(down=rule(100, select="disabled")), 10, [0.05, 0.05, 1.0], [10, 10, 20]),
    "never up": (hpa(up=rule(100, select="disabled")), 10, [1.0, 0.25], [10, 5]),
    "4 pods a minute: 2 + 4 within it; at 60 s the first 2 are of before": (
        hpa(up=rule(pods=4, period_s=60)), 2, [1.0] * 5, [4, 6, 6, 6, 8],
    ),
    "default up, asked for twice as many": (hpa(), 1, [1.0] * 4, [2, 4, 8, 16]),
    "default up, asked for ten times: 4 more, then twice": (hpa(), 1, [5.0] * 3, [5, 10, 20]),
    "the least of the default up: 2 or 5, 4 or 6": (hpa(up=rule(100, pods=4, select="min")), 1, [5.0] * 2, [2, 4]),
    "10 % up is rounded up: 12.1, 14.3, 16.5": (hpa(up=rule(10)), 11, [1.0] * 3, [13, 15, 17]),
    "10 % down is cut off: 9.9, 8.1, 7.2, 6.3": (hpa(down=rule(10)), 11, [0.05] * 4, [9, 8, 7, 6]),
    "10 % down of few: 4.5, 3.6, 2.7, 1.8": (hpa(down=rule(10)), 5, [0.05] * 4, [4, 3, 2, 1]),
    "what went up within the period of down: from 4 at 0 s no lower than 3": (
        hpa(down=rule(pods=1, period_s=60)), 4, [1.0, 0.05, 0.05], [8, 3, 3],
    ),
    "bounds last: 16 of 8, then 2.4 of 12": (hpa(least=3, most=12), 8, [1.0, 0.1], [12, 3]),
    # metrics that are missing or late
    "a gap": (hpa(), 4, [1.0, None, None, 1.0], [8, 8, 8, 16]),
    "a gap counts for the window: 12 and 6 at 0 s are past": (
        hpa(down=rule(100, window_s=60)), 12, [0.25, None, None, None, 0.25], [*[12] * 4, 6],
    ),
    "a gap at the start: 12 were there at 0 s": (hpa(down=rule(100, window_s=60)), 12, [None, *[0.25] * 4], [*[12] * 4, 6]),
    "late": (hpa(), 4, [1.0, LATE, 1.0], [8, 8, 16]),
    "not a number": (hpa(), 4, [1.0, NAN, 0.25], [8, 8, 4]),
    # workers that are not ready
    "4 of 8 not ready at 1.0: 4/8 is the target": (hpa(), 4, [1.0, (1.0, 4), 1.0], [8, 8, 16]),
    "2 of 6 not ready at 1.0: 4/6 x 6 / 0.5": (hpa(), 6, [(1.0, 2)], [8]),
    "2 of 6 not ready at 0.2: of the ready 0.4 x 4 = 1.6": (hpa(), 6, [(0.2, 2)], [2]),
    "1 of 5 not ready at 0.65: 2.6/5 is 1.04 of the target": (hpa(), 5, [(0.65, 1)], [5]),
    "all of 3 not ready": (hpa(), 3, [(1.0, 3)], [3]),
}  # fmt: skip


@pytest.mark.parametrize("name", HPA)
def test_hpa(name: str) -> None:
    policy, start, windows, workers = HPA[name]
    assert follow(policy, start, windows, first_s=0, every_s=15) == workers


def kpa(**given: Any) -> Kpa:
    return Kpa.model_validate({"target": 10} | given)


KPA: dict[str, tuple[Kpa, int, list[Window], list[int]]] = {
    "a half of one": (kpa(), 1, [5.0], [1]),
    "exact multiples: 20/10": (kpa(), 1, [20.0], [2]),
    "0.3/0.1 = 3": (kpa(target=0.1), 1, [0.3], [3]),
    "2/1 is panic, in which nobody goes, past 2 + 60 s; 5/10 then": (kpa(), 1, [15.0, *[5.0] * 31], [*[2] * 31, 1]),
    "several at the start are panic until past 2 + 60 s; then a half of 4, of 2": (kpa(), 4, [5.0] * 33, [*[4] * 31, 2, 1]),
    "twice a decision at most, of 10": (kpa(up_rate=2), 1, [100.0] * 4, [2, 4, 8, 10]),
    "no panic below 10: 3.5; 1.75 (half of 4); 1.17; 0.9": (kpa(panic_threshold=10), 1, [35.0, 0.0, 0.0, 0.0], [4, 2, 2, 1]),
    "no mean of what is missing": (kpa(), 1, [15.0, None, None, 5.0], [2] * 4),
    "late and not a number": (kpa(), 1, [LATE, NAN, 15.0], [1, 1, 2]),
    "37.5/10 is twice 2: panic from 4 s on, to past 64 s; half of 4, of 2": (
        kpa(), 1, [15.0, 60.0, *[5.0] * 32], [2, *[4] * 31, 2, 1],
    ),
    "bounds last": (kpa(least=2, most=5), 1, [100.0, 100.0], [5, 5]),
    "least": (kpa(least=2, most=5), 1, [1.0], [2]),
    "6 s: 60/3; 90/3, less than twice 2; 120/3": (kpa(), 1, [10.0, 10.0, 10.0, 40.0, 40.0, 40.0], [1, 1, 1, 2, 3, 4]),
    "12 s of 60 for panic: 8 x 10, 40: 60 of the last 6 / 6": (
        kpa(panic_share=0.2), 1, [*[10.0] * 5, 60.0, 60.0], [1, 1, 1, 1, 1, 2, 3],
    ),
}  # fmt: skip


@pytest.mark.parametrize("name", KPA)
def test_kpa(name: str) -> None:
    policy, start, windows, workers = KPA[name]
    assert follow(policy, start, windows, first_s=2, every_s=2) == workers
