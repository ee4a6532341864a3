"""Models of the message study: the Telesto report's rule, our network against exact solutions, recovery of known values."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import numpy as np
import polars as pl
import pytest

import sojourn as sj
from sojourn.errors import FitError
from sojourn.fit.speed_adjustment import CoreSpeed
from sojourn.model import Closed, Delay, LoadDependent, Model
from sojourn.runs.run_folder import RunFolder
from sojourn.study.run_order import run_seed
from sojourn.study.system import Point
from sojourn_cases.messages import message_template as template
from sojourn_cases.messages.message_network import MessageNetwork, places
from sojourn_cases.messages.message_service import MessagesLoad
from sojourn_cases.messages.message_service_metrics import FACTORS, frame
from sojourn_cases.messages.message_service_simulated import SimulatedMessages, SimulatedOptions
from sojourn_cases.messages.network_fit import fit, observed, where_valid
from sojourn_cases.messages.telesto import order_of_parallelism, telesto_network

KNOWN = SimulatedOptions(dispatch_s=1e-6, parse_s=1e-6, respond_s=1e-6)  # nearly all of it is the database
NETWORK = MessageNetwork(
    KNOWN.network_s + KNOWN.dispatch_s + KNOWN.parse_s + KNOWN.respond_s, KNOWN.alone_per_s, KNOWN.contention,
    KNOWN.coherence, empty_share=KNOWN.empty_share,
)  # fmt: skip
BATCHING = MessageNetwork(1e-3, 400.0, 0.05, 0.002, 0.8, 12.0, 0.2)


def factors(*values: Any) -> dict[str, Any]:
    """As FACTORS: workers, connections, clients, retry_s, middlewares."""
    return dict(zip(FACTORS, values, strict=True))


def test_the_telesto_report_s_rule_has_its_defects() -> None:
    """m(c) falls at 16 connections from 15 to 14.4, and is constant beyond 25 (errata, section 3)."""
    assert [order_of_parallelism(c) for c in (1, 15, 16, 25, 26, 100)] == [1, 15, 14.4, 22.5, 22.5, 22.5]
    times = {"network_s": 1e-3, "dispatch_s": 4e-5, "parse_s": 1e-4, "database_s": 8.059e-3, "respond_s": 1.5e-4}
    at = {c: telesto_network(**times, think_s=0.0, workers=90, connections=c, clients=90) for c in (15, 16, 40, 80)}
    x = {c: sj.solve(model).value("throughput") for c, model in at.items()}
    assert x[16] == pytest.approx(0.96 * x[15], rel=1e-3)
    assert x[80] == pytest.approx(x[40])


@pytest.mark.parametrize(
    ("workers", "connections", "clients", "retry_s", "middlewares"),
    [(20, 20, 90, 0.1, 1), (32, 6, 60, 0.0, 1), (6, 32, 60, 0.02, 1), (10, 4, 90, 0.05, 3), (64, 64, 12, 0.0, 1)],
)
def test_the_stationary_means_are_those_of_the_exact_network(
    workers: int, connections: int, clients: int, retry_s: float, middlewares: int
) -> None:
    """Convolution of the product form by `sojourn.solve`; a factor on the delay and all service times is the same as one on a
    network's own."""
    at = factors(workers, connections, clients, retry_s, middlewares)
    rates = tuple(BATCHING.rates_per_s(min(workers, connections) * middlewares, clients))
    exact = sj.solve(
        Model(
            [Delay("delay"), LoadDependent("service", rates)],
            [Closed("c", clients, think_s=BATCHING.think_s(retry_s))],
            demands_s={"delay": {"c": BATCHING.delay_s}},
            visits={"service": {"c": 1.0}},
        )
    )
    found = BATCHING.stationary(at)
    assert found.throughput_per_s == pytest.approx(exact.value("throughput"), rel=1e-9)
    assert found.throughput_per_s * (found.response_s + 0.2 * retry_s) == pytest.approx(clients)
    slow = MessageNetwork(1.5e-3, 400.0 / 1.5, 0.05, 0.002, 0.8, 12.0, 0.2)
    both = BATCHING.stationary(at, [1.0, 1.5])
    assert both.response_s.tolist() == pytest.approx([found.response_s, slow.stationary(at).response_s])


def test_rates_by_hand() -> None:
    """USL with 1, 2, 2 in service: 400, 800/1.054, the same; batching with 0, 1, 2 beside the first: 1 + 0.8 x 0, 1/13, 2/14."""
    found = BATCHING.rates_per_s(2, 3)
    assert found.tolist() == pytest.approx([400, 800 / 1.054 * (1 + 0.8 / 13), 800 / 1.054 * (1 + 0.8 * 2 / 14)])


def test_throughput_declines_past_saturation_where_the_curve_does() -> None:
    """USL by hand: 400 n/(1 + 0.05 (n - 1) + 0.002 n (n - 1)): 2842/s with 22, 2385/s with 48."""
    x = {c: NETWORK.stationary(factors(c, c, 400, 0.0, 1)).throughput_per_s for c in (22, 48)}
    assert x == pytest.approx(
        {22: 22 * 400 / (1 + 0.05 * 21 + 0.002 * 22 * 21), 48: 48 * 400 / (1 + 0.05 * 47 + 0.002 * 48 * 47)}
    )


def test_a_run_has_clients_that_start_together() -> None:
    """They come back together after a constant delay, so that a short run has a longer response time than the long run; without
    a delay a run is as the long run."""
    together, alone = factors(64, 64, 60, 1.0, 1), factors(64, 64, 60, 0.0, 1)
    fast = MessageNetwork(1e-4, 4000.0, 0.05, 0.002, empty_share=0.2)
    short = [fast.simulated(together, 4.0, seed).response_s for seed in range(3)]
    assert min(short) > 1.15 * fast.stationary(together).response_s
    assert fast.simulated(alone, 10.0, 1).response_s == pytest.approx(fast.stationary(alone).response_s, rel=0.03)


def test_the_time_a_client_needs_for_an_answer_is_think_time() -> None:
    """N = X (R + Z + own): a client that reads an answer 2 ms late asks for less, and the response time ends before."""
    at, late = factors(20, 20, 10, 0.1, 1), MessageNetwork(1e-3, 400.0, 0.05, 0.002, empty_share=0.2, own_s=2e-3)
    b = late.stationary(at)
    assert b.throughput_per_s * (b.response_s + 0.1 * 0.2 + 2e-3) == pytest.approx(10)


def simulated(where: Path, seconds: float, points: list[Point]) -> list[RunFolder]:
    system = SimulatedMessages(KNOWN, MessagesLoad(duration_s=seconds), where)
    with system.place() as place, system.open(place) as session:
        return [session.run(p, where / p.name, run_seed(1, p.name)) for p in points]


FITTED = [
    ("reference", 20, 20, 90, 0.1, 1), ("pools", 1, 1, 60, 0.0, 1), ("pools", 3, 30, 60, 0.0, 1),
    ("pools", 40, 8, 80, 0.0, 1), ("pools", 20, 4, 20, 0.0, 1), ("pools", 16, 16, 80, 0.0, 1), ("pools", 48, 40, 120, 0.0, 1),
    ("clients", 20, 20, 8, 0.1, 1), ("clients", 20, 20, 30, 0.1, 1),
]  # fmt: skip
NEW = [(12, 8, 60, 0.05, 1), (5, 4, 40, 0.02, 3), (24, 32, 70, 0.03, 1), (9, 20, 20, 0.2, 2), (30, 30, 100, 0.0, 1)]


def runs(where: Path, seconds: float = 3.0, repetitions: int = 2) -> list[RunFolder]:
    points = [Point(section, factors(*values), k) for k in range(1, repetitions + 1) for section, *values in FITTED]
    return simulated(where, seconds, points)


def test_known_values_are_found_and_new_configurations_predicted(tmp_path: Path) -> None:
    """The simulated service has two pools and each station by itself; the fit knows response times only. Configurations that it
    never saw are predicted, some with pools, delays and middlewares beyond those that it saw."""
    rivals = template.TEMPLATE.fit(runs(tmp_path), 1, {})
    assert list(rivals.fitted) == ["usl", "telesto"] and rivals.best == "usl"
    ours: Any = rivals.fitted["usl"]
    found = ours.estimates
    for name, truth in (("alone_per_s", 400.0), ("contention", 0.05), ("coherency", 0.002)):
        value, low, high = found[name]
        assert low < truth < high and value == pytest.approx(truth, rel=0.25), name
    assert found["delay_s"].value == pytest.approx(NETWORK.delay_s, rel=0.2)
    assert found["empty_share"].value == pytest.approx(0.2, abs=0.01) and np.isnan(found["empty_share"].low)
    assert ours.model_error < 0.06 < 0.15 < rivals.fitted["telesto"].model_error
    seen = frame(simulated(tmp_path / "new", 20.0, [Point("new", factors(*values)) for values in NEW]))
    inside = []
    for row in seen.to_dicts():
        told = ours.predict(row, 0.95)
        for metric, measured in (("throughput", row["throughput_per_s"]), ("response_time", row["response_s"])):
            assert told.value(metric) == pytest.approx(measured, rel=0.1)
            low, high = told.interval(metric)
            inside.append(low < measured < high)
    assert sum(inside) >= 8


def test_written_and_read(tmp_path: Path) -> None:
    at = factors(12, 8, 60, 0.05, 1)
    for name, model in template.TEMPLATE.fit(runs(tmp_path, 0.6, 1), 1, {}).fitted.items():
        model.write(tmp_path / f"{name}.toml")
        again, told = template.TEMPLATE.read(tmp_path / f"{name}.toml"), model.predict(at, 0.95)
        assert again.predict(at, 0.95) == told and list(again.estimates) == list(model.estimates)
        narrow, wide = model.predict(at, 0.5).interval("throughput"), told.interval("throughput")
        assert wide[0] < narrow[0] < told.value("throughput") < narrow[1] < wide[1]  # type: ignore[operator]


def test_a_run_twice_as_slow_has_a_relative_service_time_of_two() -> None:
    """Whatever its load: at 8 clients, at the knee, and where all pools are full."""
    at = [factors(20, 20, 8, 0.1, 1), factors(20, 20, 140, 0.2, 1), factors(20, 20, 200, 0.0, 1)]
    rows = [
        {**one, "response_s": NETWORK.stationary(one, 2.0).response_s, "throughput_per_s": 1.0, "work_s": 4e-4}
        for one in at
    ]
    twice = CoreSpeed(1e-4, 0.5)  # four times the piece of work, twice the times
    for one in observed(pl.DataFrame(rows)):
        assert np.exp(one.relative_times(NETWORK)) == pytest.approx([2.0], rel=0.01)
        assert np.exp(one.relative_times(NETWORK, twice)) == pytest.approx([1.0], rel=0.01)


def test_the_speed_of_cores_is_told_apart() -> None:
    """Runs on cores that are slow in some of them, at random: network and exponent are found, and a run is predicted for its speed."""
    random = np.random.default_rng(1)
    at = [factors(w, w, c, 0.02, 1) for w in (4, 10, 20) for c in (4, 16, 60, 120)]
    known = MessageNetwork(1e-3, 400.0, 0.05, 0.002, empty_share=0.2)
    rows = []
    for one in at:
        for work_s in random.choice([1e-4, 1e-4, 1.2e-4, 1.4e-4], 2):
            slower = (work_s / 1e-4) ** 1.5 * np.exp(random.normal(0, 0.01))
            means = known.stationary(one, [slower])
            rows.append({
                **one, "response_s": means.response_s[0], "throughput_per_s": means.throughput_per_s[0], "work_s": work_s,
                "mw_response_s": means.response_s[0] - 1e-3 * slower, "empty_share": 0.2, "own_s": 0.0,
                "connections_share": means.used[0], "workers_share": means.used[0],
            })  # fmt: skip
    found = fit(pl.DataFrame(rows), 20.0, 20.0)
    assert found.speed is not None and found.speed.exponent == pytest.approx(1.5, abs=0.2)
    assert found.slower(0.9, at_speed=True) < 0.6 * (found.slower(0.9) - 1) + 1
    new = factors(14, 14, 80, 0.02, 1)
    model = template.UslModel(found)
    for work_s, slower in ((1e-4, 1.0), (1.3e-4, 1.3**1.5)):
        told = model.predict({**new, "work_s": work_s}).value("response_time")
        assert told == pytest.approx(known.stationary(new, [slower]).response_s[0], rel=0.1)


def test_the_fit_needs_its_runs() -> None:
    with pytest.raises(FitError, match="0 configurations"):
        fit(frame([]), 1.0, 1.0)
    with pytest.raises(FitError, match="options: best"):
        template.TEMPLATE.fit([], 1, {"best": 1})


def test_a_run_that_is_not_valid_is_left_out_where_there_is_another() -> None:
    rows = [{"section": "s", "valid": valid, **dict.fromkeys(FACTORS, 1), "retry_s": r, "throughput_per_s": x}
            for valid, r, x in ((False, 1.0, 1.0), (True, 1.0, 2.0), (False, 2.0, 3.0))]  # fmt: skip
    assert where_valid(pl.DataFrame(rows))["throughput_per_s"].to_list() == [2.0, 3.0]


def test_a_request_needs_a_worker_and_a_connection() -> None:
    assert [places(factors(*v)) for v in ((4, 8, 1, 0.0, 1), (8, 3, 1, 0.0, 2))] == [4, 6]
