"""`Routes`: where customers go, without the zeros: of K stations and C classes, states (node, class) as node*C + class, node K is outside.

A class that has no routing of its own, and that no other becomes, passes the stations in order (`series`): its moves are made only when
somebody asks for them, because fractions of a visit at n stations make n² of them.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from functools import cached_property
from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import NDArray

from sojourn.errors import MethodRefused

if TYPE_CHECKING:
    from scipy import sparse

Array = NDArray[np.float64]
Rows = dict[int, dict[int, float]]
MOST_BYTES = 5e8  # of a table of all pairs of states
REMEDY = "use a method that only reads visits (mva, jackson) if one applies, or simulate"
MOST_MOVES = 10_000_000


@dataclass(frozen=True, eq=False)
class Routes:
    stations: int
    classes: int
    rows: sparse.csr_array | None  # ((K+1)C)²; those of `series` are empty; None: all are
    series: Mapping[int, Array]  # class → visits (K,)

    @staticmethod
    def of(table: Array, classes: int) -> Routes:
        """From a table of all pairs of states."""
        from scipy import sparse

        return Routes(len(table) // classes - 1, classes, sparse.csr_array(table), {})

    def same_as(self, other: Routes) -> bool:
        """Whether both have the same moves, where none is listed; False where some are, without a look at them."""
        told = (
            self.rows is None
            and other.rows is None
            and self.size == other.size
            and self.series.keys() == other.series.keys()
        )
        return told and all(np.array_equal(self.series[j], other.series[j]) for j in self.series)

    @cached_property
    def explicit(self) -> sparse.csr_array:
        """`rows`, made where there are none."""
        return as_matrix({}, self.size) if self.rows is None else self.rows

    @cached_property
    def matrix(self) -> sparse.csr_array:
        """All moves. Raises MethodRefused where they are too many to be listed."""
        from scipy import sparse

        if not self.series:
            return self.explicit
        starts, ends, shares = [], [], []
        count = 0
        for j, visits in self.series.items():
            for start, to, p in series_rows(visits, j, self.classes):
                starts.append(np.full(len(to), start))
                ends.append(to)
                shares.append(p)
                count += len(to)
                if count > MOST_MOVES:
                    said = f"visits of less than one at {self.stations} stations make more than {MOST_MOVES:.2g} routes"
                    raise MethodRefused(said, "route", REMEDY)
        entries = (np.concatenate(shares), (np.concatenate(starts), np.concatenate(ends)))
        return sparse.csr_array(self.explicit + sparse.csr_array(entries, shape=(self.size, self.size)))

    @property
    def size(self) -> int:
        return (self.stations + 1) * self.classes

    @cached_property
    def table(self) -> Array:
        """All pairs of states. Raises MethodRefused where that takes too much memory."""
        if (need := 8.0 * self.size**2) > MOST_BYTES:
            said = f"its {self.size} routes as a table take {need / 1e9:.2g} GB, and at most {MOST_BYTES / 1e9:.2g} are taken"
            raise MethodRefused(said, "route", REMEDY)
        return np.asarray(self.matrix.toarray())

    def row(self, node: int, cls: int) -> list[tuple[int, int, float]]:
        """(node, class, probability) of each move from there."""
        m, i = self.matrix, node * self.classes + cls
        own = slice(m.indptr[i], m.indptr[i + 1])
        ends = zip(m.indices[own].tolist(), m.data[own].tolist(), strict=True)
        return [(*divmod(end, self.classes), p) for end, p in sorted(ends) if p != 0]

    @cached_property
    def entered(self) -> NDArray[np.bool_]:
        """(K + 1) x C: whether any move leads there."""
        return np.asarray((abs(self.matrix).sum(axis=0) > 0).reshape(self.stations + 1, self.classes))


def series_rows(visits: Array, j: int, c: int) -> Iterator[tuple[int, NDArray[np.int64], Array]]:
    """From each state its ends and their probabilities. Stations in order: skipped with probability 1 - v where v < 1, repeated with
    probability 1 - 1/v where v > 1."""
    k, there = len(visits), np.flatnonzero(visits)
    enter = np.minimum(visits[there], 1.0)
    sure = np.flatnonzero(enter == 1.0)
    for place, start in enumerate([*there.tolist(), k]):
        first = 0 if start == k else place + 1
        again = 1 - 1 / visits[start] if start < k and visits[start] > 1 else 0.0
        last = np.searchsorted(sure, first)
        stop = int(sure[last]) + 1 if last < len(sure) else len(there)  # nobody comes past one that all enter
        passed = (1 - again) * np.cumprod(np.r_[1.0, 1 - enter[first:stop]])
        ends = np.r_[there[first:stop], k] * c + j
        p = np.r_[passed[:-1] * enter[first:stop], passed[-1] if start < k or len(there) else 0.0]
        if again:
            ends, p = np.r_[start * c + j, ends], np.r_[again, p]
        yield start * c + j, ends[p > 0], p[p > 0]


def as_matrix(rows: Rows, size: int) -> sparse.csr_array:
    from scipy import sparse

    entries = [(start, end, p) for start, moves in rows.items() for end, p in moves.items() if p]
    if not entries:
        return sparse.csr_array((size, size))
    start, end, p = (np.array(column) for column in zip(*entries, strict=True))
    return sparse.csr_array((p, (start, end)), shape=(size, size))


def comes_to(arrows: Any, begin: NDArray[np.bool_]) -> NDArray[np.bool_]:
    """Which states can be come to by entries above 0 from these, themselves included: by the graph, whatever the sizes."""
    from scipy import sparse
    from scipy.sparse.csgraph import breadth_first_order

    n, entry = len(begin), arrows.tocoo()
    there, first = entry.data > 0, np.flatnonzero(begin)
    row, col = np.r_[entry.row[there], np.full(len(first), n)], np.r_[entry.col[there], first]
    graph = sparse.csr_matrix((np.ones(len(row)), (row, col)), shape=(n + 1, n + 1))
    found = np.zeros(n + 1, bool)
    found[breadth_first_order(graph, n, return_predecessors=False)] = True
    return found[:n]
