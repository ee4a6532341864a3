"""Markov chains against printed examples and closed forms; page and example in each name or text."""

from __future__ import annotations

import math

import numpy as np
import pytest
from scipy.special import ive

import sojourn as sj
from sojourn.solve.markov import chain_analysis
from sojourn.solve.markov.transient_means import over_time
from sojourn.solve.method import RequestedOutputs

NO_TIMES = RequestedOutputs(quantiles=())


def single(service: object, *, rate: float = 0.0, arrivals: object = None, **station: object) -> sj.Model:
    """One queue and one open class."""
    return sj.Model(
        stations=[sj.Queue("q", **station)],
        classes=[sj.Open("job", rate_per_s=rate, arrivals=arrivals)],
        service_s={"q": {"job": service}},
    )


COURTOIS = np.array([
    [.85, 0, .149, .0009, 0, .00005, 0, .00005], [.1, .65, .249, 0, .0009, .00005, 0, .00005],
    [.1, .8, .0996, .0003, 0, 0, .0001, 0], [0, .0004, 0, .7, .2995, 0, .0001, 0],
    [.0005, 0, .0004, .399, .6, .0001, 0, 0], [0, .00005, 0, 0, .00005, .6, .2499, .15],
    [.00003, 0, .00003, .00004, 0, .1, .8, .0999], [0, .00005, 0, 0, .00005, .1999, .25, .55],
])  # fmt: skip


def test_courtois_matrix_stewart_1994_section_6_3() -> None:
    """Nearly completely decomposable, 8 states (Courtois 1977; Stewart 1994, section 6.3): the printed vector."""
    p = chain_analysis.steady(COURTOIS - np.eye(8))
    printed = [0.08928, 0.09276, 0.04049, 0.15853, 0.11894, 0.12039, 0.27780, 0.10182]
    assert p == pytest.approx(printed, abs=6e-6)


def test_busy_period_kleinrock_1975_section_5_8() -> None:
    """M/M/1: mean 1/(mu - lambda), variance (1 + rho)/(mu^2 (1 - rho)^3), eqs. (5.141) and (5.142) for M/M/1."""
    size, rho = 800, 0.8
    q = np.diag(np.full(size - 1, rho), 1) + np.diag(np.ones(size - 1), -1)
    busy = chain_analysis.first_passage(q - np.diag(q.sum(axis=1)), [0])
    assert busy.mean_s[1] == pytest.approx(1 / (1 - rho), rel=1e-10)
    assert busy.variance_s2[1] == pytest.approx((1 + rho) / (1 - rho) ** 3, rel=1e-10)


@pytest.mark.parametrize(("rho", "t"), [(0.5, 1.0), (0.9, 7.0), (1.3, 4.0)])
def test_transient_mm1_kleinrock_1975_equation_2_163(rho: float, t: float) -> None:
    """Mean number at t from P_k(t), empty at 0: Bessel functions, k from 0; scaled as exp(-x) I(x)."""
    a = 2 * math.sqrt(rho) * t
    scale = math.exp(a - (1 + rho) * t)

    def probability(k: int) -> float:
        tail = sum(rho ** (-j / 2) * ive(j, a) for j in range(k + 2, k + 400))
        head = rho ** (k / 2) * ive(k, a) + rho ** ((k - 1) / 2) * ive(k + 1, a)
        return scale * float(head + (1 - rho) * rho**k * tail)

    mean = sum(k * probability(k) for k in range(1, 120))
    found = over_time(single(1.0, rate=rho), [t], most_open=150)
    assert found.value("queue_length", "q", "job") == pytest.approx(mean, rel=1e-9)


def test_m_h2_1_kleinrock_1975_section_5_6() -> None:
    """lambda = mu, service mu with 1/4, 2 mu with 3/4: p_k = 3/32 (2/5)^k + 9/32 (2/3)^k; mean number 1.79; the wait
    has density 3/32 e^(-3t/2) + 9/32 e^(-t/2) and 3/8 at 0."""
    model = single(sj.Hyperexponential((0.25, 0.75), (1.0, 0.5)), rate=1.0)
    r = sj.solve(model, "qbd", requested_outputs=RequestedOutputs(quantiles=(0.9,), state_probabilities=4))
    for k in range(5):
        exact = 3 / 32 * 0.4**k + 9 / 32 * (2 / 3) ** k
        assert r.value("queue_length_probability", "q", n=k) == pytest.approx(exact, rel=1e-13)
    assert round(r.value("queue_length", "q"), 2) == 1.79
    t = r.value("waiting_time_quantile", "q", q=0.9)
    assert math.exp(-1.5 * t) / 16 + 9 / 16 * math.exp(-t / 2) == pytest.approx(0.1, rel=1e-12)


def test_g_m_1_kleinrock_1975_section_6_4() -> None:
    """Time between arrivals the sum of exponentials of mu and 2 mu: sigma = 2 - sqrt(2), W(y) = 1 - sigma
    e^(-mu (1 - sigma) y)."""
    arrivals = sj.PhaseType((1.0, 0.0), ((-1.0, 1.0), (0.0, -2.0)))
    r = sj.solve(single(1.0, arrivals=arrivals), "qbd")
    sigma = 2 - math.sqrt(2)
    assert r.value("waiting_probability", "q") == pytest.approx(sigma, rel=1e-13)
    assert r.value("waiting_time", "q") == pytest.approx(sigma / (1 - sigma), rel=1e-12)
    exact = math.log(sigma / 0.05) / (1 - sigma)
    assert r.value("waiting_time_quantile", "q", q=0.95) == pytest.approx(exact, rel=1e-12)


@pytest.mark.parametrize("shape", [1, 2, 5])
def test_m_er_1_kleinrock_1975_section_4_3(shape: int) -> None:
    """M/E_r/1: mean wait rho (1 + 1/r)/(2 mu (1 - rho)), by Pollaczek-Khinchine (5.72)."""
    r = sj.solve(single(sj.Erlang(1.0, shape), rate=0.8), "qbd", requested_outputs=NO_TIMES)
    assert r.value("waiting_time", "q") == pytest.approx(0.8 * (1 + 1 / shape) / 0.4, rel=1e-12)


@pytest.mark.parametrize(("stages", "printed"), [(2, 0.6667), (3, 0.5641)])
def test_no_queue_between_stages_hunt_1956(stages: int, printed: float) -> None:
    """G. C. Hunt: Sequential Arrays of Waiting Lines, Operations Research 4(6), 1956, pp. 674-683: largest utilisation
    of stages of rate 1 without room between, the first never short of work: 2/3 and 0.5641 (22/39)."""
    names = [f"s{i}" for i in range(stages)]
    queues = [sj.Queue(names[0])] + [sj.Queue(n, capacity=1, on_full="block") for n in names[1:]]
    model = sj.Model(queues, [sj.Closed("job", stages + 1)], demands_s={n: {"job": 1.0} for n in names})
    found = sj.solve(model, "ctmc").value("throughput")
    assert found == pytest.approx(printed, abs=6e-5)
    assert found == pytest.approx({2: 2 / 3, 3: 22 / 39}[stages], rel=1e-12)


@pytest.mark.parametrize("room", [0, 1, 3, 8])
def test_room_between_two_stages_hunt_1956(room: int) -> None:
    """The same with `room` places to wait between two equal stages: (room + 2)/(room + 3)."""
    queues = [sj.Queue("a"), sj.Queue("b", capacity=room + 1, on_full="block")]
    model = sj.Model(queues, [sj.Closed("job", room + 4)], demands_s={"a": {"job": 1.0}, "b": {"job": 1.0}})
    assert sj.solve(model, "ctmc").value("throughput") == pytest.approx((room + 2) / (room + 3), rel=1e-12)


def test_fork_join_of_two_nelson_tantawi_1988_equation_4() -> None:
    """R. Nelson, A. N. Tantawi: IEEE Trans. Computers 37(6), 1988: two queues, exact: (12 - rho)/8 · S/(1 - rho)."""
    model = sj.Model([sj.ForkJoin("f", 2)], [sj.Open("job", 2.5)], demands_s={"f": {"job": 0.2}})
    exact = (12 - 0.5) / 8 * 0.2 / 0.5
    assert sj.solve(model, "ctmc").value("response_time") == pytest.approx(exact, rel=1e-8)


def test_erlang_b_of_five_servers() -> None:
    """B(5, 3) = 0.1101: Erlang's loss formula (Kleinrock 1975, eq. (3.49)): (3^5/5!)/sum(3^k/k!)."""
    r = sj.solve(single(3.0, rate=1.0, servers=5, capacity=5), "ctmc")
    exact = 3**5 / 120 / sum(3**k / math.factorial(k) for k in range(6))
    assert r.value("loss_probability", "q", "job") == pytest.approx(exact, rel=1e-13)
    assert round(exact, 4) == 0.1101


def two_classes(discipline: str) -> sj.Metrics:
    model = sj.Model(
        [sj.Queue("q", discipline=discipline)],
        [sj.Open("high", 0.3, priority=0), sj.Open("low", 0.4, priority=1)],
        demands_s={"q": {"high": 0.5, "low": 1.0}},
    )
    return sj.solve(model, "ctmc")


def test_head_of_line_priorities_cobham_1954() -> None:
    """A. Cobham: Operations Research 2(1), 1954 (Kleinrock 1976, eq. (3.31)): W_p = W_0/((1 - s_p)(1 - s_(p+1)))."""
    r, first, both = two_classes("priority"), 0.15, 0.55
    rest = 0.3 * 0.5**2 + 0.4 * 1.0
    assert r.value("waiting_time", "q", "high") == pytest.approx(rest / (1 - first), rel=1e-7)
    assert r.value("waiting_time", "q", "low") == pytest.approx(rest / (1 - first) / (1 - both), rel=1e-7)


def test_preemptive_priorities_kleinrock_1976_equation_3_39() -> None:
    """T_p = (S_p (1 - s_p) + sum of lambda_i S_i² up to p)/((1 - s_p)(1 - s_(p+1))), s over p and above."""
    r = two_classes("priority_preemptive")
    assert r.value("response_time", "q", "high") == pytest.approx(0.5 / (1 - 0.15), rel=1e-7)
    low = (1.0 * (1 - 0.55) + 0.3 * 0.25 + 0.4) / ((1 - 0.55) * (1 - 0.15))
    assert r.value("response_time", "q", "low") == pytest.approx(low, rel=1e-7)


@pytest.mark.parametrize("discipline", ["ps", "lcfs_pr"])
def test_insensitivity_baskett_1975(discipline: str) -> None:
    """BCMP types 2 and 4: with any service of mean 0.7 the number is geometric in rho = 0.7."""
    law = sj.Hyperexponential((0.2, 0.8), (2.0, 0.375))
    model = single(law, rate=1.0, discipline=discipline, capacity=9)
    r = sj.solve(model, "ctmc", requested_outputs=RequestedOutputs(state_probabilities=9))
    p = [r.value("queue_length_probability", "q", n=n) for n in range(10)]
    assert np.array(p[1:]) / p[:-1] == pytest.approx([0.7] * 9, rel=1e-11)
