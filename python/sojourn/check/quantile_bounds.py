"""Quantiles, mean, standard deviation, least and most of one set of numbers bound each other, whatever the distribution.

Sources: a quantile grows with its share; a mean lies between the two step functions through the quantiles; standard deviation: Bhatia and
Davis, A better bound on the variance, American Mathematical Monthly 107(4), 2000, pp. 353-357; distance of a quantile from the mean:
Cantelli's inequality.
"""

from __future__ import annotations

from itertools import pairwise
from math import sqrt

from sojourn.check.facts import LoadFacts
from sojourn.check.finding import Finding
from sojourn.units import quantile_name, seconds

TOLERANCE = 0.03  # buckets of histograms
REMEDY = "do not use these figures; compute them anew from single requests or one histogram"


def order(facts: LoadFacts) -> list[Finding] | None:
    """Least ≤ quantiles in their order ≤ most."""
    of = facts.of
    if of.requests is not None:
        return None
    known = [*([("the least", of.least_s)] if of.least_s is not None else []),
             *((quantile_name(q), of.quantiles[q]) for q in sorted(of.quantiles)),
             *([("the most", of.most_s)] if of.most_s is not None else [])]  # fmt: skip
    if len(known) < 2:
        return None
    for (name, low), (next_, high) in pairwise(known):
        assert low is not None and high is not None
        if low > high * (1 + TOLERANCE + 2 * of.rounding) + 2 * of.rounding_s:
            return [
                Finding(
                    "quantiles", "contradiction", "certain", facts.source,
                    f"{name} is {seconds(low)}, and {next_}, which cannot be less, is {seconds(high)}",
                    "these are not figures of one set of response times: averaged, mixed up, or of other units", REMEDY,
                    {"lower_s": low, "higher_s": high},
                )
            ]  # fmt: skip
    return []


def mean(facts: LoadFacts) -> list[Finding] | None:
    """The mean between the bounds of the quantiles; the standard deviation between its own."""
    of = facts.of
    if of.requests is not None or of.mean_s is None or not (of.quantiles or of.most_s is not None):
        return None
    least, most = least_mean_s(facts), most_mean_s(facts)
    near = 1 + TOLERANCE + 2 * of.rounding
    low, high = least / near - 2 * of.rounding_s, None if most is None else most * near + 2 * of.rounding_s
    if of.mean_s < low or (high is not None and of.mean_s > high):
        bounds = f"at least {seconds(least)}" if of.mean_s < low else f"at most {seconds(most)}"
        return [
            Finding(
                "mean_and_quantiles", "contradiction", "certain", facts.source,
                f"the mean is {seconds(of.mean_s)}; with these quantiles it is {bounds}",
                "mean and quantiles are not of the same requests", REMEDY,
                {"mean_s": of.mean_s, "least_possible_s": least, "most_possible_s": most},
            )
        ]  # fmt: skip
    return _deviation(facts)


def _shares(facts: LoadFacts) -> list[tuple[float, float]]:
    """(share, value), from 0 on; a share of n values is known to one of them."""
    return [(0.0, facts.of.least_s or 0.0), *sorted(facts.of.quantiles.items())]


def least_mean_s(facts: LoadFacts) -> float:
    """Every value as small as the quantiles allow."""
    known = _shares(facts)
    slack = 1 / max(facts.answered or 10**9, 1)
    ends = [*(share for share, _ in known[1:]), 1.0]
    return sum(max(end - share - slack, 0.0) * value for (share, value), end in zip(known, ends, strict=True))


def most_mean_s(facts: LoadFacts) -> float | None:
    """Every value as large as they allow; None where the most is not known."""
    if facts.of.most_s is None:
        return None
    known = [*_shares(facts), (1.0, facts.of.most_s)]
    slack = 1 / max(facts.answered or 10**9, 1)
    return sum((b - a + slack) * value for (a, _), (b, value) in pairwise(known))


def _deviation(facts: LoadFacts) -> list[Finding]:
    of = facts.of
    deviation, mean_s = of.stdev_s, of.mean_s
    if deviation is None or mean_s is None:
        return []
    near = 1 + TOLERANCE + 2 * of.rounding
    found = None
    if of.most_s is not None:
        most = sqrt(max(of.most_s - mean_s, 0.0) * max(mean_s - (of.least_s or 0.0), 0.0))
        if deviation > most * near + 2 * of.rounding_s + of.rounding * of.most_s:
            found = f"at most {seconds(most)} with that mean and that maximum"
    for share, value in of.quantiles.items():
        share = min(share, 1 - 1 / max(facts.answered or 10**9, 2))
        if 0 < share < 1:
            reach = deviation * near * sqrt(share / (1 - share) if value > mean_s else (1 - share) / share)
            if abs(value - mean_s) > reach + 2 * of.rounding_s + (TOLERANCE + 2 * of.rounding) * max(value, mean_s):
                found = f"too small for {quantile_name(share)} {seconds(value)} beside a mean of {seconds(mean_s)}"
    if found is None:
        return []
    return [
        Finding(
            "mean_and_quantiles", "contradiction", "certain", facts.source, f"the standard deviation is {seconds(deviation)}: {found}",
            "it is not of the same requests as the mean, the quantiles or the most", REMEDY, {"deviation_s": deviation, "mean_s": mean_s},
        )
    ]  # fmt: skip
