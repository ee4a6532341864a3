"""Background work planted in simulated services: found by a fit of the first half hour, and what it does to predictions of the rest.

    python benches/observe/background.py [--seeds 4] [--first 100] [--out rows.csv]

A row a service: what the fit says of the background work, and of each window of the second half hour whether its mean response time by
class was inside its 90 % interval; the same with the term left out. Half of the services have users that wait; demands, rates and the
work are drawn by the seed. Also twice the load, solved exactly: R = D/(1 - b - XD) of an open one.
"""

from __future__ import annotations

import argparse
import sys
from collections.abc import Iterator, Sequence
from dataclasses import replace
from pathlib import Path
from tempfile import TemporaryDirectory

import numpy as np
import polars as pl
from planted_service import Planted, simulated

import sojourn as sj
from sojourn.errors import FitError
from sojourn.fit import FittedModel
from sojourn.model import Closed, Model
from sojourn.observe import ObservedService
from sojourn.observe.log_windows import log_windows
from sojourn.observe.observe_files import observed_service
from sojourn.observe.observed_windows import ClassMeans, ObservedWindow
from sojourn.observe.request_log import RequestLog
from sojourn.observe.utilisation_series import UtilisationSeries

LEARNT_S, UNTIL_S, WINDOW_S, LEVEL = 1800.0, 3600.0, 60.0, 0.9
WORK = (0.0, 0.0, 0.01, 0.03, 0.1)


def drawn(seed: int) -> Planted:
    """One of the services."""
    rng = np.random.default_rng([seed, 7])
    classes = int(rng.integers(1, 3))
    demands = tuple(float(d) for d in np.exp(rng.uniform(np.log(0.01), np.log(0.15), classes)))
    share = rng.uniform(0.15, 0.6)
    rates = tuple(float(share / classes / d) for d in demands)
    users = int(rng.integers(6, 15)) if seed % 2 else 0
    return Planted(demands, rates, UNTIL_S, float(rng.choice(WORK)), bool(rng.integers(2)), users)


def observed(one: Planted, seed: int) -> tuple[ObservedService, ObservedService]:
    """The first half hour and the second."""
    seen = simulated(one, seed)
    names = tuple(f"wc{i}" for i in range(len(one.demand_s)))
    log = RequestLog(seen.came_s, seen.took_s, seen.of, names)
    series = UtilisationSeries(np.arange(1.0, len(seen.busy) + 1), 1.0, {"cpu": seen.busy})
    parts = []
    for start, end in ((0.0, LEARNT_S), (LEARNT_S, UNTIL_S)):
        windows, users, more = log_windows(log, [series], start, end, WINDOW_S)
        parts.append(observed_service(windows, users, {}, "planted", more))
    return parts[0], parts[1]


def plain(window: ObservedWindow) -> ObservedWindow:
    """As of counters."""
    classes = {
        name: ClassMeans(one.rate_per_s, one.response_s, think_s=one.think_s) for name, one in window.classes.items()
    }
    return replace(window, classes=classes)


def without(model: Model) -> Model:
    return replace(model, stations=tuple(replace(s, background=0.0) for s in model.stations))


def fitted(learnt: ObservedService, model: Model) -> FittedModel:
    with TemporaryDirectory() as folder:
        return sj.fit(learnt.write(Path(folder)), model)


def judged(found: FittedModel, rest: ObservedService) -> Iterator[tuple[float, float, float, float]]:
    """(predicted, low, high, measured) of each window and class, at the load of the window where it does not wait."""
    names = [one.name for one in found.model.classes]
    for window in rest.windows:
        factors = {}
        for one in found.model.classes:
            own = window.classes[one.name]
            if isinstance(one, Closed):
                factors["think_s" if len(names) == 1 else f"think_{one.name}_s"] = one.think_s
            else:
                factors["rate_per_s" if len(names) == 1 else f"rate_{one.name}_per_s"] = own.rate_per_s
        table = sj.predict(found, factors, LEVEL).frame.filter(
            pl.col("station") == "", pl.col("metric") == "response_time"
        )
        for name in names:
            if (measured := window.classes[name].response_s) is not None:
                row = (
                    table.filter(pl.col("class") == ("" if len(names) == 1 else name))
                    .select("value", "low", "high")
                    .row(0)
                )
                yield (*row, measured)


def rows(seed: int, terms: Sequence[str], counters: bool) -> Iterator[dict[str, object]]:
    one = drawn(seed)
    learnt, rest = observed(one, seed)
    assert learnt.model is not None
    learnt = replace(learnt, windows=[plain(one) for one in learnt.windows]) if counters else learnt
    for name in terms:
        model = learnt.model if name == "background" else without(learnt.model)
        told: dict[str, object] = {
            "seed": seed, "term": name, "users": one.users, "classes": len(one.demand_s), "background": one.background,
            "bursts": one.bursts, "share": float(np.dot(one.rate_per_s, one.demand_s)),
        }  # fmt: skip
        try:
            found = fitted(learnt, model)
        except FitError as error:
            yield told | {"refused": str(error)}
            continue
        values = np.array(list(judged(found, rest)), float)
        predicted, low, high, measured = values.T
        high = np.where(np.isnan(high), np.inf, high)
        own = found.estimates.get("stations.cpu.background")
        inside = [found.estimates[f"demands_s.cpu.wc{i}.mean"] for i in range(len(one.demand_s))]
        demands = [found.estimates[f"demands_s.cpu.wc{i}.mean"].value / d - 1 for i, d in enumerate(one.demand_s)]
        yield told | {
            "found": own and own.value, "low": own and own.low, "high": own and own.high, "demand_error": float(np.mean(demands)),
            "demands_inside": sum(e.low <= d <= e.high for e, d in zip(inside, one.demand_s, strict=True)),
            "inside": int(((low <= measured) & (measured <= high)).sum()), "means": len(measured),
            "error": float(np.median(np.abs(predicted / measured - 1))), "bias": float(np.mean(np.log(predicted / measured))),
            "half": float(np.median((high - low) / 2 / predicted)),
        }  # fmt: skip


def main(arguments: Sequence[str]) -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--seeds", type=int, default=4)
    parser.add_argument("--first", type=int, default=100)
    parser.add_argument(
        "--counters", action="store_true", help="windows without intervals of their own, as of counters"
    )
    parser.add_argument("--terms", nargs="*", default=["background", "none"])
    parser.add_argument("--out", type=Path)
    asked = parser.parse_args(arguments)
    found = []
    for seed in range(asked.first, asked.first + asked.seeds):
        for row in rows(seed, asked.terms, asked.counters):
            found.append(row)
            print({k: round(v, 4) if isinstance(v, float) else v for k, v in row.items()}, flush=True)
    table = pl.DataFrame(found, infer_schema_length=None)
    print(summary(table))
    if asked.out:
        table.write_csv(asked.out)


def summary(table: pl.DataFrame) -> pl.DataFrame:
    """By term, and whether there was such work."""
    return table.group_by("term", work=pl.col("background") > 0).agg(
        pl.len().alias("services"), pl.col("error").median(), pl.col("bias").abs().median().alias("|bias|"),
        pl.col("demand_error").abs().median().alias("|demand|"), (pl.col("inside").sum() / pl.col("means").sum()).alias("inside"),
        pl.col("half").median(), (pl.col("background").is_between(pl.col("low"), pl.col("high"))).sum().alias("true inside"),
        (pl.col("demands_inside").sum() / pl.col("classes").sum()).alias("demands inside"),
    ).sort("work", "term")  # fmt: skip


if __name__ == "__main__":
    with pl.Config(tbl_cols=20, tbl_width_chars=160):
        main(sys.argv[1:])
