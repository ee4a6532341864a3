"""Models of the key-value study on a simulated system with known times: recovered, and predictive where not fitted."""

from __future__ import annotations

import numpy as np
import pytest

from sojourn.study.kv.models import closed_network, fit_times, judge, shared_cores, split, station_table
from sojourn.study.kv.models.network import Demands, Shape, solve
from sojourn.study.kv.models.times import Estimate, Times, estimate
from sojourn.study.kv.points import Point, shuffled
from sojourn.study.kv.seen import configurations, frame, name_of
from sojourn.study.kv.simulated import Known, SimulatedSystem

KNOWN = Known()
CLIENTS = (1, 4, 8, 16, 24, 32, 48, 66)


def points(seconds: float, repetitions: int, clients=CLIENTS) -> list[Point]:
    base = [Point("proxy", "simulated", 2, 1, 8, "get", False, n, 1, seconds) for n in clients]
    return shuffled(base, repetitions, 7)


@pytest.fixture(scope="module")
def seen():
    system = SimulatedSystem(KNOWN, seed=1)
    return frame(system.run(p) for p in points(4.0, 2))


def test_the_model_predicts_what_it_was_not_fitted_on(seen) -> None:
    fitted, held = split(seen["clients"].to_list())
    assert set(fitted).isdisjoint(held)
    assert fitted[0] == 1 and 66 in fitted and len(held) == 3
    _, found = judge("network", "x", seen, lambda times, n: closed_network(times, Shape(2, 1, 8), n))
    assert [p.clients for p in found] == held
    assert max(abs(p.throughput_error) for p in found) < 0.05
    assert max(abs(p.response_error) for p in found) < 0.06
    assert found[-1].predicted.bottleneck == "workers"


def test_no_throughput_enters_the_prediction(seen) -> None:
    """The same instrumented times with nonsense for throughput give the same prediction."""
    nonsense = seen.with_columns(
        throughput_per_s=seen["throughput_per_s"] * 3, mw_throughput_per_s=seen["throughput_per_s"] * 0.1
    )
    a, b = (closed_network(fit_times(rows), Shape(2, 1, 8), 32) for rows in (seen, nonsense))
    assert a == b


def known(delay=1e-3, service=5e-4, **cpu: float) -> Times:
    exact = {name: Estimate(v, v, v) for name, v in cpu.items()}
    curves = {name: ((0.0, 5.0), (v, v)) for name, v in cpu.items()}
    return Times(Estimate(delay, delay, delay), Estimate(service, service, service), exact, curves)


@pytest.mark.parametrize("clients", [1, 5, 40])
def test_one_queue_and_a_delay_is_the_closed_form(clients: int) -> None:
    """Without inner limits the network is a machine-repair model: X = mu (1 - p0), p0 by its sum (Jain, section 31.5)."""
    delay, net = 2e-3, 1e-4
    found = solve(Demands(delay, 0.0, net, 1e-9, 1e-12), Shape(), clients)
    terms = np.cumprod([1.0, *((clients - k) * net / delay for k in range(clients))])
    assert found.throughput_per_s == pytest.approx((1 - 1 / terms.sum()) / net, rel=1e-4)


def rates(d: Demands, shape: Shape, most: int) -> list[float]:
    return [solve(d, shape, n).throughput_per_s for n in range(1, most + 1)]


def test_servers_and_workers_bound_the_throughput() -> None:
    free = rates(Demands(0, 0, 0, 1e-3, 4e-4), Shape(servers=2), 12)
    assert rates(Demands(0, 0, 0, 1e-3, 4e-4), Shape(2, 1, 3), 12)[2:] == pytest.approx([free[2]] * 10, rel=1e-5)
    assert free[0] == pytest.approx(1 / 1.4e-3, rel=1e-5)
    assert free == sorted(free)
    assert free[-1] < 1 / 2e-4
    (all_of_them,) = rates(Demands(0, 0, 0, 1e-3, 4e-4), Shape(servers=2, to_all=True), 1)
    assert all_of_them == pytest.approx(1 / 1.2e-3, rel=1e-5)


CPU = {"client_cpu_s": 8e-6, "net_cpu_s": 9e-6, "worker_cpu_s": 10e-6, "server_cpu_s": 8e-6}


def test_threads_cannot_use_more_than_the_cores() -> None:
    times = known(delay=4e-5, service=5e-5, **CPU)
    for cores in (1, 2, 8):
        for clients in (1, 4, 64):
            found = shared_cores(times, Shape(3, 1, 8), clients, cores)
            assert found.utilisation["cores"] <= 1.02
            assert found.throughput_per_s <= 1.02 * cores / sum(CPU.values())
            assert found.throughput_per_s <= 1.0001 / max(CPU["client_cpu_s"], CPU["net_cpu_s"])


def test_many_cores_change_nothing() -> None:
    times = known(delay=4e-5, service=5e-5, **CPU)
    many, more = (shared_cores(times, Shape(3, 1, 8), 32, cores) for cores in (64, 128))
    assert many.throughput_per_s == pytest.approx(more.throughput_per_s, rel=1e-6)
    assert shared_cores(times, Shape(3, 1, 8), 32, 2).throughput_per_s < many.throughput_per_s


def test_one_client_never_shares_a_core() -> None:
    times = known(delay=4e-5, service=5e-5, **CPU)
    assert shared_cores(times, Shape(3, 1, 8), 1, 2).throughput_per_s == pytest.approx(
        1 / (4e-5 + 5e-5 + CPU["net_cpu_s"]), rel=1e-3
    )


def test_one_station_at_measured_rates(seen) -> None:
    rows = station_table(fit_times(seen), Shape(2, 1, 8), seen)
    assert [row["clients"] for row in rows] == list(CLIENTS)
    assert rows[0]["mmm_response_s"] == pytest.approx(KNOWN.held_s + KNOWN.server_s, rel=0.1)
    assert rows[0]["mmm_queue_s"] < rows[2]["mmm_queue_s"]


def test_an_interval_needs_two_runs() -> None:
    assert estimate(np.array([2.0, np.nan])) == Estimate(2.0, 2.0, 2.0)
    found = estimate(np.array([1.0, 3.0]))
    assert found.value == 2.0
    assert found.high == pytest.approx(2 + 12.7062047, rel=1e-6)  # t(0.975, 1)


def test_points_are_shuffled_in_blocks_and_named_apart() -> None:
    found = points(1.0, 3)
    assert len({p.name for p in found}) == 24
    assert [p.repetition for p in found] == [1] * 8 + [2] * 8 + [3] * 8
    assert [p.clients for p in found[:8]] != sorted(CLIENTS)
    assert found == points(1.0, 3)
    assert shuffled([], 3, 1) == []


def test_configurations_have_names(seen) -> None:
    ((configuration, rows),) = configurations(seen)
    assert rows.height == 16
    assert name_of(configuration) == "simulated, 2 servers, 1 proxy, 8 workers, get"
