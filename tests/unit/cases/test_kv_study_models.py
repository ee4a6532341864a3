"""Models of the key-value system on a simulated one with known times: recovered, and predictive where not fitted."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import polars as pl
import pytest
from kv_rows import row, rows_of

from sojourn.errors import FitError
from sojourn.runs.run_folder import RunFolder
from sojourn.study.fit_templates import RivalModels
from sojourn.study.mean_of_runs import ParameterEstimate, mean_with_interval
from sojourn.study.run_order import run_seed
from sojourn.study.system import Point
from sojourn_cases.kv.kv_template import NETWORK, PLACED, SHARED, TEMPLATE
from sojourn_cases.kv.middleware import configurations, frame, name_of
from sojourn_cases.kv.middleware.simulated_system import KnownTimes, SimulatedKv, SimulatedLoad
from sojourn_cases.kv.model_errors import station_table
from sojourn_cases.kv.models import (
    InstrumentedTimes,
    MeanValues,
    MiddlewareConfig,
    closed_network,
    fit_times,
    shared_cores,
)
from sojourn_cases.kv.models.middleware_network import OperationDemands, solve

KNOWN = KnownTimes()
CLIENTS = (1, 4, 8, 16, 24, 32, 48, 66)
HELD_OUT = (4, 16, 32)


@pytest.fixture(scope="module")
def runs(tmp_path_factory: pytest.TempPathFactory) -> list[RunFolder]:
    folder = tmp_path_factory.mktemp("runs")
    system = SimulatedKv(KNOWN, SimulatedLoad.model_validate({"for": 4.0}), folder)
    settled = [system.settled({"servers": 2, "workers": 8, "clients": n}, "x") for n in CLIENTS]
    points = [Point("proxy", factors, k) for factors in settled for k in (1, 2)]
    with system.open() as session:
        return [session.run(point, folder / point.name, run_seed(1, point.name)) for point in points]


@pytest.fixture(scope="module")
def seen(runs: list[RunFolder]) -> pl.DataFrame:
    return frame(runs)


@pytest.fixture(scope="module")
def rivals(runs: list[RunFolder]) -> RivalModels:
    return TEMPLATE.fit([run for run in runs if run.manifest["factors"]["clients"] not in HELD_OUT], 1, {})


def test_the_model_predicts_what_it_was_not_fitted_on(runs: list[RunFolder], rivals: RivalModels) -> None:
    assert rivals.best == SHARED, "processes of this system keep to no cores"
    network = rivals.fitted[NETWORK]
    assert 0 < network.model_error < 0.1
    for run in runs:
        factors = run.manifest["factors"]
        if factors["clients"] not in HELD_OUT:
            continue
        (measured,) = frame([run]).to_dicts()
        predicted = network.predict(factors, 0.9)
        assert predicted.value("throughput") == pytest.approx(measured["throughput_per_s"], rel=0.05)
        assert predicted.value("response_time") == pytest.approx(measured["response_s"], rel=0.06)
        low, high = predicted.interval("throughput")
        assert low is not None and high is not None and low < predicted.value("throughput") < high
    used = network.predict({**factors, "clients": 32}, 0.9).frame.filter(pl.col("metric") == "utilisation")
    assert used.sort("value")["station"][-1] == "workers"


def test_a_written_model_is_read_back(tmp_path: Path, runs: list[RunFolder], rivals: RivalModels) -> None:
    for name, model in rivals.fitted.items():
        model.write(tmp_path / "fitted.toml")
        again = TEMPLATE.read(tmp_path / "fitted.toml")
        factors = runs[0].manifest["factors"]
        assert again.model == name and repr(again.estimates) == repr(model.estimates)
        assert again.predict(factors, 0.9).frame.equals(model.predict(factors, 0.9).frame)
        known = {} if name == NETWORK else {"throughput", "response_time"}
        told = again.predict({**factors, "workers": 9}, 0.9).frame
        assert set(told["metric"]) - {"utilisation"} == set(known), "constant times say nothing of what was not fitted"


def test_one_client_count_is_no_model(runs: list[RunFolder]) -> None:
    with pytest.raises(FitError, match="no design with two client counts"):
        TEMPLATE.fit(runs[:2], 1, {})


def test_no_interval_where_nothing_could_be_left_out(runs: list[RunFolder]) -> None:
    found = TEMPLATE.fit([runs[0], runs[-1]], 1, {}).fitted[NETWORK]
    assert found.model_error == 0.0
    assert found.predict(runs[4].manifest["factors"], 0.9).interval("throughput") == (None, None)


def test_what_is_not_valid_is_not_fitted_and_placed_processes_are_told_by_cores(tmp_path: Path) -> None:
    found = []
    for clients, x in ((2, 1e4), (16, 5e4), (64, 1.0)):
        factors = {"design": "direct", "servers": 1, "proxies": 1, "workers": 0, "workload": "get", "sharded": False}
        manifest = {
            "section": "s", "factors": {**factors, "clients": clients}, "valid": clients < 64, "checks": {}, "reasons": [],
            "kv": {"pinned": True, "cores": [0, 1]},
        }  # fmt: skip
        folder = RunFolder.create(tmp_path / str(clients), manifest)
        measured = [
            {"metric": "throughput", "value": x}, {"metric": "response_time", "value": 1.6e-4 if clients == 2 else clients / x},
            {"metric": "residence_time", "station": "client", "value": 4e-5},
            {"metric": "response_time", "station": "middleware", "value": 1e-4},
            {"metric": "service_time", "station": "middleware", "value": 5e-5},
            {"metric": "service_demand", "station": "client", "value": 1e-5},
            {"metric": "service_demand", "station": "servers", "value": 8e-6},
            {"metric": "service_demand", "station": "net thread", "value": 12e-6},
            {"metric": "service_demand", "station": "workers", "value": 0.0},
        ]  # fmt: skip
        from sojourn.table import Metrics

        Metrics.of(measured, "measured").write(folder.path / "metrics.parquet")
        found.append(folder)
    rivals = TEMPLATE.fit(found, 1, {})
    assert rivals.best == PLACED
    predicted = rivals.first.predict({**factors, "clients": 1000}, 0.9)
    assert predicted.value("throughput") == pytest.approx(1 / 20e-6, rel=0.01), "server and middleware share a core"
    assert predicted.value("utilisation", "cores 0 (middleware, server)") == pytest.approx(1.0, rel=0.01)
    assert rivals.first.predict({**factors, "clients": 2}, 0.9).value("response_time") == pytest.approx(
        1.6e-4, rel=0.02
    )  # the delay is found to a fortieth of the cycle


def test_no_throughput_enters_the_prediction(seen: pl.DataFrame) -> None:
    """The same instrumented times with nonsense for throughput give the same prediction."""
    nonsense = seen.with_columns(
        throughput_per_s=seen["throughput_per_s"] * 3, mw_throughput_per_s=seen["throughput_per_s"] * 0.1
    )
    a, b = (closed_network(fit_times(rows), MiddlewareConfig(2, 1, 8), 32) for rows in (seen, nonsense))
    assert a == b


def known(delay=1e-3, service=5e-4) -> InstrumentedTimes:
    return InstrumentedTimes(ParameterEstimate(delay, delay, delay), ParameterEstimate(service, service, service), {})


@pytest.mark.parametrize("clients", [1, 5, 40])
def test_one_queue_and_a_delay_is_the_closed_form(clients: int) -> None:
    """Without inner limits the network is a machine-repair model: X = mu (1 - p0), p0 by its sum (Jain, section 31.5)."""
    delay, net = 2e-3, 1e-4
    found = solve(OperationDemands(delay, 0.0, net, 1e-9, 1e-12), MiddlewareConfig(), clients)
    terms = np.cumprod([1.0, *((clients - k) * net / delay for k in range(clients))])
    assert found.throughput_per_s == pytest.approx((1 - 1 / terms.sum()) / net, rel=1e-4)


def rates(d: OperationDemands, shape: MiddlewareConfig, most: int) -> list[float]:
    return [solve(d, shape, n).throughput_per_s for n in range(1, most + 1)]


def test_servers_and_workers_bound_the_throughput() -> None:
    free = rates(OperationDemands(0, 0, 0, 1e-3, 4e-4), MiddlewareConfig(servers=2), 12)
    assert rates(OperationDemands(0, 0, 0, 1e-3, 4e-4), MiddlewareConfig(2, 1, 3), 12)[2:] == pytest.approx(
        [free[2]] * 10, rel=1e-5
    )
    assert free[0] == pytest.approx(1 / 1.4e-3, rel=1e-5)
    assert free == sorted(free)
    assert free[-1] < 1 / 2e-4
    (all_of_them,) = rates(OperationDemands(0, 0, 0, 1e-3, 4e-4), MiddlewareConfig(servers=2, to_all=True), 1)
    assert all_of_them == pytest.approx(1 / 1.2e-3, rel=1e-5)


CPU = {"client_cpu_s": 8e-6, "net_cpu_s": 9e-6, "worker_cpu_s": 10e-6, "server_cpu_s": 8e-6}


def shared(clients: int, cores: int) -> MeanValues:
    return shared_cores(CPU, 3.2e-5, 3.2e-5, MiddlewareConfig(3, 1, 8), clients, cores)


def test_threads_cannot_use_more_than_the_cores() -> None:
    for cores in (1, 2, 8):
        for clients in (1, 4, 64):
            found = shared(clients, cores)
            assert found.utilisation["cores"] <= 1.02
            assert found.throughput_per_s <= 1.02 * cores / sum(CPU.values())
            assert found.throughput_per_s <= 1.0001 / max(CPU["client_cpu_s"], CPU["net_cpu_s"])


def test_many_cores_change_nothing() -> None:
    many, more = shared(32, 64), shared(32, 128)
    assert many.throughput_per_s == pytest.approx(more.throughput_per_s, rel=1e-6)
    assert shared(32, 2).throughput_per_s < many.throughput_per_s


def test_one_client_never_shares_a_core() -> None:
    assert shared(1, 2).throughput_per_s == pytest.approx(1 / (6.4e-5 + sum(CPU.values())), rel=1e-3)


def test_one_station_at_measured_rates(seen: pl.DataFrame) -> None:
    rows = station_table(fit_times(seen), MiddlewareConfig(2, 1, 8), seen)
    assert [row["clients"] for row in rows] == list(CLIENTS)
    assert rows[0]["mmm_response_s"] == pytest.approx(KNOWN.held_s + KNOWN.server_s, rel=0.1)
    assert rows[0]["mmm_queue_s"] < rows[2]["mmm_queue_s"]


def test_an_interval_needs_two_runs() -> None:
    one = mean_with_interval(np.array([2.0, np.nan]))
    assert one.value == 2.0 and np.isnan(one.low) and np.isnan(one.high)
    found = mean_with_interval(np.array([1.0, 3.0]))
    assert found.value == 2.0
    assert found.high == pytest.approx(2 + 12.7062047, rel=1e-6)  # t(0.975, 1)


def test_configurations_have_names(seen: pl.DataFrame) -> None:
    ((configuration, rows),) = configurations(seen)
    assert rows.height == 16
    assert name_of(configuration) == "staged, 2 servers, 1 proxy, 8 workers, get"
    bare = row(1.0, design="none", servers=1, proxies=0, workers=0, sharded=True)
    assert [name_of(one) for one, _ in configurations(rows_of(bare))] == ["none, 1 server, get, sharded"]
