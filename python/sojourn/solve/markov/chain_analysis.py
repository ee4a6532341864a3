"""Chains of your own: stationary distribution, distribution over time, times of first passage.

A chain is a generator Q in 1/s: `q[i, j]` the rate from i to j, rows that sum to 0; a numpy array or any scipy.sparse
matrix. Sources: W. J. Stewart, Introduction to the Numerical Solution of Markov Chains (1994), chapters 1, 2, 8;
elimination, levels and uniformisation: `crates/solve/src/markov`; first passage: J. G. Kemeny, J. L. Snell, Finite
Markov Chains (1960), ch. 3, in continuous time.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import ArrayLike

from sojourn.errors import InputError, MethodRefused, SolverError
from sojourn.model.network_arrays import Array
from sojourn.model.routes import comes_to
from sojourn.solve.markov.absorption import AbsorptionSolver

TOLERANCE, CYCLES, GOOD = 1e-15, 500, 1e-10
ROW = 1e-9
MOST_WORK = 1e11  # moves of probability, about 1e9 a second


def steady(q: Any) -> Array:
    """Stationary distribution, n. Up to 300 states exact to rounding in each entry; else to a residual of 1e-10.

    Transient states get 0. Raises InputError where q is no generator or more than one distribution fits, SolverError
    where the residual is not reached.
    """
    from sojourn._native import chain_steady

    rates = _generator(q)
    _one_recurrent_class(rates)
    p, residual, cycles = chain_steady(*_csr(rates), TOLERANCE, CYCLES)
    if residual > GOOD:
        raise SolverError(
            f"residual {residual:.1e} after {cycles} cycles",
            "steady",
            "number states with transitions between them close together",
        )
    return p


def transient(q: Any, p0: ArrayLike, times_s: ArrayLike) -> Array:
    """Distribution at each time, T x n, from `p0` (n, sum 1) at time 0; times in s, ascending, >= 0; error below 1e-12.

    Raises InputError where something else is given.
    """
    from sojourn._native import chain_transient

    rates = _generator(q)
    start, times = np.asarray(p0, float), np.atleast_1d(np.asarray(times_s, float))
    if start.shape != (rates.shape[0],) or start.min() < 0 or abs(start.sum() - 1) > ROW:
        raise InputError(
            f"p0 with {start.size} entries that sum to {start.sum():.9g}",
            "p0",
            "give one probability for each state, sum 1",
        )
    if not np.isfinite(times).all() or (np.diff(times, prepend=0.0) < 0).any():
        raise InputError(times.tolist(), "times_s", "give times from 0 on, ascending")
    if (work := _out(rates).max() * times.max(initial=0.0) * (rates.nnz + len(start))) > MOST_WORK:
        raise InputError(
            f"{times.max():g} s are {work:.2g} steps of this chain", "times_s",
            f"use times at which it is below {MOST_WORK:g}, or for the steady state",
        )  # fmt: skip
    return chain_transient(*_csr(rates), start, times, 1e-13).reshape(len(times), len(start))


@dataclass(frozen=True)
class FirstPassageTime:
    """Time until one of the targets is reached, by the state it starts in: mean (s) and variance (s^2), 0 in targets,
    infinite where they may never be reached."""

    mean_s: Array
    variance_s2: Array


def first_passage(q: Any, targets: Iterable[int]) -> FirstPassageTime:
    """Moments of the time to the first of `targets` (numbers of states); InputError where there is none such."""
    rates = _generator(q)
    n = rates.shape[0]
    inside = _targets(targets, n)
    sure = _surely(rates, inside)
    rest = np.flatnonzero(sure & ~inside)
    mean, square = np.where(sure, 0.0, np.inf), np.where(sure, 0.0, np.inf)
    if len(rest):
        solve = _solver(rates, rest)
        mean[rest] = solve(np.ones(len(rest)))
        square[rest] = 2 * solve(mean[rest])
    with np.errstate(invalid="ignore"):
        return FirstPassageTime(mean, np.where(sure, np.maximum(square - mean**2, 0.0), np.inf))


def _solver(rates: Any, rest: np.ndarray) -> Callable[[Array], Array]:
    """(-T)^-1 among some states: without subtractions, which keeps the digits of stiff chains, or of large ones by sparse factors."""
    from scipy import sparse  # slow to import

    within = rates[rest][:, rest]
    elsewhere = np.ones(rates.shape[0], bool)
    elsewhere[rest] = False
    try:
        return AbsorptionSolver(
            sparse.csr_array(within), np.asarray(rates[rest] @ elsewhere.astype(float)).ravel()
        ).solve
    except MethodRefused:
        return sparse.linalg.splu(sparse.csc_matrix(sparse.diags(_out(rates)[rest]) - within)).solve


def passage_probability(q: Any, targets: Iterable[int], p0: ArrayLike, times_s: ArrayLike) -> Array:
    """T, probability that one of the targets was reached by each time; arguments and errors as `transient`."""
    from scipy import sparse  # slow to import

    rates = _generator(q)
    inside = _targets(targets, rates.shape[0])
    stopped = sparse.csr_matrix(sparse.diags((~inside).astype(float)) @ rates)
    return np.asarray(transient(stopped - sparse.diags(_out(stopped)), p0, times_s)[:, inside].sum(axis=1))


def _generator(q: Any) -> Any:
    """The rates off the diagonal as CSR; InputError says what is wrong with them."""
    from scipy import sparse  # slow to import

    whole = sparse.csr_matrix(q, dtype=float)
    n, m = whole.shape
    if n != m or n == 0:
        raise InputError(f"{n} x {m}", "q", "give a square matrix of rates")
    if not np.isfinite(whole.data).all():
        raise InputError("a rate that is not a finite number", "q", "give rates in 1/s")
    sums = np.asarray(whole.sum(axis=1)).ravel()
    scale = np.maximum(np.abs(whole.diagonal()), 1e-300)
    if (bad := np.flatnonzero(np.abs(sums) > ROW * scale)).size:
        raise InputError(
            f"row {bad[0]} sums to {sums[bad[0]]:.6g}", "q", "make the diagonal minus the sum of the other rates"
        )
    off = sparse.csr_matrix(whole - sparse.diags(whole.diagonal()))
    off.eliminate_zeros()
    if off.nnz and off.data.min() < 0:
        raise InputError(f"a rate of {off.data.min():.6g}", "q", "give rates of at least 0 off the diagonal")
    return off


def _csr(rates: Any) -> tuple[Any, Any, Array]:
    return rates.indptr.astype(np.int64), rates.indices.astype(np.int32), rates.data.astype(float)


def _out(rates: Any) -> Array:
    return np.asarray(rates.sum(axis=1), float).ravel()


def _targets(targets: Iterable[int], n: int) -> np.ndarray:
    inside = np.zeros(n, bool)
    wanted = np.array(list(targets), dtype=int)
    if not wanted.size or wanted.min() < 0 or wanted.max() >= n:
        raise InputError(wanted.tolist(), "targets", f"give at least one state from 0 to {n - 1}")
    inside[wanted] = True
    return inside


def _one_recurrent_class(rates: Any) -> None:
    """More than one class of states that nothing leaves means more than one stationary distribution."""
    from scipy.sparse import csgraph  # slow to import

    count, label = csgraph.connected_components(rates, directed=True, connection="strong")
    left = np.zeros(count, bool)
    from_, to = rates.nonzero()
    left[label[from_][label[from_] != label[to]]] = True
    if (~left).sum() > 1:
        first = [int(np.flatnonzero(label == c)[0]) for c in np.flatnonzero(~left)[:2]]
        raise InputError(
            f"states {first[0]} and {first[1]} never reach each other, and nothing leaves their classes", "q",
            "solve each class of states on its own",
        )  # fmt: skip


def _surely(rates: Any, inside: np.ndarray) -> np.ndarray:
    """Which states reach the targets with probability 1: those that reach no state from which there is no way."""
    from scipy import sparse  # slow to import

    back = sparse.csr_matrix(rates.T)
    hopeless = ~comes_to(back, inside)
    free = sparse.csr_matrix(sparse.diags((~inside).astype(float)) @ rates)
    return ~comes_to(sparse.csr_matrix(free.T), hopeless) if hopeless.any() else ~hopeless
