"""Time of a whole pass: closed forms, stiff and equal rates, fixed delays, who is refused and how that is said."""

from __future__ import annotations

import math
from typing import Any

import mpmath
import numpy as np
import pytest
from scipy.special import gammainccinv

import sojourn as sj
from sojourn.solve.method import RequestedOutputs

LEVELS = (0.5, 0.9, 0.99, 0.999999)


def network(stations: list[Any], service_s: list[Any], rate: float = 1.0, **more: Any) -> sj.Model:
    times = {s.name: {"job": t} for s, t in zip(stations, service_s, strict=True)}
    return sj.Model(stations, [sj.Open("job", rate)], service_s=times, **more)


def row(*service_s: Any, servers: dict[int, int] | None = None, rate: float = 1.0) -> sj.Model:
    stations = [sj.Queue(f"s{i}", servers=(servers or {}).get(i, 1)) for i in range(len(service_s))]
    return network(stations, list(service_s), rate)


def quantiles(model: sj.Model, method: str = "jackson", levels: tuple[float, ...] = LEVELS) -> list[float]:
    m = sj.solve(model, method, requested_outputs=RequestedOutputs(quantiles=levels))
    assert "quantiles of the whole" not in m.message
    return [m.value("response_time_quantile", cls="job", q=q) for q in levels]


@pytest.mark.parametrize("count", [1, 2, 5, 100])
def test_equal_stations_are_an_erlang(count: int) -> None:
    """S = 1/2 at rate 1: each time is exponential with mean 1 (Reich 1957)."""
    expected = [float(gammainccinv(count, 1 - q)) for q in LEVELS]
    assert quantiles(row(*[0.5] * count)) == pytest.approx(expected, rel=1e-12)
    assert sj.solve(row(*[0.5] * count), "jackson").value("response_time_variance") == pytest.approx(count, rel=1e-13)


@pytest.mark.parametrize(
    ("first", "second"), [(0.5, 0.25), (0.5, 0.5 * (1 + 1e-7)), (1 - 1e-9, 1e-3), (1 - 1e-12, 0.999)]
)
def test_two_stations_are_hypoexponential(first: float, second: float) -> None:
    """P(T > t) = (b e^(-at) - a e^(-bt))/(b - a), a and b = 1/S - 1, in 60 digits."""
    for q, t in zip(LEVELS, quantiles(row(first, second)), strict=True):
        with mpmath.workdps(60):
            a, b = ((1 - mpmath.mpf(s)) / mpmath.mpf(s) for s in (first, second))
            tail = (b * mpmath.exp(-a * mpmath.mpf(t)) - a * mpmath.exp(-b * mpmath.mpf(t))) / (b - a)
            assert float(tail / (1 - mpmath.mpf(q))) == pytest.approx(1.0, rel=1e-11)


def test_servers_first_and_last_by_hand() -> None:
    """M/M/2 with S = 1, lambda = 1: waits with 1/3 for an exponential of mean 1; then one of mean 1. The same at the end.

    So the time is 2 exponentials of mean 1, or 3 with 4/9, or 4 with 1/9, and one of the middle queue (1/S - 1 = 1).
    """
    q = quantiles(row(1.0, 0.5, 1.0, servers={0: 2, 2: 2}))
    for level, t in zip(LEVELS, q, strict=True):
        erlangs = [sum(math.exp(-t) * t**i / math.factorial(i) for i in range(k)) for k in (3, 4, 5)]
        assert (4 * erlangs[0] + 4 * erlangs[1] + erlangs[2]) / 9 == pytest.approx(1 - level, rel=1e-11)
    m = sj.solve(row(1.0, 0.5, 1.0, servers={0: 2, 2: 2}), "jackson")
    assert m.value("response_time_variance") == pytest.approx(1 + 2 * (1 + 1 / 3 * (2 - 1 / 3)), rel=1e-13)


def test_a_tree_mixes_its_paths() -> None:
    """Half of the jobs go to b, half to c: e^-t (1 + t) with half, and e^-t + e^-t - e^-2t … by hand."""
    model = network(
        [sj.Queue("a"), sj.Queue("b"), sj.Queue("c")], [0.5, 2 / 3, 0.4],
        routing={"job": {"source": {"a": 1.0}, "a": {"b": 0.5, "c": 0.5}, "b": {"exit": 1.0}, "c": {"exit": 1.0}}},
    )  # fmt: skip
    for level, t in zip(LEVELS, quantiles(model), strict=True):  # rates: a 1, b 3/2 - 1/2 = 1, c 5/2 - 1/2 = 2
        tail = 0.5 * math.exp(-t) * (1 + t) + 0.5 * (2 * math.exp(-t) - math.exp(-2 * t))
        assert tail == pytest.approx(1 - level, rel=1e-11)
    assert quantiles(model, "open-multiclass") == quantiles(model)
    # variances 2 and 1.25 about 2 and 1.5
    assert sj.solve(model, "jackson").value("response_time_variance") == pytest.approx(1.625 + 0.0625, rel=1e-13)


def test_fixed_delays_shift_and_may_differ_between_paths() -> None:
    fixed = sj.Deterministic(3.0)
    whole = network([sj.Queue("a"), sj.Delay("d"), sj.Queue("b")], [0.5, fixed, 0.5])
    assert quantiles(whole) == pytest.approx([3 + float(gammainccinv(2, 1 - q)) for q in LEVELS], rel=1e-12)
    forked = network(
        [sj.Queue("a"), sj.Delay("d")], [0.5, fixed],
        routing={"job": {"source": {"a": 1.0}, "a": {"d": 0.4, "exit": 0.6}, "d": {"exit": 1.0}}},
    )  # fmt: skip
    for level, t in zip(LEVELS, quantiles(forked), strict=True):
        tail = 0.6 * math.exp(-t) + 0.4 * math.exp(-max(t - 3, 0.0))
        assert tail == pytest.approx(1 - level, rel=1e-11)
    assert sj.solve(forked, "jackson").value("response_time_variance") == pytest.approx(1 + 9 * 0.24, rel=1e-13)


def test_who_passes_through_no_station_takes_no_time() -> None:
    model = network(
        [sj.Queue("a")], [0.5], 2.0, routing={"job": {"source": {"a": 0.5, "exit": 0.5}, "a": {"exit": 1.0}}}
    )
    assert quantiles(model, levels=(0.4, 0.9)) == pytest.approx([0.0, math.log(5)], rel=1e-12, abs=1e-300)


def test_delays_at_the_ends() -> None:
    model = network([sj.Delay("d"), sj.Queue("a"), sj.Delay("e")], [sj.Erlang(2.0, 2), 0.5, 1.0])
    assert quantiles(model) == pytest.approx([float(gammainccinv(4, 1 - q)) for q in LEVELS], rel=1e-12)


def test_one_station_is_the_system() -> None:
    m = sj.solve(row(0.5))
    assert m.method == "mm1"
    for q in (0.5, 0.99):
        assert m.value("response_time_quantile", cls="job", q=q) == m.value("response_time_quantile", "s0", "job", q=q)
        assert m.value("response_time_quantile", q=q) == pytest.approx(-math.log1p(-q), rel=1e-12)
    assert m.value("response_time_variance") == pytest.approx(1.0, rel=1e-12)
    chain = sj.solve(row(0.5), "qbd")
    assert chain.value("response_time_quantile", cls="job", q=0.9) == pytest.approx(math.log(10), rel=1e-9)
    two = sj.Model([sj.Queue("q")], [sj.Open("a", 0.2), sj.Open("b", 0.3)], demands_s={"q": {"a": 1.0, "b": 1.0}})
    found = sj.solve(two, "mmm")
    assert found.value("response_time_quantile", cls="b", q=0.9) == pytest.approx(2 * math.log(10), rel=1e-12)


BACK = {"job": {"source": {"a": 1.0}, "a": {"b": 1.0}, "b": {"a": 0.2, "exit": 0.8}}}
ABC = [sj.Queue(name) for name in "abc"]


@pytest.mark.parametrize(
    ("model", "reason"),
    [
        (network([sj.Queue("a"), sj.Queue("b")], [0.3, 0.2], routing=BACK), "come back to station a"),
        (network(ABC, [0.3] * 3, visits={"b": {"job": 0.5}}), "two ways from station a to station c"),
        (row(0.5, 0.7, 0.5, servers={1: 2}), "overtake at station s1"),
        (network([sj.Queue("a"), sj.Delay("d"), sj.Queue("b")], [0.5, 1.0, 0.5]), "overtake at station d"),
        (network([sj.Queue("a", discipline="ps"), sj.Queue("b")], [0.5, 0.5]), "a is ps, not fcfs"),
        (network([sj.Delay("d"), sj.Queue("b")], [sj.Lognormal(1.0, 2.0), 0.5]), "delay d is neither"),
        (network([sj.Delay("d"), sj.Queue("b")], [sj.Erlang(1.0, 800), 0.5]), "would take about"),
    ],
)  # fmt: skip
def test_where_customers_can_overtake_there_is_no_such_row(model: sj.Model, reason: str) -> None:
    m = sj.solve(model, "jackson")
    assert "quantiles of the whole response time are not available" in m.message and reason in m.message
    assert not any(r["station"] == "" and "quantile" in r["metric"] for r in m.frame.iter_rows(named=True))
    assert sj.solve(model, "jackson", requested_outputs=RequestedOutputs(quantiles=())).message == ""


def test_several_classes_and_saturation() -> None:
    model = sj.Model(
        [sj.Queue("a", discipline="ps"), sj.Queue("b")], [sj.Open("x", 0.1), sj.Open("y", 0.1)],
        demands_s={"a": {"x": 1.0, "y": 2.0}, "b": {"x": 1.0, "y": 1.0}},
    )  # fmt: skip
    assert "there are 2 classes" in sj.solve(model).message
    swept = sj.sweep(row(0.5, 0.5), "classes.job.rate_per_s", [1.0, 1.5, 2.5], "jackson")
    at = {"classes.job.rate_per_s": 1.5}
    expected = float(gammainccinv(2, 0.1)) / 0.5
    assert swept.value("response_time_quantile", cls="job", q=0.9, **at) == pytest.approx(expected, rel=1e-12)
    assert swept.where(metric="response_time_quantile", station="").frame["classes.job.rate_per_s"].max() == 1.5


def test_points_together_and_each_alone() -> None:
    model = row(0.5, 0.2, 0.9, servers={0: 2, 2: 2})
    rates = np.linspace(0.1, 2.0, 7).tolist()
    together = sj.sweep(model, "classes.job.rate_per_s", rates, "jackson")
    for rate in rates:
        alone = sj.solve(row(0.5, 0.2, 0.9, servers={0: 2, 2: 2}, rate=rate), "jackson")
        key = {"cls": "job", "q": 0.95}
        told = together.value("response_time_quantile", **key, **{"classes.job.rate_per_s": rate})
        assert told == pytest.approx(alone.value("response_time_quantile", **key), rel=1e-12)


def test_response_quantile_of_a_station_close_to_saturation() -> None:
    """A factor in its tail overflowed: at a load of 0.995 the 99 % quantile was told 19 % too low."""
    for spare in (2.0**-7, 2.0**-10, 2.0**-30):
        m = sj.solve(row(1 - spare, 0.5), "jackson")
        expected = -math.log(0.01) * (1 - spare) / spare
        assert m.value("response_time_quantile", "s0", "job", q=0.99) == pytest.approx(expected, rel=1e-9)
