"""Coordinated omission: while the service stands still, users that wait for answers send nothing, so that a stall is a handful of slow
requests instead of all that would have been sent.

Source: G. Tene, How NOT to measure latency (2015); the correction of HdrHistogram (`recordValueWithExpectedInterval`). The bound: during
a stall of length G as many requests as usual would have come, X G, each with the rest of the stall still to wait.
"""

from __future__ import annotations

import numpy as np

from sojourn.check.facts import Facts
from sojourn.check.finding import Finding
from sojourn.check.schedule import long_gaps
from sojourn.readers.observation import Array
from sojourn.units import quantile_name, seconds

LEAST = 100
FACTOR = 1.5  # by which a quantile must grow
TAKEN = 0.9  # share of the most in flight that a stall holds
STEP_OUT = 6.0  # the most beside the highest known quantile: of a stall
VOID = 3.0  # a stall is so many times as long as any other response that no stall of its size explains
QUANTILES = (0.5, 0.9, 0.95, 0.99, 0.999)


def stalls(facts: Facts) -> list[Finding] | None:
    """Of single requests, where the load is no schedule: gaps in which nearly all users wait."""
    if facts.requests is None or facts.of.open_loop is True or facts.requests.start_s.size < LEAST:
        return None
    start = facts.requests.start_s
    begins, gaps = long_gaps(start)
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


def _beyond_all_others(facts: Facts, begins: Array, gaps: Array) -> Array:
    """Gaps between which and all other response times there is nothing: long requests of a usual distribution make gaps, too."""
    assert facts.requests is not None
    start, end, response = facts.requests.start_s, facts.requests.end_s, facts.requests.response_s
    for least in np.sort(gaps):
        waits = np.zeros(start.size, bool)
        for begin, gap in zip(begins[gaps >= least], gaps[gaps >= least], strict=True):
            waits |= (start <= begin) & (end >= begin + 0.9 * gap)
        if float(response[~waits].max(initial=0.0)) * VOID < least:
            return gaps[gaps >= least]
    return gaps[:0]


def _corrected(facts: Facts, gaps: Array, rate: float) -> list[Finding]:
    assert facts.requests is not None
    values, weights = [facts.requests.response_s], [np.ones(facts.requests.start_s.size)]
    for gap in gaps:
        waits = (np.arange(100) + 0.5) / 100 * gap
        values.append(waits)
        weights.append(np.full(100, rate * gap / 100))
    value, weight = np.concatenate(values), np.concatenate(weights)
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


def summary(facts: Facts) -> list[Finding] | None:
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
    facts: Facts, longest: float, count: int, hidden: float, q: float, said: float, true: float, sure: str
) -> Finding:
    name = quantile_name(q)
    return Finding(
        "coordinated_omission", "misleading", "likely" if sure == "likely" else "possible", facts.source,
        f"the service stood still for {seconds(longest)}{f' (and {count - 1} times more)' if count > 1 else ''}, and users that wait sent "
        f"nothing: at most {hidden:.0f} requests are missing; {name} is {seconds(said)}, with them up to {seconds(true)}",
        "quantiles count a stall as one slow request a user, not as all that would have come in that time",
        "measure with a schedule that does not wait (`sojourn load --rate`, wrk2 -R, vegeta), and take times from when a request was due",
        {"stall_s": longest, "stalls": float(count), "missing": hidden, "q": q, "said_s": said, "up_to_s": true,
         "share": hidden / (hidden + (facts.answered or 0))},
    )  # fmt: skip
