"""Judges a finished run: window, Metrics, and whether it is valid, with the reasons and their figures."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any, Final, TypeAlias

import numpy as np
import polars as pl
from numpy.typing import NDArray

from sojourn.laws import LawCheck, broken, check_laws
from sojourn.runs.block_reasons import block_reasons
from sojourn.runs.disturbances import disturbed
from sojourn.runs.freed_memory import give_back
from sojourn.runs.generator_lateness import LATE_REASON
from sojourn.runs.manifest import SERVICE_EXITED
from sojourn.runs.measurement_window import choose_window
from sojourn.runs.request_times import difference, in_window, request_times, response_s, succeeded
from sojourn.runs.run_folder import RunFolder
from sojourn.runs.run_metrics import run_metrics
from sojourn.runs.schedule_check import AT_ONCE, TOUCHED, late_figures, schedule
from sojourn.runs.session_mix import session_checks
from sojourn.runs.think_time import mean_think_s
from sojourn.stats.batch_means import batch_interval, standard_error
from sojourn.stats.stationarity import steadiness
from sojourn.table import Metrics

METRICS = "metrics.parquet"
MOST_FAILURES = 0.01
MOST_NAMED = 3  # exceptions
REQUESTS_FAILED = "requests after the warm-up failed"
NOT_BALANCED = "flow is not balanced"
NOT_STATIONARY = "not stationary"
PULSE: Final = (
    "pulse"  # in the manifest: the run tells a mean over a planned window, and no steady state (see `_steady`)
)
RATE_SIGMAS = 5.0
LAW_TOLERANCE = 0.05
LEAST_BATCHES, MOST_BATCHES = 8, 20
CLOCK_ERROR_S = 50e-6  # of the kernel's receive times (crates/loadgen/src/clock.rs)


def service_failed(reason: str) -> bool:
    """Whether a run is not valid because of what the service did."""
    return REQUESTS_FAILED in reason or SERVICE_EXITED in reason


def conclude(folder: RunFolder) -> None:
    """Judges a run that has just ended, turns its logs into Parquet, and saves it. In this order, so that what writes Parquet and the times
    of all requests are not in memory together."""
    folder.read_logs()
    metrics = _judged(folder)
    give_back()
    folder.collect()
    if metrics is not None:
        metrics.write(folder.path / METRICS)
    folder.save()


def assess(folder: RunFolder) -> None:
    """Writes window, metrics and verdict of a complete run into its folder."""
    if (metrics := _judged(folder)) is not None:
        metrics.write(folder.path / METRICS)


def _judged(folder: RunFolder) -> Metrics | None:
    """Puts window and verdict into the manifest; None where there is nothing to judge."""
    requests = request_times(folder)
    reasons: list[str] = []
    checks: dict[str, Any] = {}
    if requests is None or requests.is_empty():
        reasons.append("no request was recorded")
        folder.manifest |= {"valid": False, "reasons": reasons, "checks": checks, "window_s": [0.0, 0.0]}
        return None
    window, told = choose_window(folder, requests)
    give_back()
    folder.manifest |= {"window_s": list(window), "warnings": told}
    inside = in_window(requests, window)
    folder.answered = succeeded(inside).height
    for check in _checks_of(folder):
        reasons += check(folder, inside, window, checks)
        give_back()
    told_of = (folder.manifest.get("generator") or {}).get("sessions")
    if told_of and "steps" in told_of:  # not of an older run
        checks |= session_checks(folder.manifest["load"], told_of)
    host = folder.frame("host")
    metrics = run_metrics(folder, requests, host, window, checks.get(TOUCHED, 0.0))
    if host is not None:
        found, beside = disturbed(folder, host, window, checks)
        reasons += found
        told += beside
    lacking, bounds = late_figures(metrics)
    folder.manifest["warnings"] = told + bounds
    if lacking:
        folder.manifest["not_valid_for"] = lacking
    reasons += _laws(folder, metrics, inside, checks)
    reasons += block_reasons(folder.manifest.get("storage") or {})
    folder.manifest |= {"valid": not reasons, "reasons": reasons, "checks": checks}
    return metrics


Window = tuple[float, float]
Check: TypeAlias = "Callable[[RunFolder, pl.DataFrame, Window, dict[str, Any]], list[str]]"


def _failures(folder: RunFolder, inside: pl.DataFrame, window: Window, checks: dict[str, Any]) -> list[str]:
    failed = float((inside["failure"] != 0).mean() or 0.0)  # type: ignore[arg-type]
    checks["failed share"] = failed
    most = max(MOST_FAILURES, folder.manifest.get("failures_allowed", 0.0))  # by an objective of the run
    if failed <= most:
        return []
    kinds = folder.manifest.get("records", {}).get("requests", {}).get("failures", [])
    records = folder.columns("requests", ("intended_s", "failure", "status"))
    assert records is not None, "there a moment ago"
    failed_ones = in_window(records.filter(pl.col("failure") != 0), window)
    parts = ((kind, failed_ones.filter(failure=number)) for number, kind in enumerate(kinds) if number)
    said = (folder.manifest.get("generator") or {}).get("failures", {})
    named = ", ".join(_failure(kind, part, said) for kind, part in parts if part.height)
    count = f"{(inside['failure'] != 0).sum()} of {inside.height}"
    return [f"{count} {REQUESTS_FAILED}{f' ({named})' if named else ''}; at most {100 * most:.3g}%"]


def _failure(kind: str, part: pl.DataFrame, said: dict[str, int]) -> str:
    """How many of a kind; of answers with a status that is no success, which; of exceptions the most frequent, as they were `said`
    over the whole run."""
    if kind == "exception":
        most = sorted(said, key=lambda one: -said[one])[:MOST_NAMED]
        return f"exception: {part.height}, {'; '.join(most)}{'; …' if len(said) > len(most) else ''}"
    statuses = part["status"].unique().sort().to_list() if kind == "status" else []
    return f"HTTP {', '.join(map(str, statuses))}: {part.height}" if statuses else f"{kind}: {part.height}"


def _order(folder: RunFolder, inside: pl.DataFrame, window: Window, checks: dict[str, Any]) -> list[str]:
    """sent_s <= received_s <= done_s, but for the error of a receive time: else a clock was set. Where there is none, it was `done_s`."""
    sent, end, done = (inside[name].to_numpy() for name in ("sent_s", "end_s", "done_s"))
    worst = max(_most(sent, end), _most(end, done), 0.0)
    checks["times out of order, s"] = worst
    if worst <= CLOCK_ERROR_S:
        return []
    return [f"times are out of order: an answer was received {worst:.2g} s before it was sent for or after it was read; "
            "a clock was set during the run; run again"]  # fmt: skip


def _most(after: NDArray[np.float64], before: NDArray[np.float64]) -> float:
    """The largest after - before, of those that are numbers; some at a time."""
    parts = (after[at : at + AT_ONCE] - before[at : at + AT_ONCE] for at in range(0, len(after), AT_ONCE))
    return max((float(np.fmax.reduce(part, initial=0.0)) for part in parts), default=0.0)


def _steady(folder: RunFolder, inside: pl.DataFrame, window: Window, checks: dict[str, Any]) -> list[str]:
    """A trend makes a run invalid that is to show a steady state. A pulse is none: it says over which window it is a mean, and is
    repeated; in its seconds a disk or a host that was slower for a moment is a trend. Its trend is in the checks."""
    trend = steadiness(response_s(succeeded(inside)).to_numpy())
    checks["trend"] = {"correlation": trend.correlation, "p": trend.p_value, "drift": trend.drift}
    if trend.steady or folder.manifest.get(PULSE):
        return []
    cause = "overload?" if trend.drift > 0 else "not yet warm, or others used the machine at first?"
    return [f"{NOT_STATIONARY}: the response time drifted by {trend.drift:+.0%} of its mean over the run ({cause})"]


def _balance(folder: RunFolder, inside: pl.DataFrame, window: Window, checks: dict[str, Any]) -> list[str]:
    """Flow balance: as many answers as requests, but for what a sampling error of five sigma explains."""
    arrivals = inside.height
    answers = int(inside["end_s"].is_between(*window).sum())
    checks["flow balance"] = {"arrivals": arrivals, "answers": answers}
    allowed = RATE_SIGMAS * max(arrivals, 1) ** 0.5
    if arrivals - answers <= max(allowed, 0.05 * arrivals):
        return []
    return [f"{NOT_BALANCED}: {arrivals} requests, {answers} answers; the service is saturated"]


def _checks_of(folder: RunFolder) -> tuple[Check, ...]:
    """One agent of several is judged by what is its own; what all of them saw, by what is the service's."""
    if folder.manifest["load"].get("agent"):
        return _failures, _order, _own_schedule
    return _failures, _order, _all_schedules if "agents" in folder.manifest else schedule, _steady, _balance


def _own_schedule(folder: RunFolder, inside: pl.DataFrame, window: Window, checks: dict[str, Any]) -> list[str]:
    """Of an agent: also whether its threads had time left, by its own account."""
    generator = folder.manifest.get("generator") or {}
    lanes = generator.get("lanes", ())
    checks["busiest thread"] = max((lane["cpu_s"] / max(lane["wall_s"], 1e-9) for lane in lanes), default=None)
    reasons = schedule(folder, inside, window, checks)
    if reasons or generator.get("schedule_kept", True):
        return reasons
    return [f"{LATE_REASON}: {generator['schedule_reason']}"]


def _all_schedules(folder: RunFolder, inside: pl.DataFrame, window: Window, checks: dict[str, Any]) -> list[str]:
    """The figure of all agents; the verdict is each agent's."""
    schedule(folder, inside, window, checks)
    return []


def _laws(folder: RunFolder, metrics: Metrics, inside: pl.DataFrame, checks: dict[str, Any]) -> list[str]:
    """Little's law where the generator sampled how many were in flight, and for a closed loop the interactive law, within the
    sampling error (flow: see `_balance`). The mean number by the records' time stamps, `queue_length`, is left out: it, the
    throughput and the response time are sums of the same stamps, between which the law is an identity."""
    closed = [lane["closed"] for lane in folder.manifest["load"]["lanes"] if lane.get("closed")]
    users = sum(loop["users"] for loop in closed) or None
    think_s = mean_think_s(folder.manifest["load"], inside)
    think_s += _own_s(folder, inside, checks) if users else 0.0
    whole = (pl.col("station") == "") & (pl.col("class") == "") & (pl.col("metric") != "queue_length")
    system = Metrics(metrics.frame.filter(whole))
    tolerance = max(LAW_TOLERANCE, RATE_SIGMAS / max(inside.height, 1) ** 0.5)
    findings = [f for f in check_laws(system, tolerance, population=users, think_s=think_s) if f.law != "flow balance"]
    findings += _little(folder, system, inside, checks)
    checks["laws"] = [str(finding) for finding in findings]
    return [str(finding) for finding in broken(findings)]


def _little(folder: RunFolder, system: Metrics, inside: pl.DataFrame, checks: dict[str, Any]) -> list[LawCheck]:
    """Throughput x mean time until an answer was read, against the mean of the generator's own counts of requests in flight,
    which know no time stamp; within five standard errors of that mean, by batches of samples."""
    generator, (start_s, end_s) = folder.manifest.get("generator") or {}, folder.manifest["window_s"]
    times = [(generator.get("start_s", 0.0) + t, count) for t, count in generator.get("in_flight", ())]
    counts = np.array([count for t, count in times if start_s <= t <= end_s], float)
    if counts.size < 2 * LEAST_BATCHES or inside.is_empty() or (inside["failure"] != 0).any():
        return []  # a request that failed is in flight too, and in no response time
    batches = min(counts.size // 2, MOST_BATCHES)
    mean, low, high = batch_interval(counts, batches=batches)
    checks["in flight, sampled"] = {"mean": mean, "low": low, "high": high, "samples": int(counts.size)}
    error = standard_error(low, high, batches=batches)
    tolerance = max(LAW_TOLERANCE, RATE_SIGMAS * error / mean) if mean else float("inf")
    number = system.value("throughput") * float(difference(inside["done_s"], inside["intended_s"]).mean() or 0.0)  # type: ignore[arg-type]
    return [LawCheck("Little's law", "", "", (), mean, number, mean / number - 1, tolerance)]


def _own_s(folder: RunFolder, inside: pl.DataFrame, checks: dict[str, Any]) -> float:
    """Mean time in s from an answer's arrival at this host until the generator had read it, where answers take no
    longer than that: to the law it is think time, as the response time ends with the arrival."""
    good = succeeded(inside)
    if not {"kv", "messages"} & set(folder.manifest["load"]) or good.is_empty():
        return 0.0
    own_s = float(difference(good["done_s"], good["end_s"]).mean() or 0.0)  # type: ignore[arg-type]
    checks["generator's own time, s"] = own_s
    return own_s
