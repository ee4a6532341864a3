"""MAP/PH/1: G and R against 60 digits, moments against Pollaczek-Khinchine and against truncated chains."""

from __future__ import annotations

import mpmath
import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

import sojourn as sj
from sojourn.solve.markov.map_ph_1 import MapPh1
from sojourn.solve.markov.matrix_geometric import solve_m_matrix
from sojourn.solve.markov.phase_type import MarkovianArrivals, PhaseTypeService, arrivals, phases
from sojourn.solve.method import RequestedOutputs

QUICK = settings(max_examples=20, deadline=None, derandomize=True)
rate = st.floats(0.05, 20.0).map(lambda x: float(f"{x:.3g}"))


def scaled(process: MarkovianArrivals, law: PhaseTypeService, load: float) -> MapPh1:
    """The queue with time of the arrivals stretched so that the load is as asked."""
    queue = MapPh1(process, law)
    factor = load / queue.load
    return MapPh1(MarkovianArrivals(process.silent * factor, process.arriving * factor), law)


BURSTY = MarkovianArrivals(np.array([[-6.0, 1.0], [0.1, -0.6]]), np.array([[5.0, 0.0], [0.0, 0.5]]))
LAWS = [phases(x) for x in (sj.Exponential(1.0), sj.Erlang(1.0, 3), sj.Hyperexponential((0.9, 0.1), (0.5, 5.5)))]


def exact(queue: MapPh1) -> tuple[mpmath.matrix, mpmath.matrix]:
    """G and R by cyclic doubling in 60 digits from the same doubles, the diagonal set so that rows sum to 0."""
    d0, d1 = queue.arrivals
    own, one = np.eye(len(d0)), np.eye(len(queue.service.start))
    up, down = np.kron(d1, one), np.kron(own, np.outer(queue.service.end, queue.service.start))
    local = np.kron(d0, one) + np.kron(own, queue.service.rates)
    np.fill_diagonal(local, 0.0)
    a0, a1, a2 = (mpmath.matrix(x.tolist()) for x in (up, local, down))
    n = a0.rows
    for i in range(n):
        a1[i, i] = -mpmath.fsum(a0[i, j] + a1[i, j] + a2[i, j] for j in range(n))
    inverse = (-a1) ** -1
    high, low = inverse * a0, inverse * a2
    g, t = low.copy(), high.copy()
    for _ in range(30):
        middle = (mpmath.eye(n) - high * low - low * high) ** -1
        high, low = middle * high * high, middle * low * low
        g, t = g + t * low, t * high
    assert mpmath.mnorm(a2 + a1 * g + a0 * g * g) < mpmath.mpf(10) ** -45
    return g, a0 * (-(a1 + a0 * g)) ** -1


@pytest.mark.parametrize("load", [0.1, 0.9, 0.999, 0.9999])
@pytest.mark.parametrize("law", range(3))
def test_g_and_r_to_machine_precision(law: int, load: float) -> None:
    """Every entry to a relative 1e-13, however near the load is to 1: the subtraction-free form pays."""
    queue = scaled(BURSTY, LAWS[law], load)
    with mpmath.workdps(60):
        g, r = exact(queue)
        for found, wanted in ((queue.geometric.g, g), (queue.geometric.r, r)):
            for i in range(wanted.rows):
                for j in range(wanted.cols):
                    assert abs(found[i, j] - wanted[i, j]) <= mpmath.mpf("2e-13") * abs(wanted[i, j])


@QUICK
@given(st.integers(1, 4), rate, st.floats(0.01, 0.999))
def test_pollaczek_khinchine(shape: int, mean: float, load: float) -> None:
    law = sj.Erlang(mean, shape)
    found = MapPh1(arrivals(sj.Exponential(mean / load)), phases(law))
    wait = load * mean * (1 + 1 / shape) / (2 * (1 - load))
    assert found.mean == pytest.approx(load + load / mean * wait, rel=1e-10)
    assert found.waiting().moment(1) == pytest.approx(wait, rel=1e-9)
    assert found.response().moment(1) == pytest.approx(wait + mean, rel=1e-9)
    assert found.waiting_probability == pytest.approx(load, rel=1e-10)
    assert found.probabilities(0)[0] == pytest.approx(1 - load, rel=1e-10)


@QUICK
@given(rate, rate, rate, rate, st.floats(0.05, 0.8), st.sampled_from(range(3)))
def test_little_and_sums(up: float, down: float, fast: float, slow: float, load: float, law: int) -> None:
    """MMPP/PH/1: the mean number is the rate times the mean of the response law, which has its own derivation."""
    process = MarkovianArrivals(np.array([[-up - fast, up], [down, -down - slow]]), np.diag([fast, slow]))
    queue = scaled(process, LAWS[law], load)
    assert queue.mean == pytest.approx(queue.rate_per_s * queue.response().moment(1), rel=1e-9)
    assert queue.waiting().beyond(0.0) == pytest.approx(queue.waiting_probability, rel=1e-9)
    assert queue.response().beyond(0.0) == pytest.approx(1.0, rel=1e-9)
    assert queue.levels[0].sum() + queue.levels[1].sum() <= 1


@pytest.mark.parametrize("law", [0.5, sj.Erlang(0.5, 2), sj.Hyperexponential((0.3, 0.7), (1.0, 0.3))])
@pytest.mark.parametrize("process", [sj.MAP(((-3.0, 1.0), (0.2, -0.7)), ((2.0, 0.0), (0.0, 0.5))), sj.Erlang(0.9, 2)])
def test_against_the_truncated_chain(process: object, law: object) -> None:
    model = sj.Model([sj.Queue("q")], [sj.Open("job", arrivals=process)], service_s={"q": {"job": law}})
    found, chain = (sj.solve(model, m, requested_outputs=RequestedOutputs((), 6)) for m in ("qbd", "ctmc"))
    assert chain.value("queue_length", "q") == pytest.approx(found.value("queue_length", "q"), rel=1e-6)
    for n in range(7):
        assert chain.value("queue_length_probability", "q", n=n) == pytest.approx(
            found.value("queue_length_probability", "q", n=n), rel=1e-6
        )
    assert chain.value("queue_length_variance", "q") == pytest.approx(
        found.value("queue_length_variance", "q"), rel=1e-5
    )


@QUICK
@given(st.lists(st.floats(1e-9, 1e9), min_size=12, max_size=12))
def test_m_matrix(numbers: list[float]) -> None:
    """Off-diagonal entries and row sums over 18 orders of magnitude: every entry of the inverse to 1e-13."""
    off = np.array(numbers[:9]).reshape(3, 3)
    np.fill_diagonal(off, 0.0)
    sums = np.array(numbers[9:])
    found = solve_m_matrix(off, sums, np.eye(3))
    with mpmath.workdps(80):
        whole = mpmath.matrix((-off).tolist())
        for i in range(3):
            whole[i, i] = mpmath.mpf(sums[i]) + mpmath.fsum(off[i].tolist())
        wanted = whole**-1
        for i in range(3):
            for j in range(3):
                assert abs(found[i, j] - wanted[i, j]) <= mpmath.mpf("1e-13") * abs(wanted[i, j])
