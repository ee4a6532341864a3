"""How uncertain the unknowns are: half by the residuals of the runs, half by what the runs state of themselves.

Residuals say it without bias whatever runs share (`run_clusters`), but few runs say it badly: an unknown has two to six degrees of
freedom, its variance is a quarter of the true one in one fit of ten, and Student's t has to make all intervals up to two and a half
times as wide for that. Errors that runs state, and as much of the floor as all residuals together show, are known better, but are no
more than a model: what one kind of run is worse by is not in them. Numbers of one run see the same work, so that their errors go together
(`errors_within_runs`); what the floor adds is of each by itself. The variance is therefore the mean of both, which no small
residuals make less than half of what runs state.

    V    STATED V_s + (1 - STATED) V_r      V_r    by residuals      V_s    of errors with covariance C + g floor², g ≥ 0
    D    V² / (STATED V_s/√D_s + (1 - STATED) V_r/√D_r)²             D_s    runs less unknowns; of g = 0 no number: V_s is known then

D are the degrees of freedom of such a sum (F. E. Satterthwaite: An Approximate Distribution of Estimates of Variance Components. Biometrics
Bulletin 2(6), 1946, pp. 110-114), whose parts vary together, since both are told by the same residuals. A variance drawn towards a common
one: G. K. Smyth: Linear Models and Empirical Bayes Methods for Assessing Differential Expression in Microarray Experiments. Statist. Appl.
Genet. Molec. Biol. 3(1), 2004, art. 3, section 5. The share was chosen on linear fits with known errors (benches/fit/linear_coverage.py).
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from sojourn.fit.run_clusters import KNOWN, RunClusters

Array = NDArray[np.float64]
STATED = 0.5  # of the variance


@dataclass(frozen=True)
class EstimateSpread:
    """`by_run`: n, what the error of each run multiplies; `root`: n x n, of the covariance of what runs state and of what the fit takes
    wholly, both of logarithms; `sizes`: standard deviation of each of p unknowns, as they are searched, `degrees` its degrees of freedom,
    1 or more."""

    clusters: RunClusters
    by_run: Array
    root: Array
    sizes: Array
    degrees: Array
    slopes: Array  # n x p
    back: Array  # p x n, from logarithms to what is searched

    @staticmethod
    def of(
        clusters: RunClusters, slopes: Array, weight: Array, stated: Array, floor: Array, residual: Array
    ) -> EstimateSpread:
        """`slopes` n x p of the logarithms; `stated` n x n, the covariance of relative errors; `weight`, a relative error, `floor` and
        `residual` of logarithms, all n."""
        taken, runs = clusters.taken, len(clusters.stretch)
        back = np.linalg.pinv(weight[:, None] * slopes) * weight
        alone = np.where(taken, 1 / weight, 0.0)
        if taken.all():
            nothing = np.zeros_like(weight)
            sizes = np.sqrt(back**2 @ alone**2)
            return EstimateSpread(clusters, nothing, np.diag(alone), sizes, clusters.degrees, slopes, back)
        own = np.where(taken, 0.0, clusters.stretched(weight * residual) / weight)
        told = np.stack([back[:, clusters.run == g] @ own[clusters.run == g] for g in range(runs)])
        left = np.eye(len(weight)) - weight[:, None] * (slopes @ back) / weight
        errors, known = stated_errors(left, weight, stated, floor, residual)
        errors = np.where(taken[:, None] | taken[None], 0.0, errors)
        parts = (1 - STATED) * (told**2).sum(axis=0), STATED * _through(back, errors)
        degrees = degrees_of(*parts, clusters.degrees, KNOWN if known else max(runs - slopes.shape[1], 1))
        apart = np.diag(alone**2) + STATED * errors
        sizes = np.sqrt(parts[0] + _through(back, apart))
        return EstimateSpread(clusters, np.sqrt(1 - STATED) * own, _root(apart), sizes, degrees, slopes, back)

    def drawn(self, at_best: Array, count: int, rng: np.random.Generator) -> Array:
        """`count` data sets (count x n) about the best, in which the unknowns have just these standard deviations, so that what `count`
        draws differ by chance is not in an interval."""
        noise = rng.standard_normal((count, len(self.clusters.stretch)))[:, self.clusters.run] * self.by_run
        noise = noise + rng.standard_normal((count, len(at_best))) @ self.root.T
        moved = noise @ self.back.T
        centred = moved - moved.mean(axis=0)
        found = centred.std(axis=0)
        wanted = centred * np.where(found > 0, self.sizes / np.where(found > 0, found, 1.0), 0.0)
        return np.asarray(at_best + noise + (wanted - moved) @ self.slopes.T)


def stated_errors(left: Array, weight: Array, stated: Array, floor: Array, residual: Array) -> tuple[Array, bool]:
    """Covariance, n x n: what runs state, and as much of the floor as makes the squares of all residuals what they are; and whether that is
    nothing. `left` n x n: I - H, H the hat matrix."""
    of_stated = float((left * (weight[:, None] * stated * weight)).sum())  # the trace of (I - H) W C W
    square = float(((weight * residual) ** 2).sum()) - of_stated
    more = max(square / max(float(np.diag(left) @ (weight * floor) ** 2), 1e-12), 0.0)
    return stated + np.diag(more * floor**2), more == 0


def _through(back: Array, errors: Array) -> Array:
    """Variances of the unknowns, p, by `errors`, n x n."""
    return np.asarray(((back @ errors) * back).sum(axis=1))


def _root(errors: Array) -> Array:
    """R with R R' = `errors`."""
    sizes, vectors = np.linalg.eigh(errors)
    return np.asarray(vectors * np.sqrt(np.maximum(sizes, 0.0)))


def degrees_of(one: Array, other: Array, of_one: Array, of_other: float) -> Array:
    """Of the sum of two variances, by their own, where both vary together; 1 or more, those of the first where there is none of either."""
    spread = one / np.sqrt(of_one) + other / np.sqrt(of_other)
    some = spread > 0
    found = np.where(some, ((one + other) / np.where(some, spread, 1.0)) ** 2, of_one)
    return np.asarray(np.maximum(found, 1.0))
