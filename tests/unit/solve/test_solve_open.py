"""Open networks: extremes, sweeps, saturation, refusals."""

from __future__ import annotations

import mpmath
import numpy as np
import pytest

import sojourn as sj
from sojourn.errors import MethodRefused
from sojourn.solve.population_distribution import PopulationDistribution


@pytest.mark.parametrize(("servers", "share"), [(1, 0.9999), (25, 0.805), (1000, 0.5), (1000, 0.9999)])
def test_many_servers_against_fifty_digits(servers: int, share: float) -> None:
    """Mean, variance and P(all busy) of M/M/m by sums in 50 digits."""
    load = servers * share
    found = PopulationDistribution.of(np.array([load]), np.minimum(np.arange(1.0, servers + 1), servers))
    with mpmath.workdps(50):
        a, r = mpmath.mpf(load), mpmath.mpf(load) / servers
        w = [a**n / mpmath.factorial(n) for n in range(servers + 1)]
        total = mpmath.fsum(w[:-1]) + w[-1] / (1 - r)
        busy = w[-1] / (1 - r) / total
        mean = a + busy * r / (1 - r)
        tail = w[-1] * (servers**2 / (1 - r) + 2 * servers * r / (1 - r) ** 2 + r * (1 + r) / (1 - r) ** 3)
        second = (mpmath.fsum(n * n * x for n, x in enumerate(w[:-1])) + tail) / total
    assert found.beyond[0] == pytest.approx(float(busy), rel=1e-11)
    assert found.mean[0] == pytest.approx(float(mean), rel=1e-11)
    assert found.variance[0] == pytest.approx(float(second - mean**2), rel=1e-10)


def test_a_thousand_rates_in_one_call() -> None:
    model = sj.Model(
        [sj.Queue("a", servers=3), sj.Queue("b")], [sj.Open("j", 1.0)], demands_s={"a": {"j": 1e-3}, "b": {"j": 2e-4}}
    )
    rates = np.linspace(1.0, 2900.0, 1000)
    r = sj.sweep(model, "classes.j.rate_per_s", rates.tolist(), "jackson")
    numbers = r.frame.filter(
        (r.frame["metric"] == "queue_length") & (r.frame["station"] == "b") & (r.frame["class"] == "j")
    )["value"].to_numpy()
    assert numbers == pytest.approx(rates * 2e-4 / (1 - rates * 2e-4), rel=1e-11)


def test_saturation_is_a_status_with_its_rate() -> None:
    model = sj.Model([sj.Queue("a"), sj.Queue("b")], [sj.Open("j", 1.0)], demands_s={"a": {"j": 0.1}, "b": {"j": 0.2}})
    for method in ("jackson", "qna"):
        r = sj.sweep(model, "classes.j.rate_per_s", [1.0, 5.0, 6.0], method)
        assert r.status == "unstable" and "station b is unstable from arrivals of 5/s" in r.message
        assert np.isnan(r.value("response_time", cls="j", **{"classes.j.rate_per_s": 5.0}))
        assert r.value("response_time", cls="j", **{"classes.j.rate_per_s": 1.0}) == pytest.approx(
            0.1 / 0.9 + 0.2 / 0.8
        )
        assert r.value("saturation_rate", **{"classes.j.rate_per_s": 6.0}) == pytest.approx(5.0)


def test_demands_from_nanoseconds_to_a_thousand_seconds() -> None:
    demands = {"a": {"j": 1e-9}, "b": {"j": 1e3}}
    r = sj.solve(sj.Model([sj.Queue(n) for n in demands], [sj.Open("j", 9e-4)], demands_s=demands), "jackson")
    assert r.value("response_time", "a") == pytest.approx(1e-9 / (1 - 9e-13), rel=1e-13)
    assert r.value("queue_length", "b") == pytest.approx(9.0, rel=1e-12)


def test_class_switching_and_classes_of_their_own() -> None:
    """A job that comes back as another class: visits add up, response of a pass is the sum."""
    model = sj.Model(
        [sj.Queue("q", discipline="ps")], [sj.Open("a", 0.5), sj.Open("b", 0.0)], service_s={"q": {"a": 0.6, "b": 0.8}},
        routing={"a": {"source": {"q": 1.0}, "q": {"q/b": 1.0}}, "b": {"q": {"exit": 1.0}}},
    )  # fmt: skip
    r = sj.solve(model, "open-multiclass")
    assert r.value("utilisation", "q") == pytest.approx(0.7, rel=1e-12)
    assert r.value("queue_length") == pytest.approx(7 / 3, rel=1e-12)
    assert r.value("queue_length", "q", "b") == pytest.approx(7 / 3 * 4 / 7, rel=1e-12)


def test_qna_takes_immediate_feedback_out() -> None:
    """Exponential service, geometric returns: one long exponential visit, so QNA is exact again (Whitt, section III)."""
    model = sj.Model([sj.Queue("q")], [sj.Open("j", 0.5)], service_s={"q": {"j": 0.6}},
                     routing={"j": {"source": {"q": 1.0}, "q": {"q": 0.5, "exit": 0.5}}})  # fmt: skip
    assert sj.solve(model, "qna").value("queue_length", "q") == pytest.approx(0.6 / 0.4, rel=1e-12)


def test_qna_of_two_classes_is_exact_where_it_is_a_single_m_g_1() -> None:
    """FCFS with means that differ between classes: Pollaczek-Khinchine of the mixture, each class its own service."""
    model = sj.Model([sj.Queue("q")], [sj.Open("a", 0.3), sj.Open("b", 0.2)], demands_s={"q": {"a": 0.5, "b": 1.5}})
    wait = (0.3 * 2 * 0.25 + 0.2 * 2 * 2.25) / (2 * (1 - 0.45))
    assert sj.solve(model, "qna").value("response_time", "q", "b") == pytest.approx(wait + 1.5, rel=1e-12)


REFUSED = {
    ("jackson", "differ between classes|2 classes"): {"demands_s": {"q": {"a": 0.1, "b": 0.2}}},
    ("open-multiclass", "differ between classes"): {"demands_s": {"q": {"a": 0.1, "b": 0.2}}},
    ("open-multiclass", "erlang"): {"demands_s": {"q": {"a": sj.Erlang(0.1, 2), "b": 0.1}}},
    ("qna", "second moment"): {"demands_s": {"q": {"a": sj.Pareto(0.1, 1.5), "b": 0.1}}},
}


@pytest.mark.parametrize(("method", "reason"), REFUSED)
def test_refusals_say_why(method: str, reason: str) -> None:
    model = sj.Model([sj.Queue("q")], [sj.Open("a", 1.0), sj.Open("b", 1.0)], **REFUSED[method, reason])  # type: ignore[arg-type]
    with pytest.raises(MethodRefused, match=reason):
        sj.solve(model, method)


@pytest.mark.parametrize("method", ["jackson", "qna", "qbd"])
def test_closed_classes_are_refused(method: str) -> None:
    with pytest.raises(MethodRefused, match="closed|open class"):
        sj.solve(sj.Model([sj.Queue("q")], [sj.Closed("u", 3)], demands_s={"q": {"u": 1.0}}), method)


def test_a_network_with_a_delay_that_saturates_at_all_points_says_so() -> None:
    model = sj.Model(
        stations=[sj.Queue("cpu"), sj.Delay("wire")],
        classes=[sj.Open("user", rate_per_s=200.0)],
        demands_s={"cpu": {"user": 0.01}, "wire": {"user": 0.02}},
    )
    found = sj.solve(model, method="jackson")
    assert found.status == "unstable" and "unstable" in found.frame.filter(station="wire")["status"]
