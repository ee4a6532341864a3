"""Linear equations of a chain that ends, solved without a subtraction: means and probabilities however stiff the chain is.

Source: W. K. Grassmann, M. I. Taksar, D. P. Heyman, Operations Research 33(5), 1985, pp. 1107-1116, of chains that end as in
A. S. Alfa, J. Xue, Q. Ye, Numerische Mathematik 90 (2002), pp. 401-414: a generator that is given by the rates between its states
and the rates out of them, each 0 or more, decides every entry of (-T)^-1 to its relative precision.

    source                       here
    off-diagonal entries of T    among, 1/s, n x n
    row sums of -T               away, 1/s: ends, or never ends

States are eliminated in the order of reverse Cuthill and McKee, within a band; the diagonal is the sum of what is left of a row.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

from sojourn.errors import MethodRefused
from sojourn.model.network_arrays import Array

if TYPE_CHECKING:
    from scipy import sparse

MOST_PRODUCTS = 2e10  # half a minute or so
MOST_BYTES = 2e9


class AbsorptionSolver:
    """Of -T = diag(away + row sums of among) - among; every state must come to an end (`model.routes.comes_to`). Raises MethodRefused
    where that would take too long."""

    def __init__(self, among: sparse.csr_array, away: Array) -> None:
        from scipy import sparse  # slow to import
        from scipy.sparse.csgraph import reverse_cuthill_mckee

        n = len(away)
        self.order = np.asarray(reverse_cuthill_mckee(sparse.csr_matrix(among)) if n else [], np.intp)
        entry = among[self.order][:, self.order].tocoo()
        self.band = int(np.abs(entry.row - entry.col).max(initial=0))
        self._affordable(n)
        self.window = self._windows(n)
        self.window[entry.row, entry.col] = entry.data
        self.sums = self._eliminated(away[self.order])

    def _affordable(self, n: int) -> None:
        products, size = float(n) * self.band**2, 8.0 * n * (2 * self.band + 1)
        if products > MOST_PRODUCTS or size > MOST_BYTES:
            said = f"the equations of {n} states take {products:.1g} products and {size:.1g} bytes"
            remedy = f"simulate, or ask of a smaller model: {MOST_PRODUCTS:.1g} products and {MOST_BYTES:.1g} bytes are allowed"
            raise MethodRefused(said, "passage", remedy)

    def _windows(self, n: int) -> Array:
        """The band as a matrix: row i begins 2 band + 1 numbers after row i - 1, and is one column further."""
        wide = 2 * self.band + 1
        self.storage = np.zeros(n * wide + self.band)
        middle = self.storage[self.band :]
        return np.lib.stride_tricks.as_strided(middle, (n, n), (8 * (wide - 1), 8))

    def _eliminated(self, away: Array) -> Array:
        a, away, sums = self.window, away.copy(), np.empty(len(away))
        for k in range(len(away)):
            rest = slice(k + 1, min(k + 1 + self.band, len(away)))
            sums[k] = away[k] + a[k, rest].sum()
            a[k, rest] /= sums[k]
            into = a[rest, k]
            away[rest] += into * (away[k] / sums[k])
            if into.any():
                a[rest, rest] += np.outer(into, a[k, rest])  # diagonals too, which nobody reads
        return sums

    def solve(self, x: Array) -> Array:
        """(-T)^-1 x, x 0 or more."""
        a, n, found = self.window, len(x), x[self.order].astype(float)
        for k in range(n):
            rest = slice(k + 1, min(k + 1 + self.band, n))
            found[k] /= self.sums[k]
            found[rest] += a[rest, k] * found[k]
        for k in range(n - 1, -1, -1):
            rest = slice(k + 1, min(k + 1 + self.band, n))
            found[k] += a[k, rest] @ found[rest]
        told = np.empty(n)
        told[self.order] = found
        return told
