"""One run drawn: response times and answers over its time, the distribution of response times, and how busy each resource was."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from itertools import pairwise

import numpy as np
import polars as pl
from numpy.typing import NDArray

from sojourn.measure.objective_lines import limit_lines, time_limits
from sojourn.query.objectives import Objective
from sojourn.report import Figure, Section, Series, Table
from sojourn.runs.request_times import request_times, response_s, succeeded
from sojourn.runs.run_folder import RunFolder
from sojourn.units import percent, quantile_name, seconds

OVER_TIME = "seconds since the run began"
QUANTILES = (0.5, 0.9, 0.99)
MOST_BINS, LEAST_IN_BIN = 60, 20  # of the time of the run; answers in a bin, on average
POINTS = 120  # of the drawn distribution
WIDE = 20.0  # the longest response time over the median from which its axis is logarithmic
NEAR = 1.5  # a limit over the longest response time up to which it is marked
AT_ONCE = 1 << 16  # times that are counted
CLIENT = 0.95  # of the mean response time: where requests are sent so much later than due that it is told


def one_run_section(run: RunFolder, busy: Sequence[Series]) -> Section | None:
    """`busy`: busy shares, a series of one point for each resource. Of a run whose requests were not recorded, this table alone."""
    figures = _figures(run)
    rows = tuple(_busy_row(one) for one in busy if one.y and one.y[0] is not None)
    columns = ("", "busy share", "90 % interval") if any(row[-1] for row in rows) else ("", "busy share")
    tables = (Table("How busy", columns, tuple(row[: len(columns)] for row in rows)),) if rows else ()
    return Section("What was measured", "", (*figures, *tables)) if figures or tables else None


def _busy_row(one: Series) -> tuple[str, str, str]:
    low, high = (ends[0] if ends else None for ends in (one.low, one.high))
    known = low is not None and high is not None
    return one.name, percent(one.y[0]), f"{percent(low)} … {percent(high)}" if known else ""


def _figures(run: RunFolder) -> tuple[Figure, ...]:
    requests = request_times(run, ("end_s", "failure"))
    if requests is None or requests.is_empty():
        return ()
    good = succeeded(requests)
    if good.height < 2 * LEAST_IN_BIN:
        return ()
    first, last = float(requests["intended_s"][0]), float(requests["intended_s"][-1])
    begin_s, end_s = run.manifest.get("window_s") or (first, last)
    edges = np.linspace(0.0, max(last - first, 1e-9), min(MOST_BINS, good.height // LEAST_IN_BIN) + 1)
    count = _counts(good["end_s"].to_numpy(), first, edges)
    due, times = good["intended_s"].to_numpy(), response_s(good).to_numpy()
    del requests, good  # of ten million requests 80 MB a column
    counted = times[np.searchsorted(due, begin_s) : np.searchsorted(due, end_s, "right")]
    marks = ((begin_s - first, "counted from here"),) if begin_s > first else ()
    limits = time_limits([run])
    response = _over_time(due - first, times, edges)
    del due
    drawn = [
        Figure(
            "response-over-time", "Response time over time", OVER_TIME, "ms",
            (*response, *limit_lines(limits, response)), _note(run), vlines=marks,
            y_limits=(0.0, None),
        )
    ]  # fmt: skip
    if len(counted) >= LEAST_IN_BIN:
        drawn.append(distribution({"requests": counted}, limits))
    answers = Series("answers", _middles(edges), (count * run.sample_every / np.diff(edges)).tolist())
    drawn.append(
        Figure(
            "throughput-over-time",
            "Answers over time",
            OVER_TIME,
            "answers per second",
            (answers,),
            vlines=marks,
            y_limits=(0.0, None),
        )
    )
    return tuple(drawn)


def _counts(times_s: NDArray[np.float64], first_s: float, edges: NDArray[np.float64]) -> NDArray[np.int64]:
    """How many times since the first lie between the edges; some at a time, as they are copied."""
    parts = (times_s[at : at + AT_ONCE] - first_s for at in range(0, len(times_s), AT_ONCE))
    return sum((np.histogram(part, edges)[0] for part in parts), np.zeros(len(edges) - 1, np.int64))


def _over_time(due_s: NDArray[np.float64], times_s: NDArray[np.float64], edges: NDArray[np.float64]) -> list[Series]:
    """Quantiles of the requests that were due in each bin, ms; None where there are too few for the quantile."""
    starts = np.searchsorted(due_s, edges)
    starts[-1] = len(due_s)
    bins = [times_s[a:b] for a, b in pairwise(starts)]
    all_s = [np.quantile(own, QUANTILES) if len(own) else np.zeros(len(QUANTILES)) for own in bins]
    found = []
    for k, q in enumerate(QUANTILES):
        least = round(1 / (1 - q))
        y = [float(each[k]) * 1e3 if len(own) >= least else None for own, each in zip(bins, all_s, strict=True)]
        if any(v is not None for v in y):
            found.append(Series(quantile_name(q), _middles(edges), y))
    return found


def distribution(times_s: Mapping[str, NDArray[np.float64]], limits: Sequence[Objective] = ()) -> Figure:
    """The share of requests that took longer than t, a curve a name; the quantiles of one alone are marked. `times_s`: response times > 0,
    at least one a name. `limits`: of quantiles; near ones are marked."""
    curves = {name: _slower(own) for name, own in times_s.items()}
    every = np.concatenate(list(times_s.values()))
    longest, least = float(every.max()), 1 / max(map(len, times_s.values()))
    middle, *_ = levels = np.quantile(every, QUANTILES, overwrite_input=True)  # a copy of ours
    named = zip(levels, QUANTILES, strict=True) if len(times_s) == 1 else ()
    marks = [(1e3 * float(level), quantile_name(q)) for level, q in named]
    near = [one for one in limits if one.figure != "mean" and one.limit <= NEAR * longest]
    marks += [(1e3 * one.limit, f"objective {one.text}") for one in near]
    return Figure(
        "distribution", "Distribution of the response time", "response time t (ms)", "share of requests that took longer than t",
        tuple(Series(name, t.tolist(), share.tolist()) for name, (t, share) in curves.items()),
        "At 0.01 one request of a hundred took longer. Failed requests and those before the counted time are left out.",
        x_log=bool(every.min() > 0 and longest > WIDE * float(middle)), y_log=True, vlines=tuple(marks), y_limits=(least, 1.0),
    )  # fmt: skip


def _slower(times_s: NDArray[np.float64]) -> tuple[NDArray[np.float64], NDArray[np.float64]]:
    """Times in ms, and the share of requests that took longer: from nearly all to one of them, evenly on a logarithmic axis."""
    share = np.unique(np.concatenate([np.linspace(0.9, 0.1, 17), np.geomspace(0.1, 1 / len(times_s), POINTS)]))[::-1]
    return np.quantile(times_s, 1 - share, method="inverted_cdf") * 1e3, share


def _note(run: RunFolder) -> str:
    told = "From when a request was due until its answer arrived at this host, by when it was due."
    frame = run.frame("metrics")
    if frame is None:
        return told
    mean = frame.filter(pl.col("metric") == "response_time", pl.col("class") == "", pl.col("q").is_null())
    whole, sent = (mean.filter(pl.col("station") == name)["value"].drop_nulls() for name in ("", "service"))
    if len(whole) and len(sent) and sent[0] < CLIENT * whole[0]:
        told += f" From when it was sent the mean is {seconds(sent[0])}: the rest is waiting in the client."
    return told


def _middles(edges: NDArray[np.float64]) -> list[float]:
    return [float(x) for x in (edges[1:] + edges[:-1]) / 2]
