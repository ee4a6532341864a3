"""Issue 10: waits are computed and no differences, quantiles are right up to saturation; 60-digit references.

W = C S/(m - a) with Erlang's C (Kleinrock, vol. 1, 1975, 3.5); closed: W = X D Q(N - 1) by the arrival theorem (Reiser and
Lavenberg, J. ACM 27, 1980, p. 313).
"""

from __future__ import annotations

import mpmath as mp
import numpy as np
import pytest

import sojourn as sj
from sojourn.errors import InputError, MethodRefused
from sojourn.solve.method import RequestedOutputs
from sojourn.solve.single.mg1_waiting import GridWaitingTime

mp.mp.dps = 60


def erlang_wait(servers: int, load: str) -> mp.mpf:
    """W/S of M/M/m."""
    a = servers * mp.mpf(load)
    lost = 1 / mp.fsum(mp.ff(servers, k) / a**k for k in range(servers + 1))
    return lost / (1 - a / servers * (1 - lost)) / (servers - a)


@pytest.mark.parametrize("method", ["mmm", "jackson", "open-multiclass", "qna", "allen-cunneen", "whitt"])
@pytest.mark.parametrize(("servers", "load"), [(1, "0.5"), (100, "0.5"), (1000, "0.3"), (25, "0.99")])
def test_open_waits_keep_their_digits(servers: int, load: str, method: str) -> None:
    model = sj.Model([sj.Queue("q", servers)], [sj.Open("c", servers * float(load))], {"q": {"c": 1.0}})
    found = sj.solve(model, method).value("waiting_time", "q", "c")
    assert found == pytest.approx(float(erlang_wait(servers, load)), rel=1e-11)


@pytest.mark.parametrize("method", ["mva", "mva-multiclass", "convolution", "machine-repair", "ctmc"])
@pytest.mark.parametrize("think_s", [1.0, 1e6])
def test_closed_waits_keep_their_digits(method: str, think_s: float) -> None:
    """Five customers of one queue of 1 s: R(n) = 1 + Q(n - 1), X(n) = n/(Z + R(n)), W = R(5) - 1."""
    number = mp.mpf(0)
    for n in range(1, 6):
        wait, number = number, n * (1 + number) / (mp.mpf(think_s) + 1 + number)
    model = sj.Model([sj.Queue("q")], [sj.Closed("c", 5, think_s)], {"q": {"c": 1.0}})
    assert sj.solve(model, method).value("waiting_time", "q", "c") == pytest.approx(float(wait), rel=1e-12)


@pytest.mark.parametrize(("rate", "q"), [(0.999, 0.9), (0.99, 0.99), (1 - 1e-6, 0.5), (1 - 1e-9, 0.99)])
@pytest.mark.parametrize("method", ["mm1", "jackson", "open-multiclass", "mg1", "gm1", "qbd"])
def test_quantiles_of_a_response_up_to_saturation(rate: float, q: float, method: str) -> None:
    """M/M/1: -ln(1 - q)/(mu - lambda); the first had been 745.133 s, where 2302.585 s is right."""
    model = sj.Model([sj.Queue("q")], [sj.Open("c", rate)], {"q": {"c": 1.0}})
    truth = float(-mp.log(1 - mp.mpf(q)) / (1 - mp.mpf(rate)))
    found = sj.solve(model, method, requested_outputs=RequestedOutputs((q,))).value(
        "response_time_quantile", "q", "c", q=q
    )
    assert found == pytest.approx(truth, rel=1e-6)


@pytest.mark.parametrize("level", [-0.1, 0.0, 1.0, 1.2, float("nan")])
def test_levels_outside_0_and_1_are_bad_input(level: float) -> None:
    with pytest.raises(InputError, match="quantiles: .*; give shares between 0 and 1"):
        RequestedOutputs((level,))


@pytest.mark.parametrize("q", [0.5, 0.9, 0.99])
@pytest.mark.parametrize("rate", [1 - 1e-6, 1 - 1e-9, 1 - 1e-12])
def test_quantiles_of_heavy_tails_up_to_saturation(rate: float, q: float) -> None:
    """O. J. Boxma, J. W. Cohen: Queueing Systems 33, 1999, pp. 177-204: near saturation P(W > x) = exp(x/c) erfc(sqrt(x/c)).

    c makes load (1 - E[exp(-z R)]) = (1 - load) sqrt(c z) for small z, where P(R > x) = sqrt(low/x)/1.5, low = 1/3 s. There
    had been no number (`no_moment`), after two seconds.
    """
    service = sj.Pareto(1.0, 1.5)
    c = mp.pi / 3 / (mp.mpf("1.5") * (1 - mp.mpf(rate))) ** 2
    y = mp.findroot(lambda y: mp.exp(y) * mp.erfc(mp.sqrt(y)) - (1 - mp.mpf(q)), 1.0)
    model = sj.Model([sj.Queue("q")], [sj.Open("c", rate)], service_s={"q": {"c": service}})
    found = sj.solve(model, "mg1", requested_outputs=RequestedOutputs((q,))).value(
        "waiting_time_quantile", "q", "c", q=q
    )
    assert found == pytest.approx(float(c * y), rel=1e-4)


def test_a_quantile_takes_few_grids() -> None:
    """One of 10 000 random models took 2 s: each quantile went through 24 grids of growing length."""
    law = GridWaitingTime(1 - 1e-9, [(0.5, sj.Pareto(1.0, 1.5)), (0.5, sj.Pareto(1.0, 1.5))])
    for q in (0.5, 0.9, 0.95, 0.99):
        before = len(law._kept)
        assert np.isfinite(law.quantiles([q])).all()
        assert len(law._kept) <= before + 2


@pytest.mark.parametrize("fast_s", [1e-9, 1e-12, 1e-30])
def test_phases_far_apart_keep_the_digits_of_quantiles(fast_s: float) -> None:
    """One service in a thousand takes next to no time: an M/M/1 with 0.999 of the arrivals. There was no number, or a
    wrong one: powers of matrices had lost it."""
    service = sj.Hyperexponential((0.001, 0.999), (fast_s, 0.1))
    model = sj.Model([sj.Queue("q")], [sj.Open("c", 5.0)], service_s={"q": {"c": service}})
    load = mp.mpf("0.4995")
    truth = mp.log(load / mp.mpf("0.01")) / (10 * (1 - load))  # P(W > x) = load exp(-(mu - lambda) x)
    found = sj.solve(model, "mg1", requested_outputs=RequestedOutputs((0.99,))).value(
        "waiting_time_quantile", "q", "c", q=0.99
    )
    assert found == pytest.approx(float(truth), rel=1e-4)
    if fast_s < 1e-10:
        with pytest.raises(MethodRefused, match="phases of the service differ by a factor of"):
            sj.solve(model, "qbd")
