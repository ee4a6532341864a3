"""Engset's system and M/M/m/K//N: losses, times of those served, distributions that do not matter, sweeps."""

from __future__ import annotations

import math

import pytest

import sojourn as sj
from sojourn.solve.method import RequestedOutputs


def lines(sources: int, servers: int, room: int, service: object = 1.0, think: object = 3.0, **queue) -> sj.Model:
    return sj.Model(
        [sj.Queue("q", servers, capacity=room, **queue)],
        [sj.Closed("c", sources, think)],
        service_s={"q": {"c": service}},
    )


def test_four_sources_and_three_lines_by_hand() -> None:
    """gamma = 1/3, h = 1: p(n) as C(4, n)/3^n = 27, 36, 18, 4 of 85; found as C(3, n)/3^n = 27, 27, 9, 1 of 64."""
    m = sj.solve(lines(4, 3, 3), requested_outputs=RequestedOutputs(state_probabilities=3))
    assert m.method == "engset" and m.status == "ok"
    for n, weight in enumerate((27, 36, 18, 4)):
        assert m.value("queue_length_probability", "q", n=n) == pytest.approx(weight / 85, rel=1e-14)
    carried = (36 + 2 * 18 + 3 * 4) / 85
    assert m.value("queue_length") == pytest.approx(carried, rel=1e-14)
    assert m.value("throughput", cls="c") == pytest.approx(carried, rel=1e-14)
    assert m.value("utilisation", "q") == pytest.approx(carried / 3, rel=1e-14)
    assert m.value("queue_length_variance", "q") == pytest.approx((36 + 72 + 36) / 85 - carried**2, rel=1e-13)
    for station, cls in (("q", "c"), ("q", ""), ("", "c"), ("", "")):
        assert m.value("loss_probability", station, cls) == pytest.approx(1 / 64, rel=1e-14)
    assert m.value("response_time") == 1.0 and m.value("waiting_time", "q") == 0.0


def test_one_place_to_wait_by_hand() -> None:
    """N = 3, m = 1, K = 2, Z = 1, S = 1: p as 1, 3, 6; found as 1, 2, 2; those who get in find nobody or one as 1 : 2."""
    m = sj.solve(lines(3, 1, 2, think=1.0), requested_outputs=RequestedOutputs(quantiles=(0.9,)))
    assert m.value("queue_length_probability", "q", n=2) == pytest.approx(0.6, rel=1e-14)  # told unasked
    assert m.value("loss_probability", "q", "c") == pytest.approx(0.4, rel=1e-14)
    assert m.value("throughput") == pytest.approx(0.9, rel=1e-14)
    assert m.value("waiting_time", "q", "c") == pytest.approx(2 / 3, rel=1e-14)
    assert m.value("waiting_probability", "q", "c") == pytest.approx(2 / 3, rel=1e-14)
    assert m.value("response_time") == pytest.approx(5 / 3, rel=1e-14)
    t = m.value("response_time_quantile", cls="c", q=0.9)
    assert math.exp(-t) * (1 + 2 / 3 * t) == pytest.approx(0.1, rel=1e-12)
    assert m.value("response_time_quantile", "q", "c", q=0.9) == t


@pytest.mark.parametrize(
    "service", [sj.Deterministic(1.0), sj.Hyperexponential((0.5, 0.5), (0.2, 1.8)), sj.Lognormal(1.0, 4.0)]
)
def test_where_nobody_waits_only_means_matter(service: sj.Distribution) -> None:
    plain, other = (sj.solve(lines(7, 3, 3, s, z)) for s, z in ((1.0, 3.0), (service, sj.Erlang(3.0, 2))))
    for metric in ("throughput", "queue_length", "loss_probability", "response_time"):
        assert other.value(metric, "q", "c") == plain.value(metric, "q", "c")
    assert other.value("response_time_variance", "q", "c") == pytest.approx(service.second - 1, rel=1e-12, abs=1e-15)
    assert other.value("response_time_quantile", cls="c", q=0.9) > 0.5
    assert other.value("waiting_time_quantile", "q", "c", q=0.99) == 0.0


def test_room_for_all_is_machine_repair() -> None:
    limited, free = sj.solve(lines(5, 2, 9)), sj.solve(lines(5, 2, None))
    assert (limited.method, free.method) == ("engset", "machine-repair")
    assert limited.value("loss_probability", cls="c") == 0.0
    for metric in ("throughput", "queue_length", "response_time", "waiting_time", "queue_length_variance"):
        station = "q" if metric != "response_time" else ""
        assert limited.value(metric, station) == pytest.approx(free.value(metric, station), rel=1e-13)
    chain = sj.solve(lines(5, 2, 9), "ctmc")
    assert chain.value("response_time") == pytest.approx(limited.value("response_time"), rel=1e-9)


def test_many_sources_are_a_poisson_stream() -> None:
    """N to infinity at N/Z = 7: Erlang's loss formula, B(8, 7) by its recursion."""
    lost = 1.0
    for k in range(1, 9):
        lost = 7 * lost / (k + 7 * lost)
    m = sj.solve(lines(10**7, 8, 8, think=10**7 / 7))
    assert m.value("loss_probability") == pytest.approx(lost, rel=2e-6)


def test_a_sweep_over_lines_and_sources() -> None:
    m = sj.sweep(lines(4, 3, 3), "classes.c.population", [0, 1, 3, 4])
    found = [m.value("loss_probability", cls="c", **{"classes.c.population": n}) for n in (0, 1, 3, 4)]
    assert found == pytest.approx([0.0, 0.0, 0.0, 1 / 64], rel=1e-14)
    room = sj.sweep(lines(4, 1, 1), "stations.q.capacity", [1, 2, 3])
    full = [room.value("queue_length_probability", "q", n=k, **{"stations.q.capacity": k}) for k in (1, 2, 3)]
    assert full == pytest.approx([4 / 7, 12 / 33, 8 / 41], rel=1e-14)  # as 9, 12, 12, 8


def test_losses_do_not_let_an_answer_have_more_customers_than_there_are() -> None:
    from sojourn.errors import SolverError
    from sojourn.solve.law_verification import verify
    from sojourn.solve.single.engset import METHOD

    network = lines(4, 3, 3).network
    s = METHOD.run([network], RequestedOutputs())
    verify([network], s, "test")
    s.queue_length = s.queue_length + 1.0
    with pytest.raises(SolverError, match="all are somewhere"):
        verify([network], s, "test")
