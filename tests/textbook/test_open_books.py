"""Open networks against printed examples."""

from __future__ import annotations

import math

import pytest

import sojourn as sj
from sojourn.solve.method import RequestedOutputs


def bolch_7_2() -> sj.Model:
    names = ("cpu", "printer", "disk", "io")
    return sj.Model(
        [sj.Queue(n) for n in names],
        [sj.Open("job", 4.0)],
        service_s=dict(zip(names, ({"job": s} for s in (0.04, 0.03, 0.06, 0.05)), strict=True)),
        routing={"job": {
            "source": {"io": 1.0}, "io": {"cpu": 1.0}, "cpu": {"printer": 0.5, "disk": 0.5}, "printer": {"cpu": 1.0},
            "disk": {"cpu": 0.6, "exit": 0.4},
        }},
    )  # fmt: skip


@pytest.mark.parametrize("method", ["jackson", "open-multiclass", "qna"])
def test_bolch_2006_example_7_2(method: str) -> None:
    """Four stations with feedback. Known to us through the tests of octave's queueing package (qnos)."""
    r = sj.solve(bolch_7_2(), method, requested_outputs=RequestedOutputs(state_probabilities=4))
    printed = {"cpu": (20, 0.8, 4), "printer": (10, 0.3, 0.429), "disk": (10, 0.6, 1.5), "io": (4, 0.2, 0.25)}
    for name, (rate, busy, number) in printed.items():
        assert r.value("throughput", name) == pytest.approx(rate, rel=1e-12)
        assert r.value("utilisation", name) == pytest.approx(busy, rel=1e-12)
        assert r.value("queue_length", name) == pytest.approx(number, abs=5e-4)
    assert r.value("response_time") == pytest.approx(1.545, abs=5e-4)
    if method == "qna":
        return
    for name, n, p in (("cpu", 3, 0.1024), ("printer", 2, 0.063), ("disk", 4, 0.0518), ("io", 1, 0.16)):
        assert r.value("queue_length_probability", name, n=n) == pytest.approx(p, abs=5e-5)


def test_lazowska_1984_section_6_3_open_model() -> None:
    """CPU and two disks, demands 0.605, 2.1, 1.35 s, 0.3 jobs/s: R 8.68 s, 2.6 jobs; saturation at 0.476/s."""
    demands = {"cpu": {"job": 0.605}, "disk1": {"job": 2.1}, "disk2": {"job": 1.35}}
    model = sj.Model([sj.Queue(n) for n in demands], [sj.Open("job", 0.3)], demands_s=demands)
    r = sj.solve(model, "jackson")
    assert [r.value("utilisation", n) for n in demands] == pytest.approx([0.1815, 0.63, 0.405], rel=1e-12)
    assert r.value("response_time") == pytest.approx(8.68, abs=5e-3)
    assert r.value("queue_length") == pytest.approx(2.6, abs=6e-3)
    assert r.value("saturation_rate") == pytest.approx(0.476, abs=3e-4)


def test_two_classes_two_stations_lazowska_1984_section_7_3() -> None:
    """Demands A (1, 3), B (2, 4) s at 3/19 and 2/19 jobs/s. Known through the tests of octave's queueing (qnom)."""
    demands = {"one": {"a": 1.0, "b": 2.0}, "two": {"a": 3.0, "b": 4.0}}
    model = sj.Model(
        [sj.Queue(n, discipline="ps") for n in demands], [sj.Open("a", 3 / 19), sj.Open("b", 2 / 19)], demands_s=demands
    )
    r = sj.solve(model, "open-multiclass")
    assert r.value("utilisation", "one", "a") == pytest.approx(3 / 19, rel=1e-12)
    assert r.value("utilisation", "one", "b") == pytest.approx(4 / 19, rel=1e-12)
    assert r.value("response_time", "one", "a") == pytest.approx(19 / 12, rel=1e-12)
    assert r.value("response_time", "two", "a") == pytest.approx(57 / 2, rel=1e-12)
    assert r.value("queue_length", "one", "a") == pytest.approx(0.25, rel=1e-12)


def test_tandem_burke_1956() -> None:
    """P. J. Burke: Operations Research 4(6), 1956: departures of M/M/m are Poisson, so each station is on its own."""
    model = sj.Model(
        [sj.Queue("a", servers=2), sj.Queue("b")],
        [sj.Open("job", 1.5)],
        demands_s={"a": {"job": 1.0}, "b": {"job": 0.5}},
    )
    r = sj.solve(model, "jackson", requested_outputs=RequestedOutputs(quantiles=(0.9,)))
    assert r.value("queue_length", "a") == pytest.approx(2 * 0.75 / (1 - 0.75**2), rel=1e-13)
    assert r.value("queue_length", "b") == pytest.approx(3.0, rel=1e-13)
    assert r.value("waiting_probability", "a") == pytest.approx(9 / 14, rel=1e-13)  # Erlang C(2, 1.5)
    assert r.value("waiting_time_quantile", "a", q=0.9) == pytest.approx(math.log(9 / 1.4) / 0.5, rel=1e-13)
    assert r.value("response_time_quantile", "b", q=0.9) == pytest.approx(math.log(10) / 0.5, rel=1e-13)


@pytest.mark.parametrize("law", [sj.Erlang(1.0, 3), sj.Deterministic(1.0), sj.Hyperexponential((0.5, 0.5), (0.2, 1.8))])
def test_qna_is_pollaczek_khinchine_for_poisson_arrivals_whitt_1983(law: sj.Distribution) -> None:
    """Eq. (44) with c²_a = 1: rho (1 + c²_s)/(2 mu (1 - rho)), Kleinrock 1975, eq. (5.72)."""
    model = sj.Model([sj.Queue("q")], [sj.Open("job", 0.7)], service_s={"q": {"job": law}})
    r = sj.solve(model, "qna")
    assert r.status == "approximate"
    assert r.value("waiting_time", "q") == pytest.approx(0.7 * (1 + law.scv) / 0.6, rel=1e-12)


def test_kraemer_langenbach_belz_against_the_exact_d_m_1() -> None:
    """D/M/1 at 0.8: sigma = e^(-(1 - sigma)/0.8) (Kleinrock 1975, section 6.4); (44) with c²_a = 0 is a few % off."""
    model = sj.Model([sj.Queue("q")], [sj.Open("job", arrivals=sj.Deterministic(1.25))], service_s={"q": {"job": 1.0}})
    sigma = 0.5
    for _ in range(200):
        sigma = math.exp(-(1 - sigma) / 0.8)
    found = sj.solve(model, "qna").value("waiting_time", "q")
    assert found == pytest.approx(sigma / (1 - sigma), rel=0.05)


def test_delay_with_load_above_one() -> None:
    """M/M/inf: the mean number is the load; there is no utilisation."""
    model = sj.Model(
        [sj.Delay("net"), sj.Queue("q")], [sj.Open("job", 3.0)], demands_s={"net": {"job": 2.0}, "q": {"job": 0.1}}
    )
    for method in ("jackson", "qna"):
        r = sj.solve(model, method)
        assert r.value("queue_length", "net") == pytest.approx(6.0, rel=1e-14)
        assert r.frame.filter((r.frame["station"] == "net") & (r.frame["metric"] == "utilisation")).is_empty()
