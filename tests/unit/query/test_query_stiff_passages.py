"""Passages that take up to 1e16 s against closed forms and 50-digit numbers: whether one ends is a question of which rates there are."""

from __future__ import annotations

import math

import mpmath
import numpy as np
import pytest
from scipy import sparse

import sojourn as sj
from sojourn.errors import MethodRefused, SourceRefused
from sojourn.query.sources.phase_law import PhaseLaw, essential, phase_law, summed
from sojourn.query.values import Estimate, Span
from sojourn.solve.markov.absorption import AbsorptionSolver
from sojourn.solve.markov.chain_analysis import first_passage


def one_server(rate_per_s: float, service_s: float) -> sj.Model:
    return sj.Model([sj.Queue("s")], [sj.Open("c", rate_per_s=rate_per_s)], service_s={"s": {"c": service_s}})


def first_passage_s(rate: float, service_s: float, level: int) -> float:
    """Mean time of M/M/1 from empty to `level` present: of a birth-death chain, sum over k < level of
    (1/(rate p_k)) sum over j <= k of p_j, p_j = rho^j: S. Karlin, H. M. Taylor, A First Course in Stochastic Processes (1975), 4.7."""
    rho = mpmath.mpf(rate) * mpmath.mpf(service_s)
    return float(sum((1 - rho ** (k + 1)) / ((1 - rho) * rho**k) for k in range(level)) / mpmath.mpf(rate))


def hitting_law(rate: float, service_s: float, level: int) -> tuple[list[mpmath.mpf], list[mpmath.mpf]]:
    """Rates and weights of the same passage's survivor function: J. Keilson, Markov Chain Models (1979), 5.1: exponentials of the
    eigenvalues of the chain killed at `level`, in series."""
    with mpmath.workdps(60):
        up, down = mpmath.mpf(rate), 1 / mpmath.mpf(service_s)
        a = mpmath.zeros(level)
        for i in range(level):
            a[i, i] = up + (down if i else 0)
            if i:
                a[i, i - 1] = a[i - 1, i] = -mpmath.sqrt(up * down)
        rates = list(mpmath.eigsy(a, eigvals_only=True))
        weights = [mpmath.fprod(r / (r - own) for r in rates if r != own) for own in rates]
        return rates, weights


def below(rates: list[mpmath.mpf], weights: list[mpmath.mpf], t: float) -> float:
    with mpmath.workdps(60):
        return float(1 - mpmath.fsum(w * mpmath.exp(-r * mpmath.mpf(t)) for r, w in zip(rates, weights, strict=True)))


@pytest.mark.parametrize(("rate", "service_s"), [(0.8, 1.0), (8.0, 0.1), (8e3, 1e-4), (8e-9, 1e8)])
@pytest.mark.parametrize("level", [1, 10, 60, 120, 170])
def test_issue_26_16_means(rate: float, service_s: float, level: int) -> None:
    found = sj.query(f"mean(passage(from {{n()==0}} to {{n()>={level}}}))", one_server(rate, service_s))
    assert found.value == pytest.approx(first_passage_s(rate, service_s, level), rel=1e-9)


@pytest.mark.parametrize(("rate", "service_s", "level"), [(8.0, 0.1, 24), (0.2, 1.0, 18), (3.0, 0.1, 22)])
def test_issue_26_16_probabilities_and_quantiles(rate: float, service_s: float, level: int) -> None:
    """Means of 1.2e2, 6e12 and 5e9 s or so."""
    model, (rates, weights) = one_server(rate, service_s), hitting_law(rate, service_s, level)
    passage, mean = f"passage(from {{n()==0}} to {{n()>={level}}})", first_passage_s(rate, service_s, level)
    for share in (1e-6, 0.01, 0.7, 3.0):
        found = sj.query(f"probability({passage} <= {mean * share!r}s)", model)
        assert found.value == pytest.approx(below(rates, weights, mean * share), rel=1e-7)
    half = sj.query(f"p50({passage})", model).value
    assert below(rates, weights, half) == pytest.approx(0.5, rel=1e-8)


def test_two_slow_ways_out_are_not_taken_for_one() -> None:
    """What is left changes so slowly that it looks settled: refused, and its mean is exact."""
    rates = np.array([[0.0, 0.0, 1e-12], [0.0, 0.0, 4e-12], [1.0, 1.0, 0.0]])
    law = phase_law(np.array([0.0, 0.0, 1.0]), np.hstack([rates[:, :2], np.zeros((3, 1)), rates[:, 2:]]), "it")
    assert law.moment(1).value == pytest.approx(0.5 * (1e12 + 0.25e12) + 0.5, rel=1e-14)
    with pytest.raises(SourceRefused, match="events of the chain"):
        law.cdf(1e12)


def test_one_slow_way_out_is_exponential() -> None:
    law = phase_law(np.array([1.0, 0.0]), np.array([[0.0, 1.0, 0.0], [1.0, 0.0, 1e-12]]), "it")
    # from the two roots of s^2 - (2 + e) s + e = 0
    e = 1e-12
    slow = 2 * e / (2 + e + math.sqrt((2 + e) ** 2 - 4 * e))
    for t in (1e6, 1e12, 1e13):
        assert law.cdf(t) == pytest.approx(-math.expm1(-slow * t), rel=1e-6 if t == 1e6 else 1e-9)


def test_what_never_ends_is_told_by_structure() -> None:
    """A way out of probability 1e-15 beside the one that ends: rounding would not tell it, the rates do."""
    among, none = sparse.csr_array((1, 1)), np.zeros(1)
    sure = PhaseLaw(np.ones(1), among, np.ones(1), none, "it")
    rare = PhaseLaw(np.ones(1), among, np.ones(1), np.array([1e-15]), "it")
    assert sure.always and sure.moment(1).value == 1.0
    assert not rare.always
    with pytest.raises(SourceRefused, match="happens only with a probability"):
        rare.moment(1)
    with pytest.raises(SourceRefused, match="happens only with a probability"):
        summed(sure, rare).moment(1)


def test_a_trap_counts_as_lost_and_what_is_not_reached_does_not() -> None:
    """0 ends at rate 1 or falls at rate 3 into 1, which leads only to itself and 2; 3 is not come to and would never end."""
    among = sparse.csr_array(np.array([[0.0, 3, 0, 0], [0, 0, 1, 0], [0, 1, 0, 0], [0, 1, 0, 0]]))
    law = essential(PhaseLaw(np.array([1.0, 0, 0, 0]), among, np.array([1.0, 0, 0, 0]), np.zeros(4), "it"))
    assert law.start.tolist() == [1.0] and law.ends == pytest.approx(0.25, rel=1e-15)
    assert law.probability(Span(Estimate.exact(0.0), Estimate.exact(1.0), (True, True))).value == pytest.approx(
        0.25 * -math.expm1(-4.0), rel=1e-12
    )
    other = essential(PhaseLaw(np.array([0.0, 1, 0, 0]), among, np.array([1.0, 0, 0, 0]), np.zeros(4), "it"))
    assert other.ends == 0.0 and other.cdf(1e9) == 0.0


def test_elimination_against_fifty_digits() -> None:
    """A random chain whose rates span 30 orders of magnitude."""
    draw = np.random.default_rng(26)
    n = 12
    rates = 10.0 ** draw.uniform(-15, 15, (n, n)) * (draw.random((n, n)) < 0.4)
    np.fill_diagonal(rates, 0.0)
    away = 10.0 ** draw.uniform(-15, 0, n)
    with mpmath.workdps(90):
        exact = mpmath.matrix((-rates).tolist())
        for i in range(n):
            exact[i, i] = mpmath.fsum(rates[i].tolist()) + mpmath.mpf(float(away[i]))
        expected = mpmath.lu_solve(exact, mpmath.matrix([1] * n))
    found = AbsorptionSolver(sparse.csr_array(rates), away).solve(np.ones(n))
    assert found.tolist() == pytest.approx([float(x) for x in expected], rel=1e-13)


def test_equations_that_cost_too_much_are_refused_with_their_cost() -> None:
    n = 20_000
    at = np.random.default_rng(1).integers(0, n, (2, 4 * n))
    scattered = sparse.csr_array((np.ones(4 * n), (at[0], at[1])), shape=(n, n))
    with pytest.raises(MethodRefused, match=r"the equations of 20000 states take .* products"):
        AbsorptionSolver(scattered, np.ones(n))


@pytest.mark.parametrize(("rate", "level"), [(0.8, 120), (0.2, 20)])
def test_first_passages_of_a_generator_keep_their_digits(rate: float, level: int) -> None:
    """`first_passage` of a matrix: the same chain, up to 1e14 s, of which LU keeps no digit."""
    q = np.diag(np.full(level, rate), 1) + np.diag(np.ones(level), -1)
    q -= np.diag(q.sum(axis=1))
    assert first_passage(q, [level]).mean_s[0] == pytest.approx(first_passage_s(rate, 1.0, level), rel=1e-10)


def test_a_time_far_away_is_answered_or_refused_with_its_cost() -> None:
    """At rest after 1e9 s the law is geometric (Kleinrock 1975, p. 96), however many moves that are."""
    found = sj.query("probability({n() == 0} at 1000000000s from {n() == 9})", one_server(0.8, 1.0))
    assert found.value == pytest.approx(0.2, rel=1e-9)
