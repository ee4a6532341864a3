"""Models of all configurations together: what a made-up machine was given is found again, and predicted where nothing was fitted."""

from __future__ import annotations

import math
from itertools import product
from typing import Any

import numpy as np
import polars as pl
import pytest
from kv_rows import row, rows_of

from sojourn.fit.cpu_time_regression import fit_parts
from sojourn_cases.kv.all_configurations_fit import errors_left_out, fit_cores, fit_plain
from sojourn_cases.kv.fitted_models import FittedCoreNetwork, FittedInterpolation
from sojourn_cases.kv.middleware.run_table import WORK
from sojourn_cases.kv.models.leave_one_out import left_out
from sojourn_cases.kv.models.operation_work import OperationWork

MESSAGE_S, KEY_S, KIB_S, OPERATION_S, WAKING_S, CLIENT_S = 4e-6, 1e-6, 0.5e-6, 5e-6, 20e-6, 1e-6
CORES = (0, 1)  # the client has one, all others the other


def run(servers: int, proxies: int, keys: int, size: int, clients: int, noise: float = 0.0) -> dict[str, Any]:
    """Of a machine of loops: server and loop share a core, which is full from a few clients on, so 1/X is their CPU time together.
    `keys` 0: a set."""
    messages, further, kib = (servers, 0, servers * size / 1024) if keys == 0 else (1, keys - 1, keys * size / 1024)
    server = MESSAGE_S * messages + KEY_S * further + KIB_S * kib
    loop = OPERATION_S + WAKING_S * proxies / (clients + proxies)
    slow = math.exp(noise)
    of = {"server_cpu_s": server * slow, "net_cpu_s": loop * slow, "worker_cpu_s": 0.0, "client_cpu_s": CLIENT_S * slow}
    workload = "set" if keys == 0 else "get" if keys == 1 else f"multi-{keys}"
    given = {"design": "direct", "servers": servers, "proxies": proxies, "workers": 0, "workload": workload}
    return row(1 / (slow * (server + loop)), clients, value_bytes=size, own_s=0.0, pinned=True, **given, **of)


LEVELS = list(product((1, 3), (1, 2), (0, 1, 6), (256, 4096), (2, 20, 120)))
NEW = {
    "design": "direct",
    "servers": 2,
    "proxies": 2,
    "workers": 0,
    "workload": "set",
    "sharded": False,
    "value_bytes": 1500,
}


@pytest.fixture(scope="module")
def rows() -> pl.DataFrame:
    noise = np.random.default_rng(1).normal(0, 0.03, len(LEVELS))
    return rows_of(*(run(*level, noise=e) for level, e in zip(LEVELS, noise, strict=True)))


@pytest.fixture(scope="module")
def cores(rows: pl.DataFrame) -> FittedCoreNetwork:
    return fit_cores(rows, CORES, True, 1)


@pytest.fixture(scope="module")
def plain(rows: pl.DataFrame) -> FittedInterpolation:
    return fit_plain(rows)


def test_known_parts_are_found_with_intervals_that_hold_them(cores: FittedCoreNetwork) -> None:
    of = cores.estimates
    for name, truth in (
        ("server, CPU: message", MESSAGE_S), ("server, CPU: further key of a message", KEY_S), ("server, CPU: KiB read", KIB_S),
        ("server, CPU: KiB stored", KIB_S), ("net thread, CPU: waking", WAKING_S), ("client, CPU: operation", CLIENT_S),
    ):  # fmt: skip
        found = of[f"direct: {name}"]
        assert found.value == pytest.approx(truth, rel=0.15), name
        assert 0 <= found.low < found.value < found.high, name
        assert found.low < 1.05 * truth and found.high > 0.95 * truth, name


@pytest.mark.parametrize("clients", [8, 60])
@pytest.mark.parametrize(("workload", "keys"), [("set", 0), ("multi-3", 3)])
def test_a_configuration_that_was_not_fitted_is_predicted(
    cores: FittedCoreNetwork, workload: str, keys: int, clients: int
) -> None:
    """Two servers, another size, other clients: the formula of the machine says what comes out."""
    truth = run(2, 2, keys, 1500, clients)["throughput_per_s"]
    point = NEW | {"workload": workload, "clients": clients}
    found = cores.predict(point, 0.9)
    assert found.value("throughput") == pytest.approx(truth, rel=0.04)
    low, high = found.interval("throughput")
    assert low is not None and high is not None and low < truth < high


def test_a_mix_is_half_of_each(cores: FittedCoreNetwork, plain: FittedInterpolation) -> None:
    for model in (cores, plain):
        of = {
            w: 1 / model.predict(NEW | {"workload": w, "clients": 120}, 0.9).value("throughput")
            for w in ("set", "get", "mixed")
        }
        assert of["mixed"] == pytest.approx((of["set"] + of["get"]) / 2, rel=0.01)


def slow_spells(rows: pl.DataFrame, exponent: float) -> pl.DataFrame:
    """The same runs on a machine whose cores are slower in some of them: all CPU times longer by (w/80 us)^exponent."""
    work = 80e-6 * np.random.default_rng(2).choice([1.0, 1.0, 1.2, 1.35], rows.height)
    slow = pl.Series((work / 80e-6) ** exponent)
    times = [pl.col(name) * slow for name in ("server_cpu_s", "net_cpu_s", "client_cpu_s")]
    columns = [pl.Series(name, work) for name in WORK]
    return rows.with_columns(*times, *columns, pl.col("throughput_per_s") / slow)


def test_the_speed_of_cores_is_told_apart_from_the_configuration(rows: pl.DataFrame) -> None:
    """The exponent is found; a run on slower cores is predicted with a narrower interval than one of which nothing is known."""
    drifted = slow_spells(rows, 1.6)
    model, plain = fit_cores(drifted, CORES, True, 1), fit_plain(drifted)
    assert model.designs[0].costs.speeds.exponent == pytest.approx(1.6, abs=0.15)
    point, truth = NEW | {"clients": 60}, run(2, 2, 0, 1500, 60)["throughput_per_s"]
    for speed in (1.0, 1.3):
        at = point | dict.fromkeys(WORK, 80e-6 * speed)
        found, low_high = model.predict(at, 0.9).value("throughput"), model.predict(at, 0.9).interval("throughput")
        assert found == pytest.approx(truth / speed**1.6, rel=0.06)
        assert _width(low_high) < 0.7 * _width(model.predict(point, 0.9).interval("throughput"))
    slower = [plain.predict(point | dict.fromkeys(WORK, w), 0.9).value("throughput") for w in (80e-6, 104e-6)]
    assert slower[0] / slower[1] == pytest.approx(1.3**1.6, rel=0.08), "the rival knows it too"


def _width(ends: tuple[float | None, float | None]) -> float:
    low, high = ends
    assert low is not None and high is not None
    return math.log(high / low)


def test_what_is_left_out_is_not_used(rows: pl.DataFrame) -> None:
    """Whatever was measured there, the prediction is the same."""
    parts = rows.with_row_index().partition_by("servers", "proxies", "workload", "value_bytes", maintain_order=True)
    wrong = [parts[0].with_columns(pl.col("throughput_per_s") * 7), *parts[1:]]

    def predicted(of: list[pl.DataFrame]) -> list[np.ndarray]:
        def cycles(inverse: float, at: pl.DataFrame) -> tuple[np.ndarray, np.ndarray]:
            return np.full(at.height, inverse), np.zeros(at.height)

        off, _ = errors_left_out(of, lambda some: float((1 / some["throughput_per_s"]).mean()), cycles)  # type: ignore[arg-type]
        measured = [part["clients"].to_numpy() / part["throughput_per_s"].to_numpy() for part in of]
        return [m * np.exp(-error) for m, (error, _) in zip(measured, off, strict=True)]

    right, changed = predicted(parts), predicted(wrong)
    assert changed[0] == pytest.approx(right[0], rel=1e-12), "its own measurement changes nothing"
    assert all(abs(a[0] / b[0] - 1) > 1e-6 for a, b in zip(changed[1:], right[1:], strict=True))


def test_no_interval_where_nothing_could_be_left_out(rows: pl.DataFrame) -> None:
    few = rows.head(2)
    for model in (fit_cores(few, CORES, True, 1), fit_plain(few)):
        assert model.model_error == 0.0
        told = model.predict(NEW | {"clients": 20}, 0.9)
        assert told.interval("throughput") == (None, None)
        assert set(told.frame.filter(pl.col("metric") == "throughput")["status"]) == {"no_interval"}
        assert all(math.isnan(e.low) for e in model.estimates.values())


def test_a_slow_minute_does_not_move_the_parts() -> None:
    """A tenth of the runs twice as slow: least squares would give 10 % more."""
    terms = np.column_stack([np.ones(100), np.linspace(0, 1, 100)])
    seconds = terms @ np.array([10e-6, 5e-6])
    seconds[::10] *= 2
    assert fit_parts(terms, seconds) == pytest.approx([10e-6, 5e-6], rel=0.03)


def test_intervals_are_wider_where_errors_grow() -> None:
    """Errors of 2 % where fits agree and of 20 % where they do not; nine tenths of each are inside."""
    random = np.random.default_rng(1)
    doubt = np.repeat([0.005, 0.1], 200)
    error = random.laplace(0, np.where(doubt > 0.01, 0.2, 0.02))
    found = left_out(error, doubt)
    for v, scale in ((0.005, 0.02), (0.1, 0.2)):
        factor = found.factor(0.9, v)
        assert factor is not None and math.log(factor) == pytest.approx(-scale * math.log(0.1), rel=0.25)
    assert left_out(error[:5], doubt[:5]).factor(0.9, 0.1) is None, "five errors say nothing of nine tenths"


def test_what_an_operation_asks() -> None:
    """Sets go to every server behind a middleware, split gets to as many as there are keys."""
    asked = OperationWork(rows_of(
        row(1.0, servers=3, workload="set"), row(1.0, servers=3, workload="multi-2", sharded=True, value_bytes=512),
        row(1.0, servers=3, workload="mixed"), row(1.0, servers=3, workload="set", design="none", proxies=0, workers=0),
        row(1.0, servers=2, workload="multi-9", sharded=True),
    ))  # fmt: skip
    assert asked.messages.tolist() == [3, 2, 2, 1, 2]
    assert asked.asked.tolist() == [1, 2, 1, 1, 2]
    assert asked.stored_kib.tolist() == [3, 0, 1.5, 1, 0]
    assert asked.read_kib.tolist() == [0, 1, 0.5, 0, 9]
