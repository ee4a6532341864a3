"""Whom closed methods refuse, and the edges of models: nobody there, no demand, no wait, open load, class switching."""

from __future__ import annotations

import math
from collections.abc import Sequence

import pytest

from sojourn.errors import MethodRefused, ModelError
from sojourn.model import (
    Breakdowns,
    Choice,
    Closed,
    Delay,
    Deterministic,
    Erlang,
    Exponential,
    ForkJoin,
    Model,
    Open,
    Pool,
    Queue,
    Region,
)
from sojourn.solve import solve, sweep
from sojourn.solve.method import RequestedOutputs
from sojourn.solve.product_form import product_form, structure

EXACT = ("mva", "mva-multiclass", "convolution")
APPROXIMATE = ("linearizer", "aql", "schweitzer")
BOUNDS = ("asymptotic-bounds", "balanced-job-bounds", "geometric-bounds")


def single(station: object, service: object = 0.1, **more: object) -> Model:
    return Model(
        stations=[station, Queue("other")],  # type: ignore[list-item]
        classes=[Closed("user", 5, think_s=1.0)],
        demands_s={station.name: {"user": service}, "other": {"user": 0.2}},  # type: ignore[attr-defined, dict-item]
        **more,  # type: ignore[arg-type]
    )


def two(station: Queue, first_s: float, second_s: float, priorities: Sequence[int] = (0, 0)) -> Model:
    classes = [Closed("a", 2, think_s=1.0, priority=priorities[0]), Closed("b", 3, think_s=2.0, priority=priorities[1])]
    return Model(stations=[station], classes=classes, demands_s={station.name: {"a": first_s, "b": second_s}})


BROKEN = Breakdowns(up=Exponential(100.0), down=Exponential(1.0))
STRUCTURE = {
    "has room for only 3 customers": single(Queue("cpu", capacity=3)),
    "is of kind `fork_join`": single(ForkJoin("cpu", 2)),
    "follows a schedule": single(Queue("cpu", server_schedule=((0.0, 1), (5.0, 2)), schedule_period_s=10.0)),
    "breaks down": single(Queue("cpu", breakdowns=BROKEN)),
    "limits how many are inside cpu": single(Queue("cpu"), regions=[Region("room", 3, ("cpu",))]),
    "limits how many are inside cpu, other": Model(
        stations=[Queue("cpu"), Queue("other"), Pool("threads", 2, ("cpu", "other"))],
        classes=[Closed("user", 5, think_s=1.0)],
        demands_s={"cpu": {"user": 0.1}, "other": {"user": 0.2}},
    ),
    "chooses its route after outside by the policy `jsq`": Model(
        stations=[Queue("cpu"), Queue("other")],
        classes=[Closed("user", 5, think_s=1.0)],
        service_s={"cpu": {"user": 0.1}, "other": {"user": 0.2}},
        routing={"user": {"think": Choice("jsq", ("cpu", "other")), "cpu": {"think": 1.0}, "other": {"think": 1.0}}},
    ),
}
SHAPE = {
    "the service time of class `user` is `deterministic`": single(Queue("cpu"), Deterministic(0.1)),
    "serves by priority": two(Queue("cpu", discipline="priority"), 0.1, 0.1, (0, 1)),
    "`fcfs`, and its mean service times differ between classes (a 0.1 s, b 0.2 s)": two(Queue("cpu"), 0.1, 0.2),
    "`siro`, and its mean service times differ": two(Queue("cpu", discipline="siro"), 0.1, 0.2),
}


@pytest.mark.parametrize("reason", STRUCTURE)
@pytest.mark.parametrize("method", ["mva", "convolution", "linearizer", "amva-fcfs", "asymptotic-bounds"])
def test_what_changes_the_network_is_refused_by_all(reason: str, method: str) -> None:
    assert reason in (structure(STRUCTURE[reason].network) or "")
    with pytest.raises(MethodRefused):
        solve(STRUCTURE[reason], method)


@pytest.mark.parametrize("reason", SHAPE)
@pytest.mark.parametrize("method", [*EXACT[1:], *APPROXIMATE, "geometric-bounds"])
def test_no_product_form_is_refused_by_its_methods(reason: str, method: str) -> None:
    assert reason in (product_form(SHAPE[reason].network) or "")
    with pytest.raises(MethodRefused):
        solve(SHAPE[reason], method)


def test_fcfs_with_means_that_differ_is_answered_as_approximate_by_auto() -> None:
    m = solve(two(Queue("cpu"), 0.1, 0.2), "amva-fcfs")
    assert (m.method, m.status) == ("amva-fcfs", "approximate")


@pytest.mark.parametrize(
    "model",
    [
        two(Queue("cpu", discipline="ps"), 0.1, 0.2),
        two(Queue("cpu", discipline="lcfs_pr"), 0.1, 0.2),
        two(Queue("cpu", discipline="siro"), 0.1, 0.1),
        two(Queue("cpu", discipline="priority"), 0.1, 0.1),
        single(Queue("cpu", discipline="ps"), Deterministic(0.1)),
        single(Queue("cpu"), Erlang(0.1, 1)),
        single(Delay("cpu"), Deterministic(0.1)),
        single(Queue("cpu", servers=3)),
    ],
    ids=["ps", "lcfs_pr", "siro", "one priority", "ps deterministic", "erlang of one", "delay", "servers"],
)
def test_stations_of_product_form(model: Model) -> None:
    assert product_form(model.network) is None
    assert solve(model, "convolution").status == "ok"


@pytest.mark.parametrize("method", [*EXACT, *APPROXIMATE, "amva-fcfs"])
def test_nobody(method: str) -> None:
    m = solve(Model(stations=[Queue("cpu")], classes=[Closed("user", 0)], demands_s={"cpu": {"user": 0.1}}), method)
    assert m.value("throughput") == 0
    assert m.value("queue_length", "cpu") == 0
    assert m.value("utilisation", "cpu") == 0
    assert math.isnan(m.value("response_time"))


def test_all_demands_zero() -> None:
    with pytest.raises(ModelError) as error:
        solve(Model(stations=[Queue("cpu")], classes=[Closed("user", 4)], demands_s={"cpu": {"user": 0.0}}))
    assert "user" in str(error.value) and "think" in str(error.value)


@pytest.mark.parametrize("method", [*EXACT, *APPROXIMATE, "amva-fcfs", "asymptotic-bounds"])
def test_all_times_become_zero_in_a_sweep(method: str) -> None:
    model = Model(stations=[Queue("cpu")], classes=[Closed("user", 4)], demands_s={"cpu": {"user": 1.0}})
    with pytest.raises(ModelError) as error:
        sweep(model, "demands_s.cpu.user", [1.0, 0.5, 0.0], method)
    assert "user" in str(error.value)


@pytest.mark.parametrize("method", [*EXACT, *APPROXIMATE, "amva-fcfs"])
def test_all_demands_zero_but_thinking(method: str) -> None:
    m = solve(
        Model(stations=[Queue("cpu")], classes=[Closed("u", 4, think_s=2.0)], demands_s={"cpu": {"u": 0.0}}), method
    )
    assert m.value("throughput") == pytest.approx(2.0, rel=1e-12)
    assert m.value("response_time") == 0


@pytest.mark.parametrize("method", [*EXACT, *APPROXIMATE, "amva-fcfs"])
def test_one_customer_waits_for_nobody(method: str) -> None:
    stations = [Queue("cpu", servers=1), Delay("net"), Queue("disk")]
    demands = {"cpu": {"u": 0.3}, "net": {"u": 5.0}, "disk": {"u": 0.2}}
    m = solve(Model(stations=stations, classes=[Closed("u", 1, think_s=1.0)], demands_s=demands), method)
    assert m.value("response_time") == pytest.approx(5.5, rel=1e-9)
    assert m.value("queue_length", "net") == pytest.approx(5.0 / 6.5, rel=1e-9)


@pytest.mark.parametrize("method", EXACT)
def test_a_balanced_network_in_closed_form(method: str) -> None:
    """X = N/(D (N + K - 1)): Lazowska et al. (1984), 5.4, p. 87."""
    stations = [Queue(f"s{k}") for k in range(4)]
    m = solve(
        Model(stations=stations, classes=[Closed("u", 7)], demands_s={f"s{k}": {"u": 0.3} for k in range(4)}), method
    )
    assert m.value("throughput") == pytest.approx(7 / (0.3 * 10), rel=1e-13)


@pytest.mark.parametrize("method", EXACT[1:])
def test_unstable_by_open_load_says_from_which_rate_on(method: str) -> None:
    classes = [Open("web", rate_per_s=12.0), Closed("batch", 3)]
    model = Model(stations=[Queue("cpu")], classes=classes, demands_s={"cpu": {"web": 0.1, "batch": 0.1}})
    m = solve(model, method)
    assert m.status == "unstable"
    assert "10/s" in m.message
    assert math.isnan(m.value("throughput", cls="batch"))


def test_an_open_load_beside_a_delay_above_one_is_fine() -> None:
    classes = [Open("web", rate_per_s=30.0), Closed("batch", 3)]
    demands = {"net": {"web": 0.2, "batch": 1.0}, "cpu": {"web": 0.01, "batch": 0.01}}
    m = solve(Model(stations=[Delay("net"), Queue("cpu")], classes=classes, demands_s=demands), "convolution")
    assert m.value("queue_length", "net", "web") == pytest.approx(6.0, rel=1e-12)
    assert m.status == "ok"


@pytest.mark.parametrize("servers", [1, 3])
def test_mixed_at_several_servers_is_an_erlang_queue_when_nobody_is_closed(servers: int) -> None:
    """Without closed customers the open class sees M/M/m: for m = 3, rho = 2/3: Erlang C 4/9, mean number 26/9."""
    classes = [Open("web", rate_per_s=2.0 * servers / 3), Closed("none", 0)]
    model = Model(
        stations=[Queue("cpu", servers=servers)], classes=classes, demands_s={"cpu": {"web": 1.0, "none": 1.0}}
    )
    expected = {1: 2.0, 3: 26 / 9}[servers]
    assert solve(model, "convolution").value("queue_length", "cpu", "web") == pytest.approx(expected, rel=1e-10)


def test_mixed_at_several_servers_in_product_form_by_sums_over_states() -> None:
    """Two servers, open load 0.8, three closed customers: p(i, n) is proportional to C(n+i, i) … , summed to 4000."""
    classes = [Open("web", rate_per_s=0.8), Closed("batch", 3, think_s=2.0)]
    model = Model(stations=[Queue("cpu", servers=2)], classes=classes, demands_s={"cpu": {"web": 1.0, "batch": 1.0}})
    total = opens = closed = 0.0
    for n in range(4):
        for i in range(4000):
            here = math.comb(n + i, i) * math.exp(i * math.log(0.8)) / (1 if n + i < 2 else 2.0 ** (n + i - 1))
            weight = here * 2.0 ** (3 - n) / math.factorial(3 - n)
            total, opens, closed = total + weight, opens + i * weight, closed + n * weight
            if i > 200 and weight < 1e-30 * total:
                break
    m = solve(model, "convolution")
    assert m.value("queue_length", "cpu", "web") == pytest.approx(opens / total, rel=1e-10)
    assert m.value("queue_length", "cpu", "batch") == pytest.approx(closed / total, rel=1e-10)


def test_too_large_a_lattice_is_refused_before_it_starts() -> None:
    classes = [Closed(f"c{r}", 500, think_s=1.0) for r in range(5)]
    demands = {"cpu": {c.name: 0.1 for c in classes}}
    model = Model(stations=[Queue("cpu")], classes=classes, demands_s=demands)
    for method in EXACT[1:]:
        with pytest.raises(MethodRefused) as error:
            solve(model, method)
        assert "3.16e+13 vectors of populations" in str(error.value)
    assert solve(model).status == "approximate"


def test_the_parallel_lattice_agrees_with_the_kept_one() -> None:
    import numpy as np

    from sojourn import _native

    demands = np.array([[0.1, 0.2, 0.05], [0.3, 0.1, 0.2]])
    for point in ([4, 7, 3], [1, 1, 1], [9, 2, 5]):
        n = np.array([point])
        kept, wide = (f(demands, np.array([1.0, 0.0, 2.0]), n) for f in (_native.closed_multi, _native.closed_diagonal))
        assert np.allclose(kept[0], wide[0], rtol=1e-14) and np.allclose(kept[1], wide[1], rtol=1e-14)


def test_probabilities_and_variance_on_request() -> None:
    model = Model(stations=[Queue("cpu", servers=2), Queue("disk")], classes=[Closed("u", 6, think_s=1.0)],
                  demands_s={"cpu": {"u": 0.4}, "disk": {"u": 0.2}})  # fmt: skip
    m = solve(model, "convolution", requested_outputs=RequestedOutputs(state_probabilities=6))
    for station in ("cpu", "disk"):
        p = [m.value("queue_length_probability", station, n=n) for n in range(7)]
        mean = sum(n * x for n, x in enumerate(p))
        assert sum(p) == pytest.approx(1, rel=1e-13)
        assert m.value("queue_length", station) == pytest.approx(mean, rel=1e-13)
        second = sum(n * n * x for n, x in enumerate(p))
        assert m.value("queue_length_variance", station) == pytest.approx(second - mean * mean, rel=1e-11)


@pytest.mark.parametrize("method", EXACT)
def test_classes_that_switch_are_one_chain(method: str) -> None:
    """A class that becomes another and back is one class with two visits."""
    routing = {"a": {"think": {"cpu": 1.0}, "cpu": {"cpu/b": 1.0}}, "b": {"cpu": {"think/a": 1.0}}}
    switching = Model(stations=[Queue("cpu")], classes=[Closed("a", 4, think_s=1.0), Closed("b", 0)],
                      service_s={"cpu": {"a": 0.1, "b": 0.1}}, routing=routing)  # fmt: skip
    plain = Model(stations=[Queue("cpu")], classes=[Closed("a", 4, think_s=1.0)], demands_s={"cpu": {"a": 0.2}})
    one, other = solve(switching, method), solve(plain, method)
    assert one.value("throughput", cls="a") == pytest.approx(other.value("throughput"), rel=1e-13)
    assert one.value("queue_length", "cpu") == pytest.approx(other.value("queue_length", "cpu"), rel=1e-13)


def test_sweep_over_servers() -> None:
    model = Model(
        stations=[Queue("cpu", servers=1)], classes=[Closed("u", 8, think_s=1.0)], demands_s={"cpu": {"u": 0.5}}
    )
    table = sweep(model, "stations.cpu.servers", [1, 2, 4, 8], "convolution")
    x = [table.value("throughput", **{"stations.cpu.servers": m}) for m in (1, 2, 4, 8)]
    assert x == sorted(x) and x[-1] == pytest.approx(8 / 1.5, rel=1e-12)


@pytest.mark.parametrize("method", BOUNDS)
def test_bounds_are_rows_with_two_ends(method: str) -> None:
    model = Model(stations=[Queue("cpu"), Queue("disk")], classes=[Closed("u", 8, think_s=1.0)],
                  demands_s={"cpu": {"u": 0.5}, "disk": {"u": 0.3}})  # fmt: skip
    m, exact = solve(model, method), solve(model, "mva")
    assert m.status == "bounds"
    for metric in ("throughput", "response_time"):
        low, high = m.interval(metric, cls="u")
        assert low is not None and high is not None
        assert low <= exact.value(metric, cls="u") <= high


@pytest.mark.parametrize("servers", [1, 2, 25])
def test_ten_million_customers_are_answered_or_refused_at_once(servers: int) -> None:
    stations = [Queue("cpu", servers=servers), Queue("disk"), Queue("log", servers=2)]
    demands = {"cpu": {"u": 1.0}, "disk": {"u": 0.02}, "log": {"u": 0.03}}
    model = Model(stations=stations, classes=[Closed("u", 10_000_000, think_s=1.0)], demands_s=demands)
    assert solve(model).value("throughput") == pytest.approx(servers, rel=1e-6)
    if servers > 2:
        with pytest.raises(MethodRefused) as error:
            solve(model, "convolution")
        assert "would take" in str(error.value) or "take about" in str(error.value)
