"""`sojourn capacity` on simulated services of known truth: how often its interval holds, how wide it is, what it spent, how far it went.

    python benches/capacity/run.py --first SEED --seeds N --out FOLDER [--peer-every 3]
    python benches/capacity/run.py --summary FOLDER

Each seed draws a service and an objective: the mean or p99 below a limit that is met up to 60 to 92 % of saturation. The services:

    cores      1 to 8 workers that compute, CPU time recorded
    delay      1 to 4 workers behind a constant delay of 1 to 5 times their own time
    lock       8 or 16 workers, a part of whose work only one can do at a time
    pool       32 workers with 2 or 4 connections to what they wait for
    growing    2 to 8 workers that compute, and whose time grows with how many are at work, by 20 to 60 %

with constant, exponential or uneven times of 2 to 20 ms; the number of workers is told to half of the searches. The search is the
product's (`sojourn.capacity.search`) with its defaults, on run folders of 4 to 20 s that are made by a recursion in
numpy; the truth is a long run of the same recursion. Nothing is measured: others may use the machine. A row a service is appended to
FOLDER/raw.csv as soon as it is there.

`bisection` is what the search replaces: rates by 1.5 up to one that misses, then the middle, until half of what is left is as narrow,
over its middle, as half of the interval of the search. A run of 15 s is repeated until the 90 % interval of its batches (20 a run, of
the mean or of the share of requests above the limit) excludes the limit, at most 4 times, then its middle decides. The last halving
goes further than was asked: of its requests only the share ln(before/asked)/ln(before/after) counts. Why this bisection: README.md.
"""

from __future__ import annotations

import argparse
import csv
import sys
import tempfile
from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np
import polars as pl
from scipy import stats

from sojourn.capacity import SearchLimits, search
from sojourn.query.objectives import read_objectives

sys.path.insert(0, str(Path(__file__).resolve().parents[2] / "tests/unit/capacity"))
from virtual_service import VirtualService, figure_of  # type: ignore[import-not-found]

KINDS = ("cores", "delay", "lock", "pool", "growing")
LAWS = ("constant", "exponential", "uneven")
SEARCH_RUN_S = 20.0  # the longest run of a search of three minutes
RUN_S, BATCHES, REPEATS, LEVEL = 15.0, 20, 4, 0.9
UP, MOST_RUNS = 1.5, 60


def drawn(seed: int, out: Path) -> tuple[str, VirtualService, str, float]:
    """A kind, a service of it, a figure, and the limit in s."""
    random = np.random.default_rng([seed, 29])
    kind = str(random.choice(KINDS))
    time_s = float(np.exp(random.uniform(np.log(2e-3), np.log(20e-3))))
    given: dict[str, Any] = {"service_s": time_s, "law": str(random.choice(LAWS)), "told": bool(random.random() < 0.5)}
    if kind == "cores":
        given |= {"workers": int(random.choice([1, 2, 4, 8])), "watched": True, "delay_s": 0.0003}
    elif kind == "delay":
        given |= {"workers": int(random.choice([1, 2, 4])), "delay_s": time_s * float(random.uniform(1, 5))}
    elif kind == "lock":
        given |= {"workers": int(random.choice([8, 16])), "then_s": time_s / float(random.uniform(1, 3))}
    elif kind == "pool":
        given |= {"workers": 32, "seconds": int(random.choice([2, 4])), "then_s": time_s * float(random.uniform(2, 5))}
    else:
        given |= {"workers": int(random.choice([2, 4, 8])), "grows": float(random.uniform(0.2, 0.6)), "watched": True}
    service = VirtualService(out, seed=seed, **given)
    figure = str(random.choice(["mean", "p99"]))
    limit = figure_of(figure, service.long_run(float(random.uniform(0.6, 0.92)) * service.full_per_s))
    return kind, service, figure, float(f"{limit * 1e3:.3g}") / 1e3


def bisection(service: VirtualService, figure: str, limit_s: float, half_width: float) -> dict[str, Any]:
    """Runs, requests and the last two rates of a bisection to that half-width."""
    random = np.random.default_rng([service.seed, 41])
    spent = {"runs": 0, "requests": 0}
    low, high = 0.0, float("inf")
    rate = 0.55 * service.light().borne_per_s
    width, before, needed = float("inf"), float("inf"), 0
    while spent["runs"] < MOST_RUNS and not width <= half_width:
        before, needed = width, spent["requests"]
        if _met(lambda at=rate: _one(service, at, random, spent), figure, limit_s):
            low = rate
        else:
            high = rate
        rate = low * UP if high == float("inf") else (low + high) / 2
        width = (high - low) / (high + low) if high < float("inf") else float("inf")
    share = np.log(before / half_width) / np.log(before / width) if before < float("inf") else 1.0
    spent["requests"] = round(needed + min(share, 1.0) * (spent["requests"] - needed))
    return {**spent, "low": low, "high": high}


def _one(service: VirtualService, rate: float, random: np.random.Generator, spent: dict[str, int]) -> np.ndarray:
    """Response times of a run, s."""
    arrivals, times = service.responses(rate, int(rate * RUN_S * 1.2) + 50, random)
    times = times[arrivals < RUN_S]
    spent["runs"] += 1
    spent["requests"] += len(times)
    return times


def _met(run: Callable[[], np.ndarray], figure: str, limit_s: float) -> bool:
    """By runs of which each has batches, until they are clear or enough."""
    batches: list[float] = []
    centre = 0.0
    for _ in range(REPEATS):
        times = run()
        times = times[len(times) // 10 :]  # the start
        values = times if figure == "mean" else (times > limit_s).astype(float)
        batches += [float(part.mean()) for part in np.array_split(values, BATCHES)]
        limit = limit_s if figure == "mean" else 1 - float(figure[1:]) / 100
        centre = float(np.mean(batches))
        error = float(np.std(batches, ddof=1) / np.sqrt(len(batches)))
        if abs(centre - limit) > stats.t.ppf((1 + LEVEL) / 2, len(batches) - 1) * error:
            break
    return centre < (limit_s if figure == "mean" else 1 - float(figure[1:]) / 100)


def row(seed: int, peer: bool = True) -> dict[str, Any]:
    """One search beside its truth; `peer`: and beside the bisection."""
    with tempfile.TemporaryDirectory() as place:
        kind, service, figure, limit = drawn(seed, Path(place))
        truth = service.truth(figure, limit)
        objectives = read_objectives([f"{figure} < {limit * 1e3:.3g}ms"])
        found = search(service.run, service.light(), objectives, SearchLimits(within_s=86400), run_s=SEARCH_RUN_S)
        requests, most = service.requests, max(service.asked) / service.full_per_s
        rate = found.rate_per_s
        both = rate is not None and rate.high is not None
        low, high = (rate.low, rate.high) if rate is not None else (None, None)
        width = rate.half_width if rate is not None and both else None
        other = bisection(service, figure, limit, width) if width and peer else {}
        return {
            "seed": seed, "kind": kind, "workers": service.workers, "told": service.told, "law": service.law,
            "service_s": service.service_s, "then_s": service.then_s, "seconds": service.seconds, "delay_s": service.delay_s,
            "grows": service.grows, "figure": figure, "limit_s": limit, "truth": truth, "share": truth / service.full_per_s,
            "value": rate.value if rate else None, "low": low, "high": high, "half_width": width, "answered": found.answered,
            "inside": both and low <= truth <= high, "runs": len(found.runs), "requests": requests, "most": most,
            "bisection_runs": other.get("runs"), "bisection_requests": other.get("requests"),
            "bisection_inside": other["low"] <= truth <= other["high"] if other else None,
            "saturation": found.saturation_per_s.value if found.saturation_per_s else None,
            "limits": found.limit.text if found.limit else "",
            "model": found.model, "stopped": found.stopped, "notes": " | ".join((*found.notes, found.why)),
        }  # fmt: skip


def summary(file: Path) -> str:
    """Of all rows, and by kind."""
    frame = pl.read_csv(file, infer_schema_length=None)
    parts = [("all", frame), *((str(kind), part) for (kind,), part in frame.group_by("kind", maintain_order=True))]
    lines = [
        "| | services | answer | inside | half-width | runs | highest rate | requests | requests, of bisection | bisection inside |"
    ]
    lines.append("|---|---|---|---|---|---|---|---|---|---|")
    for name, part in parts:
        good = part.filter(pl.col("answered"))
        share = good["requests"] / good["bisection_requests"]
        lines.append(
            f"| {name} | {part.height} | {good.height} | {good['inside'].sum()} | {good['half_width'].median():.1%} | "
            f"{part['runs'].median():.0f}, at most {part['runs'].max()} | {part['most'].max():.2f} | {part['requests'].median():.0f} | "
            f"{_two(share.median())} | {good['bisection_inside'].sum()} of {share.count()} |"
        )
    inside, count = int(frame.filter("answered")["inside"].sum()), frame.filter("answered").height
    level = stats.binomtest(inside, max(count, 1)).proportion_ci(LEVEL, "wilson")
    return "\n".join(
        [*lines, f"\ninside {inside} of {count}: {level.low:.0%} to {level.high:.0%} ({LEVEL:.0%}, Wilson)"]
    )


def _two(value: object) -> str:
    return f"{value:.2f}" if isinstance(value, float) else "not bisected"


def main() -> None:
    parser = argparse.ArgumentParser()
    parser.add_argument("--first", type=int, default=401)
    parser.add_argument("--seeds", type=int, default=20)
    parser.add_argument("--out", type=Path)
    parser.add_argument("--peer-every", type=int, default=1, help="of how many services one is bisected, too")
    parser.add_argument("--summary", type=Path, help="a folder with raw.csv: only the table")
    given = parser.parse_args()
    if given.summary is not None or given.out is None:
        print(summary((given.summary or Path()) / "raw.csv"))
        return
    given.out.mkdir(parents=True, exist_ok=True)
    for seed in range(given.first, given.first + given.seeds):
        found = row(seed, (seed - given.first) % given.peer_every == 0)
        new = not (given.out / "raw.csv").exists()
        with open(given.out / "raw.csv", "a", newline="") as file:
            writer = csv.DictWriter(file, list(found), lineterminator="\n")
            if new:
                writer.writeheader()
            writer.writerow({k: f"{v:.6g}" if isinstance(v, float) else v for k, v in found.items()})
        print(found["seed"], found["kind"], found["inside"], found["half_width"], found["runs"], flush=True)


if __name__ == "__main__":
    main()
