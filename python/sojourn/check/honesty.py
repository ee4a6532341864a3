"""Figures that claim more than was measured: times too coarse, failures among the answers, counts that do not fit the rate."""

from __future__ import annotations

import numpy as np

from sojourn.check.facts import LoadFacts
from sojourn.check.finding import Finding
from sojourn.units import per_second, percent, seconds

COARSE = 2.0  # steps of the clock that the mean is worth
FAILED, EFFECT = 0.01, 0.05
COUNTS = 0.05
UNEVEN, EQUAL = 1.05, 1e-5  # windows that differ, and a mean that is the same number
CHANCE = 0.01  # with which the whole may be as near to the mean of windows


def coarse(facts: LoadFacts) -> list[Finding] | None:
    """A response time of one or two steps of the clock that measured it."""
    step, mean = 2 * facts.of.rounding_s, facts.mean_s
    if not step or mean is None or (facts.answered or 0) < 20:
        return None
    if mean >= COARSE * step:
        return []
    zero = f"; {percent(float((facts.requests.response_s == 0).mean()), 0)} are 0" if facts.requests is not None else ""
    return [
        Finding(
            "coarse_times", "misleading", "certain", facts.source,
            f"times are in steps of {seconds(step)}, and the mean is {seconds(mean)}{zero}",
            "quantiles and differences of this size are the clock's, not the service's", "measure with a tool that keeps µs",
            {"step_s": step, "mean_s": mean},
        )
    ]  # fmt: skip


def failures(facts: LoadFacts) -> list[Finding] | None:
    """Failed requests, fast or slow, among the response times."""
    failed, answered = facts.failed, facts.answered
    if failed is None or not answered or facts.mean_s is None:
        return None
    share = failed / answered
    numbers = {"failed": float(failed), "requests": float(answered), "share": share}
    if facts.requests is not None:
        good = facts.requests.response_s[facts.requests.ok]
        if good.size == 0:
            return [_failures(facts, "all requests failed", numbers)]
        changed = facts.mean_s / float(good.mean()) - 1 if good.mean() else 0.0
        if share <= FAILED or abs(changed) < EFFECT:
            return [_note(facts, share, numbers)] if share > FAILED else []
        said = f"{percent(share)} failed; the mean of all requests is {seconds(facts.mean_s)}, without those {seconds(float(good.mean()))}"
        return [_failures(facts, said, numbers | {"mean_s": facts.mean_s, "good_s": float(good.mean())})]
    if share <= FAILED:
        return []
    if facts.of.counts_failures is False:
        return [_note(facts, share, numbers)]
    return [_failures(facts, f"{failed} of {answered} requests failed: {percent(share)}", numbers)]


def _failures(facts: LoadFacts, said: str, numbers: dict[str, float]) -> Finding:
    return Finding(
        "failures_mixed", "misleading", "likely", facts.source, said,
        "an error that comes at once makes the figures better, a timeout worse; throughput counts them, too",
        "report answers and failures apart, and find out why they failed", numbers,
    )  # fmt: skip


def _note(facts: LoadFacts, share: float, numbers: dict[str, float]) -> Finding:
    return Finding(
        "failures_mixed", "note", "certain", facts.source, f"{percent(share)} failed", "they hardly move the mean",
        "find out why they failed", numbers,
    )  # fmt: skip


def counts(facts: LoadFacts) -> list[Finding] | None:
    """Requests per length beside the rate that the file says."""
    of = facts.of
    if (
        of.requests is not None
        or of.throughput_per_s is None
        or not of.length_s
        or of.completed is None
        or (facts.answered or 0) < 100
    ):
        return None
    least, most = of.completed / of.length_s, (facts.answered or 0) / of.length_s
    if least * (1 - COUNTS) <= of.throughput_per_s <= most * (1 + COUNTS):
        return []
    return [
        Finding(
            "throughput", "contradiction", "certain", facts.source,
            f"the throughput is said to be {per_second(of.throughput_per_s)}; {facts.answered} requests in {seconds(of.length_s)} are "
            f"{per_second(most)}",
            "the rate is a mean of rates of unequal intervals, or of another part of the run" if of.tool == "bombardier" else
            "count, time and rate are not of the same run", "take the count and the time",
            {"said_per_s": of.throughput_per_s, "counted_per_s": most},
        )
    ]  # fmt: skip


def averaged(facts: LoadFacts) -> list[Finding] | None:
    """Quantiles of the whole, each of which is the mean of the windows' own, nearer than by chance."""
    windows = facts.of.windows
    if windows is None or not windows.quantiles or not facts.of.quantiles:
        return None
    found = []
    for q, values in sorted(windows.quantiles.items()):
        known = np.isfinite(values)
        whole = facts.of.quantiles.get(q)
        if q < 0.9 or whole is None or known.sum() < 5 or np.min(values[known]) <= 0:
            continue
        if np.max(values[known]) < UNEVEN * np.min(values[known]):
            continue
        weights = windows.completed[known] if windows.completed is not None else None
        means = [
            float(np.mean(values[known])),
            *([float(np.average(values[known], weights=weights))] if weights is not None and weights.sum() else []),
        ]
        near = 2 * facts.of.rounding_s + EQUAL * whole
        if not any(abs(mean - whole) < near for mean in means):
            return []  # who averages one averages all
        found.append((2 * near / float(np.std(values[known]) / np.sqrt(known.sum())), q, whole, values[known]))
    if not found or min(one[0] for one in found) > CHANCE:
        return []
    _, q, whole, values = min(found, key=lambda one: one[0])
    return [
        Finding(
            "percentiles_averaged", "misleading", "likely", facts.source,
            f"{100 * q:g} % of the whole, {seconds(whole)}, is the mean of those of {values.size} windows, which go from "
            f"{seconds(float(np.min(values)))} to {seconds(float(np.max(values)))}",
            "a mean of quantiles is no quantile: slow windows count as little as fast ones",
            "merge histograms, or take it from single requests",
            {"q": q, "whole_s": whole, "least_s": float(np.min(values)), "most_s": float(np.max(values))},
        )
    ]  # fmt: skip
