"""The chain of a network: what its disciplines, routes, rooms and limits mean, and whom it refuses."""

from __future__ import annotations

from typing import Any

import pytest

import sojourn as sj
from sojourn.errors import MethodRefused
from sojourn.solve.automatic_method import choose
from sojourn.solve.markov.transient_means import over_time
from sojourn.solve.method import RequestedOutputs


def two_open(discipline: str, means: tuple[float, float], **station: object) -> sj.Metrics:
    model = sj.Model(
        [sj.Queue("q", discipline=discipline, **station)], [sj.Open("a", 0.02), sj.Open("b", 0.02)],
        demands_s={"q": {"a": means[0], "b": means[1]}},
    )  # fmt: skip
    return sj.solve(model, "ctmc")


def test_first_come_first_served_keeps_the_order_of_classes() -> None:
    """Both classes wait as in M/H2/1 (Pollaczek-Khinchine), whatever their own service."""
    r = two_open("fcfs", (0.5, 1.5))
    wait = (0.02 * 2 * 0.25 + 0.02 * 2 * 2.25) / (2 * (1 - 0.04))
    for cls in ("a", "b"):
        assert r.value("waiting_time", "q", cls) == pytest.approx(wait, rel=1e-9)


def test_a_tail_that_does_not_fit_is_not_chosen() -> None:
    """Two classes in one line are 2^n orders: 2 million states end before the tail does, so `auto` takes another."""
    model = sj.Model(
        [sj.Queue("q")], [sj.Open(c, r) for c, r in (("a", 0.4), ("b", 0.5))], demands_s={"q": {"a": 0.9, "b": 1.0}}
    )
    assert choose(model.network)[0].name != "ctmc"


def test_random_order_conserves_the_mean_wait() -> None:
    first, other = two_open("fcfs", (1.0, 1.0)), two_open("siro", (1.0, 1.0))
    assert other.value("waiting_time", "q") == pytest.approx(first.value("waiting_time", "q"), rel=1e-7)


def test_a_single_customer_changes_class_on_its_way() -> None:
    """One customer, two passes, one as each class: together they take Z_a + S_a + Z_b + S_b."""
    model = sj.Model(
        [sj.Queue("s")], [sj.Closed("a", 1, 1.0), sj.Closed("b", 0, 2.0)],
        service_s={"s": {"a": 0.5, "b": 0.25}},
        routing={"a": {"think": {"s": 1.0}, "s": {"think/b": 1.0}}, "b": {"think": {"s": 1.0}, "s": {"think/a": 1.0}}},
    )  # fmt: skip
    r = sj.solve(model, "ctmc")
    assert r.value("throughput", cls="a") == pytest.approx(1 / 3.75, rel=1e-13)
    assert r.value("throughput", cls="b") == pytest.approx(1 / 3.75, rel=1e-13)
    assert r.value("queue_length", "s", "b") == pytest.approx(0.25 / 3.75, rel=1e-13)


def test_load_dependent_rates() -> None:
    """Three customers on one station with rates 1, 3, 4/s and a think time of 1 s: birth and death by hand."""
    model = sj.Model([sj.LoadDependent("d", (1.0, 3.0, 4.0))], [sj.Closed("u", 3, 1.0)])
    p = [1.0, 3.0, 3.0 * 2 / 3, 3.0 * 2 / 3 / 4]
    r = sj.solve(model, "ctmc")
    assert r.value("queue_length", "d") == pytest.approx((p[1] + 2 * p[2] + 3 * p[3]) / sum(p), rel=1e-13)


def test_phases_of_thinking_and_of_delays_do_not_matter() -> None:
    """BCMP type 3 is insensitive."""

    def model(think: object, delay: object) -> sj.Model:
        return sj.Model(
            [sj.Queue("q"), sj.Delay("d")], [sj.Closed("u", 4, think)], service_s={"q": {"u": 0.5}, "d": {"u": delay}}
        )  # type: ignore[arg-type]

    plain, phased = (
        sj.solve(m, "ctmc")
        for m in (model(1.0, 0.3), model(sj.Erlang(1.0, 3), sj.Hyperexponential((0.5, 0.5), (0.1, 0.5))))
    )
    assert phased.value("throughput") == pytest.approx(plain.value("throughput"), rel=1e-12)


def test_join_the_shortest_queue_lies_between_one_line_and_two() -> None:
    def model(policy: str) -> sj.Model:
        return sj.Model(
            [sj.Queue("a"), sj.Queue("b")], [sj.Open("j", 1.4)], service_s={"a": {"j": 1.0}, "b": {"j": 1.0}},
            routing={"j": {"source": sj.Choice(policy, ("a", "b")), "a": {"exit": 1.0}, "b": {"exit": 1.0}}},
        )  # fmt: skip

    shortest, split = (sj.solve(model(x), "ctmc").value("queue_length") for x in ("jsq", "random"))
    assert split == pytest.approx(2 * 0.7 / 0.3, rel=1e-6)
    assert 2 * 0.7 / (1 - 0.49) < shortest < split  # M/M/2 from below


def test_open_and_closed_customers_share_a_station() -> None:
    """Mixed: the open class takes its share of a PS station, the closed one sees a station slower by 1 - rho."""
    model = sj.Model(
        [sj.Queue("q", discipline="ps")],
        [sj.Closed("c", 3, 1.0), sj.Open("o", 0.5)],
        demands_s={"q": {"c": 0.5, "o": 0.6}},
    )
    slow = sj.Model([sj.Queue("q", discipline="ps")], [sj.Closed("c", 3, 1.0)], demands_s={"q": {"c": 0.5 / 0.7}})
    r, exact = sj.solve(model, "ctmc"), sj.solve(slow, "mva")
    assert r.value("throughput", cls="c") == pytest.approx(exact.value("throughput"), rel=1e-7)
    assert r.value("queue_length", "q", "o") == pytest.approx(
        0.3 / 0.7 * (1 + exact.value("queue_length", "q")), rel=1e-6
    )


def test_a_queue_that_loses() -> None:
    """Two stations in a row, the second with room for 2: what is lost there left the first."""
    model = sj.Model(
        [sj.Queue("a", capacity=3), sj.Queue("b", capacity=2)],
        [sj.Open("j", 1.0)],
        demands_s={"a": {"j": 0.8}, "b": {"j": 0.9}},
    )
    r = sj.solve(model, "ctmc")
    kept = 1 - r.value("loss_probability", "a", "j")
    assert r.value("throughput", "a") == pytest.approx(kept, rel=1e-12)
    assert r.value("throughput") == pytest.approx(kept * (1 - r.value("loss_probability", "b", "j")), rel=1e-12)
    assert r.value("utilisation", "b") == pytest.approx(r.value("throughput", "b") * 0.9, rel=1e-12)


def blocking(rooms: dict[str, int | None], classes: list[Any], **more: Any) -> sj.Model:
    queues = [sj.Queue(n, capacity=room, on_full="block" if room else "lose") for n, room in rooms.items()]
    return sj.Model(queues, classes, service_s={n: {c.name: 1.0 for c in classes} for n in rooms}, **more)


def test_blocking_for_ever_is_refused() -> None:
    """The stations are those of a cycle in which all block; c blocks nobody who is ahead of it."""
    words = r"customers at a and b can block each other for ever: all are full \(room for 3\).*population of 3.*\(now a 1, b 2\)"
    with pytest.raises(MethodRefused, match=words):
        sj.solve(blocking({"a": 1, "b": 2}, [sj.Closed("u", 3)]), "ctmc")
    back = {"u": {"source": {"c": 1.0}, "c": {"a": 1.0}, "a": {"b": 1.0}, "b": {"a": 0.3, "exit": 0.7}}}
    with pytest.raises(
        MethodRefused, match=r"at a and b can block.*room for 3.*without a limit \(now a 1, b 2\), or on_full"
    ):
        sj.solve(blocking({"a": 1, "b": 2, "c": 4}, [sj.Open("u", 0.1)], routing=back), "ctmc")


def test_more_customers_than_room_is_refused() -> None:
    words = r"the 5 closed customers of u do not fit into the stations, which have room for 4 \(a 1, b 3\); raise a capacity"
    with pytest.raises(MethodRefused, match=words):
        sj.solve(blocking({"a": 1, "b": 3}, [sj.Closed("u", 5)]), "ctmc")


def test_nobody() -> None:
    r = sj.solve(sj.Model([sj.Queue("q")], [sj.Closed("u", 0, 1.0)], demands_s={"q": {"u": 1.0}}), "ctmc")
    assert r.value("throughput") == 0 and r.value("queue_length", "q") == 0


def test_unstable_is_a_status_that_names_station_and_rate() -> None:
    r = sj.solve(
        sj.Model(
            [sj.Queue("q"), sj.Queue("slow")], [sj.Open("j", 3.0)], demands_s={"q": {"j": 0.1}, "slow": {"j": 0.5}}
        ),
        "ctmc",
    )
    assert r.status == "unstable" and "station slow" in r.message and "from 2/s" in r.message
    with pytest.raises(KeyError):
        r.value("queue_length", "nowhere")


CASES = {
    "not phase-type": lambda: sj.Model([sj.Queue("q")], [sj.Closed("u", 2)], demands_s={"q": {"u": sj.Deterministic(1.0)}}),
    "at least 1e\\+17": lambda: sj.Model([sj.Queue(f"s{i}") for i in range(9)], [sj.Closed("u", 500)],
                                         demands_s={f"s{i}": {"u": 1.0} for i in range(9)}),
    "find the station `q` full": lambda: sj.Model([sj.Queue("q", capacity=1)], [sj.Closed("u", 2, 1.0)], demands_s={"q": {"u": 1.0}}),
    "servers are shared": lambda: sj.Model(
        [sj.Queue("p", discipline="ps"), sj.Queue("q", capacity=1, on_full="block")], [sj.Closed("u", 3)],
        demands_s={"p": {"u": 1.0}, "q": {"u": 1.0}}),
    "only a simulation supports": lambda: sj.Model(
        [sj.Queue("q", breakdowns=sj.Breakdowns(sj.Exponential(9.0), sj.Exponential(1.0)))], [sj.Closed("u", 3)],
        demands_s={"q": {"u": 1.0}}),
    "round_robin": lambda: sj.Model(
        [sj.Queue("a"), sj.Queue("b")], [sj.Open("j", 0.1)], service_s={"a": {"j": 1.0}, "b": {"j": 1.0}},
        routing={"j": {"source": sj.Choice("round_robin", ("a", "b")), "a": {"exit": 1.0}, "b": {"exit": 1.0}}}),
}  # fmt: skip


@pytest.mark.parametrize("reason", CASES)
def test_refusals_say_why(reason: str) -> None:
    with pytest.raises(MethodRefused, match=reason):
        sj.solve(CASES[reason](), "ctmc")


def test_over_time_ends_where_the_steady_state_is() -> None:
    model = sj.Model(
        [sj.Queue("q"), sj.Delay("d")], [sj.Closed("u", 6, 1.0)], demands_s={"q": {"u": 0.4}, "d": {"u": 0.2}}
    )
    course, rest = over_time(model, [0.0, 0.1, 200.0]), sj.solve(model, "ctmc")
    assert course.value("queue_length", "q", "u", time_s=0.0) == 0.0
    assert course.value("throughput", "q", "u", time_s=0.0) == 0.0
    assert course.value("queue_length", "q", "u", time_s=200.0) == pytest.approx(
        rest.value("queue_length", "q"), rel=1e-10
    )


def test_probabilities_and_variance_of_a_station() -> None:
    model = sj.Model([sj.Queue("q", servers=2)], [sj.Closed("u", 3, 1.0)], demands_s={"q": {"u": 1.0}})
    r = sj.solve(model, "ctmc", requested_outputs=RequestedOutputs(state_probabilities=3))
    p = [r.value("queue_length_probability", "q", n=n) for n in range(4)]
    weights = [1.0, 3.0, 3.0, 1.5]
    assert p == pytest.approx([w / 8.5 for w in weights], rel=1e-13)
    mean = sum(n * x for n, x in enumerate(p))
    assert r.value("queue_length_variance", "q") == pytest.approx(
        sum((n - mean) ** 2 * x for n, x in enumerate(p)), rel=1e-13
    )
