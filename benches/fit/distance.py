"""Do intervals hold beyond what was fitted, by distance: services that are not what is fitted to them, and the same where they are.

    python benches/fit/distance.py --seeds 60 --first SEED --out FOLDER [--only WORDS] [--right]

Each service (`SERVICES`) has a number that the fitted model lacks, drawn for each seed; with `--right` it is none, and the model is right.
Runs are what the true model says, off at random by 3 % (response time) and 1 % (throughput). Intervals at 90 % of new runs at 1, 1.5,
2 and 4 times the largest level that was fitted: with the model's error grown by the distance, and without. FOLDER/distance.csv has a row
an interval, FOLDER/distance.md the table. Nothing is measured: a busy machine does not matter.
"""

from __future__ import annotations

import argparse
import csv
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any

import numpy as np
import polars as pl
from templates import ANY, CLOSED, OPEN

import sojourn as sj
from sojourn.errors import SojournError
from sojourn.fit.fit_runs import FitRun, FitRuns
from sojourn.fit.fitted_model import FittedModel
from sojourn.fit.model_fit import fit
from sojourn.model import Model
from sojourn.query.sources.configured import configured
from sojourn.solve.open.open_rates import TrafficSolution

LEVEL, TIMES, OFF = 0.9, (1.0, 1.5, 2.0, 4.0), {"response_time": 0.03, "throughput": 0.01}
FIELDS = ("service", "seed", "times", "grown", "point", "measured", "predicted", "low", "high", "held")
Point = dict[str, Any]
Random = np.random.Generator


@dataclass(frozen=True)
class Service:
    """`fitted`: the model with unknowns; `real`: the text of the true model, from the number that the other lacks, which `drawn` draws,
    and `none` where both are the same. `levels` fitted and `asked` (times the largest): shares of the saturation rate of an open model in
    place of rates."""

    fitted: str
    real: Callable[[float], str]
    drawn: Callable[[Random], float]
    none: float
    levels: Sequence[Point]
    asked: Callable[[float], Sequence[Point]]
    watched: Sequence[str] = ("cpu",)


def _cores(work: str, numbers: str) -> str:
    given = f'[parameters]\n{numbers}\ncores = 2\n[stations.cpu]\nservers = "cores"\n{OPEN}'
    return f'{given}[demands_s.cpu]\nuser = "{work}"\n'


def _shares(name: str, sizes: Sequence[int], shares: Sequence[float]) -> list[Point]:
    return [{name: size, "share": share} for size in sizes for share in shares]


def _load(work: str, numbers: str, lock: str = "") -> str:
    text = f"[parameters]\n{numbers}\n[stations.cpu]\nservers = 4\n{'[stations.lock]' if lock else ''}\n{OPEN}[demands_s]\n"
    return text + f'cpu = {{ user = "{work}" }}\n{lock}'


def _pool(back: str, work: str, wait: str) -> str:
    return (
        f"[parameters]\nconnections = 4\nwork_s = {work}\nwait_s = {wait}\n[stations.cpu]\nservers = 2\n[stations.back]\n{back}\n"
        f'[stations.pool]\nkind = "pool"\nsize = "connections"\nheld_over_stations = ["back"]\n{CLOSED}[demands_s]\n'
        'cpu = { user = "work_s" }\nback = { user = "wait_s" }\n'
    )


FREE = f"work_s = {ANY}"
SERVICES = {
    "cores disturb each other, 1 and 2 fitted": Service(
        _cores("work_s", FREE), lambda a: _cores(f"work_s * (1 + {a}*(cores-1))", "work_s = 0.02"),
        lambda rng: rng.uniform(0, 0.08), 0.0, _shares("cores", (1, 2), (0.3, 0.5, 0.7)),
        lambda by: _shares("cores", (round(2 * by),), (0.4, 0.7))),
    "a time that grows with threads, 2 to 8 fitted": Service(
        _cores("work_s", FREE), lambda a: _cores(f"work_s * cores**{a}", "work_s = 0.02"),
        lambda rng: rng.uniform(0, 0.3), 0.0, _shares("cores", (2, 4, 8), (0.3, 0.5, 0.7)),
        lambda by: _shares("cores", (round(8 * by),), (0.4, 0.7))),
    "one number of cores fitted": Service(
        _cores("work_s", FREE), lambda a: _cores(f"work_s * (1 + {a}*(cores-1))", "work_s = 0.02"),
        lambda rng: rng.uniform(0, 0.08), 0.0, _shares("cores", (2,), (0.2, 0.3, 0.4, 0.5, 0.6, 0.7)),
        lambda by: _shares("cores", (round(2 * by),), (0.4, 0.7))),
    "a pool before a slow back end, 2 and 4 fitted": Service(
        _pool('kind = "delay"', ANY, ANY), lambda a: _pool(f"servers = {round(a)}", "0.01", "0.05") if a else _pool(
            'kind = "delay"', "0.01", "0.05"),
        lambda rng: round(4 * np.exp(rng.uniform(np.log(1.5), np.log(16)))), 0.0,
        [{"connections": c, "users": u} for c in (2, 4) for u in (5, 12, 20, 30)],
        lambda by: [{"connections": round(4 * by), "users": round(u * by)} for u in (15, 30)]),
    "a lock behind four cores, load": Service(
        _load("work_s", FREE), lambda a: _load("work_s", "work_s = 0.02", f"lock = {{ user = {a} }}\n" if a else ""),
        lambda rng: rng.uniform(0.0002, 0.004), 0.0, [{"share": 0.2 * k / 6} for k in range(1, 7)],
        lambda by: [{"share": 0.2 * by}]),
    "a time that falls with the load": Service(
        _load("work_s", FREE), lambda a: _load(f"work_s * (1 + {a}*(1-u)**2)", "work_s = 0.02"),
        lambda rng: rng.uniform(0, 0.5), 0.0, [{"share": 0.2 * k / 6} for k in range(1, 7)],
        lambda by: [{"share": 0.2 * by}]),
    "a time that grows with the load, closed": Service(
        _load("work_s", f"{FREE}").replace(OPEN, CLOSED), lambda a: _load(f"work_s * (1 + {a}*u)", "work_s = 0.03").replace(
            OPEN, CLOSED), lambda rng: rng.uniform(0, 0.3), 0.0, [{"users": u} for u in (4, 8, 12, 16, 20, 24)],
        lambda by: [{"users": round(24 * by)}]),
}  # fmt: skip


def rated(real: Model, point: Mapping[str, Any]) -> Point:
    """A share as the rate that it is of the true model."""
    if "share" not in point:
        return dict(point)
    rest = {name: value for name, value in point.items() if name != "share"}
    limit = TrafficSolution.of([configured(real, {**rest, "rate_per_s": 1.0}).network]).saturation[0]
    return {**rest, "rate_per_s": float(point["share"] * limit)}


def run(service: Service, real: Model, point: Point, number: int, rng: Random) -> FitRun:
    """What the true model says, off at random."""
    told = sj.solve(configured(real, point))
    means = {}
    for metric, off in OFF.items():
        value = told.value(metric) * float(np.exp(off * rng.standard_normal()))
        means["", metric] = (value, off * float(np.exp(0.2 * rng.standard_normal())))
    servers = point.get("cores", next((s.servers for s in real.stations if s.name == "cpu"), 1))
    busy = {name: told.value("utilisation", name) * servers for name in service.watched}
    return FitRun(f"run-{number}", dict(point), means, busy)


def drawn(name: str, seed: int, right: bool) -> list[tuple[Any, ...]]:
    """Rows of one seed, as in `FIELDS`."""
    service = SERVICES[name]
    rng = np.random.default_rng([seed, list(SERVICES).index(name)])
    lacking = float(service.drawn(rng))
    real = Model.parse(service.real(service.none if right else lacking))
    model = replace(Model.parse(service.fitted), observed={station: station for station in service.watched})
    runs = FitRuns([run(service, real, rated(real, p), i, rng) for i, p in enumerate(service.levels)])
    try:
        fitted = fit(runs, model, seed=seed)
    except SojournError as error:
        return [(name, seed, 0, "", f"refused: {error}", "", "", "", "", "")]
    rows: list[tuple[Any, ...]] = []
    for times in TIMES:
        for point in (rated(real, p) for p in service.asked(times)):
            measured = run(service, real, point, 99, rng).means["", "response_time"][0]
            for grown, one in (
                ("yes", fitted),
                ("no", replace(fitted, demand_error_growth={}, fitted_saturation_shares=None)),
            ):
                rows.append((name, seed, times, grown, repr(point), measured, *_held(one, point, measured)))
    return rows


def _held(fitted: FittedModel, point: Point, measured: float) -> tuple[Any, ...]:
    row = fitted.predict(point, LEVEL).frame.filter(metric="response_time", station="").row(0, named=True)
    low, high = row["low"], row["high"]
    return row["value"], low, high, int(low is not None and low <= measured and (high is None or measured <= high))


def table(frame: pl.DataFrame) -> str:
    """Markdown: how many are held, the median half-width of logarithms, and how many have no upper limit."""
    lines = [
        "| service | times | held, grown | half-width | no limit | held, not grown | half-width | no limit |",
        "|---|" * 1 + "---|" * 7,
    ]
    for name in [*SERVICES, "all"]:
        for times in TIMES:
            own = frame.filter(((pl.col("service") == name) | (name == "all")) & (pl.col("times") == times))
            if own.height:
                parts = [_cell(own.filter(grown=grown)) for grown in ("yes", "no")]
                lines.append(f"| {name} | {times:g} | {' | '.join(parts)} |")
    return "\n".join(lines) + "\n"


def _cell(rows: pl.DataFrame) -> str:
    half = [np.log(h / low) / 2 if h and low else np.inf for low, h in rows.select("low", "high").iter_rows()]
    held, count = int(rows["held"].sum()), rows.height
    return (
        f"{held} of {count}, {100 * held / count:.0f} % | {100 * np.median(half):.1f} % | {int(np.isinf(half).sum())}"
    )


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0] if __doc__ else "")
    parser.add_argument("--seeds", type=int, default=60)
    parser.add_argument("--first", type=int, default=0)
    parser.add_argument("--out", type=Path, required=True)
    parser.add_argument("--only", default="")
    parser.add_argument("--right", action="store_true")
    asked = parser.parse_args()
    asked.out.mkdir(parents=True, exist_ok=True)
    rows: list[tuple[Any, ...]] = []
    for name in (one for one in SERVICES if asked.only in one):
        for seed in range(asked.first, asked.first + asked.seeds):
            rows += drawn(name, seed, asked.right)
    path = asked.out / ("distance-right.csv" if asked.right else "distance.csv")
    with open(path, "w", newline="") as file:
        csv.writer(file).writerows([FIELDS, *rows])
    frame = pl.read_csv(path, infer_schema_length=None)
    path.with_suffix(".md").write_text(table(frame))
    print(table(frame))


if __name__ == "__main__":
    main()
