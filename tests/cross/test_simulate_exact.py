"""The simulator against exact results, with fixed seeds.

Each case asks for intervals at the level 1 - 0.01/60, so that by Bonferroni the whole file fails by chance once in a
hundred seeds; with the seeds fixed it either always passes or never. Formulas: M/M/m (Kleinrock, Queueing Systems, vol. 1
(1975), 3.2, 3.5), M/G/1 and priorities (vol. 2 (1976), 3.4: non-preemptive after Cobham, preemptive-resume 3.35),
M/G/1-PS (vol. 2, 4.4), exact MVA (Reiser and Lavenberg, J. ACM 27 (1980), p. 313), Erlang's loss formula (vol. 1, 3.6).
"""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

import sojourn as sj

LEVEL = 1 - 0.01 / 60
SEED = 11


def simulated(model: sj.Model, precision: float = 0.05, **more: Any) -> sj.Metrics:
    found = sj.simulate(model, precision=precision, level=LEVEL, seed=SEED, max_wall_time_s=120, **more)
    assert found.status == "ok", found.message
    return found


def encloses(found: sj.Metrics, truth: float, metric: str, *where: str, **key: Any) -> None:
    low, high = found.interval(metric, *where, **key)
    assert low is not None and high is not None
    # what does not vary at all (a constant service time) is known to rounding only
    slack = 1e-9 * abs(truth)
    assert low - slack <= truth <= high + slack, (metric, where, key, low, truth, high)


def erlang_b(servers: int, load: float) -> float:
    lost = 1.0
    for k in range(1, servers + 1):
        lost = load * lost / (k + load * lost)
    return lost


@pytest.mark.parametrize(("servers", "rho"), [(1, 0.5), (1, 0.9), (8, 0.9)])
def test_mmm(servers: int, rho: float) -> None:
    model = sj.Model([sj.Queue("cpu", servers)], [sj.Open("user", servers * rho)], {"cpu": {"user": 1.0}})
    found = simulated(model)
    lost = erlang_b(servers, servers * rho)
    busy = lost / (1 - rho * (1 - lost))
    wait = busy / (servers * (1 - rho))
    encloses(found, wait + 1, "response_time")
    encloses(found, wait, "waiting_time", "cpu")
    encloses(found, busy, "waiting_probability", "cpu")
    encloses(found, rho, "utilisation", "cpu")
    encloses(found, servers * rho * (1 + wait), "queue_length", "cpu")
    encloses(found, 2 * busy / (servers * (1 - rho)) ** 2 - wait**2, "waiting_time_variance", "cpu")


@pytest.mark.parametrize(
    ("service", "scv"),
    [(sj.Deterministic(1.0), 0.0), (sj.Erlang(1.0, 4), 0.25), (sj.Hyperexponential((0.9, 0.1), (0.5, 5.5)), 5.5)],
)
def test_pollaczek_khinchine(service: sj.Distribution, scv: float) -> None:
    found = simulated(sj.Model([sj.Queue("cpu")], [sj.Open("user", 0.7)], {"cpu": {"user": service}}))
    encloses(found, 0.7 * (1 + scv) / 2 / 0.3, "waiting_time", "cpu")


def test_processor_sharing_does_not_care_for_the_distribution() -> None:
    service = sj.Hyperexponential((0.9, 0.1), (0.5, 5.5))
    found = simulated(sj.Model([sj.Queue("cpu", discipline="ps")], [sj.Open("user", 0.7)], {"cpu": {"user": service}}))
    encloses(found, 1 / 0.3, "response_time")


@pytest.mark.parametrize("discipline", ["priority", "priority_preemptive"])
def test_priorities(discipline: str) -> None:
    rates, means = (0.2, 0.3, 0.1), (1.0, 1.2, 2.0)
    classes = [sj.Open(f"c{i}", rate, priority=i) for i, rate in enumerate(rates)]
    model = sj.Model(
        [sj.Queue("cpu", discipline=discipline)], classes, {"cpu": {f"c{i}": mean for i, mean in enumerate(means)}}
    )
    found = simulated(model)
    load = np.array(rates) * np.array(means)
    rest = np.array(rates) * np.array(means) ** 2  # half the second moment of an exponential times the rate
    for i, mean in enumerate(means):
        above, until = load[:i].sum(), load[: i + 1].sum()
        if discipline == "priority":
            truth = rest.sum() / (1 - above) / (1 - until) + mean
        else:
            truth = mean / (1 - above) + rest[: i + 1].sum() / (1 - above) / (1 - until)
        encloses(found, truth, "response_time", "cpu", f"c{i}")


def test_closed_network_by_exact_mva() -> None:
    demands, think, population = {"cpu": 0.02, "disk": 0.03, "net": 0.01}, 1.0, 25
    model = sj.Model(
        [sj.Queue(name) for name in demands], [sj.Closed("user", population, think)],
        {name: {"user": d} for name, d in demands.items()},
    )  # fmt: skip
    demand, number, x = np.array(list(demands.values())), np.zeros(3), 0.0
    for n in range(1, population + 1):
        residence = demand * (1 + number)
        x = n / (think + residence.sum())
        number = x * residence
    found = simulated(model, 0.02)
    encloses(found, x, "throughput")
    encloses(found, residence.sum(), "response_time")
    for name, length in zip(demands, number, strict=True):
        encloses(found, float(length), "queue_length", name)
        encloses(found, float(length) / x, "residence_time", name, "user")


def test_routing_with_feedback_is_jacksons_network() -> None:
    model = sj.Model(
        [sj.Queue("cpu"), sj.Queue("disk")], [sj.Open("user", 0.3)],
        service_s={"cpu": {"user": 1.0}, "disk": {"user": 1.5}},
        routing={"user": {"source": {"cpu": 1.0}, "cpu": {"disk": 0.6, "exit": 0.4}, "disk": {"cpu": 1.0}}},
    )  # fmt: skip
    found = simulated(model)
    cpu, disk = 0.3 / 0.4 * 1.0, 0.3 / 0.4 * 0.6 * 1.5
    encloses(found, cpu / (1 - cpu), "queue_length", "cpu")
    encloses(found, disk / (1 - disk), "queue_length", "disk")
    encloses(found, (cpu / (1 - cpu) + disk / (1 - disk)) / 0.3, "response_time")


def test_a_full_station_loses_by_erlangs_formula() -> None:
    model = sj.Model([sj.Queue("lines", 5, capacity=5)], [sj.Open("call", 4.0)], {"lines": {"call": 1.0}})
    found = simulated(model, 0.01)
    encloses(found, erlang_b(5, 4.0), "loss_probability", "lines")
    encloses(found, 4 * (1 - erlang_b(5, 4.0)), "throughput")


def test_a_pool_is_the_queue_in_front_of_what_it_guards() -> None:
    """A pool of 3 over a delay is M/M/3."""
    model = sj.Model(
        [sj.Delay("work"), sj.Pool("threads", 3, ("work",))], [sj.Open("user", 2.4)], {"work": {"user": 1.0}}
    )
    found = simulated(model)
    lost = erlang_b(3, 2.4)
    busy = lost / (1 - 0.8 * (1 - lost))
    encloses(found, busy / 0.6 + 1, "response_time")
    encloses(found, busy / 0.6, "waiting_time", "threads")
    encloses(found, 0.8, "utilisation", "threads")
    encloses(found, busy, "waiting_probability", "threads")


def test_replications_and_one_long_run_agree_with_the_truth() -> None:
    model = sj.Model([sj.Queue("cpu")], [sj.Open("user", 0.8)], {"cpu": {"user": 1.0}})
    found = simulated(model, replications=8)
    encloses(found, 5.0, "response_time")
    encloses(found, 5 * np.log(100), "response_time_quantile", cls="user", q=0.99)


def test_common_random_numbers_narrow_a_difference() -> None:
    def model(rate_per_s: float) -> sj.Model:
        return sj.Model([sj.Queue("cpu")], [sj.Open("user", rate_per_s)], {"cpu": {"user": 1.0}})

    found = sj.compare_simulated(model(0.8), model(0.7), level=LEVEL, replications=12, until_s=20_000.0, seed=SEED)
    encloses(found, 1 / 0.3 - 1 / 0.2, "response_time")
    assert float(found.message.rsplit(" times narrower", 1)[0].rsplit(" ", 1)[1]) > 1.2


@pytest.mark.parametrize(
    ("room", "service", "think"),
    [(3, 1.0, 2.0), (5, 1.0, 2.0), (3, sj.Lognormal(1.0, 2.0), sj.Erlang(2.0, 3)), (3, sj.Deterministic(1.0), 2.0)],
)
def test_engset_and_a_place_to_wait(room: int, service: Any, think: Any) -> None:
    """The solver and the simulator mean the same by losses, throughput and times of a closed class."""
    stations = [sj.Queue("lines", 3, capacity=room)]
    model = sj.Model(stations, [sj.Closed("user", 6, think)], service_s={"lines": {"user": service}})
    found, exact = simulated(model, precision=0.02), sj.solve(model)
    assert exact.method == "engset"
    for metric in ("throughput", "queue_length", "utilisation", "response_time", "loss_probability", "waiting_time"):
        encloses(found, exact.value(metric, "lines", "user"), metric, "lines", "user")
    for metric in ("throughput", "response_time", "loss_probability"):
        encloses(found, exact.value(metric, cls="user"), metric, "", "user")
    for q in () if isinstance(service, sj.Deterministic) else (0.5, 0.9, 0.99):
        encloses(
            found, exact.value("response_time_quantile", cls="user", q=q), "response_time_quantile", "", "user", q=q
        )


@pytest.mark.parametrize("name", ["servers first and last", "tree with delays"])
def test_time_of_a_whole_pass(name: str) -> None:
    """Where nobody is overtaken the times along a path are independent: quantiles and variance of the whole pass."""
    job = [sj.Open("job", 1.0)]
    row = {"a": 2.4, "b": 0.7, "c": 1.5}
    tree = {"a": 0.6, "b": 0.7, "c": 1.5, "d": sj.Deterministic(2.0), "e": sj.Erlang(2.0, 2)}
    if name == "tree with delays":
        stations = [sj.Queue("a"), sj.Delay("d"), sj.Queue("b"), sj.Queue("c", servers=2), sj.Delay("e")]
        routing = {"source": {"a": 0.6, "c": 0.4}, "a": {"d": 0.5, "exit": 0.5}, "d": {"b": 0.5, "c": 0.5},
                   "b": {"e": 0.9, "exit": 0.1}, "c": {"exit": 1.0}, "e": {"exit": 1.0}}  # fmt: skip
        model = sj.Model(stations, job, service_s={k: {"job": s} for k, s in tree.items()}, routing={"job": routing})
    else:
        stations = [sj.Queue("a", servers=3), sj.Queue("b"), sj.Queue("c", servers=2)]
        model = sj.Model(stations, job, service_s={k: {"job": s} for k, s in row.items()})
    found, exact = simulated(model, precision=0.02), sj.solve(model, "jackson")
    encloses(found, exact.value("response_time_variance", cls="job"), "response_time_variance", "", "job")
    for q in (0.5, 0.9, 0.95, 0.99):
        encloses(found, exact.value("response_time_quantile", cls="job", q=q), "response_time_quantile", "", "job", q=q)
