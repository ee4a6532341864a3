"""Is it one load, or several after each other: a trend over the run, and a beginning that is unlike the rest."""

from __future__ import annotations

import numpy as np

from sojourn.check.facts import LoadFacts
from sojourn.check.finding import Finding
from sojourn.readers.observation import Array
from sojourn.stats.rank_correlation import RankCorrelation, rank_correlation
from sojourn.units import percent, seconds

BLOCKS = 20
LEAST = 400
TREND_P, DRIFT = 1e-4, 0.3
STEP = 3.0  # spreads of the blocks by which their halves differ
EARLY = 4  # blocks, a fifth
WARM_FACTOR, WARM_EFFECT, SPREADS = 1.5, 0.05, 8.0


def trend(facts: LoadFacts) -> list[Finding] | None:
    """A trend of the response times over the run."""
    blocks, values = _blocks(facts), _values(facts)
    if blocks is None or values is None:
        return None
    found = next((one for one in map(_drift, (blocks, _low(values))) if one is not None), None)
    if found is None:
        return []
    first, last, test = found
    return [
        Finding(
            "not_stationary", "misleading", "likely", facts.source,
            f"response times drift from {seconds(first)} to {seconds(last)} ({percent(last / first - 1, 0, True) if first else ''}), "
            f"rank correlation with time {test.value:+.2f}",
            "mean and quantiles of the whole are of no single load: a queue, a cache, a heap or the load itself grew", 
            "hold the load constant and wait until it is steady, or report parts of the run one by one",
            {"first_s": first, "last_s": last, "correlation": test.value, "p_value": test.p_value},
        )
    ]  # fmt: skip


def _drift(blocks: Array) -> tuple[float, float, RankCorrelation] | None:
    """(first, last, rank correlation with time) where blocks drift; what the beginning alone does is warm-up."""
    later = blocks[EARLY:]
    test = rank_correlation(np.arange(float(later.size)), later)
    first, last = float(np.median(later[:4])), float(np.median(later[-4:]))
    spread = float(np.median(np.abs(np.diff(later))))
    drifts = test.p_value < TREND_P and abs(last - first) > max(DRIFT * min(first, last), STEP * spread)
    return (first, last, test) if drifts else None


def warm_up(facts: LoadFacts) -> list[Finding] | None:
    """A first fifth, or a part of it, that is slower than all that follows, and moves the mean."""
    blocks = _blocks(facts)
    if blocks is None:
        return None
    rest = blocks[EARLY:]
    early = blocks[:EARLY]
    usual, most = float(np.mean(rest)), float(np.max(rest))
    high = early > WARM_FACTOR * max(most, usual)
    effect = float(np.mean(blocks)) / usual - 1 if usual else 0.0
    count = int(np.argmin(high)) if not high.all() else EARLY
    if not count or effect < WARM_EFFECT or float(early[:count].mean()) < usual + SPREADS * float(np.std(rest)):
        return []
    values = _values(facts)
    assert values is not None
    low = _low(values)
    if float(low[:count].mean()) < WARM_FACTOR * float(np.median(low[EARLY:])):
        return []  # a busy period: its quick requests are as quick as ever
    return [
        Finding(
            "warm_up", "misleading", "likely", facts.source,
            f"the first {percent(count / BLOCKS, 0)} of the requests took {seconds(float(early[:count].mean()))} on average, the others "
            f"{seconds(usual)}: it raises the mean by {percent(effect, 0)}",
            "connecting, compiling and filling caches are in the figures", "leave out the beginning, and compute the figures of the rest",
            {"share": count / BLOCKS, "early_s": float(early[:count].mean()), "rest_s": usual, "effect": effect},
        )
    ]  # fmt: skip


def _values(facts: LoadFacts) -> Array | None:
    """Response times in order of their start; of windows their means."""
    if facts.requests is not None:
        return facts.requests.response_s if facts.requests.start_s.size >= LEAST else None
    windows = facts.of.windows
    if windows is None or windows.mean_s is None:
        return None
    known = windows.mean_s[np.isfinite(windows.mean_s)]
    return known if known.size >= 2 * BLOCKS else None


def _blocks(facts: LoadFacts) -> Array | None:
    """Means of twenty blocks."""
    values = _values(facts)
    return None if values is None else np.array([part.mean() for part in np.array_split(values, BLOCKS)])


def _low(values: Array) -> Array:
    """The lower fourth of each block: it hardly knows how long the queue was."""
    return np.array([np.quantile(part, 0.25) for part in np.array_split(values, BLOCKS)])
