"""MAP/PH/1, first come first served: p(n), moments, and the laws of waiting and of response time.

Source: M. F. Neuts, Matrix-Geometric Solutions in Stochastic Models (1981), ch. 3 and 5; G. Latouche, V. Ramaswami,
Introduction to Matrix Analytic Methods in Stochastic Modeling (1999), ch. 6 and 8. Level = number present; level 0 has
the phases of the arrivals, the others arrival phase x service phase.

Laws of time: let h_n(t) be the probability, by service phase, that n services take longer than t. Then
h_n' = T h_n + t·a h_(n-1), and X = sum of h_n u R^(n-1), n >= 1, obeys X' = T X + (t·a) X R, whatever n: the law of the
wait is an exponential of one matrix of order (phases of service)² x (phases of arrivals).

| letters            | here                                   | unit |
|--------------------|----------------------------------------|------|
| D0, D1             | `arrivals`                             | 1/s  |
| a, T, t = -T·1     | `service`                              | 1/s  |
| pi_0, pi_1, R      | `empty`, `one`, `r`: pi_n = pi_1 R^(n-1) | 1    |
"""

from __future__ import annotations

from dataclasses import dataclass
from functools import cached_property

import numpy as np

from sojourn.model.arrival_processes import stationary
from sojourn.model.network_arrays import Array
from sojourn.solve.markov.matrix_geometric import MatrixGeometric, solve
from sojourn.solve.markov.phase_type import MarkovianArrivals, PhaseTypeService

LARGEST = 400
MOST_BITS, MOST_TERMS = 200, 200


@dataclass(frozen=True)
class PhaseTypeTail:
    """P(time > t) = row · exp(matrix t) · column, t in s."""

    row: Array
    matrix: Array
    column: Array

    def beyond(self, t: float) -> float:
        """P(time > t), t of the order of a move: a series of products with a vector."""
        x, found, k = self.column, float(self.row @ self.column), 0
        while np.abs(x).max() > 1e-18 * np.abs(self.column).max() and k < MOST_TERMS:
            k += 1
            x = self.matrix @ x * (t / k)
            found += float(self.row @ x)
        return found

    def moment(self, k: int) -> float:
        """k-th raw moment, s^k; k = 1 or 2."""
        return float(k * self.row @ self._solved[k - 1])

    @cached_property
    def _solved(self) -> tuple[Array, Array]:
        """(-matrix)^-1 · column, and that once more."""
        from scipy.linalg import lu_factor, lu_solve  # slow to import

        factors = lu_factor(-self.matrix)
        first = lu_solve(factors, self.column)
        return first, lu_solve(factors, first)

    @cached_property
    def _unit_s(self) -> float:
        """A time in which hardly more than one move happens: a power of 2 of it is a product of matrices."""
        return 1 / float(np.abs(np.diag(self.matrix)).max())

    def _power(self, k: int) -> Array:
        """exp(matrix unit 2^k), each the square of the last."""
        from scipy.linalg import expm  # slow to import

        while len(self._powers) <= k:
            last = self._powers[-1] if self._powers else None
            self._powers.append(np.asarray(expm(self.matrix * self._unit_s)) if last is None else last @ last)
        return self._powers[k]

    @cached_property
    def _powers(self) -> list[Array]:
        return []

    def quantile(self, q: float) -> float:
        """The time that is not exceeded with probability q, s; q in [0, 1). Whole units by bits, the rest by bisection."""
        from scipy.optimize import brentq

        row, units, level = self.row, 0, 1 - q
        if row @ self.column <= level:
            return 0.0
        most = 0
        while row @ self._power(most) @ self.column > level and most < MOST_BITS:
            most += 1
        for k in range(most - 1, -1, -1):
            further = row @ self._power(k)
            if further @ self.column > level:
                row, units = further, units + 2**k
        rest = PhaseTypeTail(row, self.matrix, self.column)
        last = brentq(
            lambda t: np.log(max(rest.beyond(t), 1e-300) / level), 0.0, 1.001 * self._unit_s, xtol=1e-300, rtol=1e-13
        )
        return units * self._unit_s + float(last)


@dataclass(frozen=True)
class MapPh1:
    """The queue; the load must be below 1."""

    arrivals: MarkovianArrivals
    service: PhaseTypeService

    @cached_property
    def rate_per_s(self) -> float:
        phase = stationary(self.arrivals.silent + self.arrivals.arriving)
        return float(phase @ self.arrivals.arriving.sum(axis=1))

    @cached_property
    def mean_service_s(self) -> float:
        return float(self.service.start @ np.linalg.solve(-self.service.rates, np.ones(len(self.service.start))))

    @property
    def load(self) -> float:
        return self.rate_per_s * self.mean_service_s

    @cached_property
    def geometric(self) -> MatrixGeometric:
        """G, R and N of the levels above 0."""
        d0, d1 = self.arrivals
        own, phases = np.eye(len(d0)), np.eye(len(self.service.start))
        again = np.outer(self.service.end, self.service.start)
        local = np.kron(d0, phases) + np.kron(own, self.service.rates)
        parts = (np.kron(d1, phases), local, np.kron(own, again))
        return solve(*(np.asarray(part, float) for part in parts))

    @cached_property
    def levels(self) -> tuple[Array, Array]:
        """pi_0 and pi_1; pi_0 sums to 1 - load."""
        d0, d1 = self.arrivals
        enter = np.kron(d1, self.service.start[None, :]) @ self.geometric.n
        leave = np.kron(np.eye(len(d0)), self.service.end[:, None])
        empty = stationary(d0 + enter @ leave) * (1 - self.load)
        return empty, empty @ enter

    @cached_property
    def _above(self) -> Array:
        """(I - R)^-1 · 1."""
        r = self.geometric.r
        return np.asarray(np.linalg.solve(np.eye(len(r)) - r, np.ones(len(r))))

    def probabilities(self, most: int) -> Array:
        """p(0) … p(most)."""
        empty, level = self.levels
        found = [empty.sum()]
        for _ in range(most):
            found.append(level.sum())
            level = level @ self.geometric.r
        return np.array(found)

    @cached_property
    def mean(self) -> float:
        """Mean number present."""
        r = self.geometric.r
        return float(self.levels[1] @ np.linalg.solve(np.eye(len(r)) - r, self._above))

    @cached_property
    def variance(self) -> float:
        """Variance of the number present: E n² = pi_1 (I + R)(I - R)^-3 1."""
        r = self.geometric.r
        one = np.eye(len(r))
        cubed = np.linalg.solve(one - r, np.linalg.solve(one - r, self._above))
        return float(self.levels[1] @ (cubed + r @ cubed)) - self.mean**2

    @cached_property
    def waiting_probability(self) -> float:
        """That an arrival finds somebody there."""
        return max(1 - self._into_empty, 0.0)

    @cached_property
    def _into_empty(self) -> float:
        return float(self.levels[0] @ self.arrivals.arriving.sum(axis=1)) / self.rate_per_s

    @property
    def order(self) -> int:
        """Order of the matrix of the law of waiting."""
        return len(self.arrivals.silent) * len(self.service.start) ** 2

    def _parts(self) -> tuple[Array, Array, Array]:
        """Rows that read P(> t) from X (flattened), the matrix of X, and the row vectors u R^(n-1) summed over n."""
        phases = len(self.service.start)
        rate = self.arrivals.arriving.sum(axis=1) / self.rate_per_s
        read = np.kron(rate[:, None], np.eye(phases))  # V: arrival x service phases → service phases
        r = self.geometric.r
        again = np.outer(self.service.end, self.service.start)
        matrix = np.asarray(np.kron(self.service.rates, np.eye(len(r))) + np.kron(again, r.T), float)
        start = np.asarray(np.linalg.solve(np.eye(len(r)) - r.T, self.levels[1]), float)
        return np.asarray(read.T, float).ravel(), matrix, start

    def waiting(self) -> PhaseTypeTail:
        """Time from arrival to the start of service."""
        row, matrix, start = self._parts()
        return PhaseTypeTail(row, matrix, np.asarray(np.kron(np.ones(len(self.service.start)), start), float))

    def response(self) -> PhaseTypeTail:
        """Time from arrival to the end of service."""
        row, matrix, start = self._parts()
        phases = len(self.service.start)
        again = np.outer(self.service.end, self.service.start)
        # X now begins with h_2; h_1, the own service of who comes to an empty station, feeds it through u = pi_1
        feed = np.kron(again, self.levels[1][:, None])
        whole = np.block([[matrix, feed], [np.zeros((phases, len(matrix))), self.service.rates]])
        column = np.concatenate([np.kron(np.ones(phases), start), np.ones(phases)])
        return PhaseTypeTail(np.concatenate([row, self._into_empty * self.service.start]), whole, column)
