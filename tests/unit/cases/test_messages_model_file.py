"""The model files of the message service: by hand, and fitted to runs of the simulated service, whose times are known."""

from __future__ import annotations

from functools import cache
from pathlib import Path
from typing import Any

import numpy as np
import polars as pl
import pytest

import sojourn as sj
from sojourn.fit.fitted_model import FittedModel
from sojourn.study.system import Point
from sojourn_cases import messages
from sojourn_cases.messages.message_service import MessagesLoad
from sojourn_cases.messages.message_service_metrics import FACTORS, where_valid
from sojourn_cases.messages.message_service_simulated import SimulatedMessages, SimulatedOptions

CONFIGURATIONS = [
    (20, 20, 90, 0.1, 1), (80, 1, 80, 0.0, 1), (80, 4, 80, 0.0, 1), (80, 16, 80, 0.0, 1), (6, 6, 240, 0.1, 1), (24, 24, 240, 0.1, 1),
    (20, 20, 5, 0.1, 1), (20, 20, 40, 0.1, 1), (20, 20, 160, 0.1, 1), (24, 24, 240, 0.1, 3), (6, 4, 60, 0.05, 1), (6, 4, 120, 0.2, 3),
]  # fmt: skip
LAW = {"alone_per_s": 400.0, "contention": 0.05, "coherency": 0.002}
TELESTO_S = {"network_s": 1e-3, "dispatch_s": 4e-5, "parse_s": 1e-4, "database_s": 8.059e-3, "respond_s": 1.5e-4}


@cache
def file(name: str) -> sj.Model:
    return sj.Model.read(Path(messages.__file__).parent / f"{name}.toml")


def at(name: str, *factors: Any, **parameters: float) -> sj.Model:
    """A model file with numbers: workers, connections, clients, retry_s, middlewares, and parameters by name."""
    workers, connections, clients, retry_s, middlewares = factors
    given = {
        "workers": workers,
        "connections": connections,
        "retry_s": retry_s,
        "middlewares": middlewares,
        **parameters,
    }
    paths = {f"parameters.{key}": value for key, value in given.items()}
    return sj.replaced(file(name), {**paths, "classes.client.population": clients})


def usl(*factors: Any, delay_s: float = 1e-3, own_s: float = 0.0) -> sj.Model:
    return at("usl", *factors, **LAW, delay_s=delay_s, own_s=own_s)


def runs(configurations: list[tuple[Any, ...]], folder: Path, first: int) -> list[sj.RunFolder]:
    load = MessagesLoad.model_validate({"for": "8s", "put": 1.0, "take": 1.5, "message_bytes": 16})
    with SimulatedMessages(SimulatedOptions(), load, folder).open() as session:
        points = [Point("all", dict(zip(FACTORS, one, strict=True)), 1) for one in configurations]
        return [session.run(point, folder / f"run-{first + i}", first + i) for i, point in enumerate(points)]


def test_rates_by_hand() -> None:
    """Universal scalability law with 1, 2, 2 in service: 400, 800/1.054, the same."""
    rates = tuple(usl(2, 9, 3, 0.0, 1).station("service").rates_per_s)
    assert rates[:3] == pytest.approx((400, 800 / 1.054, 800 / 1.054))
    several = tuple(usl(8, 3, 20, 0.0, 2).station("service").rates_per_s)
    assert several[5] == several[19] > several[4], "six places: three connections in each of two middlewares"


def test_throughput_declines_past_saturation_where_the_curve_does() -> None:
    """By hand: 400 n/(1 + 0.05 (n - 1) + 0.002 n (n - 1)): 2842/s with 22, 2385/s with 48."""
    x = {c: sj.solve(usl(c, c, 400, 0.0, 1)).value("throughput") for c in (22, 48)}
    assert x == pytest.approx(
        {22: 22 * 400 / (1 + 0.05 * 21 + 0.002 * 22 * 21), 48: 48 * 400 / (1 + 0.05 * 47 + 0.002 * 48 * 47)}
    )


def test_a_client_thinks_after_an_empty_take_and_while_it_reads() -> None:
    """The interactive law: N = X (R + share of empty takes x retry delay + own time). 1.5 takes for a put: 0.5 of 2.5 are empty."""
    found = sj.solve(usl(20, 20, 10, 0.1, 1, own_s=2e-3))
    assert found.value("throughput") * (found.value("response_time") + 0.1 * 0.2 + 2e-3) == pytest.approx(10)


def test_the_rival_with_batching_is_the_same_service_where_nothing_is_batched() -> None:
    many = (20, 20, 90, 0.1, 1)
    none = at("batching", *many, **LAW, batching=0.0, half=10.0).station("service").rates_per_s
    assert none == pytest.approx(usl(*many).station("service").rates_per_s)
    half = at("batching", *many, **LAW, batching=1.0, half=10.0).station("service").rates_per_s
    assert half[10] / none[10] == pytest.approx(1.5)  # with ten beside the first


def test_the_telesto_report_s_rule_has_its_defects() -> None:
    """m(c) falls at 16 connections from 15 to 14.4, and is constant beyond 25 (errata, section 3)."""
    orders = {1: 1, 15: 15, 16: 14.4, 25: 22.5, 26: 22.5, 100: 22.5}
    for c, order in orders.items():
        rates = at("telesto", 90, c, 120, 0.0, 1, **TELESTO_S).station("database").rates_per_s
        assert rates[-1] * TELESTO_S["database_s"] == pytest.approx(order), c
    x = [sj.solve(at("telesto", 90, c, 90, 0.0, 1, **TELESTO_S)).value("throughput") for c in (15, 16, 40, 80)]
    assert x[1] == pytest.approx(0.96 * x[0], rel=1e-2) and x[3] == pytest.approx(x[2])


def inside(fitted: FittedModel, new: list[tuple[Any, ...]], folder: Path) -> tuple[list[float], int]:
    """Errors of the response time at new runs, and how many lie in their 90 % intervals."""
    errors, held = [], 0
    for one, run in zip(new, runs(new, folder, 700), strict=True):
        told, real = (
            fitted.predict(dict(zip(FACTORS, one, strict=True)), level=0.9),
            run.metrics().value("response_time"),
        )
        low, high = told.interval("response_time")
        errors.append(abs(told.value("response_time") / real - 1))
        held += bool(low is not None and low <= real and (high is None or real <= high))
    return errors, held


def test_known_values_are_found_and_new_configurations_predicted(tmp_path: Path) -> None:
    """The simulated service has two pools and each station by itself; the file has one station and knows the client's view only. Twelve
    configurations at random that it never saw, pools, delays and middlewares beyond those that it saw among them."""
    seen = sj.fit.observe_runs(runs(CONFIGURATIONS, tmp_path, 500))
    fitted = sj.fit(seen, file("usl"), draws=100)
    assert fitted.estimates["parameters.alone_per_s"].value == pytest.approx(400, rel=0.1)  # what was put in
    counted = [run.measured["", "empty", "throughput"] / run.measured["", "", "throughput"] for run in seen.runs]
    assert np.mean(counted) == pytest.approx(0.2, abs=0.01)  # as the file has it by the weights
    rng = np.random.default_rng(9)
    new = [
        (int(rng.integers(2, 33)), int(rng.integers(2, 25)), int(rng.integers(20, 250)), float(rng.uniform(0.02, 0.4)), m)
        for m in (1, 2, 3) * 4
    ]  # fmt: skip
    errors, held = inside(fitted, new, tmp_path)
    assert float(np.median(errors)) < 0.05 and held >= 10
    report = sj.fit(seen, file("telesto"), draws=40)
    reference = next(run for run in seen.runs if run.factors["clients"] == 90)
    measured = reference.measured["database", "", "response_time"]
    assert report.estimates["parameters.database_s"].value == pytest.approx(measured)
    assert report.model_error is not None and fitted.model_error is not None
    assert report.model_error > 2 * fitted.model_error, "its order of parallelism is not that of this database"


def test_a_run_that_is_not_valid_is_left_out_where_there_is_another() -> None:
    rows = [{"section": "s", "valid": valid, **dict.fromkeys(FACTORS, 1), "retry_s": r, "throughput_per_s": x}
            for valid, r, x in ((False, 1.0, 1.0), (True, 1.0, 2.0), (False, 2.0, 3.0))]  # fmt: skip
    assert where_valid(pl.DataFrame(rows))["throughput_per_s"].to_list() == [2.0, 3.0]
