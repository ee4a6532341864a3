"""Open loop: was every request sent when it was due? By the generator's own account of its lateness, beside the response times; which
figures of the run that can change, and by how much (`generator_lateness`).

A request that is sent late never ends earlier than one on time would have, in a work-conserving queue of equal servers; so a measured
response time is an upper bound of the true one, and only requests that were touched differ: of those that were late, or came while the
queue of such was still served. With a share f of them touched, the true quantile q lies between the measured ones at q - f and at q. The
mean is too long by the mean lateness at most where requests are late one by one. Where a generator stands still, and then sends several at
once, their queue delays those after them: a standstill of H puts off, at arrival rate a and utilisation u, a H^2 / 2 of waiting by the
lateness itself, and in all 1 / (1 - u) times as much until the backlog is served (fluid limit; Newell, Applications of Queueing Theory
(1982), chapter 2). 1 / (1 - u) is taken as the mean response time, from sent, over that of requests which met nobody;
no true mean is below the latter.
"""

from __future__ import annotations

from typing import Any

import numpy as np
import polars as pl
from numpy.typing import NDArray

from sojourn.runs.generator_lateness import CHANGE, LATE_REASON, MOST_LATENESS, SHARE
from sojourn.runs.request_times import DUE, ascending, lateness_s, response_s, succeeded
from sojourn.runs.run_folder import RunFolder
from sojourn.stats.quantiles import LATE
from sojourn.table import Metrics
from sojourn.units import quantile_name, seconds

TOUCHED = "share of requests that lateness touched"
LEAST_LATENESS_S = 1e-4
SMALL = 0.02  # of a p99: if all are late by at most that, none ends later by more (arrivals a little earlier end a little earlier)
RARE = 0.25  # of what a mean may change by: from there on the tail may change by more than is usable
LEAST_SHARE = 0.01  # of a figure: rare standstills are a small share, and their backlog delays many
LEAST_ALONE = 20  # requests that met nobody, for a mean
AT_ONCE = 1 << 16  # requests


def schedule(folder: RunFolder, inside: pl.DataFrame, window: tuple[float, float], checks: dict[str, Any]) -> list[str]:
    """The reason for which no mean of the run can be used.

    Where the client shares its core with the interrupts it causes, being held up there is part of the system
    (it is in the response time from intended); elsewhere lateness is the generator's own fault.
    """
    good = succeeded(inside)
    if good.is_empty() or folder.manifest["load"]["lanes"][0].get("closed"):
        return []
    own = (folder.manifest.get("generator") or {}).get("own_lateness") or {}
    figures = {"mean": response_s(good).mean(), "p99": ascending(good["end_s"], good[DUE]).quantile(0.99, "linear")}
    late_s = {figure: float(own.get(f"{figure}_s") or 0.0) for figure in figures}
    share = {f: min(late_s[f] / value, 1.0) if (value := float(figures[f] or 0.0)) else 0.0 for f in figures}  # type: ignore[arg-type]
    checks[SHARE] = share
    if (folder.manifest.get("placement") or {}).get("client_shares"):
        return []
    grown, most = _growth(good) if max(share.values()) > LEAST_SHARE else (1.0, 1.0)
    checks[CHANGE] = {"mean": min(share["mean"] * grown, most), "p99": share["p99"]}
    if max(late_s.values()) > LEAST_LATENESS_S and max(checks[CHANGE]["mean"] / RARE, *share.values()) > MOST_LATENESS:
        least_late_s = max(LEAST_LATENESS_S, SMALL * float(figures["p99"] or 0.0))  # type: ignore[arg-type]
        late = float((lateness_s(good) > least_late_s).mean() or 0.0)  # type: ignore[arg-type]
        checks[TOUCHED] = min(late * grown, 1.0)
        least_s = float(response_s(good).quantile(max(0.99 - checks[TOUCHED], 0.0), "linear") or 0.0)
        checks[CHANGE]["p99"] = 1 - least_s / float(figures["p99"] or 1.0)  # type: ignore[arg-type]
    if late_s["mean"] <= LEAST_LATENESS_S or checks[CHANGE]["mean"] <= MOST_LATENESS:
        return []
    told = f"{late_s['mean'] * 1e3:.2g} ms late on average, {share['mean']:.0%} of the mean response time"
    more = f", which can change it by {checks[CHANGE]['mean']:.0%}" if grown > 1.1 else ""
    slack = folder.manifest["load"].get("slack_s")
    remedy = (
        f"give less than --max-send-delay {slack * 1e3:g}ms"
        if slack
        else "give it a core of its own, real-time priority or a lower rate"
    )
    return [f"{LATE_REASON}: it sent {told}{more}{_who(folder)}; {remedy}"]


def _growth(good: pl.DataFrame) -> tuple[float, float]:
    """By what factor lateness grows in the service's queue, 1 where requests were late one by one; and the most by which it can change
    the mean: to that of requests which were on time and met nobody."""
    due, sent, end = (
        good[name].to_numpy() for name in ("intended_s", "sent_s", "end_s")
    )  # of a million requests 8 MB each
    began, ended = sent, end
    if not (sent[1:] >= sent[:-1]).all():
        order = np.argsort(sent)
        began, ended = sent[order], end[order]
        del order
    free = _met_nobody(began, ended)
    alone = (ended[free] - began[free]) if free.sum() >= LEAST_ALONE else due[:0]
    del free
    most = max(1 - alone.mean() / (end - due).mean(), 0.0) if alone.size else 1.0
    mean_s = (ended - began).mean()
    late = sent - due
    np.maximum(late, 0.0, out=late)
    bunched = np.zeros(len(late), bool)
    for at in range(0, len(late) - 1, AT_ONCE):  # the next was due before this one was sent
        until = min(at + AT_ONCE, len(late) - 1)
        np.greater(late[at:until], due[at + 1 : until + 1] - due[at:until], out=bunched[at:until])
    bunched[1:] |= bunched[:-1]
    if not bunched.any():
        return 1.0, most
    queued = mean_s / alone.mean() if alone.size else 1 / MOST_LATENESS
    return float(1 + (max(queued, 1.0) - 1) * late[bunched].sum() / late.sum()), most


def _met_nobody(began: NDArray[np.float64], ended: NDArray[np.float64]) -> NDArray[np.bool_]:
    """Of requests in the order in which they began, whether all before each had ended; some at a time."""
    free, latest = np.ones(len(began), bool), -np.inf
    for at in range(1, len(began), AT_ONCE):
        before = ended[at - 1 : at - 1 + AT_ONCE].copy()
        before[0] = max(before[0], latest)
        np.maximum.accumulate(before, out=before)
        own = began[at : at + AT_ONCE]
        free[at : at + AT_ONCE] = own >= before[: len(own)]
        latest = before[-1]
    return free


def _who(folder: RunFolder) -> str:
    """Who used the cores meanwhile."""
    used = list(((folder.manifest.get("cpu_time") or {}).get("used") or {}).items())[:2]
    return f" while {' and '.join(f'{name} used {share:.0%} of a core' for name, share in used)}" if used else ""


def late_row(row: dict[str, Any], times: pl.Series, q: float, touched: float) -> dict[str, Any]:
    """The row of a quantile with its bounds in place of a value where lateness can change it by more than a tenth."""
    if not touched or row["value"] is None:
        return row
    low = float(times.quantile(max(q - touched, 0.0), "linear") or 0.0)
    if low >= (1 - MOST_LATENESS) * row["value"]:
        return row
    return {**row, "value": None, "low": low, "high": row["value"], "level": 1.0, "status": LATE}


def late_figures(metrics: Metrics) -> tuple[list[str], list[str]]:
    """The figures for which the run is not valid, and what is said of them."""
    whole = metrics.frame.filter(pl.col("status") == LATE, pl.col("station") == "", pl.col("class") == "")
    found = {quantile_name(q): (low, high) for q, low, high in whole.select("q", "low", "high").iter_rows()}
    if not found:
        return [], []
    said = ", ".join(f"{name} is {seconds(low)} to {seconds(high)}" for name, (low, high) in found.items())
    return list(found), [f"the generator was late, so only bounds are known: {said}; the other figures are valid"]
