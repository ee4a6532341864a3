"""Pauses in a simulated service: planted by a clock, or after so many answers; none where there are none."""

from __future__ import annotations

import heapq
import re
from pathlib import Path

import numpy as np
import pytest

from sojourn.diagnosis import lines
from sojourn.diagnosis.load_levels import diagnose
from sojourn.runs.pauses import find_pauses, grow_with_load, together
from sojourn.simulate.simulated_folder import write_run

LAWS = {
    "constant": lambda random, n: np.ones(n),
    "exponential": lambda random, n: random.exponential(1.0, n),
    "erlang": lambda random, n: random.gamma(3.0, 1 / 3, n),
}


def served(
    rate: float,
    servers: int,
    law: str,
    seed: int,
    every_s: float = 0.0,
    every: int = 0,
    pause_s: float = 0.05,
    until_s: float = 20.0,
) -> tuple[np.ndarray, np.ndarray, int]:
    """Sent, answered and the number of pauses of FCFS servers of 4 ms, all of which stop for a pause: event by event."""
    random = np.random.default_rng(seed)
    came = np.cumsum(random.exponential(1 / rate, int(rate * until_s * 1.2)))
    came = came[came < until_s]
    service = 0.004 * LAWS[law](random, len(came))
    busy: list[tuple[float, int]] = []
    free, waiting, answered = servers, [], np.full(len(came), np.nan)
    next_, done, pauses, stopped = 0, 0, 0, 0.0
    clock = random.exponential(every_s) if every_s else np.inf
    while next_ < len(came) or busy:
        at = min(came[next_] if next_ < len(came) else np.inf, busy[0][0] if busy else np.inf, clock)
        stop = False
        if at == clock:
            stop, clock = True, at + pause_s + random.exponential(every_s)
            if next_ >= len(came):
                clock = np.inf
        elif busy and at == busy[0][0]:
            _, own = heapq.heappop(busy)
            answered[own], free, done = at, free + 1, done + 1
            stop = bool(every and done % every == 0)
        else:
            waiting.append(next_)
            next_ += 1
        if stop:
            pauses += 1
            stopped = at + pause_s
            busy = [(end + pause_s, own) for end, own in busy]
        while free and waiting:
            own = waiting.pop(0)
            heapq.heappush(busy, (max(at, stopped) + service[own], own))
            free -= 1
    return came, answered, pauses


@pytest.mark.parametrize("law", LAWS)
@pytest.mark.parametrize("servers", [1, 2])
def test_pauses_by_a_clock_are_found_and_counted(law: str, servers: int) -> None:
    rate = 120.0 * servers
    sent, answered, planted = served(rate, servers, law, 3, every_s=1.5, pause_s=0.12)
    found = find_pauses(sent, answered, (0.0, 20.0))
    assert planted >= 8 and 0.7 * planted <= len(found.lengths_s) <= planted
    assert found.mean_s == pytest.approx(0.12, rel=0.1)


@pytest.mark.parametrize("law", LAWS)
@pytest.mark.parametrize("servers", [1, 2, 8])
def test_none_are_found_where_there_are_none(law: str, servers: int) -> None:
    runs = [find_pauses(*served(share * servers / 0.004, servers, law, 5)[:2], (0.0, 20.0)) for share in (0.2, 0.6)]
    assert together(runs) is None


def test_pauses_after_so_many_answers_grow_with_the_load() -> None:
    """One after 150 answers at 45, 90, 135 and 180/s, and by a clock of 1.5 s."""
    rates = (45.0, 90.0, 135.0, 180.0)
    work = [find_pauses(*served(rate, 1, "constant", 7, every=150)[:2], (0.0, 20.0)) for rate in rates]
    clock = [find_pauses(*served(rate, 1, "constant", 7, every_s=1.5)[:2], (0.0, 20.0)) for rate in rates]
    assert grow_with_load(work) and not grow_with_load(clock)
    whole = together(work)
    assert whole is not None and len(whole.lengths_s) / whole.answers == pytest.approx(1 / 150, rel=0.35)


def test_what_pauses_add_is_what_a_simulation_shows() -> None:
    """One server of constant 4 ms at 125/s, pauses of 50 ms every 1.5 s on average: 1/(1.55) x 50 ms^2/(2(1 - 0.5)/0.97), against runs
    without pauses; the fluid limit, so that a quarter is allowed."""
    with_them, without = (
        np.mean([np.nanmean(answered - sent) for sent, answered, _ in
                 (served(125.0, 1, "constant", seed, every_s=every_s) for seed in range(8))])
        for every_s in (1.5, 0.0)
    )  # fmt: skip
    found = together(
        [find_pauses(*served(125.0, 1, "constant", seed, every_s=1.5)[:2], (0.0, 20.0)) for seed in range(8)]
    )
    assert found is not None
    assert found.adds_s(0.5) == pytest.approx(with_them - without, rel=0.25)


def test_a_diagnosis_says_that_a_service_pauses(tmp_path: Path) -> None:
    """Runs of 20 s, one pause of 50 ms after 150 answers; and the same service without."""
    for name, every in (("with", 150), ("without", 0)):
        for rate in (45.0, 90.0, 135.0, 180.0):
            sent, answered, _ = served(rate, 1, "constant", 7, every=every)
            about = {"name": f"rate-{rate:g}", "factors": {"rate_per_s": rate}, "duration_s": 20.0}
            write_run(
                tmp_path / name / about["name"], manifest=about, requests={"intended_s": sent, "done_s": answered}
            )
    (told,), (quiet,) = (diagnose([tmp_path / name]).values() for name in ("with", "without"))
    assert (
        re.match(r"it pauses: on average for (4[6-9]|5[0-4])\.\d ms", told.pauses)
        and "one after 1" in told.pauses
        and quiet.pauses == ""
    )
    assert any("it pauses" in line for line in lines({"": told}))
