"""Pools and regions: the layered approximation against the exact chain of instances that are small enough."""

from __future__ import annotations

import pytest

import sojourn as sj
from sojourn.solve.markov import software_resources

CASES = [(20, 5, 0.5, 0.02, 0.03), (20, 2, 0.3, 0.02, 0.03), (20, 1, 0.3, 0.02, 0.03), (40, 10, 1.0, 0.02, 0.03),
         (30, 8, 0.2, 0.03, 0.03), (30, 4, 1.0, 0.01, 0.05), (15, 3, 0.05, 0.1, 0.02)]  # fmt: skip


def pool(customers: sj.Closed | sj.Open, size: int, cpu_s: float, db_s: float) -> sj.Model:
    return sj.Model(
        [sj.Queue("cpu", servers=2, discipline="ps"), sj.Queue("db"), sj.Queue("lb"), sj.Pool("threads", size, ("cpu", "db"))],
        [customers],
        demands_s={"cpu": {"user": 2 * cpu_s}, "db": {"user": db_s}, "lb": {"user": 0.005}},
    )  # fmt: skip


@pytest.mark.parametrize(("population", "size", "think_s", "cpu_s", "db_s"), CASES)
def test_closed(population: int, size: int, think_s: float, cpu_s: float, db_s: float) -> None:
    model = pool(sj.Closed("user", population, think_s), size, cpu_s, db_s)
    exact, found = sj.solve(model, "ctmc"), sj.solve(model, "layered")
    assert exact.status == "ok" and found.status == "approximate"
    assert found.value("throughput") == pytest.approx(exact.value("throughput"), rel=0.01)
    assert found.value("utilisation", "threads") == pytest.approx(exact.value("utilisation", "threads"), rel=0.01)
    assert found.value("queue_length", "threads") == pytest.approx(
        exact.value("queue_length", "threads"), rel=0.06, abs=0.02
    )
    assert found.value("waiting_time", "threads") == pytest.approx(
        exact.value("waiting_time", "threads"), rel=0.07, abs=1e-4
    )


def test_twenty_threads_and_two_hundred_users() -> None:
    """Nearly always full, so the inside is nearly in balance: the chain says 33.32999 passes/s and 3.3945 s of wait."""
    model = pool(sj.Closed("user", 200, 2.0), 20, 0.02, 0.03)
    found = sj.solve(model, "layered")
    assert found.value("throughput") == pytest.approx(1 / 0.03, rel=1e-3)
    response = found.value("response_time")
    assert (response + 2.0) * found.value("throughput") == pytest.approx(200, rel=1e-9)
    inside = found.value("utilisation", "threads") * 20
    assert inside == pytest.approx(found.value("queue_length", "cpu") + found.value("queue_length", "db"), rel=1e-9)


def test_open() -> None:
    model = pool(sj.Open("user", 22.0), 6, 0.02, 0.03)
    exact, found = sj.solve(model, "ctmc"), sj.solve(model, "layered")
    assert found.value("response_time") == pytest.approx(exact.value("response_time"), rel=0.03)
    assert found.value("waiting_probability", "threads") == pytest.approx(
        exact.value("waiting_probability", "threads"), rel=0.05
    )


def test_a_limit_that_never_binds_changes_nothing() -> None:
    free = sj.Model(
        [sj.Queue("cpu"), sj.Queue("db")],
        [sj.Closed("user", 8, 1.0)],
        demands_s={"cpu": {"user": 0.1}, "db": {"user": 0.2}},
    )
    region = sj.Model(free.stations, free.classes, free.demands_s, regions=[sj.Region("room", 8, ("cpu", "db"))])
    for method in ("ctmc", "layered"):
        found = sj.solve(region, method)
        assert found.value("throughput") == pytest.approx(sj.solve(free, "mva").value("throughput"), rel=1e-10)
        assert found.value("waiting_time", "room") == pytest.approx(0.0, abs=1e-12)


def test_a_region_around_one_shared_station_does_not_change_its_number() -> None:
    """One class, exponential: who waits outside a PS station for one of 3 places waits as if inside."""
    model = sj.Model([sj.Queue("q", discipline="ps")], [sj.Open("job", 0.7)], demands_s={"q": {"job": 1.0}},
                     regions=[sj.Region("room", 3, ("q",))])  # fmt: skip
    for method, rel in (("ctmc", 1e-7), ("layered", 1e-10)):
        assert sj.solve(model, method).value("queue_length") == pytest.approx(0.7 / 0.3, rel=rel)


def test_a_region_that_loses_is_a_loss_queue() -> None:
    """M/M/2/5: p_n by hand."""
    model = sj.Model([sj.Queue("q", servers=2)], [sj.Open("job", 1.5)], demands_s={"q": {"job": 1.0}},
                     regions=[sj.Region("room", 5, ("q",), on_full="lose")])  # fmt: skip
    weights = [1.0, 1.5] + [1.5 * 0.75**k for k in range(1, 5)]
    found = sj.solve(model, "ctmc")
    assert found.value("loss_probability", "room") == pytest.approx(weights[-1] / sum(weights), rel=1e-12)


def test_nested_pools() -> None:
    """Connections inside threads: with as many of either as customers both vanish; with one thread it is a cycle."""

    def nested(threads: int, connections: int) -> sj.Model:
        return sj.Model(
            [sj.Queue("cpu"), sj.Queue("db"), sj.Pool("threads", threads, ("cpu", "db")), sj.Pool("links", connections, ("db",))],
            [sj.Closed("user", 5, 1.0)], demands_s={"cpu": {"user": 0.3}, "db": {"user": 0.2}},
        )  # fmt: skip

    plain = sj.solve(sj.Model([sj.Queue("cpu"), sj.Queue("db")], [sj.Closed("user", 5, 1.0)],
                              demands_s={"cpu": {"user": 0.3}, "db": {"user": 0.2}}), "mva")  # fmt: skip
    assert sj.solve(nested(5, 5), "ctmc").value("throughput") == pytest.approx(plain.value("throughput"), rel=1e-12)
    assert sj.solve(nested(5, 1), "ctmc").value("throughput") == pytest.approx(plain.value("throughput"), rel=1e-12)
    one = sj.solve(nested(1, 1), "ctmc")
    assert one.value("queue_length", "cpu") / one.value("queue_length", "db") == pytest.approx(1.5, rel=1e-12)
    assert one.value("waiting_time", "links") == 0.0


def test_rows_of_a_pool_by_class() -> None:
    """Two classes over one pool: waits and rates by class add up; both wait in one line, so equally long."""
    model = sj.Model(
        [sj.Queue("cpu", discipline="ps"), sj.Pool("threads", 2, ("cpu",))], [sj.Closed("a", 4, 1.0), sj.Closed("b", 4, 1.0)],
        demands_s={"cpu": {"a": 0.3, "b": 0.3}},
    )  # fmt: skip
    r = sj.solve(model, "ctmc")
    assert r.value("queue_length", "threads", "a") == pytest.approx(r.value("queue_length", "threads") / 2, rel=1e-12)
    assert r.value("waiting_time", "threads", "b") == pytest.approx(r.value("waiting_time", "threads"), rel=1e-12)
    assert r.value("throughput", "threads", "a") == pytest.approx(r.value("throughput", cls="a"), rel=1e-12)


def test_who_is_refused() -> None:
    for customers, reason in (
        (sj.Closed("user", 10_000_000, 1.0), "10000000 customers"),
        (sj.Closed("user", 9, 1.0), None),
    ):
        found = software_resources.refuses(pool(customers, 5, 0.1, 0.1).network)
        assert (reason in found) if reason and found else found is None
