"""CPU 0 against 50-digit sums of geometric series (mpmath), and against the log-sum-exp evaluation of errata section
1."""

from __future__ import annotations

import mpmath as mp
import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from sojourn.solve import interrupt_core

mp.mp.dps = 50
EPS = [0.0, 1e-14, -1e-12, 1e-9, -1e-6, 1e-3]
LOADS = [(1.0 + d, 1.0 + e) for d in EPS for e in EPS]
LOADS += [(0.7 + d, 0.7) for d in EPS] + [(1.3 + d, 1.3) for d in EPS]
LOADS += [
    (1.0, 0.4),
    (0.4, 1.0),
    (1.0, 2.5),
    (2.5, 1.0),
    (0.0, 0.5),
    (0.5, 0.0),
    (3.0, 1e-3),
    (1e-3, 3.0),
    (0.09, 0.8174),
]


def reference(alpha: float, beta: float, capacity: int) -> dict[str, mp.mpf]:
    """E(k), P_N, pi_00, n_a^0 of pi_ij ~ alpha^i beta^j, i + j <= N, from closed sums at 400 digits (0/0 shifted
    away)."""
    with mp.workdps(400):
        shift = mp.mpf(10) ** -60
        a, b = mp.mpf(alpha), mp.mpf(beta)
        a = a + shift if a == 1 else a
        b = b + 3 * shift if b in (a, 1) else b
        n = capacity

        def total(x: mp.mpf) -> mp.mpf:  # sum of x^(k+1), k = 0..N
            return x * (1 - x ** (n + 1)) / (1 - x)

        def weighted(x: mp.mpf) -> mp.mpf:  # sum of k x^(k+1)
            return x * x * (1 - (n + 1) * x**n + n * x ** (n + 1)) / (1 - x) ** 2

        z = (total(a) - total(b)) / (a - b)
        return {
            "mean_jobs": (weighted(a) - weighted(b)) / (a - b) / z,
            "loss": (a ** (n + 1) - b ** (n + 1)) / (a - b) / z,
            "carried": 1 - (a ** (n + 1) - b ** (n + 1)) / (a - b) / z,
            "empty": 1 / z,
            "no_interrupt": (1 - b ** (n + 1)) / (1 - b) / z,
        }


def log_sum(alpha: float, beta: float, capacity: int) -> tuple[float, float]:
    """E(k) and log pi_00 by errata section 1: log h_k summed over k, O(N)."""
    k = np.arange(capacity + 1.0)
    most, least = max(alpha, beta), min(alpha, beta)
    if most == least:
        log_h = k * np.log(most) + np.log(k + 1)
    else:
        ratio = np.log1p((least - most) / most)
        log_h = k * np.log(most) + np.log(-np.expm1((k + 1) * ratio)) - np.log((most - least) / most)
    top = log_h.max()
    h = np.exp(log_h - top)
    return float((k * h).sum() / h.sum()), float(-(top + np.log(h.sum())))


def relative(found: float, exact: mp.mpf) -> float:
    if abs(exact) < mp.mpf(10) ** -290:
        return 0.0 if abs(found) < 1e-285 else np.inf
    return float(abs(mp.mpf(float(found)) - exact) / abs(exact))


@pytest.mark.parametrize("capacity", [1, 2, 3, 10, 100, 1000, 65535, 1_000_000])
def test_tandem_matches_50_digits(capacity: int) -> None:
    alpha, beta = np.array(LOADS).T
    found = interrupt_core.tandem(alpha, beta, capacity)
    for k, (a, b) in enumerate(LOADS):
        exact = reference(a, b, capacity)
        for name, value in exact.items():
            assert relative(getattr(found, name)[k], value) < 1e-12, (name, a, b)


@pytest.mark.parametrize("capacity", [1, 7, 1000, 1_000_000])
def test_shared_matches_50_digits(capacity: int) -> None:
    loads = [(0.3, 0.7), (0.3, 0.7 - 1e-13), (0.1, 0.5), (0.5, 0.5 + 1e-9), (1.0, 1.0), (0.2, 2.0), (2.0, 0.0)]
    alpha, beta = np.array(loads).T
    found = interrupt_core.shared(alpha, beta, capacity)
    for k, (a, b) in enumerate(loads):
        with mp.workdps(400):
            rho = mp.mpf(a) + mp.mpf(b)
            rho = rho + mp.mpf(10) ** -60 if rho == 1 else rho
            z = (1 - rho ** (capacity + 1)) / (1 - rho)
            mean = rho * (1 - (capacity + 1) * rho**capacity + capacity * rho ** (capacity + 1)) / (1 - rho) ** 2 / z
            assert relative(found.mean_jobs[k], mean) < 1e-12, (a, b)
            assert relative(found.loss[k], rho**capacity / z) < 1e-12, (a, b)
            assert relative(found.carried[k], 1 - rho**capacity / z) < 1e-12, (a, b)
            assert relative(found.empty[k], 1 / z) < 1e-12, (a, b)


load = st.floats(1e-3, 4.0)


@settings(max_examples=60, deadline=None)
@given(load, load, st.integers(1, 20_000))
def test_doubling_agrees_with_log_sums(alpha: float, beta: float, capacity: int) -> None:
    found = interrupt_core.tandem(alpha, beta, capacity)
    mean, log_empty = log_sum(alpha, beta, capacity)
    assert found.mean_jobs == pytest.approx(mean, rel=1e-9)
    assert found.log_empty == pytest.approx(log_empty, rel=1e-9, abs=1e-9)


@settings(max_examples=60, deadline=None)
@given(load, load, st.integers(1, 1_000_000))
def test_probabilities_and_symmetry(alpha: float, beta: float, capacity: int) -> None:
    one, other = interrupt_core.tandem(alpha, beta, capacity), interrupt_core.tandem(beta, alpha, capacity)
    assert 0 <= one.loss <= 1 and 0 <= one.carried <= 1 and 0 <= one.mean_jobs <= capacity
    assert one.loss + one.carried == pytest.approx(1, abs=1e-13)
    assert one.mean_jobs == pytest.approx(float(other.mean_jobs), rel=1e-12)
    # flow balance of class a: mu1 P(n_a > 0) = lambda (1 - P_N)
    assert 1 - float(one.no_interrupt) == pytest.approx(alpha * float(one.carried), rel=1e-10, abs=1e-13)
