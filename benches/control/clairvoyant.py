"""The cheapest schedule that knows the rate: what `model`'s core-hours are compared with.

python benches/control/clairvoyant.py --first 301 --seeds 5

Start: for each 2 s the workers m that make m + price x rate x P(late in M/M/m) least, with the price at which 0.9 % are late over the
training seeds; by Lagrange that is the cheapest schedule where queues follow the rate at once. They do not, so a local search follows: one
worker less over a block of 60 s, kept where no more than 1 % are late over the training seeds. Then the schedule is judged, and
`model` beside it, on seeds that the search did not see.
"""

from __future__ import annotations

import argparse
import csv
import math
import sys
from collections.abc import Sequence
from concurrent.futures import ProcessPoolExecutor
from pathlib import Path
from statistics import mean
from typing import Any

HERE = Path(__file__).resolve().parent
sys.path[:0] = [str(HERE), str(HERE.parent)]  # benches has a run.py, too

from record import new_folder  # noqa: E402
from run import CLAIRVOYANT, MOST, OURS, SERVICE_S, run  # noqa: E402

import sojourn as sj  # noqa: E402
from sojourn.control import GuardRails, Load, Schedule, made, simulate  # noqa: E402
from sojourn.control.load_trace import NAMED  # noqa: E402

LIMIT_S, ALLOWED, START = 0.3, 0.01, 0.009
TRAINING = (901, 902)
STEP_S = 2
BLOCKS = (30,)  # steps


def late(rate_per_s: float, workers: int) -> float:
    """P(response > LIMIT_S) of M/M/m, first come first served (Gross et al., Fundamentals of Queueing Theory, section 3.3); 1 where
    it is not stable."""
    mu, offered = 1 / SERVICE_S, rate_per_s * SERVICE_S
    if offered >= workers:
        return 1.0
    blocked = 1.0  # Erlang B, then C
    for m in range(1, workers + 1):
        blocked = offered * blocked / (m + offered * blocked)
    wait = blocked / (1 - offered / workers * (1 - blocked))
    spare = workers * mu - rate_per_s
    if abs(spare - mu) < 1e-9:
        both = (1 + mu * LIMIT_S) * math.exp(-mu * LIMIT_S)
    else:
        both = (spare * math.exp(-mu * LIMIT_S) - mu * math.exp(-spare * LIMIT_S)) / (spare - mu)
    return (1 - wait) * math.exp(-mu * LIMIT_S) + wait * both


def rates(load: Load) -> list[float]:
    """The largest in each step."""
    each = int(STEP_S / load.step_s)
    return [max(load.rates_per_s[k : k + each]) for k in range(0, len(load.rates_per_s), each)]


def priced(load: Load, price: float) -> list[int]:
    def cost(rate: float, workers: int) -> float:
        return workers + price * rate * late(rate, workers)

    cache: dict[float, int] = {}
    for rate in rates(load):
        if rate not in cache:
            cache[rate] = min(range(1, MOST + 1), key=lambda m, r=rate: cost(r, m))  # type: ignore[misc]
    return [cache[rate] for rate in rates(load)]


def seen(load: Load, workers: Sequence[int], seeds: Sequence[int]) -> dict[str, float]:
    """Means over the seeds."""
    pool = sj.Model(
        stations=[sj.Queue("pool", servers=12)],
        classes=[sj.Open("request", rate_per_s=240)],
        service_s={"pool": {"request": SERVICE_S}},
    )
    at = tuple((STEP_S * float(k), m) for k, m in enumerate(workers) if k == 0 or m != workers[k - 1])
    decide = Schedule(at=at, period_s=STEP_S)
    found = [simulate(decide, pool, load, seed, rails=GuardRails(most=MOST)).figures.to_dict() for seed in seeds]
    return {name: mean(one[name] for one in found) for name in ("late_requests", "core_hours", "changes")}


def searched(name: str) -> list[int]:
    """The schedule of one load."""
    load = made(name)
    low, high = 0.0, 100.0  # of the price: more of it, fewer late
    for _ in range(10):
        price = (low + high) / 2
        if seen(load, priced(load, price), TRAINING[:1])["late_requests"] > START:
            low = price
        else:
            high = price
    best = priced(load, high)
    while seen(load, best, TRAINING)["late_requests"] > ALLOWED:
        high *= 1.1
        best = priced(load, high)
    for block in BLOCKS:
        for k in range(0, len(best), block):
            tried = [max(m - 1, 1) if k <= j < k + block else m for j, m in enumerate(best)]
            if seen(load, tried, TRAINING)["late_requests"] <= ALLOWED:
                best = tried
    return best


def judged(task: tuple[str, tuple[int, ...], int]) -> list[dict[str, Any]]:
    name, workers, seed = task
    rows = [{"policy": "searched", **seen(made(name), workers, [seed])}]
    for policy in (OURS, CLAIRVOYANT):
        found = run((policy, name, seed, 0.0))
        rows.append({"policy": policy, **{key: found[key] for key in ("late_requests", "core_hours", "changes")}})
    return [{"load": name, "seed": seed, **row} for row in rows]


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--seeds", type=int, default=5)
    parser.add_argument("--first", type=int, default=301)
    parser.add_argument("--loads", default=",".join(NAMED), help="names, with commas")
    given = parser.parse_args()
    loads = given.loads.split(",")
    folder = new_folder(HERE.parent, HERE.name, {}, "-clairvoyant")
    with ProcessPoolExecutor(2) as pool:
        schedules = dict(zip(loads, pool.map(searched, loads), strict=True))
        tasks = [
            (name, tuple(schedules[name]), seed)
            for name in loads
            for seed in range(given.first, given.first + given.seeds)
        ]
        rows = [row for part in pool.map(judged, tasks) for row in part]
    with open(folder / "raw.csv", "w", newline="") as file:
        writer = csv.DictWriter(file, list(rows[0]))
        writer.writeheader()
        writer.writerows(rows)
    lines = ["| policy | late requests | core-hours | changes |", "|---|---|---|---|"]
    for policy in ("searched", CLAIRVOYANT, OURS):
        of = [row for row in rows if row["policy"] == policy]
        told = [mean(row[key] for row in of) for key in ("late_requests", "core_hours", "changes")]
        lines.append(f"| {policy} | {100 * told[0]:.2f} % | {told[1]:.2f} | {told[2]:.0f} |")
    for name in loads:
        of = {p: [r for r in rows if r["policy"] == p and r["load"] == name] for p in ("searched", OURS)}
        told = [mean(r["core_hours"] for r in of[p]) for p in ("searched", OURS)]
        share = mean(r["late_requests"] for r in of["searched"])
        lines.append(
            f"{name}: {told[0]:.2f} searched ({100 * share:.2f} % late), {told[1]:.2f} ours, ratio {told[1] / told[0]:.3f}"
        )
    text = "\n".join(lines) + "\n"
    (folder / "summary.md").write_text(text)
    print(text)


if __name__ == "__main__":
    main()
