"""How much larger a positive figure is in B than in A, by the values of runs: logarithms, so that the difference is a ratio.

A mean of logarithms is a geometric mean, whose ratio does not depend on which side is the reference (P. J. Fleming and J. J. Wallace,
Comm. ACM 29 (1986), 218-221). Runs are independent observations, requests of one run are not: the unit is the run (T. Kalibera and
R. Jones, Rigorous benchmarking in reasonable time, ISMM 2013). Unequal variances: B. L. Welch, Biometrika 34 (1947), 28-35, with degrees of
freedom of a sum of variances after F. E. Satterthwaite, Biometrics Bulletin 2 (1946), 110-114. Equivalence: two one-sided tests, D. J.
Schuirmann, J. Pharmacokin. Biopharm. 15 (1987), 657-680: at (1 - level)/2 each they are the interval at `level` within the margin.

Both suppose that logarithms are normal, which few runs cannot show: where runs fall into two modes and nothing else differs, two pairs
that fell alike claim a difference in every second comparison, and six of seven pairs on one side are enough for Student's t, which comes
in 12.5 %. A claim therefore needs the test of all exchanges of A and B too (`exchanges`), which supposes no distribution: the chance
of such a difference, or of one within a margin, must be no more than 1 - level, and half of it on either side of the margin. Its smallest
two-sided chance is 2 in the number of exchanges, which is 2^n of n pairs and (a + b)!/(a! b!) of a and b runs apart; so fewer runs than
reach the level show nothing. At 90 % these are five pairs, or three runs of each side.

Letters: d difference of mean logarithms, s its standard error, f degrees of freedom; the ratio is exp(d), its interval exp(d ± t_f s).
"""

from __future__ import annotations

import math
from bisect import bisect_left
from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np

from sojourn.compare.exchanges import Stratum, chance, exchanges
from sojourn.stats.student import student_quantile

POWER = 0.8  # with which `runs_needed` tells
MOST_RUNS = 1000
ZERO = 1e-12  # relative: what logarithms of equal figures differ by


@dataclass(frozen=True)
class LogRatio:
    """`difference` of logarithms, B less A, with its standard `error` (NaN where runs do not tell how they differ) and its
    `degrees` of freedom; `count` runs of each side, or pairs, in each condition, the least where these differ. `spreads`: where not all
    have as many, what the variance of `difference` would be with one run of a side in a condition, for each of them. `sizes`: of runs
    that are no pairs, how many of A and of B there are in each condition. `strata`: the logarithms, by pair or condition; without them no
    exchanges are asked."""

    difference: float
    error: float
    degrees: float
    count: int
    spreads: tuple[float, ...] = ()
    sizes: tuple[tuple[int, int], ...] = ()
    strata: tuple[Stratum, ...] = ()

    @property
    def ratio(self) -> float:
        """B over A."""
        return math.exp(self.difference)

    @property
    def known(self) -> bool:
        """Whether there is an interval."""
        return math.isfinite(self.error) and self.degrees > 0

    def interval(self, level: float) -> tuple[float, float]:
        """Of the ratio, at `level` in (0, 1); (0, infinity) where there is none."""
        if not self.known:
            return 0.0, math.inf
        half = student_quantile(0.5 + level / 2, self.degrees) * self.error
        with np.errstate(over="ignore"):
            return float(np.exp(self.difference - half)), float(np.exp(self.difference + half))

    @property
    def exchanges(self) -> int:
        """In how many ways these runs could have fallen to A and B."""
        return exchanges(self.sizes) if self.sizes else 2**self.count

    def enough(self, level: float) -> bool:
        """Whether so many runs can support a claim at `level`: a necessary number, no guarantee. As many as `fewest` on both sides of each
        condition, too: two beside five have exchanges enough, and one degree of freedom."""
        each = min((min(pair) for pair in self.sizes), default=self.count)
        return _reached(self.exchanges, level) and each >= self.fewest(level)

    def fewest(self, level: float) -> int:
        """Runs of each side in each condition, or pairs, that a claim at `level` needs."""
        count = 1
        while not _reached(exchanges([(count, count)] * len(self.sizes)) if self.sizes else 2**count, level):
            count += 1
        return count

    def outside(self, level: float) -> bool:
        """Whether the interval says that B is not as A."""
        low, high = self.interval(level)
        return self.enough(level) and not low <= 1 <= high

    def differs(self, level: float) -> bool:
        """Whether exchanges of A and B say so, too: the claim."""
        return self.outside(level) and (not self.strata or _within(self.chance(level), level))

    def chance(self, level: float) -> float:
        """Share of the exchanges that are as far apart as these runs, on either side; told from 0 as `level` needs it."""
        return chance(self.strata, least=1 - level)

    def equivalent(self, margin: float, level: float) -> bool:
        """Whether the interval is within the margin, and few exchanges are where B is at the margin: on each side (1 - level)/2 at most."""
        low, high = self.interval(level)
        if not (self.enough(level) and 1 / (1 + margin) <= low and high <= 1 + margin):
            return False
        edge, half = math.log1p(margin), (1 + level) / 2
        return not self.strata or all(
            _within(chance(self.strata, side * edge, -side, 1 - half), half) for side in (1, -1)
        )

    def runs_needed(self, margin: float, level: float) -> int | None:
        """Runs of each side (or pairs) with which four of five such comparisons tell, where B is like A or differs by the margin; None
        beyond 1000 or where nothing is known of how runs differ.

        Of the two the first needs more: with no difference both one-sided tests must succeed, each with probability 1 - (1 - 0.8)/2.
        That the spread of runs is itself known from few is in it, by a noncentral t with the degrees of these runs (S. A. Julious and
        R. J. Owen, Pharmaceutical Statistics 5 (2006), 29-37).
        """
        return self._runs(math.log1p(margin), 1 - (1 - POWER) / 2, level)

    def runs_needed_as_seen(self, level: float) -> int | None:
        """The same where the difference is what it seems here: to find it."""
        return self._runs(abs(self.difference), POWER, level)

    def _runs(self, reach: float, power: float, level: float) -> int | None:
        """Least number with which an interval of a difference `reach` away from what it must not hold does not hold it."""
        if not self.known or reach == 0:
            return None
        from scipy.special import nctdtrit  # slow to import

        variance, a_run_more = (
            self.error**2 * self.count,
            self.degrees / max(self.count - 1, 1),
        )  # of one run of each side
        if any(self.spreads):
            variance = sum(self.spreads)
            a_run_more = variance**2 / sum(spread**2 for spread in self.spreads)

        def enough(count: int) -> bool:
            """The more runs, the narrower: so the least number is found by halving."""
            degrees = max(a_run_more * (count - 1), 1.0)
            errors = nctdtrit(self.degrees, student_quantile(0.5 + level / 2, degrees), power)
            return bool(errors * math.sqrt(variance / count) <= reach)

        counts = range(max(2, self.fewest(level)), MOST_RUNS + 1)
        at = bisect_left(counts, True, key=enough)
        return counts[at] if at < len(counts) else None


def paired(a: Sequence[float], b: Sequence[float]) -> LogRatio:
    """Of values of A and of B that belong together one by one: those of a block, or of a rate."""
    logs = [np.log(np.asarray(side, float)) for side in (a, b)]
    apart = logs[1] - logs[0]
    count = len(apart)
    error = _deviation(apart) / math.sqrt(count) if count > 1 else math.nan
    strata = tuple(((float(x),), (float(y),)) for x, y in zip(*logs, strict=True))
    return LogRatio(float(apart.mean()), error, count - 1, count, strata=strata)


def stratified(conditions: Sequence[tuple[Sequence[float], Sequence[float]]]) -> LogRatio:
    """Of values of A and of B in each of several conditions, which count alike; of one condition it is Welch's test."""
    difference, parts, strata = 0.0, [], []
    for a, b in conditions:
        logs = [np.log(np.asarray(side, float)) for side in (a, b)]
        difference += float(logs[1].mean() - logs[0].mean()) / len(conditions)
        parts += [(_deviation(side) / len(conditions), len(side)) for side in logs]
        strata.append((tuple(map(float, logs[0])), tuple(map(float, logs[1]))))
    least = min(count for _, count in parts)
    sizes = tuple((len(a), len(b)) for a, b in conditions)
    if least < 2:
        return LogRatio(difference, math.nan, 0.0, least, sizes=sizes)
    variances = [(deviation**2 / count, count) for deviation, count in parts]
    total = sum(value for value, _ in variances)
    below = sum(value**2 / (count - 1) for value, count in variances)
    degrees = total**2 / below if below > 0 else float(sum(count - 1 for _, count in variances))
    alike = all(count == least for _, count in parts)
    spreads = () if alike else tuple(deviation**2 for deviation, _ in parts)
    return LogRatio(difference, math.sqrt(total), degrees, least, spreads, sizes, tuple(strata))


def _reached(exchanges: int, level: float) -> bool:
    """Whether 2 of so many are no more than 1 - `level`."""
    return math.log(exchanges) >= math.log(2 / (1 - level)) - ZERO


def _within(chance: float, level: float) -> bool:
    return chance <= (1 - level) * (1 + 1e-9)


def _deviation(logs: np.ndarray) -> float:
    """Standard deviation; 0 of values that are alike but for rounding, NaN of a single one."""
    if len(logs) < 2:
        return math.nan
    found = float(logs.std(ddof=1))
    return found if found > ZERO else 0.0
