"""Rival models of which one is true: do the averaged intervals hold, whichever it is?

    python benches/fit/rivals.py --seeds 60 --out FOLDER [--first 0] [--passes 4000] [--only WORDS]

Each pair (`PAIRS`) and seed draws which model is true and its numbers, simulates runs, fits both (`fit_rivals`), and asks 90 %
intervals of new runs at a load between those fitted and at twice the highest, and of the saturation rate: by the average, and by
the named model alone. FOLDER/rivals.json has the counts, FOLDER/rivals.parquet a row an interval, as text. Simulations, no load.
"""

from __future__ import annotations

import argparse
import json
from collections.abc import Mapping
from concurrent.futures import ProcessPoolExecutor
from dataclasses import dataclass
from itertools import product
from pathlib import Path
from typing import Any

import numpy as np
import polars as pl
from recovery import simulated
from templates import ANY, BOTH, CPU, NET, OPEN, ZERO, Template, rates

from sojourn.errors import SojournError
from sojourn.fit.fit_runs import FitRuns
from sojourn.fit.rival_models import fit_rivals
from sojourn.model import Model
from sojourn.model.unknown_parameters import replaced
from sojourn.solve.open.open_rates import TrafficSolution

LEVEL = 0.9
SPREAD = 1.3  # of the numbers of the truth, up and down
CPU_, NET_, LOCK_ = ("demands_s.cpu.user", "demands_s.net.user", "demands_s.lock.user")
DRAWN_FIELDS = ("pair", "seed", "truth", "named", "weight_of_truth", "asked", "by", "measured", "low", "high", "held")


@dataclass(frozen=True)
class Pair:
    """`models`: name → text and the numbers of a truth; `levels` fitted, `beyond` predicted."""

    models: Mapping[str, tuple[str, Mapping[str, float]]]
    levels: tuple[float, ...]
    beyond: tuple[float, ...]


LOCK = f"[demands_s]\ncpu = {{ user = {ANY} }}\nlock = {{ user = {ZERO} }}\n"
PAIRS = {
    "two servers, or one and a delay": Pair(
        {"two": ("[stations.cpu]\nservers = 2\n" + OPEN + CPU, {CPU_: 0.02}),
         "one": ("[stations.cpu]\n" + NET + OPEN + BOTH, {CPU_: 0.009, NET_: 0.011})},
        (8, 14, 20, 26, 32), (23, 64)),
    "four cores, with a lock or without": Pair(
        {"cores": ("[stations.cpu]\nservers = 4\n" + OPEN + CPU, {CPU_: 0.02}),
         "lock": ("[stations.cpu]\nservers = 4\n[stations.lock]\n" + OPEN + LOCK, {CPU_: 0.02, LOCK_: 0.004})},
        (20, 32, 44, 56, 68), (50, 112)),
    "four workers, or eight": Pair(
        {"four": ("[stations.cpu]\nservers = 4\n" + OPEN + CPU, {CPU_: 0.02}),
         "eight": ("[stations.cpu]\nservers = 8\n" + OPEN + CPU, {CPU_: 0.02})},
        (20, 32, 44, 56, 68), (50, 112)),
}  # fmt: skip


def drawn(name: str, seed: int, passes: int) -> list[tuple[Any, ...]]:
    """Rows of one draw, as in `DRAWN_FIELDS`."""
    pair = PAIRS[name]
    rng = np.random.default_rng([seed, list(PAIRS).index(name)])
    true = str(rng.choice(list(pair.models)))
    text, usual = pair.models[true]
    numbers = {path: value * float(SPREAD ** rng.uniform(-1, 1)) for path, value in usual.items()}
    service = Template(text, numbers, rates(*pair.levels), rates(*pair.beyond))
    base = 10_000_000 + 100_000 * list(PAIRS).index(name) + 100 * seed
    runs = FitRuns([simulated(service, level, passes, base + i) for i, level in enumerate(service.levels)])
    try:
        chosen = fit_rivals(runs, {one: Model.parse(text) for one, (text, _) in pair.models.items()}, seed=seed)
    except SojournError as error:
        return [(name, seed, true, "refused", str(error), "", "", "", "", "", "")]
    weight = next((w for w, model in chosen.best.weighted if model.model.name == true), 0.0)
    limit = float(TrafficSolution.of([replaced(Model.parse(text), numbers).network]).saturation[0])
    asked: list[tuple[str, float, float]] = [("saturation_rate", pair.beyond[-1], limit)]
    for i, level in enumerate(service.beyond):
        if level["rate_per_s"] < 0.95 * limit:
            later = simulated(service, level, passes, base + 50 + i)
            asked.append(("response_time", level["rate_per_s"], later.means["", "response_time"][0]))
    rows = []
    for (metric, rate, measured), (by, fitted) in product(
        asked, (("average", chosen.best), ("named alone", chosen.fits[chosen.name]))
    ):
        row = fitted.predict({"rate_per_s": rate}, LEVEL).frame.filter(metric=metric, station="").row(0, named=True)
        low, high = row["low"], row["high"]
        held = low is not None and low <= measured and (high is None or measured <= high)
        what = metric if metric == "saturation_rate" else "beyond" if rate == pair.beyond[-1] else "between"
        rows.append((name, seed, true, chosen.name, round(weight, 4), what, by, measured, low, high, int(held)))
    return rows


def summary(rows: list[dict[str, Any]]) -> dict[str, Any]:
    """Shares of intervals that hold, by pair, by what was asked and by whom."""
    found: dict[str, Any] = {}
    for pair in [*PAIRS, "all"]:
        own = [row for row in rows if pair in (row["pair"], "all")]
        once = {(r["pair"], r["seed"]): r for r in own}.values()
        found[pair] = {
            "draws": len(once),
            "refused": sum(r["named"] == "refused" for r in once),
            "truth named": sum(r["named"] == r["truth"] for r in once),
            "weight of the truth below 0.02": sum(r["named"] != "refused" and float(r["weight_of_truth"]) < 0.02 for r in once),
            "averaged": sum(r["named"] != "refused" and 0.02 <= float(r["weight_of_truth"]) <= 0.98 for r in once),
        }  # fmt: skip
        for by, what in product(("average", "named alone"), ("between", "beyond", "saturation_rate")):
            held = [int(r["held"]) for r in own if (r["by"], r["asked"]) == (by, what)]
            found[pair][f"{by}, {what}"] = (
                f"{sum(held)} of {len(held)}, {100 * np.mean(held):.1f} %" if held else "none"
            )
    return found


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0] if __doc__ else "")
    parser.add_argument("--seeds", type=int, default=40)
    parser.add_argument("--first", type=int, default=0)
    parser.add_argument("--out", type=Path, required=True)
    parser.add_argument("--only", default="", help="pairs with this in their name")
    parser.add_argument("--passes", type=int, default=4000)
    asked = parser.parse_args()
    asked.out.mkdir(parents=True, exist_ok=True)
    todo = [
        (name, seed) for seed in range(asked.first, asked.first + asked.seeds) for name in PAIRS if asked.only in name
    ]
    with ProcessPoolExecutor(2) as pool:
        found = [row for rows in pool.map(drawn, *zip(*todo, strict=True), [asked.passes] * len(todo)) for row in rows]
    rows = [dict(zip(DRAWN_FIELDS, map(str, row), strict=True)) for row in found]
    pl.DataFrame(rows).write_parquet(asked.out / "rivals.parquet")
    told = summary(rows)
    told |= {"seeds": [asked.first, asked.first + asked.seeds - 1], "passes": asked.passes, "level": LEVEL}
    (asked.out / "rivals.json").write_text(json.dumps(told, indent=1) + "\n")
    print(json.dumps(told, indent=1))


if __name__ == "__main__":
    main()
