"""Whether the bottleneck of a system oscillates between two resources: each is full at times, one when the other is not.

Such a system is as fast as if one of them were always full, while both show room in the mean: with cycles below a second in
every mean over a second, as monitoring takes it. The second source document met it between CPU and disk of a database.

The rule, frozen before live data were judged by it (figures: benches/oscillation): the bottleneck oscillates where the busy
shares, without what is slower than a second, are opposed (r <= -0.3) beyond chance (p <= 0.01, stats/circular_shift.py), each of them
reaches 0.9 in at least a tenth of the samples, and one or the other in at least half of them. That both are full at times is part
of it: a steady bottleneck takes from the other resource what it gets itself, and so opposes it too. An oscillation is
`hidden` where at most a tenth of the means over a second reach 0.9 in either, else `visible`.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field
from typing import Any, Literal, TypeAlias

import numpy as np
from numpy.typing import ArrayLike

from sojourn.errors import InputError
from sojourn.former_keyword import former_field, former_keyword
from sojourn.stats.circular_shift import Array, shift_test
from sojourn.units import percent, seconds

Verdict: TypeAlias = Literal["none", "hidden", "visible", "too_short"]
# of a sample: finer ones are averaged to about the first; in coarser ones phases of 0.2 s fill no sample (benches/oscillation)
INTERVAL_S, MOST_INTERVAL_S = 0.1, 0.11
LEAST_SAMPLES, LEAST_S = 140, 14.0  # 99 shifts, for p = 0.01
MOST_P, MOST_CORRELATION = 0.01, -0.3
FULL, EACH_FULL, EITHER_FULL = 0.9, 0.1, 0.5
MEAN_S, SEEN_FULL = 1.0, 0.1
ROUNDING = 0.2  # of a sample: counters go in steps of 4 or 10 ms, and may show more than all the time


@former_field(
    why="reason",
    full="share_of_samples_full",
    seen_full="share_of_seconds_full",
    mean="mean_busy_share",
    interval_s="judged_interval_s",
)
@dataclass(frozen=True)
class Oscillation:
    """What two busy shares in time say. `verdict`: `none`, `hidden`, `visible`, `too_short`; `reason`: in words.

    `correlation`: of the samples less what is slower than a second; `p_value`: one-sided, None where nothing could be shifted;
    `share_of_samples_full`: in which each is at 0.9 or more, then either; `share_of_seconds_full`: the same of means over a second, of
    either; `mean_busy_share`: of each; `samples`, `judged_interval_s`: what was judged, after
    averaging. `series`: shape (2, samples); `by_shift`: r at each shift.
    """

    names: tuple[str, str]
    verdict: Verdict
    reason: str
    correlation: float
    p_value: float | None
    share_of_samples_full: tuple[float, float, float]
    share_of_seconds_full: float
    mean_busy_share: tuple[float, float]
    samples: int
    judged_interval_s: float
    series: Array = field(repr=False, compare=False)
    by_shift: Array = field(repr=False, compare=False)

    @property
    def oscillating(self) -> bool:
        """Whether the bottleneck oscillates, seen in means over a second or not."""
        return self.verdict in ("hidden", "visible")

    @property
    def record(self) -> dict[str, Any]:
        """All of it but the series, as plain values for JSON."""
        left_out = ("series", "by_shift")
        return {key: value for key, value in vars(self).items() if key not in left_out}


@former_keyword(a="shares_a", b="shares_b")
def oscillation(
    shares_a: ArrayLike, shares_b: ArrayLike, interval_s: float = INTERVAL_S, names: Sequence[str] = ("a", "b")
) -> Oscillation:
    """Judges whether a bottleneck oscillates between two resources, of which `shares_a` and `shares_b` (n,) are the busy shares in [0, 1],
    sampled together every `interval_s`, at most 0.11 s. Samples of 0.05 s and less are averaged to about 0.1 s.

    Raises:
        InputError: not two series of numbers in [0, 1] of one length; one that does not vary; samples too far apart.
    """
    labels = (str(names[0]), str(names[1]))
    step = _step(interval_s)
    shares = np.stack(_checked(shares_a, shares_b, labels, step))
    interval_s = round(interval_s * step, 9)
    test = shift_test(shares[0], shares[1], interval_s)
    reached = shares >= FULL
    full = (float(reached[0].mean()), float(reached[1].mean()), float(reached.any(axis=0).mean()))
    seen = float((_means(shares, interval_s) >= FULL).any(axis=0).mean())
    verdict, why = _judged(labels, shares.shape[1], interval_s, test.correlation, test.p_value, full, seen)
    return Oscillation(
        names=labels, verdict=verdict, reason=why, correlation=test.correlation, p_value=test.p_value,
        share_of_samples_full=full, share_of_seconds_full=seen,
        mean_busy_share=(float(shares[0].mean()), float(shares[1].mean())), samples=shares.shape[1],
        judged_interval_s=interval_s, series=shares, by_shift=test.by_shift,
    )  # fmt: skip


def _step(interval_s: float) -> int:
    """How many samples are averaged to one."""
    if not 0 < interval_s <= MOST_INTERVAL_S:
        remedy = (
            f"sample every {seconds(INTERVAL_S)}, at most {seconds(MOST_INTERVAL_S)} apart: shorter phases are not seen"
        )
        raise InputError(f"{interval_s:g} s", "interval_s", remedy)
    return max(1, int(INTERVAL_S / interval_s + 1e-6))


def _checked(a: ArrayLike, b: ArrayLike, names: tuple[str, str], step: int) -> list[Array]:
    """Means of `step` samples each, within [0, 1]."""
    series, sizes = [], []
    for values, name in zip((a, b), names, strict=True):
        try:
            one = np.asarray(values, float)
        except (TypeError, ValueError):
            raise InputError("not all are numbers", name, "give busy shares in [0, 1]") from None
        if one.ndim != 1 or one.size == 0:
            raise InputError(f"shape {one.shape}", name, "give one busy share per sample, in one list")
        if not np.isfinite(one).all():
            where = int(np.argmax(~np.isfinite(one))) + 1
            raise InputError(f"sample {where} is {one[where - 1]}", name, "give a number for each sample")
        sizes.append(one.size)
        one = one[: one.size // step * step].reshape(-1, step).mean(axis=1) if one.size >= step else one
        if one.min() < -ROUNDING or one.max() > 1 + ROUNDING:
            worst = one[np.argmax(np.abs(one - 0.5))]
            raise InputError(f"{worst:g} among the samples", name, "give shares in [0, 1]; of percentages a hundredth")
        if np.ptp(one) == 0:
            remedy = "compare two resources whose use varies in time"
            raise InputError(f"constant: {one[0]:g} in all {one.size} samples", name, remedy)
        series.append(np.clip(one, 0.0, 1.0))
    if sizes[0] != sizes[1]:
        found = f"{sizes[0]} and {sizes[1]} samples"
        raise InputError(found, f"{names[0]} and {names[1]}", "give samples that were taken together")
    return series


def _means(shares: Array, interval_s: float) -> Array:
    """Over `MEAN_S`, shape (2, seconds); what is left over at the end is not looked at."""
    size = min(round(MEAN_S / interval_s), shares.shape[1]) or 1
    means: Array = shares[:, : shares.shape[1] // size * size].reshape(2, -1, size).mean(axis=2)
    return means


def _judged(
    names: tuple[str, str], samples: int, interval_s: float, r: float, p: float | None,
    full: tuple[float, ...], seen: float,
) -> tuple[Verdict, str]:  # fmt: skip
    """The verdict, and the conditions that decided it."""
    if p is None or samples < LEAST_SAMPLES or samples * interval_s < LEAST_S - interval_s / 2:
        least = max(LEAST_S, LEAST_SAMPLES * interval_s)
        return "too_short", f"{samples} samples of {seconds(interval_s)}; {least:g} s are needed"
    missing = [f"r = {r:.2f}, above {MOST_CORRELATION:g}"] if r > MOST_CORRELATION else []
    if p > MOST_P:
        missing.append(f"p = {p:.2g}, above {MOST_P:g}")
        if r <= MOST_CORRELATION:
            missing[-1] += (
                ": they alternate just as much when one is shifted, as two series with the same strict period do"
            )
    missing += [
        f"{name} is at {percent(FULL, 0)} or more in {percent(share)} of the samples, less than {percent(least, 0)}"
        for name, share, least in zip(
            (*names, "one or the other"), full, (EACH_FULL, EACH_FULL, EITHER_FULL), strict=True
        )
        if share < least
    ]
    if missing:
        return "none", "; ".join(missing)
    means = f"{percent(seen)} of the means over {MEAN_S:g} s reach {percent(FULL, 0)}"
    told = f"r = {r:.2f}, p = {p:.2g}; at least one is at {percent(FULL, 0)} or more in {percent(full[2])} of the samples; {means}"
    return ("hidden" if seen <= SEEN_FULL else "visible"), told
