"""p(n) and variances of closed networks, whichever exact method answers, delays too; what is too dear is a sentence."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

import sojourn as sj
from sojourn.errors import SolverError
from sojourn.model.network_points import NetworkPoints
from sojourn.solve import exact_mva
from sojourn.solve.closed import convolution, number_distribution
from sojourn.solve.method import RequestedOutputs

EXACT = ("mva", "mva-multiclass", "convolution")


def closed(population: int, think_s: float = 0.0, **demands: float) -> sj.Model:
    """Stations whose name begins with d are delays."""
    stations = [sj.Delay(name) if name.startswith("d") else sj.Queue(name) for name in demands]
    return sj.Model(
        stations, [sj.Closed("u", population, think_s)], demands_s={k: {"u": d} for k, d in demands.items()}
    )


def told(m: sj.Metrics, station: str, most: int, **where: Any) -> list[float]:
    return [m.value("queue_length_probability", station, n=n, **where) for n in range(most + 1)]


@pytest.mark.parametrize("method", EXACT)
def test_two_stations_and_a_delay_by_hand(method: str) -> None:
    """Two customers. D = 1, 2: weights 4, 2, 1 of 0, 1, 2 at the first. D = 1 and a delay of 1: 1/2, 1, 1."""
    m = sj.solve(closed(2, a=1.0, b=2.0), method, requested_outputs=RequestedOutputs(state_probabilities=3))
    assert told(m, "a", 3) == pytest.approx([4 / 7, 2 / 7, 1 / 7, 0.0], rel=1e-14)
    assert told(m, "b", 2, cls="u") == pytest.approx([1 / 7, 2 / 7, 4 / 7], rel=1e-14)
    assert m.value("queue_length_variance", "a") == pytest.approx(6 / 7 - 16 / 49, rel=1e-13)
    with_delay = sj.solve(closed(2, a=1.0, d=1.0), method, requested_outputs=RequestedOutputs(state_probabilities=2))
    assert told(with_delay, "a", 2) == pytest.approx([0.2, 0.4, 0.4], rel=1e-14)
    assert told(with_delay, "d", 2) == pytest.approx([0.4, 0.4, 0.2], rel=1e-14)
    assert with_delay.value("queue_length_variance", "d") == pytest.approx(1.2 - 0.64, rel=1e-13)
    assert with_delay.message.count("\n") == 0


@pytest.mark.parametrize("method", EXACT)
def test_far_tails_keep_their_digits(method: str) -> None:
    """Two stations are a cut geometric law: p(n) as 2^-n."""
    m = sj.solve(closed(500, a=0.5, b=1.0), method, requested_outputs=RequestedOutputs(state_probabilities=500))
    for n in (0, 100, 400, 500):
        assert m.value("queue_length_probability", "a", n=n) == pytest.approx(2.0 ** -(n + 1), rel=1e-12)


@pytest.mark.parametrize("method", [*EXACT, "ctmc"])
def test_two_classes_and_a_delay_that_one_of_them_visits(method: str) -> None:
    """One customer a class, D = 1 everywhere; a delay for u alone: places (u, v) = aa aa, da: weights 2, 1 -> p."""
    stations = [sj.Queue("a", discipline="ps"), sj.Delay("d"), sj.Queue("b", discipline="ps")]
    demands = {"a": {"u": 1.0, "v": 1.0}, "d": {"u": 1.0}, "b": {"v": 1.0}}
    model = sj.Model(stations, [sj.Closed("u", 1), sj.Closed("v", 1)], demands_s=demands)
    if method == "mva":
        with pytest.raises(sj.errors.MethodRefused):
            sj.solve(model, method)
        return
    m = sj.solve(model, method, requested_outputs=RequestedOutputs(state_probabilities=2))
    # (u, v) at a a: 2! = 2; a b: 1; d a: 1; d b: 1
    assert told(m, "a", 2) == pytest.approx([0.2, 0.4, 0.4], rel=1e-9)
    assert told(m, "d", 1) == pytest.approx([0.6, 0.4], rel=1e-9)
    if method != "ctmc":
        assert told(m, "d", 1, cls="u") == told(m, "d", 1)
        with pytest.raises(KeyError):
            m.value("queue_length_probability", "a", "u", n=0)


def test_a_sweep_and_mixed_classes() -> None:
    m = sj.sweep(
        closed(2, a=1.0, b=2.0, d=1.0),
        "classes.u.population",
        [0, 1, 2],
        "mva",
        requested_outputs=RequestedOutputs(state_probabilities=2),
    )
    for count, right in ((0, [1.0, 0.0, 0.0]), (1, [3 / 4, 1 / 4, 0.0])):
        assert told(m, "a", 2, **{"classes.u.population": count}) == pytest.approx(right, rel=1e-14)
    mixed = sj.Model(
        [sj.Queue("a", discipline="ps"), sj.Queue("b"), sj.Delay("d")], [sj.Closed("u", 2), sj.Open("o", 0.5)],
        demands_s={"a": {"u": 0.5, "o": 1.0}, "b": {"u": 2.0}, "d": {"o": 1.0}},
    )  # fmt: skip
    found = sj.solve(mixed, "mva", requested_outputs=RequestedOutputs(state_probabilities=2))
    assert told(found, "b", 2) == pytest.approx([1 / 7, 2 / 7, 4 / 7], rel=1e-13)  # a is as slow as D = 1
    assert found.where(metric="queue_length_probability").frame["station"].unique().to_list() == ["b"]


def test_what_is_too_dear_is_a_sentence() -> None:
    big = closed(10**7, **{f"s{k}": 0.1 + k for k in range(12)})
    m = sj.solve(big, "mva", requested_outputs=RequestedOutputs(state_probabilities=5))
    assert (
        m.status == "ok"
        and "p(n) is not available, because it comes from the convolution" in m.message
        and m.value("throughput") > 0
    )
    delays = sj.solve(closed(10**6, a=0.5, d=1.0), "mva", requested_outputs=RequestedOutputs(state_probabilities=5))
    assert "not available of delays" in delays.message and told(delays, "a", 5)
    many = sj.solve(
        closed(10**6, a=0.5, b=1.0), "convolution", requested_outputs=RequestedOutputs(state_probabilities=10**6)
    )
    assert "p(n) is not available:" in many.message and many.value("queue_length_variance", "a") > 0


def test_an_answer_out_of_range_is_a_sentence(monkeypatch: pytest.MonkeyPatch) -> None:
    def broken(*_: Any) -> Any:
        raise SolverError("the sums are out of range", "method convolution", "simulate")

    monkeypatch.setattr(convolution, "run", broken)
    m = sj.solve(closed(2, a=1.0, b=2.0), "mva", requested_outputs=RequestedOutputs(state_probabilities=3))
    assert "p(n) is not available: the sums are out of range" in m.message


def test_nothing_is_computed_where_it_is_not_asked(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(convolution, "run", lambda *_: pytest.fail("not asked"))
    monkeypatch.setattr(number_distribution, "asked", lambda *_: pytest.fail("not asked"))
    for method in EXACT[:2]:
        m = sj.solve(closed(2, a=1.0, b=2.0), method)
        assert m.where(metric="queue_length_variance").frame.is_empty()


def test_many_points_of_one_class_at_once_are_those_of_a_model_each() -> None:
    """Arrays in any layout, as a case has them: columns of a table, whole numbers of customers."""
    demands = np.array([[0.01, 0.02, 0.0], [0.03, 0.01, 0.005]]).T[:2]
    think_s, population = np.array([0.1, 0.2]), [5, 40]
    throughput, number = exact_mva(demands, think_s, population)
    for k, n in enumerate(population):
        m = sj.solve(closed(n, float(think_s[k]), a=float(demands[k, 0]), b=float(demands[k, 1])), "mva")
        assert throughput[k] == pytest.approx(m.value("throughput", cls="u"), rel=1e-13)
        assert number[k] == pytest.approx([m.value("queue_length", station) for station in "ab"], rel=1e-13)


def test_points_of_a_fit_are_solved_from_their_arrays() -> None:
    """M/M/1//N with thinking: throughput is that of each point's demand, and neither networks nor rows are made of the points."""
    network = sj.Model.parse(
        '[stations.cpu]\n[classes.user]\nkind = "closed"\npopulation = 2\nthink_s = 1\n[demands_s]\ncpu = { user = 1 }'
    ).network
    demand = np.array([0.5, 1.0, 2.0])
    points = NetworkPoints([network], np.zeros(3, int)).altered(service_s=demand[:, None, None])
    found = convolution.run(points, RequestedOutputs((), further=False))
    # two customers who think for 1 s: p(1)/p(0) = 2 D, p(2)/p(1) = D
    assert found.throughput[:, 0] == pytest.approx((2 + 2 * demand) / (1 + 2 * demand + 2 * demand**2), rel=1e-14)
    assert set(points.made) <= {0}  # whose names and kinds stand for all
    assert found.more == []
