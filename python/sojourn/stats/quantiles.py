"""Quantiles of all requests of a run: those that failed count as later than all that were answered.

A quantile of the answers alone is one of the survivors: with 0.9 % of time-outs the 99.9 % quantile of the answers is a time that
0.99 % of the requests did not reach. So it is read off all requests, and has no value where it lies among those that failed
(response times censored on the right; E. L. Kaplan, P. Meier, J. Amer. Stat. Assoc. 53 (1958), pp. 457-481, whose estimate
this is where all are censored after the last answer).
"""

from __future__ import annotations

import polars as pl

FAILED = "failures"  # status of a quantile that lies among failed requests
LATE = "late"  # of one that a late generator leaves open
TEXT = {
    FAILED: (
        "the quantile falls among failed requests, which count as later than all answers: it has no value; "
        "`loss_probability` says how many failed"
    ),
    LATE: (
        "the generator was late, which can change this quantile by more than a tenth: the true value lies between `low` and "
        "`high`; the mean may still be usable. "
        "Give the generator a core of its own or real-time priority (`sojourn doctor`)"
    ),
}
KEPT = {0.5: "p50_s", 0.9: "p90_s", 0.99: "p99_s", 0.999: "p999_s"}  # of the generator's summary


def quantile(times: pl.Series, failed: int, q: float) -> float | None:
    """Quantile q in [0, 1] of `times` and of `failed` requests more; linear between neighbours (Hyndman and Fan's 7th). None
    where it lies among the failed, or there is no request."""
    at = q * (len(times) + failed - 1)
    if not len(times) or at > len(times) - 1:
        return None
    value = times.quantile(min(at / max(len(times) - 1, 1), 1.0), "linear")
    return None if value is None else float(value)
