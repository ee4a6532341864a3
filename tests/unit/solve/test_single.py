"""Single stations: who is refused, what is said of unstable queues, special cases, transients."""

from __future__ import annotations

import math

import numpy as np
import pytest
from scipy.linalg import expm
from scipy.stats import poisson

import sojourn as sj
from sojourn.errors import InputError, MethodRefused
from sojourn.laws import broken, check_laws
from sojourn.solve.method import RequestedOutputs
from sojourn.solve.single import METHODS, mg1_waiting
from sojourn.solve.single.ggm import kingman
from sojourn.solve.single.mmm import MMm
from sojourn.solve.single.transient import state_probabilities, transient


def one(service, *classes, **queue) -> sj.Model:
    classes = classes or (sj.Open("c", 0.5),)
    return sj.Model([sj.Queue("q", **queue)], list(classes), service_s={"q": {c.name: service for c in classes}})


MODELS = {
    "mm1": one(1.0), "mmm": one(1.0, servers=3), "mg-inf": sj.Model([sj.Delay("d")], [sj.Open("c", 2.0)], service_s={"d": {"c": 1.0}}),
    "mmmk": one(1.0, capacity=4), "machine-repair": one(1.0, sj.Closed("c", 9, 3.0)), "md1": one(sj.Deterministic(1.0)),
    "mg1-breakdowns": one(sj.Erlang(1.0, 3), breakdowns=sj.Breakdowns(sj.Exponential(50.0), sj.Erlang(4.0, 2))),
    "mg1": one(sj.Erlang(1.0, 3)), "mg1-priority": one(1.0, sj.Open("c", 0.2), sj.Open("d", 0.3, priority=1), discipline="priority"),
    "mmm-priority": one(1.0, sj.Open("c", 0.9), sj.Open("d", 0.8, priority=1), discipline="priority_preemptive", servers=2),
    "mg-ps": one(sj.Uniform(0.5, 1.5), discipline="ps", servers=2), "mg1-lcfs-pr": one(sj.Erlang(1.0, 2), discipline="lcfs_pr"),
    "engset": one(1.0, sj.Closed("c", 9, 3.0), servers=2, capacity=4),
    "gm1": one(1.0, sj.Open("c", arrivals=sj.Uniform(1.0, 2.0))),
    "fork-join": sj.Model([sj.ForkJoin("f", 2)], [sj.Open("c", 0.5)], service_s={"f": {"c": 1.0}}),
    "nelson-tantawi": sj.Model([sj.ForkJoin("f", 4)], [sj.Open("c", 0.5)], service_s={"f": {"c": 1.0}}),
    "gig1": one(sj.Uniform(0.5, 1.5), sj.Open("c", arrivals=sj.Uniform(1.0, 2.0))),
    "whitt": one(sj.Erlang(1.0, 2), sj.Open("c", arrivals=sj.Erlang(0.6, 2)), servers=2),
}  # fmt: skip


@pytest.mark.parametrize("name", MODELS)
def test_auto_finds_the_method_and_the_laws_hold(name: str) -> None:
    m = sj.solve(MODELS[name])
    # another family may also have an exact method for it; by its name this one applies in any case
    by_name = sj.solve(MODELS[name], name)
    assert by_name.value("throughput") == pytest.approx(m.value("throughput"), rel=1e-9)
    servers = {"q": getattr(MODELS[name].stations[0], "servers", 1)}
    assert not broken(check_laws(by_name, 1e-9, servers=servers))


def test_every_method_but_bounds_is_tried() -> None:
    assert {m.name for m in METHODS} == set(MODELS) | {"allen-cunneen", "kingman"}


REFUSED = [
    ("mm1", one(1.0, servers=2), "2 servers"),
    ("mmm", one(1.0, capacity=5), "a capacity limit"),
    ("mmmk", one(1.0), "no capacity limit"),
    ("mmmk", one(1.0, capacity=3, on_full="block"), "blocks"),
    ("mmm", one(sj.Deterministic(1.0)), "not exponential"),
    ("engset", one(1.0, sj.Closed("c", 9, 3.0)), "no capacity limit"),
    ("engset", one(1.0, capacity=3), "closed classes only"),
    ("engset", one(1.0, sj.Closed("c", 9, 3.0), capacity=3, on_full="block"), "blocks"),
    ("engset", one(1.0, sj.Closed("c", 9), capacity=3), "would come back immediately"),
    ("engset", one(0.0, sj.Closed("c", 9, 3.0), capacity=3), "service time is 0"),
    ("engset", one(1.0, sj.Closed("c", 9, 3.0), sj.Closed("d", 9, 3.0), capacity=3), "2 classes"),
    ("engset", one(sj.Erlang(1.0, 2), sj.Closed("c", 9, 3.0), capacity=3), "places to wait"),
    ("engset", one(1.0, sj.Closed("c", 9, sj.Erlang(3.0, 2)), capacity=3), "places to wait"),
    ("engset", one(sj.Deterministic(1.0), sj.Closed("c", 9, sj.Deterministic(3.0)), capacity=1), "never becomes random"),
    ("md1", one(1.0), "not deterministic"),
    ("mg1", one(1.0, sj.Open("c", arrivals=sj.Erlang(2.0, 2))), "not Poisson"),
    ("mg1", one(1.0, discipline="ps"), "has `ps`"),
    ("machine-repair", one(1.0), "closed classes only"),
    ("gm1", one(1.0, sj.Open("c", 0.1), sj.Open("d", 0.1)), "2 classes"),
    ("gm1", one(1.0, sj.Open("c", arrivals=sj.Steps(((1.0, 2.0), (0.1, 3.0))))), "distribution of the times between"),
    ("fork-join", MODELS["nelson-tantawi"], "4 branches"),
    ("mg-inf", one(1.0), "of kind `delay`"),
    ("mmm", sj.Model([sj.Queue("a"), sj.Queue("b")], [sj.Open("c", 0.1)], demands_s={"a": {"c": 1.0}, "b": {"c": 1.0}}),
     "2 stations"),
    ("mmm", sj.Model([sj.Queue("a")], [sj.Open("c", 0.1)], service_s={"a": {"c": 1.0}}, visits={"a": {"c": 3.0}}),
     "exactly once"),
    ("mmm", one(1.0, server_schedule=((0.0, 1), (5.0, 2)), schedule_period_s=10.0), "schedule"),
]  # fmt: skip


@pytest.mark.parametrize(("name", "model", "words"), REFUSED)
def test_refusals_name_the_reason(name: str, model: sj.Model, words: str) -> None:
    with pytest.raises(MethodRefused, match=words):
        sj.solve(model, name)


@pytest.mark.parametrize("name", ["mm1", "md1", "mg1", "gm1", "gig1", "fork-join", "allen-cunneen", "whitt"])
@pytest.mark.parametrize("service", [2.0, 2.5])
def test_unstable_is_a_status_with_the_rate_at_which_it_starts(name: str, service: float) -> None:
    time = sj.Deterministic(service) if name == "md1" else service
    arrivals = {"arrivals": sj.Erlang(2.0, 2)} if name in ("gm1", "gig1") else {"rate_per_s": 0.5}
    model = one(time, sj.Open("c", **arrivals))
    if name == "fork-join":
        model = sj.Model([sj.ForkJoin("q", 2)], [sj.Open("c", 0.5)], service_s={"q": {"c": service}})
    m = sj.solve(model, name, requested_outputs=RequestedOutputs(state_probabilities=2))
    assert m.status == "unstable" and f"unstable from an arrival rate of {1 / service:.9g}/s on" in m.message
    assert m.value("throughput", "q", "c") == pytest.approx(1 / service, rel=1e-14)
    assert m.value("saturation_rate", "q") == pytest.approx(1 / service, rel=1e-14)
    assert math.isnan(m.value("response_time", "q", "c")) and math.isnan(m.value("queue_length", "q", "c"))
    assert not broken(check_laws(m))


def test_a_sweep_through_saturation() -> None:
    m = sj.sweep(one(1.0), "classes.c.rate_per_s", [k / 10 for k in range(1, 13)])
    at = m.frame.filter(
        (m.frame["metric"] == "response_time") & (m.frame["station"] == "q") & (m.frame["class"] == "c")
    )
    assert at["status"].to_list() == ["ok"] * 9 + ["unstable"] * 3
    assert at["value"].to_list()[:9] == pytest.approx([1 / (1 - x / 10) for x in range(1, 10)], rel=1e-12)


def test_infinite_moments_have_a_status_of_their_own() -> None:
    m = sj.solve(one(sj.Pareto(1.0, 2.5)), requested_outputs=RequestedOutputs(quantiles=(0.9,)))
    assert m.value("waiting_time", "q") == pytest.approx(0.5 * sj.Pareto(1.0, 2.5).second / 2 / 0.5, rel=1e-12)
    assert math.isnan(m.value("waiting_time_variance", "q"))
    row = m.where(metric="waiting_time_variance", station="q").frame["status"][0]
    assert row == "no_moment" and m.value("response_time_quantile", "q", q=0.9) > 1


def test_nobody_comes() -> None:
    for name in ("mm1", "md1", "mg1", "mg-ps"):
        model = one(
            sj.Deterministic(1.0) if name == "md1" else 1.0,
            sj.Open("c", 0.0),
            discipline="ps" if name == "mg-ps" else "fcfs",
        )
        m = sj.solve(model, name)
        assert m.status == "ok" and m.value("response_time", "q") == 1 and m.value("queue_length", "q") == 0
    empty = sj.solve(one(1.0, sj.Closed("c", 0, 1.0)), "machine-repair")
    assert empty.value("throughput") == 0 and empty.value("queue_length", "q") == 0


def test_population_of_ten_million() -> None:
    """A fluid: 50 000 servers of 1 s, think 100 s: the servers are full, N = X (R + Z)."""
    m = sj.solve(one(1.0, sj.Closed("c", 10_000_000, 100.0), servers=50_000), "machine-repair")
    assert m.value("throughput") == pytest.approx(50_000, rel=1e-12)
    assert m.value("response_time") == pytest.approx(100, rel=1e-10)


def test_exact_waits_of_phase_type_against_mm1() -> None:
    wait, plain = mg1_waiting.PhaseTypeWaitingTime(0.9, [(1.0, sj.Exponential(1.0))]), MMm(0.9, 1.0)
    for k, q in enumerate((0.3, 0.9, 0.9999)):
        assert wait.quantiles((0.3, 0.9, 0.9999))[k] == pytest.approx(plain.waiting_quantile(q)[0], rel=1e-10)
        response = wait.response_quantiles((q,), sj.Exponential(1.0))[0]
        assert response == pytest.approx(-math.log1p(-q) / 0.1, rel=1e-10)


def test_mg1_of_classes_is_a_mixture() -> None:
    """Two exponential classes FCFS: the same as one class with the mixture as its service."""
    two = sj.Model([sj.Queue("q")], [sj.Open("a", 0.2), sj.Open("b", 0.3)], service_s={"q": {"a": 2.0, "b": 0.5}})
    mixed = one(sj.Hyperexponential((0.4, 0.6), (2.0, 0.5)), sj.Open("c", 0.5))
    m, other = (
        sj.solve(two, requested_outputs=RequestedOutputs(state_probabilities=5)),
        sj.solve(mixed, requested_outputs=RequestedOutputs(state_probabilities=5)),
    )
    assert m.value("waiting_time", "q", "b") == pytest.approx(other.value("waiting_time", "q"), rel=1e-12)
    assert m.value("waiting_time_quantile", "q", "a", q=0.99) == pytest.approx(
        other.value("waiting_time_quantile", "q", q=0.99), rel=1e-9
    )
    assert m.value("queue_length_variance", "q") == pytest.approx(other.value("queue_length_variance", "q"), rel=1e-12)
    assert m.value("queue_length_probability", "q", n=5) == pytest.approx(
        other.value("queue_length_probability", "q", n=5), rel=1e-10
    )


@pytest.mark.parametrize("name", ["allen-cunneen", "whitt"])
def test_approximations_are_exact_where_they_should_be(name: str) -> None:
    assert sj.solve(one(1.0, sj.Open("c", 2.5), servers=3), name).value("waiting_time", "q") == pytest.approx(
        MMm(2.5, 1.0, 3).waiting_s[0], rel=1e-12
    )
    d = sj.Hyperexponential((0.3, 0.7), (2.0, 0.3))
    exact = sj.solve(one(d), "mg1").value("waiting_time", "q")
    found = sj.solve(one(d), name)
    # Allen-Cunneen is Pollaczek-Khinchine for M/G/1; Whitt's is not
    close = 1e-12 if name == "allen-cunneen" else 0.2
    assert found.status == "approximate" and found.value("waiting_time", "q") == pytest.approx(exact, rel=close)


def test_d_d_1_does_not_wait() -> None:
    model = one(sj.Deterministic(1.0), sj.Open("c", arrivals=sj.Deterministic(1.25)))
    for name in ("allen-cunneen", "whitt"):
        assert sj.solve(model, name).value("waiting_time", "q") == 0


@pytest.mark.parametrize("d", [sj.Erlang(0.8, 2), sj.Uniform(0.1, 1.5), sj.Hyperexponential((0.9, 0.1), (0.4, 4.4))])
def test_kingman_encloses_g_m_1(d: sj.Distribution) -> None:
    model = one(0.6 * d.first, sj.Open("c", arrivals=d))
    exact = sj.solve(model, "gm1").value("waiting_time", "q")
    low, high = kingman(MMm(1 / d.first, 0.6 * d.first), d.scv, 1.0)
    assert low[0] <= exact <= high[0]
    bounds = sj.solve(model, "kingman")
    assert bounds.status == "bounds" and math.isnan(bounds.value("response_time"))


@pytest.mark.parametrize(("servers", "capacity"), [(1, 6), (3, 9), (4, 4)])
def test_transient_against_a_matrix_exponential(servers: int, capacity: int) -> None:
    n = np.arange(capacity + 1)
    q = np.diag(np.full(capacity, 1.4), 1) + np.diag(np.minimum(n[1:], servers) / 0.8, -1)
    q -= np.diag(q.sum(axis=1))
    found = state_probabilities(1.4, 0.8, servers, [0.0, 0.3, 5.0, 60.0], start=2, capacity=capacity)
    for law, t in zip(found, (0.0, 0.3, 5.0, 60.0), strict=True):
        assert law == pytest.approx(expm(q * t)[2], abs=1e-13)


def test_transient_of_unlimited_queues() -> None:
    m = transient(one(1.0, sj.Open("c", 0.8)), [0.0, 2.0, 2000.0], most=3)
    assert m.value("queue_length", "q", "c", time_s=0.0) == 0
    assert m.value("queue_length", "q", "c", time_s=2000.0) == pytest.approx(4.0, rel=1e-6)
    assert m.value("queue_length_probability", "q", "c", n=0, time_s=2000.0) == pytest.approx(0.2, rel=1e-6)
    # so many servers that nobody waits: Poisson of mean a (1 - exp(-t))
    p = state_probabilities(3.0, 1.0, 200, [0.7])[0]
    assert p[:12] == pytest.approx(poisson.pmf(np.arange(12), 3 * (1 - math.exp(-0.7))), abs=1e-13)
    grows = transient(one(1.0, sj.Open("c", 3.0)), [50.0])  # unstable: about (lambda - mu) t
    assert grows.value("queue_length", "q", "c") == pytest.approx(100, rel=0.02)


@pytest.mark.parametrize(
    "change", [{"times_s": [-1.0]}, {"start": -2}, {"times_s": [1e9]}, {"capacity": 3, "start": 4}]
)
def test_transient_says_what_it_cannot(change: dict) -> None:
    with pytest.raises(InputError):
        state_probabilities(**({"rate_per_s": 1.0, "service_s": 0.5, "servers": 1, "times_s": [1.0]} | change))


def test_transient_refuses_other_models() -> None:
    with pytest.raises(MethodRefused, match="not exponential"):
        transient(one(sj.Deterministic(1.0)), [1.0])


def test_waits_on_a_grid_where_nobody_arrives_are_refused() -> None:
    nobody = sj.Model.parse('[stations.s]\n[classes.a]\nkind = "open"\n[service_s.s]\na = 120.0')
    with pytest.raises(MethodRefused, match="nobody arrives"):
        sj.solve(nobody, "gig1")


def test_a_class_that_nobody_is_of_changes_nothing_for_others() -> None:
    """Its services have no third moment: 0 x inf is no variance of those who come."""
    alone = sj.Model([sj.Queue("q")], [sj.Open("a", 0.5)], service_s={"q": {"a": sj.Exponential(1.0)}})
    heavy = {"a": sj.Exponential(1.0), "none": sj.Pareto(1.0, 2.5)}
    both = sj.Model([sj.Queue("q")], [sj.Open("a", 0.5), sj.Open("none", 0.0)], service_s={"q": heavy})
    for metric in ("waiting_time_variance", "response_time_variance", "queue_length_variance"):
        found = sj.solve(both, "mg1").value(metric, "q", "a")
        assert found == pytest.approx(sj.solve(alone, "mg1").value(metric, "q", "a"), rel=1e-12)
