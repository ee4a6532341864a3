"""`auto`: what it takes and why, what it does with an answer that breaks a law, and who is refused by name."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from typing import Any

import numpy as np
import pytest

import sojourn as sj
from sojourn.errors import InputError, MethodRefused, SolverError
from sojourn.model import Network
from sojourn.solve import cite, registry
from sojourn.solve.law_verification import verify
from sojourn.solve.method import Method, RequestedOutputs
from sojourn.solve.solution import Solution

MODEL = sj.Model([sj.Queue("cpu")], [sj.Closed("user", 2, 1.0)], {"cpu": {"user": 1.0}})
# exact: Q(1) = X(1) = 1/2, X(2) = 2/(1 + 1 (1 + 1/2)) = 0.8, Q(2) = 1.2
RIGHT = (0.8, 1.2)


def answer(x: float, q: float, status: str = "") -> Callable[[Sequence[Network], RequestedOutputs], Solution]:
    def run(networks: Sequence[Network], wanted: RequestedOutputs) -> Solution:
        count = len(networks)
        full = [np.full((count, 1), x), np.full((count, 1, 1), q), np.full((count, 1, 1), x)]
        return Solution(full[0], full[1], full[2], [status] * count if status else [])

    return run


def method(
    name: str, run: Any = None, refuses: Any = None, exact: bool = True, cost_s: float = 1e-3, **more: Any
) -> Method:
    return Method(
        name, f"the method {name}", exact, (f"source of {name}",), refuses or (lambda n: None),
        run or answer(*RIGHT), cost_s=lambda n: cost_s, **more,
    )  # fmt: skip


@pytest.fixture
def only(monkeypatch: pytest.MonkeyPatch) -> Iterator[Callable[..., sj.Model]]:
    """Makes these all methods there are; gives a model of its own, which keeps no earlier choice."""

    def these(*methods: Method) -> sj.Model:
        monkeypatch.setattr(registry, "all_methods", lambda: {m.name: m for m in methods})
        monkeypatch.setattr(registry, "methods_of", lambda family: methods if family == "closed" else ())
        monkeypatch.setattr(registry, "family", lambda m: "closed")
        return sj.Model(MODEL.stations, MODEL.classes, MODEL.demands_s)

    yield these


def test_the_cheapest_exact_method(only: Callable[..., sj.Model]) -> None:
    m = only(
        method("slow", cost_s=0.5), method("fast"), method("rough", exact=False), method("other", on_request_only=True)
    )
    r = sj.solve(m)
    assert (r.method, r.status) == ("fast", "ok")
    assert r.message == "fast: exact and fast"
    dear = only(method("slower", cost_s=0.5), method("slow", cost_s=0.4))
    assert sj.solve(dear).message == "slow: exact, the cheapest of 2 exact methods that apply"
    assert r.value("throughput", cls="user") == 0.8


def test_an_approximation_where_exact_is_too_dear(only: Callable[..., sj.Model]) -> None:
    m = only(method("slow", cost_s=5.0), method("rough", exact=False, rank=2), method("fine", exact=False, rank=1))
    r = sj.solve(m)
    assert (r.method, r.status) == ("fine", "approximate")
    assert "no exact method answers within 1 s" in r.message and "to know, simulate" in r.message
    assert set(r.frame["status"]) == {"approximate", "ok"}
    assert sj.solve(m, exact_time_limit_s=10.0).method == "slow"
    slow = only(method("slow", cost_s=5.0))  # nothing else applies
    with pytest.raises(MethodRefused, match=r"method slow takes about 5 s and 1 s are allowed; request it by name"):
        sj.solve(slow)
    assert sj.solve(slow, method="slow").method == sj.solve(slow, exact_time_limit_s=6.0).method == "slow"
    big = method("huge", memory_bytes=lambda n: 1e12)
    assert sj.solve(only(big, method("rough", exact=False))).method == "rough"


def test_an_answer_that_breaks_a_law_does_not_leave(only: Callable[..., sj.Model]) -> None:
    m = only(method("wrong", answer(-0.8, 1.2), cost_s=1e-6), method("right"))
    r = sj.solve(m)
    assert r.method == "right" and "wrong was not used: its answer failed a check" in r.message
    with pytest.raises(SolverError, match="none is negative"):
        sj.solve(m, method="wrong")
    with pytest.raises(SolverError, match="every method that applies"):
        sj.solve(only(method("wrong", answer(-0.8, 1.2))))


def test_refusals_name_what_applies(only: Callable[..., sj.Model]) -> None:
    m = only(method("never", refuses=lambda n: "it is Monday"), method("fine"))
    with pytest.raises(MethodRefused, match="method never: it is Monday; use fine"):
        sj.solve(m, method="never")
    with pytest.raises(InputError, match=r"did you mean fine\?"):
        sj.solve(m, method="fin")
    with pytest.raises(
        MethodRefused,
        match=r"never: it is Monday; use sj\.simulate.*; `sojourn methods model\.toml --all`",
    ):
        sj.solve(only(method("never", refuses=lambda n: "it is Monday")))
    assert [(x.name, why) for x, why in sj.methods(only(method("a"), method("b", refuses=lambda n: "no")))] == [
        ("a", None), ("b", "no"),
    ]  # fmt: skip


def test_a_sweep_takes_a_method_that_serves_all_points(only: Callable[..., sj.Model]) -> None:
    one = method("one", refuses=lambda n: None if n.population[0] == 2 else "population is not 2", cost_s=1e-6)
    m = only(one, method("rough", exact=False))
    r = sj.sweep(m, "classes.user.population", [2, 2])
    assert r.method == "one"
    apart = sj.sweep(only(one, method("two", answer(0.5, 0.5), refuses=lambda n: None if n.population[0] == 1 else "not 1")),
                     "classes.user.population", [1, 2])  # fmt: skip
    assert apart.method == "two; one"
    assert apart.value("throughput", cls="user", **{"classes.user.population": 1}) == 0.5


@pytest.mark.parametrize(
    ("change", "reason"),
    [
        ({"stations": [sj.Queue("cpu", server_schedule=((0.0, 1), (5.0, 2)))]}, "the station `cpu` has a schedule"),
        (
            {"stations": [sj.Queue("cpu", breakdowns=sj.Breakdowns(sj.Exponential(9), sj.Exponential(1)))]},
            "the station `cpu` has breakdowns",
        ),
        ({"stations": [sj.Queue("cpu"), sj.Pool("pool", 1, ("cpu",))]}, "`pool` admits at most 1 customers"),
        ({"regions": [sj.Region("all", 1, ("cpu",))]}, "`all` admits at most 1 customers"),
        ({"stations": [sj.Multicore("cpu", 2, 1, 1e-4)]}, "which only `two-class/priority` supports"),
    ],
)
def test_what_a_method_does_not_read_it_does_not_solve(
    only: Callable[..., sj.Model], change: dict[str, Any], reason: str
) -> None:
    only(method("plain"))
    said: dict[str, Any] = {
        "stations": MODEL.stations,
        "classes": MODEL.classes,
        "demands_s": MODEL.demands_s,
        **change,
    }
    with pytest.raises(MethodRefused, match=reason):
        sj.solve(sj.Model(**said), method="plain")
    only(method("reader", reads=("limits", "choices", "multicore", "time")))
    assert sj.solve(sj.Model(**said), method="reader").method == "reader"


def test_a_state_dependent_route_is_refused_but_where_it_is_by_chance(only: Callable[..., sj.Model]) -> None:
    only(method("plain"))
    for policy, good in (("jsq", False), ("random", True)):
        routing = {
            "user": {"think": sj.Choice(policy, ("cpu", "think"))},
        }
        rows = {"user": {**routing["user"], "cpu": {"think": 1.0}}}
        m = sj.Model(MODEL.stations, [sj.Closed("user", 2, 3.0)], service_s={"cpu": {"user": 1.0}}, routing=rows)
        assert (sj.methods(m)[0][1] is None) == good


def test_sources_of_all_methods() -> None:
    for m in registry.all_methods().values():
        assert cite(m.name).strip() and m.title
    assert "Erlang" in cite("mmm")
    with pytest.raises(InputError, match="use one of"):
        cite("nothing")


def solution(x: float, q: float, u: float, status: str = "") -> Solution:
    one = [np.array([[x]]), np.array([[[q]]]), np.array([[[u]]])]
    return Solution(one[0], one[1], one[2], [status] if status else [])


@pytest.mark.parametrize(
    ("x", "q", "u", "law"),
    [
        (0.9, 1.2, 0.9, "all are somewhere"),
        (-0.5, 2.5, 0.0, "none is negative"),
        (float("nan"), 1.2, 0.8, "none is negative"),
        (1.5, 0.5, 1.5, r"X <= N/\(Z \+ D\)"),
        (0.8, 1.2, 0.7, "U = X D / m"),
    ],
)
def test_the_laws_that_every_answer_is_held_to(x: float, q: float, u: float, law: str) -> None:
    with pytest.raises(SolverError, match=law):
        verify([MODEL.network], solution(x, q, u), "test")
    verify([MODEL.network], solution(x, q, u, "not_converged"), "test")  # which says so itself


def test_a_right_answer_and_an_approximate_one_pass() -> None:
    verify([MODEL.network], solution(*RIGHT, 0.8), "test")
    verify([MODEL.network], solution(0.82, 1.2, 0.82, "approximate"), "test")
    with pytest.raises(SolverError):
        verify([MODEL.network], solution(0.82, 1.2, 0.82), "test")


def test_points_of_different_structure_are_held_to_their_own_laws() -> None:
    m = sj.Model([sj.Queue("cpu", capacity=5)], [sj.Open("api", 30.0)], {"cpu": {"api": 0.1}})
    open_ended = sj.Model([sj.Queue("cpu")], m.classes, m.demands_s)
    two = Solution(np.array([[9.0], [9.9]]), np.full((2, 1, 1), 4.0), np.array([[[0.9]], [[0.99]]]))
    verify([open_ended.network, m.network], two, "test")
    lost = Solution(np.array([[9.0], [30.0]]), np.full((2, 1, 1), 4.0), np.full((2, 1, 1), np.nan))
    verify([open_ended.network, m.network], lost, "test")  # 30/s are offered; where some are lost D is no bound
    with pytest.raises(SolverError, match="X <= m/D"):
        verify([m.network, open_ended.network], lost, "test")


def test_no_more_than_the_servers_can_do() -> None:
    m = sj.Model([sj.Queue("cpu", servers=2)], [sj.Open("api", 30.0)], {"cpu": {"api": 0.1}})
    with pytest.raises(SolverError, match="X <= m/D at station cpu"):
        verify([m.network], solution(30.0, 50.0, np.nan), "test")
    verify([m.network], solution(15.0, 3.0, 0.75), "test")


Q, PH = sj.Queue, sj.Erlang(1.0, 2)


@pytest.mark.parametrize(
    ("model", "words"),
    [
        (sj.Model([Q("desk", 2, server_schedule=((0.0, 2), (5.0, 1)))], [sj.Open("call", 0.5)], {"desk": {"call": 1.0}}),
         "would apply with a fixed number of servers at desk (the station `desk` has a schedule, which only a simulation supports)"),
        (sj.Model([Q("a", capacity=4), Q("b")], [sj.Closed("u", 500, 1.0)], {"a": {"u": 1.0}, "b": {"u": 1.0}}),
         "mva would apply with room without a limit at a (the station `a` has room for only 4 customers); ctmc would apply with a smaller "
         "population of u (500) (closed customers may find the station `a` full and be lost, which this method does not support)"),
        (sj.Model([Q("q", 2, capacity=3)], [sj.Closed("u", 9, 1.0)], {"q": {"u": PH}}),
         "engset would apply with exponential service at q (the station `q` has places to wait"),
        (sj.Model([Q("q", capacity=3)], [sj.Open("o", arrivals=sj.Lognormal(2.0, 2.0))], {"q": {"o": 1.0}}),
         "mmmk would apply with Poisson arrivals of o (the arrivals are not Poisson)"),
        (sj.Model([Q("q", 2, discipline="priority")], [sj.Open("o", 0.2), sj.Open("p", 0.2, priority=1)],
                  {"q": {"o": sj.Lognormal(1.0, 2.0), "p": 1.0}}), "exponential service at q"),
    ],
)  # fmt: skip
def test_where_nothing_applies_the_nearest_methods_say_what_to_change(model: sj.Model, words: str) -> None:
    with pytest.raises(MethodRefused) as caught:
        sj.solve(model)
    text = str(caught.value)
    assert (
        words in text and "sj.simulate" in text and "`sojourn methods model.toml --all` has the reasons of all" in text
    )
    assert text.count("would apply") in (1, 2) and len(text) < 600


def test_what_is_said_to_help_helps() -> None:
    """The changes are made and tried: here all three that are named, one after the other, lead to a method."""
    stations = [Q("a", 2, capacity=5, breakdowns=sj.Breakdowns(sj.Exponential(9.0), sj.Exponential(1.0))), Q("b")]
    model = sj.Model(stations, [sj.Closed("u", 50, 1.0)], {"a": {"u": 1.0}, "b": {"u": sj.Lognormal(1.0, 2.0)}})
    with pytest.raises(MethodRefused, match="no breakdowns at a and room without a limit at a"):
        sj.solve(model)
    assert sj.solve(sj.Model([Q("a", 2), Q("b")], model.classes, model.demands_s)).method == "random-order"


def test_a_sweep_is_refused_for_its_own_numbers() -> None:
    """A population of 20 has a chain; one of 20 million has not, and is what the message names the reason for."""
    stations = [Q("a", capacity=20, on_full="block"), Q("b"), Q("c")]
    model = sj.Model(stations, [sj.Closed("u", 20, 1.0)], {s: {"u": 1.0} for s in "abc"})
    assert sj.solve(model).method == "ctmc"
    with pytest.raises(MethodRefused, match="room without a limit at a"):
        sj.sweep(model, "classes.u.population", [20_000_000])
