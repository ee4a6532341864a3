"""Chains of one's own."""

from __future__ import annotations

import time
from typing import Any

import numpy as np
import pytest
from scipy import sparse
from scipy.linalg import expm

import sojourn as sj
from sojourn.errors import InputError, MethodRefused
from sojourn.solve.markov import chain_analysis, ctmc
from sojourn.solve.markov.network_spec import UNLIMITED
from sojourn.solve.method import RequestedOutputs


def generator(n: int, seed: int) -> np.ndarray:
    rates = np.random.default_rng(seed).exponential(size=(n, n)) * 10.0 ** np.random.default_rng(seed + 1).integers(
        -3, 3, (n, n)
    )
    np.fill_diagonal(rates, 0.0)
    return rates - np.diag(rates.sum(axis=1))


@pytest.mark.parametrize("n", [1, 2, 7, 40])
def test_steady_solves_the_equations(n: int) -> None:
    q = generator(n, n)
    p = chain_analysis.steady(q)
    assert p.sum() == pytest.approx(1.0) and p.min() > 0
    assert np.abs(p @ q).max() <= 1e-13 * np.abs(q).max()
    assert chain_analysis.steady(sparse.csr_matrix(q)) == pytest.approx(p, rel=1e-14)


def test_large_chain_by_levels_is_the_product_of_its_parts() -> None:
    """Two independent birth-death chains, 150 x 150 states numbered at random: no band, no structure left."""
    line = sparse.diags([np.full(149, 0.8), np.ones(149)], [1, -1])
    both = sparse.csr_matrix(sparse.kronsum(line, line))
    order = np.random.default_rng(1).permutation(150 * 150)
    mixed = both[order][:, order]
    p = chain_analysis.steady(mixed - sparse.diags(np.asarray(mixed.sum(axis=1)).ravel()))
    one = 0.8 ** np.arange(150)
    exact = np.kron(one, one)[order] / one.sum() ** 2
    assert np.abs(p - exact).max() < 1e-12


def test_transient_against_the_matrix_exponential() -> None:
    q, p0 = generator(6, 3), np.eye(6)[0]
    found = chain_analysis.transient(q, p0, [0.0, 0.01, 0.3, 50.0])
    for t, p in zip((0.0, 0.01, 0.3, 50.0), found, strict=True):
        assert p == pytest.approx(p0 @ expm(q * t), abs=1e-11)


def test_passage_of_two_phases() -> None:
    """Rate 2 then 3: mean 1/2 + 1/3, variance 1/4 + 1/9; where there is no way the time is infinite."""
    q = np.array([[-2.0, 2.0, 0, 0], [0, -3.0, 3.0, 0], [0, 0, 0, 0], [0, 0, 0, 0]])
    found = chain_analysis.first_passage(q, [2])
    assert found.mean_s.tolist() == pytest.approx([5 / 6, 1 / 3, 0.0, np.inf])
    assert found.variance_s2[0] == pytest.approx(1 / 4 + 1 / 9)
    p = chain_analysis.passage_probability(q, [2], [1, 0, 0, 0], [1.0])
    assert p[0] == pytest.approx(1 - 3 * np.exp(-2) + 2 * np.exp(-3), rel=1e-12)


def test_passage_that_may_fail_has_no_mean() -> None:
    q = np.array([[-2.0, 1.0, 1.0], [0, 0, 0], [0, 0, 0]])
    assert chain_analysis.first_passage(q, [1]).mean_s.tolist() == [np.inf, 0.0, np.inf]


@pytest.mark.parametrize(
    ("q", "text"),
    [([[1.0, 2.0]], "square"), ([[-1.0, 2.0], [1.0, -1.0]], "row 0"), ([[1.0, -1.0], [1.0, -1.0]], "at least 0"),
     ([[np.nan, 0.0], [0.0, 0.0]], "finite"), (np.zeros((2, 2)), "never reach each other")],
)  # fmt: skip
def test_what_is_no_generator(q: object, text: str) -> None:
    with pytest.raises(InputError, match=text):
        chain_analysis.steady(q)


def test_bad_arguments() -> None:
    q = [[-1.0, 1.0], [1.0, -1.0]]
    wrong = (
        lambda: chain_analysis.transient(q, [1.0, 1.0], [1.0]),
        lambda: chain_analysis.transient(q, [1.0, 0.0], [2.0, 1.0]),
        lambda: chain_analysis.transient(q, [1.0, 0.0], [1e12]),
        lambda: chain_analysis.first_passage(q, []),
        lambda: chain_analysis.first_passage(q, [2]),
    )
    for bad in wrong:
        with pytest.raises(InputError):
            bad()


def test_an_iteration_that_takes_longer_than_allowed_is_given_up() -> None:
    """Found by benches/agreement, seed 2026, model 6135: 15 363 states of Erlang stages that block each other, 2.9 s."""
    stations = [sj.Queue("a", 2, capacity=4, on_full="block"), sj.Queue("b", 2, capacity=4, on_full="block")]
    times = {"a": {"u": sj.Erlang(0.2, 12)}, "b": {"u": sj.Erlang(0.2, 12)}}
    model = sj.Model(stations, [sj.Closed("u", 6)], times)
    network = model.network
    with pytest.raises(TimeoutError):
        ctmc._solved(network, UNLIMITED, 0.0)
    assert ctmc._solved(network, UNLIMITED, 60.0)[0].status == "ok"
    with pytest.raises(MethodRefused, match="not converged after 0 s"):
        ctmc.run([network], RequestedOutputs(budget_s=0.0))


def test_each_point_of_a_sweep_has_the_time_of_one(monkeypatch: pytest.MonkeyPatch) -> None:
    """What the points before took is not taken off that of the next."""
    given: list[float] = []

    class Chain:
        def __len__(self) -> int:
            return 10

        def points(self, some: Any, *others: Any) -> list[Any]:
            given.append(others[-1] / len(some))
            time.sleep(0.05)
            return [({"present": [1.0]}, 0.0, 1)] * len(some)

    monkeypatch.setattr(ctmc, "network_chain", lambda network, most: Chain())
    monkeypatch.setattr(ctmc, "AT_ONCE", 1)
    monkeypatch.setattr(ctmc.ChainMeasures, "of", lambda *parts: parts)
    network = sj.Model([sj.Queue("a")], [sj.Closed("u", 2)], {"a": {"u": 0.1}}).network
    ctmc._solved(network, UNLIMITED, 1.0, np.ones((3, 1)))
    assert len(given) == 3 and given == pytest.approx([1.0] * 3, abs=0.02)
