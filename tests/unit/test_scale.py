"""Laws on numbers and tables, scalability, expected maxima: bad input, messages, limits."""

from __future__ import annotations

import numpy as np
import pytest
import scipy.stats

from sojourn import laws
from sojourn.errors import FitError, InputError
from sojourn.fit.scalability_law import fit_usl, peak, usl
from sojourn.solve.expected_maximum import busiest_load, expected_maximum, imbalance, normal_maximum
from sojourn.table import Metrics


def table(**values: float) -> Metrics:
    return Metrics.of([{"metric": k, "value": v} for k, v in values.items()])


BROKEN = [
    (table(throughput=10, response_time=0.5, queue_length=6.55), {}, "Little's law is off by 31 %"),
    (table(throughput=10, service_time=0.05, utilisation=0.6), {}, "utilisation law is off by 20 %"),
    (table(throughput=9, arrival_rate=10), {}, "flow balance is off by 10.00 %"),
    (table(throughput=10, response_time=0.5), {"population": 20, "think_s": 1.0}, "interactive law is off by 33 %"),
    (Metrics.of([{"metric": "throughput", "value": 2}, {"metric": "throughput", "station": "d", "value": 5}]),
     {"visits": {"d": 4}}, "forced flow law is off by 38 %"),
]  # fmt: skip


@pytest.mark.parametrize(("metrics", "given", "words"), BROKEN, ids=[b[2] for b in BROKEN])
def test_a_broken_law_is_named_with_its_error(metrics: Metrics, given: dict, words: str) -> None:
    (found,) = laws.broken(laws.check_laws(metrics, 0.01, **given))
    assert words in str(found) and laws.WORDS[found.law] in str(found)


def test_laws_that_hold() -> None:
    m = table(throughput=9.0, response_time=0.5, queue_length=4.5, arrival_rate=10.0, loss_probability=0.1)
    found = laws.check_laws(m)
    assert [f.law for f in found] == ["Little's law", "flow balance"] and not laws.broken(found)
    assert "holds" in str(found[0])
    assert laws.little(2, 3) == 6 and laws.demand_s(0.5, 10, 2) == 0.1 and laws.flow_imbalance(10, 9, 0.1) == 0


def test_scalability_recovers_what_it_was_made_from() -> None:
    n = np.array([1, 2, 4, 8, 16, 32, 64])
    found = fit_usl(n, usl(n, 120, 0.03, 2e-4))
    assert (found.gamma, found.sigma, found.kappa) == pytest.approx((120, 0.03, 2e-4), rel=1e-9)
    assert found.peak == pytest.approx(np.sqrt(0.97 / 2e-4), rel=1e-9) and found.best_size == 70
    assert found(70) >= max(found(69), found(71))
    line = fit_usl(n, usl(n, 5, 0.1), law="amdahl")
    assert line.kappa == 0 and line.best_size is None and line.most == pytest.approx(50, rel=1e-9)
    assert peak(0.1, 0.0) == np.inf


def test_intervals_of_scalability_cover() -> None:
    """95 % intervals of sigma from 12 points with 3 % noise: 400 samples, at least 92 % and at most 98 % cover."""
    rng = np.random.default_rng(7)
    n = np.repeat([1, 2, 4, 8, 16, 32], 2)
    hits = 0
    for _ in range(400):
        found = fit_usl(
            n, usl(n, 100, 0.05, 0.001) * (1 + 0.03 * rng.standard_normal(12)), constrained=False, level=0.95
        )
        low, high = found.intervals["sigma"] or (1.0, 0.0)
        hits += low <= 0.05 <= high
    assert 0.92 <= hits / 400 <= 0.98


def test_superlinear_data_are_bounded_or_marked() -> None:
    n, x = [1, 2, 4, 8], [1.0, 2.2, 4.6, 9.4]
    held, free = fit_usl(n, x), fit_usl(n, x, constrained=False)
    assert held.valid and held.sigma == pytest.approx(0, abs=1e-9) and held.intervals["sigma"] is None
    assert free.sigma < 0 and not free.valid


@pytest.mark.parametrize(
    "given", [([1, 2], [1, 2]), ([1, 2, 3], [1, 2]), ([1, 2, 0], [1, 2, 3]), ([1, 2, 3], [1, -2, 3])]
)
def test_bad_data_for_scalability(given: tuple) -> None:
    with pytest.raises(FitError):
        fit_usl(*given)
    for wrong in ({"law": "x"}, {"errors": "x"}):
        with pytest.raises(FitError):
            fit_usl([1, 2, 3, 4], [1, 2, 3, 4], **wrong)


def test_expected_maximum_of_known_laws() -> None:
    assert expected_maximum(scipy.stats.expon(scale=2).cdf, 4, 0, 200) == pytest.approx(2 * 25 / 12, rel=1e-9)
    assert expected_maximum(scipy.stats.uniform.cdf, 9, 0, 1) == pytest.approx(0.9, rel=1e-12)
    assert expected_maximum(scipy.stats.norm.cdf, 16, -40, 40) == pytest.approx(float(normal_maximum(16)), rel=1e-9)
    assert normal_maximum(1) == 0


def test_fixed_and_random_assignment_against_drawn_loads() -> None:
    """Monte Carlo, 20 000 draws, with normal items: fixed and hashed; within four standard errors and the skew."""
    rng = np.random.default_rng(11)
    items, loads, sigma = 4000, 4, 0.5
    fixed = (items / loads + sigma * np.sqrt(items / loads) * rng.standard_normal((20_000, loads))).max(axis=1)
    counts = rng.multinomial(items, [1 / loads] * loads, size=20_000)
    hashed = (counts + sigma * np.sqrt(counts) * rng.standard_normal(counts.shape)).max(axis=1)
    for drawn, how in ((fixed, "fixed"), (hashed, "random")):
        expected = float(busiest_load(items, loads, deviation=sigma, assignment=how))
        assert drawn.mean() == pytest.approx(expected, abs=4 * drawn.std() / np.sqrt(20_000) + 0.1)
    assert imbalance(64, 4, deviation=0.5) == pytest.approx(2.0587507 / 16, rel=1e-6)


def test_bad_input_for_maxima() -> None:
    for call in (lambda: normal_maximum(0), lambda: normal_maximum(2.5), lambda: busiest_load(9, 3, assignment="x"),
                 lambda: expected_maximum(scipy.stats.norm.cdf, 3, 1, 1)):  # fmt: skip
        with pytest.raises(InputError):
            call()
