"""What the engine is told of a model."""

from __future__ import annotations

import json

import pytest

import sojourn as sj
from sojourn.errors import ModelError
from sojourn.simulate.engine_config import BATCHES, configuration, histogram_keys, rate_bound


def shop() -> sj.Model:
    return sj.Model(
        stations=[
            sj.Queue("cpu", servers=2, discipline="ps", capacity=9, on_full="block"),
            sj.Queue("disk", server_schedule=((0.0, 1), (5.0, 2)), schedule_period_s=10.0,
                     breakdowns=sj.Breakdowns(sj.Exponential(100.0), sj.Deterministic(3.0))),
            sj.Delay("net"), sj.LoadDependent("db", (10.0, 15.0)), sj.Pool("threads", 4, ("cpu", "disk")),
        ],
        classes=[sj.Closed("user", 5, think_s=1.0), sj.Open("api", 3.0, priority=1)],
        service_s={"cpu": {"user": 0.02, "api": sj.Erlang(0.01, 4)}, "disk": {"user": 0.03}, "net": {"api": 0.1}},
        routing={
            "user": {"think": {"cpu": 1.0}, "cpu": {"disk": 0.5, "think": 0.5}, "disk": {"db": 1.0}, "db": {"think": 1.0}},
            "api": {"source": {"cpu": 1.0}, "cpu": {"net": 1.0}, "net": {"exit": 1.0}},
        },
        regions=[sj.Region("all", 50, ("cpu", "disk"), "lose")],
    )  # fmt: skip


def test_everything_that_the_model_says_is_there() -> None:
    told = configuration(shop().network, seed=7, replication=3)
    assert json.loads(json.dumps(told)) is not None
    assert (told["seed"], told["replication"], told["batches"]) == (7, 3, BATCHES)
    cpu, disk, net, db = told["stations"]
    assert (cpu["servers"], cpu["discipline"], cpu["capacity"], cpu["on_full"]) == (2, "ps", 9, "block")
    assert disk["schedule"] == [[0.0, 1], [5.0, 2]] and disk["period_s"] == 10.0
    assert disk["breakdowns"]["down"] == {"kind": "deterministic", "mean": 3.0}
    assert (net["kind"], net["capacity"]) == ("delay", None)
    assert (db["kind"], db["rates"]) == ("load_dependent", [10.0, 15.0])
    assert [limit["name"] for limit in told["limits"]] == ["threads", "all"]
    assert told["limits"][1] == {"name": "all", "size": 50, "stations": (0, 1), "on_full": "lose"}


def test_classes_and_times_keep_their_distributions() -> None:
    told = configuration(shop().network, seed=7)
    user, api = told["classes"]
    assert (user["population"], user["think"], user["arrivals"]) == (5, {"kind": "exponential", "mean": 1.0}, None)
    assert (api["population"], api["priority"], api["arrivals"]["mean"]) == (None, 1, pytest.approx(1 / 3))
    assert told["service"][0][1] == {"kind": "erlang", "mean": 0.01, "shape": 4}
    assert told["service"][1][1] is None


def test_routes_name_nodes_with_outside_last() -> None:
    rows = {(row["node"], row["class"]): row for row in configuration(shop().network, seed=7)["routes"]}
    assert rows[4, 0]["to"] == [[0, 0, 1.0]]  # from thinking to cpu
    assert sorted(rows[0, 0]["to"]) == [[1, 0, 0.5], [4, 0, 0.5]]
    assert rows[2, 1]["to"] == [[4, 1, 1.0]]


def test_a_choice_is_told_as_one() -> None:
    model = sj.Model(
        stations=[sj.Queue("a"), sj.Queue("b")],
        classes=[sj.Open("user", 1.0)],
        service_s={"a": {"user": 0.5}, "b": {"user": 0.5}},
        routing={"user": {"source": sj.Choice("power", ("a", "b"), d=2), "a": {"exit": 1.0}, "b": {"exit": 1.0}}},
    )
    rows = configuration(model.network, seed=1)["routes"]
    assert next(row for row in rows if row["node"] == 2)["choice"] == {"policy": "power", "to": [0, 1], "d": 2}


def test_batches_are_as_long_as_some_passes_and_shorter_in_a_short_run() -> None:
    network = sj.Model([sj.Queue("cpu")], [sj.Open("user", 100.0)], {"cpu": {"user": 0.005}}).network
    assert configuration(network, 1)["batch_s"] == pytest.approx(0.16)
    assert configuration(network, 1, until_s=1.0)["batch_s"] == pytest.approx(1 / 64)


def test_rates_are_bounded_by_the_slowest_station_and_the_population() -> None:
    def closed(population: int) -> sj.Model:
        return sj.Model(
            [sj.Queue("cpu"), sj.Queue("disk", servers=2)], [sj.Closed("user", population, think_s=1.0)],
            {"cpu": {"user": 0.02}, "disk": {"user": 0.1}},
        )  # fmt: skip

    assert rate_bound(closed(1).network) == pytest.approx(1 / 1.12)
    assert rate_bound(closed(1000).network) == pytest.approx(20.0)


def test_histograms_of_stations_only_where_these_are_few() -> None:
    assert histogram_keys(shop().network)[:2] == ["/user", "/api"]
    one = sj.Model([sj.Queue("cpu")], [sj.Open("user", 1.0)], {"cpu": {"user": 0.5}})
    assert histogram_keys(one.network) == ["/user"]
    many = sj.Model([sj.Queue(f"s{i}") for i in range(9)], [sj.Open("u", 1.0)], {f"s{i}": {"u": 0.1} for i in range(9)})
    assert histogram_keys(many.network) == ["/u"]


def test_nobody_arrives() -> None:
    with pytest.raises(ModelError, match="nobody ever arrives"):
        configuration(sj.Model([sj.Queue("cpu")], [sj.Closed("user", 0)], {"cpu": {"user": 0.5}}).network, 1)


def test_a_multicore_host_is_for_the_virtual_host() -> None:
    model = sj.Model([sj.Multicore("host", 4, 1, 0.001)], [sj.Open("u", 10.0)], {"host": {"u": 0.002}})
    with pytest.raises(ModelError, match="of kind multicore") as refused:
        sj.simulate(model)
    assert "`sojourn solve` answers it; sojourn.simulate.simulate_host" in refused.value.remedy
