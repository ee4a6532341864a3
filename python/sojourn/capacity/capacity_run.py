"""A run of a search, as its folder has it."""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence

import numpy as np
from numpy.typing import NDArray

from sojourn.capacity.capacity_result import CapacityRun
from sojourn.capacity.objective_limit import MeasuredFigures
from sojourn.capacity.short_run_error import answered_s, fastest_s, mean_error
from sojourn.fit.drawn_quantiles import of_mean
from sojourn.query.objectives import Objective, judge
from sojourn.runs.generator_lateness import LATE_REASON, LatenessError, lateness_error
from sojourn.runs.run_folder import RunFolder
from sojourn.stats.batch_means import standard_error
from sojourn.units import USUAL_LEVEL

GUESSED = 0.1  # relative standard error of a mean without an interval
TAIL = 0.9  # quantiles from here on are late as the p99 is
BATCHES, LEAST_ABOVE = 20, 5  # of a run; requests above a quantile, below which nothing is said of its error
TAIL_REQUESTS = 50  # that tell how an exponential tail falls


def capacity_run(
    folder: RunFolder, rate_per_s: float, objectives: Sequence[Objective], keep: bool = True
) -> CapacityRun:
    """A judged run at a rate. `keep`: the verdict on the objectives goes into its manifest."""
    judged = judge(folder, objectives, whole=False, keep=keep)
    seen = {one.figure: row["value"] for one, row in zip(objectives, judged, strict=True)}
    done, response = (_row(folder, metric) for metric in ("throughput", "response_time"))
    times_s = answered_s(folder)
    by_batches = mean_error(times_s) if times_s is not None else None
    requests = _requests(folder, float(done["value"] or 0.0)) if times_s is None else len(times_s) * folder.sample_every
    late = lateness_error(folder.manifest).error
    error = math.hypot(max(_error(response, requests), by_batches or 0.0), late)
    quantiles = [one for one in objectives if one.figure[0] == "p"]
    missed = any(not row["met"] and "least" not in row for row in judged)
    return CapacityRun(
        folder.path.name, rate_per_s, float(done["value"] or 0.0), response["value"], error, seen,
        False if missed else all(row["met"] for row in judged) or None,
        bool(folder.manifest["valid"]), tuple(folder.manifest["reasons"]),
        {one.figure: own for one in quantiles if (own := _quantile_error(folder, times_s, one, seen[one.figure]))},
        {name: _late(folder, q).factor for name, q in [("mean", 0.0), *((one.figure, one.q) for one in quantiles)]},
        requests, fastest_s(times_s) if by_batches else 0.0, late,
    )  # fmt: skip


def figures(runs: Sequence[CapacityRun]) -> list[MeasuredFigures]:
    """Means and quantiles of the runs that have them, less what a late generator added. Runs that no fit would take count where there are
    no others."""
    known = [one for one in runs if one.response_s]
    good = [one for one in known if one.valid or all(reason.startswith(LATE_REASON) for reason in one.reasons)]
    return [
        MeasuredFigures(
            one.achieved_per_s or one.rate_per_s,
            {
                k: v * one.lateness_factors.get(k, 1.0) * one.short_run_factors.get(k, 1.0)
                for k, v in one.objective_values.items()
                if v and k != "errors"
            },
            one.response_error,
            float(one.response_s or 0.0) * one.lateness_factors.get("mean", 1.0),
            one.objective_value_errors,
        )
        for one in good or known
    ]


def _late(folder: RunFolder, q: float) -> LatenessError:
    """Of the mean (0) or a quantile: of those in the tail as of the p99, of others as of the mean."""
    return lateness_error(folder.manifest, "p99" if q >= TAIL else "mean")


def _row(folder: RunFolder, metric: str) -> dict[str, float | None]:
    """Value and interval of the whole system."""
    if folder.has("metrics"):
        rows = folder.metrics().frame.filter(metric=metric, station="")
        for row in rows.iter_rows(named=True):
            if row["class"] == "" and row.get("q") is None:
                return row
    return {"value": None, "low": None, "high": None, "level": None}


def _requests(folder: RunFolder, done_per_s: float) -> int:
    """Of a window that was observed: its counters told how many, and no request has a record."""
    begin_s, end_s = folder.manifest.get("window_s") or (0.0, 0.0)
    return round(done_per_s * (end_s - begin_s)) if "observed" in folder.manifest else 0


def _error(row: Mapping[str, float | None], requests: int) -> float:
    """Relative standard error of a mean. Where nobody says it, that of independent exponential times, which `as_modelled` makes no
    smaller than waiting does; a guess where not even their number is known."""
    value, low, high = row["value"], row["low"], row["high"]
    if value and low is not None and high is not None:
        return standard_error(low, high, row["level"] or USUAL_LEVEL) / value
    return 1 / math.sqrt(requests) if requests else GUESSED


def _quantile_error(
    folder: RunFolder, times_s: NDArray[np.float64] | None, one: Objective, value: float | None
) -> float | None:
    """Relative standard error of a quantile, as the requests of the run tell it. None where too few are above."""
    if times_s is None or not value:
        return None
    error = quantile_error(times_s, value, one.q)
    return None if error is None else math.hypot(error, _late(folder, one.q).error)


def quantile_error(times_s: NDArray[np.float64], value_s: float, q: float) -> float | None:
    """Of `times_s` in the order of arrival, whose quantile is `value_s`. The quadratic mean of two, neither of which holds alone
    (benches/capacity): one is that of the share of requests above it, by batches, over the density there, which is that of an exponential
    tail (P. Heidelberger, P. A. W. Lewis, Quantile Estimation in Dependent Sequences, Operations Research 32 (1984), 185-209); long
    waits come together, so that batches of a short run state too little. The other is that of the mean waiting, as many times as
    for an exponential law (`of_mean`). None where fewer than five are above."""
    above = times_s > value_s
    count = len(times_s)
    if above.sum() < LEAST_ABOVE or count < BATCHES:
        return None
    ordered = np.sort(times_s)
    tail = max(int(above.sum()), min(TAIL_REQUESTS, count // 10))  # few say little of how far apart they are
    beyond_s = float((ordered[-tail:] - ordered[-tail - 1]).mean())
    by_share = _batch_error(above.astype(float)) / float(above.mean()) * beyond_s
    alone_s = fastest_s(times_s)
    waited_s = max(float(times_s.mean()) - alone_s, 1e-9)
    by_mean = of_mean(q) * _batch_error(times_s) / waited_s * (value_s - alone_s)
    return math.hypot(by_share, by_mean) / math.sqrt(2) / value_s


def _batch_error(values: NDArray[np.float64]) -> float:
    """Standard error of a mean."""
    return float(np.std([part.mean() for part in np.array_split(values, BATCHES)], ddof=1)) / math.sqrt(BATCHES)
