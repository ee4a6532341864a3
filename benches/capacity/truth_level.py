"""How often the interval of `truth.py` holds: simulated services, of which the crossing is known.

    python benches/capacity/truth_level.py [--draws 200] [--first 1]

Services: one or four servers, exponential, constant, two lengths or lognormal (squared coefficient of variation 4), 250 to 1 000/s at
saturation, each run off by 5 or 10 % more (lognormal, mean 1), which no longer run removes. These errors are independent: spells that
several runs of a truth share are not simulated. The limit is what the first four runs say of 75 % of saturation, which a closed loop
tells with 3 %. A run is 5 s, the first half second of which does not count, from empty. A truth has as many runs as fit into 47 s with
0.9 s between them, or ends where it says. Live the time of the search decides how many fit.

"Holds": the middle is off by no more than the half-width, of the true crossing; as `truth.py` states it, an interval symmetric about the
middle that is as wide as Fieller's.
"""

from __future__ import annotations

import argparse
import heapq
import math
from collections.abc import Sequence
from functools import cache

import numpy as np
from numpy.typing import NDArray
from scipy.stats import binomtest
from truth import FIRST, LEVEL, Crossing, TruthRuns  # type: ignore[import-not-found]

RUN_S, WARM_S, BETWEEN_S, BUDGET_S = 5.0, 0.5, 0.9, 47.0
GRID = np.linspace(0.5, 0.94, 12)
LONG = 400_000
LAWS = {"exponential": 1.0, "constant": 0.0, "two lengths": 1.6, "lognormal": 4.0}
FIGURES = ("mean", "p90", "p95")


def times(law: str, count: int, draw: np.random.Generator) -> NDArray[np.float64]:
    """Of service, with mean 1."""
    if law == "exponential":
        return draw.exponential(size=count)
    if law == "two lengths":
        return np.where(draw.random(count) < 1 / 7, 25.0, 4.0) / 7.0
    spread = math.sqrt(math.log1p(LAWS[law]))
    return np.exp(draw.normal(-(spread**2) / 2, spread, count)) if spread else np.ones(count)


def responses(gaps: NDArray[np.float64], served: NDArray[np.float64], servers: int) -> NDArray[np.float64]:
    """Of a queue in the order of arrival, from empty."""
    free, at = [0.0] * servers, 0.0
    found = np.empty(len(gaps))
    for k, (gap, time) in enumerate(zip(gaps.tolist(), served.tolist(), strict=True)):
        at += gap
        end = max(heapq.heappop(free), at) + time
        heapq.heappush(free, end)
        found[k] = end - at
    return found


def figure(values: NDArray[np.float64], name: str) -> float:
    return float(values.mean() if name == "mean" else np.quantile(values, float(name[1:]) / 100))


@cache
def curves(law: str, servers: int) -> dict[str, NDArray[np.float64]]:
    """Each figure at each share of GRID, in service times, by long runs."""
    draw = np.random.default_rng(1)
    gaps, served = draw.exponential(size=LONG), times(law, LONG, draw)
    each = [responses(gaps / share / servers, served, servers) for share in GRID]
    return {name: np.array([figure(one, name) for one in each]) for name in FIGURES}


def truth(law: str, servers: int, name: str, draw: np.random.Generator) -> tuple[Crossing, float, int]:
    """What the runs say, the true crossing, and the number of runs; rates in 1/s."""
    full, noise = draw.uniform(250, 1000), draw.choice([0.05, 0.1])
    runs = TruthRuns(full * math.exp(draw.normal(0, 0.03)))
    spent = 0.0
    while spent + RUN_S <= BUDGET_S and not runs.enough():
        rate = runs.next_rate()
        count = draw.poisson(rate * RUN_S)
        gaps = np.diff(np.sort(draw.uniform(0, RUN_S, count)), prepend=0.0)
        found = responses(gaps, times(law, count, draw) * servers / full, servers)[gaps.cumsum() > WARM_S]
        off = math.exp(draw.normal(-(noise**2) / 2, noise))
        runs = runs.with_run(len(found) / (RUN_S - WARM_S), figure(found, name) * off)
        spent += RUN_S + BETWEEN_S
        runs = runs.limited() if len(runs.rates) == len(FIRST) else runs
    share = float(np.interp(math.log(runs.limit_s * full / servers), np.log(curves(law, servers)[name]), GRID))
    return runs.crossing(), share * full, len(runs.rates)


def row(name: str, found: Sequence[tuple[Crossing, float, int]]) -> str:
    known = [(one, at, runs) for one, at, runs in found if one.known]
    held = sum(abs(one.rate_per_s / at - 1) <= one.half_width for one, at, _ in known)
    level = binomtest(held, len(known)).proportion_ci(0.9, "wilson")
    off = [one.rate_per_s / at - 1 for one, at, _ in known]
    width, runs = (np.median(list(values)) for values in ([o.half_width for o, _, _ in known], [r for *_, r in known]))
    return (
        f"| {name} | {len(known)} of {len(found)} | {held / len(known):.0%} ({level.low:.0%} to {level.high:.0%}) | {width:.1%} | "
        f"{np.mean(off):+.1%} | {np.std(off):.1%} | {runs:.0f} |"
    )


def main(draws: int, first: int) -> None:
    print(
        f"| service | known | {LEVEL:.0%} interval holds | half-width | bias | spread | runs |\n|---|---|---|---|---|---|---|"
    )
    every = []
    for law in LAWS:
        for servers in (1, 4):
            for name in FIGURES:
                draw = np.random.default_rng([first, servers, *map(ord, law + name)])
                every.append((f"{law}, {servers}, {name}", [truth(law, servers, name, draw) for _ in range(draws)]))
                print(row(*every[-1]), flush=True)
    print(row("all but lognormal", [one for name, found in every if "lognormal" not in name for one in found]))
    print(row("all", [one for _, found in every for one in found]))


if __name__ == "__main__":
    parser = argparse.ArgumentParser()
    parser.add_argument("--draws", type=int, default=200)
    parser.add_argument("--first", type=int, default=1)
    given = parser.parse_args()
    main(given.draws, given.first)
