"""Recovery: services whose numbers are known are simulated, their runs fitted, and the intervals asked whether they hold.

    python benches/fit/recovery.py --seeds 200 --out FOLDER [--kind right] [--only WORDS] [--passes 10000] [--seconds 60] [--unknowns]

Of each template (`templates`, `misspecified`) and seed: the 95 % interval of each unknown, the 90 % prediction interval of new
runs, at a load between those fitted and one beyond; with `--unknowns` the former alone, which need few draws. What is there already
is not done again, so that a call may end after `--seconds` and the next goes on. Simulations, no load: a busy machine does not matter.
`table.py` makes the table.
"""

from __future__ import annotations

import argparse
import csv
import time
from collections.abc import Iterator, Mapping
from concurrent.futures import ProcessPoolExecutor
from dataclasses import replace
from pathlib import Path
from typing import Any

import numpy as np
from misspecified import MISSPECIFIED, UNTOLD
from templates import TEMPLATES, Template

import sojourn as sj
from sojourn.errors import SojournError
from sojourn.fit.factor_mapping import applied, factors_of
from sojourn.fit.fit_runs import FitRun, FitRuns
from sojourn.fit.model_fit import DRAWS, fit
from sojourn.simulate.simulated_run import record_run
from sojourn.stats.batch_means import batch_interval, rate_interval, standard_error

CUT, SAMPLES = (0.1, 0.98), 100  # from where to where of a run is measured
LEVEL, FEW = 0.95, 20  # of intervals of unknowns; draws, which these do not depend on
FIELDS = ("template", "seed", "kind", "name", "truth", "value", "low", "high", "held")
KINDS = {"right": TEMPLATES, "misspecified": MISSPECIFIED, "untold": UNTOLD}
ALL = TEMPLATES | MISSPECIFIED | UNTOLD
Row = tuple[Any, ...]


def simulated(t: Template, level: Mapping[str, Any], passes: int, seed: int) -> FitRun:
    """One run of the service, and what a run folder would state of it: the first tenth is no part of it, nor what had no time to end."""
    service = applied(t.service, factors_of(t.model, [*t.levels, *t.beyond]), level)
    until_s = passes / (CUT[1] - CUT[0]) / sj.solve(service).value("throughput")
    start_s, end_s = window = CUT[0] * until_s, CUT[1] * until_s
    seen = record_run(service, until_s, seed, until_s / SAMPLES)
    began, ended = (seen.requests[name].to_numpy() for name in ("intended_s", "done_s"))
    order = np.argsort(began, kind="stable")
    began, ended, of = began[order], ended[order], seen.requests["class"].to_numpy()[order]
    inside = (began >= start_s) & (began < end_s)
    several = len(service.classes) > 1
    means = {}
    for number, name in [(-1, ""), *(enumerate(c.name for c in service.classes) if several else ())]:
        own = (of == number) | (number < 0)
        means[name, "response_time"] = _with_error(*batch_interval((ended - began)[own & inside]))
        means[name, "throughput"] = _with_error(*rate_interval(ended[own], *window))
    first, last = (seen.sums["busy"].sum(axis=2)[round(share * SAMPLES)] for share in CUT)
    at = {s.name: float(b) for s, b in zip(service.stations, (last - first) / (end_s - start_s), strict=False)}
    demand = {("server", "", "service_demand"): at[t.measured] / means["", "throughput"][0]} if t.measured else {}
    return FitRun(f"run-{seed}", dict(level), means, {name: at[name] for name in t.watched}, measured=demand)


def _with_error(value: float, low: float, high: float) -> tuple[float, float]:
    """With its relative standard error."""
    return value, standard_error(low, high) / value


def recovered(name: str, seed: int, passes: int, unknowns: bool = False) -> list[Row]:
    """Rows of one service, measured once, fitted, and measured again: as in `FIELDS`."""
    t = ALL[name]
    base = 1_000_000 * seed + 1000 * list(ALL).index(name)
    model = replace(t.model, observed={station: station for station in t.watched})
    try:
        runs = FitRuns([simulated(t, level, passes, base + i) for i, level in enumerate(t.levels)])
        fitted = fit(runs, model, LEVEL, seed, FEW if unknowns else DRAWS)
        later = [] if unknowns else [simulated(t, level, passes, base + 500 + i) for i, level in enumerate(t.beyond)]
        table = fitted.validate(FitRuns(later), level=0.9) if later else None
    except SojournError as error:
        return [(name, seed, "refused", str(error), "", "", "", "", "")]
    rows: list[Row] = [
        (name, seed, "unknown", path, truth, e.value, e.low, e.high, e.low <= truth <= e.high)
        for path, truth in t.truth.items()
        for e in (fitted.estimates[path],)
    ]
    if table is None:
        return rows
    for row in table.filter(table["metric"] == "response_time").iter_rows(named=True):
        place = f"{'inside' if row['in_validated_range'] else 'beyond'}{' ' if row['class'] else ''}{row['class']}"
        ends = row["measured"], row["predicted"], row["low"], row["high"]
        rows.append((name, seed, "prediction", place, *ends, row["inside_interval"]))
    misfit = "does not fit" in fitted.message
    return [*rows, (name, seed, "fit", "model_error", "", fitted.model_error, "", "", not misfit)]


def _todo(asked: argparse.Namespace, done: set[tuple[str, int]]) -> Iterator[tuple[str, int]]:
    for seed in range(asked.first, asked.first + asked.seeds):
        for name in KINDS[asked.kind] if asked.kind else ALL:
            if asked.only in name and (name, seed) not in done:
                yield name, seed


def _text(value: Any) -> Any:
    return f"{value:.6g}" if isinstance(value, float) else int(value) if isinstance(value, bool) else value


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0] if __doc__ else "")
    parser.add_argument("--seeds", type=int, default=200)
    parser.add_argument("--first", type=int, default=0)
    parser.add_argument("--out", type=Path, required=True)
    parser.add_argument("--only", default="")
    parser.add_argument("--kind", choices=KINDS)
    parser.add_argument("--passes", type=int, default=10_000)
    parser.add_argument("--unknowns", action="store_true")
    parser.add_argument("--seconds", type=float, default=1e9)
    parser.add_argument("--workers", type=int, default=2)
    asked = parser.parse_args()
    asked.out.mkdir(parents=True, exist_ok=True)
    path = asked.out / f"fits-{asked.passes}.csv"
    there = path.exists()
    with open(path, "a+", newline="") as file:
        file.seek(0)
        done = {(r["template"], int(r["seed"])) for r in csv.DictReader(file)} if there else set()
        writer = csv.writer(file)
        if not there:
            writer.writerow(FIELDS)
        todo, end = list(_todo(asked, done)), time.monotonic() + asked.seconds
        with ProcessPoolExecutor(asked.workers) as pool:
            while todo and time.monotonic() < end:
                some, todo = todo[:12], todo[12:]
                for rows in pool.map(
                    recovered, *zip(*some, strict=True), [asked.passes] * len(some), [asked.unknowns] * len(some)
                ):
                    writer.writerows([_text(v) for v in row] for row in rows)
                file.flush()
    print(f"{len(todo)} fits to go")


if __name__ == "__main__":
    main()
