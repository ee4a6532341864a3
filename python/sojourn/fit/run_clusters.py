"""Errors and degrees of freedom where the unit is the run: residuals of a run stay together, whatever they share.

Residuals are smaller than errors, most where a run has the most say; each run's are stretched by (I - H)^(-1/2) of its own
block of the hat matrix H, which makes the variance unbiased where runs are alike, and the interval takes Student's t with
the degrees of freedom of that variance, an unknown each (R. M. Bell, D. F. McCaffrey: Bias Reduction in Standard Errors for
Linear Regression with Multi-Stage Samples. Survey Methodology 28(2), 2002, pp. 169-181; G. W. Imbens, M. Kolesár: Robust
Standard Errors in Small Samples. Rev. Econ. Statist. 98(4), 2016, pp. 701-712, section III). In a draw each run's residuals are
given one weight (wild cluster bootstrap: A. C. Cameron, J. B. Gelbach, D. L. Miller, Rev. Econ. Statist. 90(3), 2008,
pp. 414-427). The weight is normal: with weights of two or six points, which are bounded, an unknown that one run decides
would have no tails (measured: intervals a tenth too narrow).

    X      slopes by weight, n x p       H    X (X'X)^-1 X', the hat matrix
    run    n, which run                  A    (I - H_gg)^(-1/2) of run g
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

Array = NDArray[np.float64]
Index = NDArray[np.intp]
KNOWN = 1e9  # degrees of freedom of an error that is stated and not estimated from residuals
NOTHING = 1e-6  # of I - H: a direction that the fit takes wholly, of which nothing is left to see


@dataclass(frozen=True)
class RunClusters:
    """`stretch`: run → A, in the order of its rows; `degrees`: of freedom, an unknown each, 1 or more; `left`: n, the diagonal of
    I - H, what the fit leaves of the variance of each; `taken`: n, whether the fit takes a row wholly, so that its residual says
    nothing of its error: all rows where there are no more runs than unknowns."""

    run: Index
    stretch: tuple[Array, ...]
    degrees: Array
    left: Array
    taken: NDArray[np.bool_]

    @staticmethod
    def of(weighted: Array, run: Index) -> RunClusters:
        """`weighted` X, n x p, `run` n from 0 on."""
        inverse = np.linalg.pinv(weighted)  # p x n: (X'X)^-1 X'
        hat = weighted @ inverse
        count = int(run.max()) + 1
        stretch = []
        influence = np.zeros((count, *inverse.shape))  # run, unknown, n: what the variance has of each residual
        left = np.eye(len(hat)) - hat
        for g in range(count):
            own = np.flatnonzero(run == g)
            a = _root(left[np.ix_(own, own)])
            stretch.append(a)
            influence[g] = inverse[:, own] @ a @ left[own]
        square = np.einsum("gpn,hpn->pgh", influence, influence)
        trace = np.trace(square, axis1=1, axis2=2)
        norm = (square**2).sum(axis=(1, 2))
        degrees = np.where(norm > 0, trace**2 / np.maximum(norm, 1e-300), 1.0)
        remains = np.diag(left).copy()
        taken = (remains < NOTHING) | (count <= weighted.shape[1])
        if taken.all():
            degrees = np.full(weighted.shape[1], KNOWN)
        return RunClusters(run, tuple(stretch), np.maximum(degrees, 1.0), remains, taken)

    def stretched(self, residual: Array) -> Array:
        """Weighted residuals, n, as large as errors are."""
        found = residual.copy()
        for g, a in enumerate(self.stretch):
            own = self.run == g
            found[own] = a @ residual[own]
        return found


def _root(left: Array) -> Array:
    """The symmetric inverse square root; nothing where nothing is left."""
    sizes, vectors = np.linalg.eigh((left + left.T) / 2)
    safe = np.where(sizes > NOTHING, sizes, 1.0)
    return np.asarray((vectors * np.where(sizes > NOTHING, safe**-0.5, 0.0)) @ vectors.T)
