"""Coordinated omission: while the service stands still, users that wait for answers send nothing, so that a stall is a handful of slow
requests instead of all that would have been sent.

Source: G. Tene, How NOT to measure latency (2015); the correction of HdrHistogram (`recordValueWithExpectedInterval`). The bound: during
a stall of length G as many requests as usual would have come, X G, each with the rest of the stall still to wait.
"""

from __future__ import annotations

import numpy as np

from sojourn.check.facts import LoadFacts
from sojourn.check.finding import Finding
from sojourn.check.schedule import LONG_GAPS, by_chance, long_gaps
from sojourn.check.time_units import unit_hint
from sojourn.readers.observation import Array
from sojourn.units import quantile_name, seconds

LEAST = 100
FACTOR = 1.5  # by which a quantile must grow
TAKEN = 0.9  # share of the most in flight that a stall holds
STEP_OUT = 6.0  # the most beside the highest known quantile: of a stall
VOID = 3.0  # a stall is so many times as long as any other response that no stall of its size explains
STEPS, MOST_ADDED = 100, 1_000_000  # waiting times that stand for the requests that a stall hid; all together
QUANTILES = (0.5, 0.9, 0.95, 0.99, 0.999)
MISTAKEN = (
    300.0,
    30_000.0,
)  # how many times as long as the usual time a stall is that may be none, in a column of another unit


def stalls(facts: LoadFacts) -> list[Finding] | None:
    """Of single requests, where the load is no schedule: gaps in which nearly all users wait."""
    if facts.requests is None or facts.of.open_loop is True or facts.requests.start_s.size < LEAST:
        return None
    start = facts.requests.start_s
    known = facts.of.open_loop is False or facts.of.users  # else it may be a schedule
    begins, gaps = long_gaps(start, LONG_GAPS if known else by_chance(start.size))
    times, number = facts.present
    usual = float(np.quantile(number, 0.5))
    inside = np.searchsorted(times, start[0] + begins, side="right") - 1
    full = number[np.clip(inside, 0, number.size - 1)] >= max(1.0, TAKEN * usual)
    end = np.sort(facts.requests.end_s)
    idle = np.searchsorted(end, start[0] + begins + gaps * 0.9) - np.searchsorted(
        end, start[0] + begins + gaps * 0.1, side="right"
    )
    kept = full & (idle <= 0.1 * usual) & (gaps > 3 * facts.quantiles[0.5])
    gaps = _beyond_all_others(facts, start[0] + begins[kept], gaps[kept])
    if gaps.size == 0:
        return []
    rate = start.size / max(float(np.ptp(start)) - float(gaps.sum()), 1e-9)
    return _corrected(facts, gaps, rate)


def _from_p99(q: float) -> float:
    return abs(q - 0.99)


def _beyond_all_others(facts: LoadFacts, begins: Array, gaps: Array) -> Array:
    """Gaps between which and all other response times there is nothing: long requests of a usual distribution make gaps, too. `begins` in
    order."""
    assert facts.requests is not None
    if gaps.size == 0:
        return gaps
    response, sizes = facts.requests.response_s, np.unique(gaps)
    waited = longest_waited(begins, gaps, facts.requests.start_s, facts.requests.end_s)
    longest = np.zeros(sizes.size + 1)  # response by the longest gap that it waited through: none, or the k-th
    np.maximum.at(longest, np.searchsorted(sizes, waited, side="right"), response)
    beyond = np.flatnonzero(
        np.maximum.accumulate(longest)[:-1] * VOID < sizes
    )  # of those that waited through no gap of that size
    return gaps[gaps >= sizes[beyond[0]]] if beyond.size else gaps[:0]


def longest_waited(begins: Array, gaps: Array, start: Array, end: Array) -> Array:
    """Of each request the longest gap of those through nine tenths of which it waited, 0 where there is none; (requests,).

    Gaps do not overlap, so those of a request are neighbours; the longest of neighbours is that of two powers of two of them."""
    first, last = np.searchsorted(begins, start), np.searchsorted(begins + 0.9 * gaps, end, side="right")
    found = np.zeros(start.size)
    inside = np.flatnonzero(last > first)
    first, last = first[inside], last[inside]
    of_so_many, many = gaps, 1
    while inside.size:
        mine = last - first < 2 * many
        found[inside[mine]] = np.maximum(of_so_many[first[mine]], of_so_many[last[mine] - many])
        inside, first, last = inside[~mine], first[~mine], last[~mine]
        of_so_many, many = np.maximum(of_so_many[:-many], of_so_many[many:]), 2 * many
    return found


def _corrected(facts: LoadFacts, gaps: Array, rate: float) -> list[Finding]:
    assert facts.requests is not None
    each = max(1, min(STEPS, MOST_ADDED // gaps.size))
    waits = ((np.arange(each) + 0.5) / each * gaps[:, None]).ravel()
    value = np.concatenate([facts.requests.response_s, waits])
    weight = np.concatenate([np.ones(facts.requests.start_s.size), np.repeat(rate * gaps / each, each)])
    order = np.argsort(value)
    share = np.cumsum(weight[order]) / weight.sum()
    true = {q: float(value[order][min(int(np.searchsorted(share, q)), order.size - 1)]) for q in QUANTILES}
    grown = [q for q in QUANTILES if true[q] > FACTOR * facts.quantiles[q] and true[q] - facts.quantiles[q] > 1e-3]
    if not grown or grown[0] > 0.99:
        return []
    q = 0.99
    return [
        _finding(
            facts, float(gaps.max()), int(gaps.size), float(gaps.sum()) * rate, q, facts.quantiles[q], true[q], "likely"
        )
    ]


def summary(facts: LoadFacts) -> list[Finding] | None:
    """Of figures alone, of a closed loop: the most is so far from the highest known quantile, and so long, that it was a stall."""
    of = facts.of
    if (
        of.requests is not None
        or of.open_loop is not False
        or not of.quantiles
        or of.most_s is None
        or not facts.length_s
    ):
        return None
    q: float = min(of.quantiles, key=_from_p99)
    most, known, users, answered = of.most_s, of.quantiles[q], of.users or 1.0, facts.answered or 0
    if q < 0.9 or answered < LEAST or facts.rate_per_s is None or known <= 0:
        return []
    hidden = most / (facts.length_s + most)
    if most < STEP_OUT * known or hidden < 1 - q:
        return []
    if of.stdev_s is not None and of.stdev_s**2 * answered < 0.3 * users * most**2:
        return []  # too few slow requests: not all users waited
    true = most * (1 - (1 - q) / hidden)
    if true < FACTOR * known:
        return []
    return [_finding(facts, most, 1, most * facts.rate_per_s, q, known, true, "possible")]


def _finding(
    facts: LoadFacts, longest: float, count: int, hidden: float, q: float, said: float, true: float, sure: str
) -> Finding:
    name = quantile_name(q)
    return Finding(
        "coordinated_omission", "misleading", "likely" if sure == "likely" else "possible", facts.source,
        f"the service stood still for {seconds(longest)}{f' (and {count - 1} times more)' if count > 1 else ''}, and users that wait sent "
        f"nothing: at most {hidden:.0f} requests are missing; {name} is {seconds(said)}, with them up to {seconds(true)}",
        "quantiles count a stall as one slow request a user, not as all that would have come in that time",
        f"{_unit_of_csv(facts, true / said)}measure with a schedule that does not wait (`sojourn load --rate`, wrk2 -R, "
        "vegeta), and take times from when a request was due",
        {"stall_s": longest, "stalls": float(count), "missing": hidden, "q": q, "said_s": said, "up_to_s": true,
         "share": hidden / (hidden + (facts.answered or 0))},
    )  # fmt: skip


def _unit_of_csv(facts: LoadFacts, longer: float) -> str:
    """Whoever names a column by hand may take its unit for another: beside gaps between requests its times are then far too short."""
    return unit_hint(1e-3) if facts.of.tool == "csv" and MISTAKEN[0] <= longer <= MISTAKEN[1] else ""
