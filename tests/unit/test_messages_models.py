"""Models of the message study: parallelism, the nested network, declining throughput, recovery of known times."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path

import numpy as np
import polars as pl
import pytest

import sojourn as sj
from sojourn.errors import FitError, StudyError
from sojourn.fit.usl import usl
from sojourn.study.estimate import Estimate
from sojourn.study.messages.models import (
    Best,
    CurvePoint,
    Demands,
    DocumentRule,
    Fitted,
    ScalabilityLaw,
    ServiceCurve,
    Shape,
    best,
    fit,
    order_of_parallelism,
    predict,
    regret,
)
from sojourn.study.messages.models.best import steps
from sojourn.study.messages.plan import read_messages_plan
from sojourn.study.messages.points import Point
from sojourn.study.messages.recovery import recovered
from sojourn.study.messages.seen import frame
from sojourn.study.messages.simulated import Known, SimulatedSystem
from sojourn.study.points import shuffled
from sojourn.study.recovery import coverage

KNOWN = Known()
DEMANDS = Demands(KNOWN.network_s, KNOWN.dispatch_s, KNOWN.parse_s, KNOWN.respond_s, KNOWN.empty_share)
SIZES = (1, 2, 4, 8, 16, 32)
FULL = ServiceCurve(tuple(range(1, 257)), KNOWN.rates_per_s)
CURVE = ServiceCurve(SIZES, tuple(KNOWN.rates_per_s[n - 1] for n in SIZES))


def test_the_document_s_rule_has_its_defects() -> None:
    """m(c) falls at 16 connections from 15 to 14.4, and is constant beyond 25 (errata, section 3)."""
    assert [order_of_parallelism(c) for c in (1, 15, 16, 25, 26, 100)] == [1, 15, 14.4, 22.5, 22.5, 22.5]
    rule = DocumentRule(8.059e-3)
    x = [predict(DEMANDS, rule, Shape(90, c), 90, 0.0).throughput_per_s for c in (15, 16, 40, 80)]
    assert x[1] == pytest.approx(0.96 * x[0], rel=1e-3)
    assert x[3] >= x[2] * (1 - 1e-9)


def test_a_service_curve_runs_through_its_points_and_holds_beyond() -> None:
    rates = CURVE.rates(64)
    assert [rates[n - 1] for n in SIZES] == pytest.approx(CURVE.rates_per_s)
    assert len(rates) == 64
    assert rates[63] == pytest.approx(CURVE.rates_per_s[-1])
    assert CURVE.rates(3) == rates[:3]
    assert all(min(a, b) <= m <= max(a, b) for a, m, b in [(rates[3], rates[5], rates[7])])  # no overshoot


@pytest.mark.parametrize(
    ("sizes", "rates"), [((), ()), ((2, 1), (1, 2)), ((1, 2), (1,)), ((1, 2), (1, 0)), ((0, 1), (1, 1))]
)
def test_a_bad_curve_is_named(sizes: tuple[float, ...], rates: tuple[float, ...]) -> None:
    with pytest.raises(FitError, match="ascending sizes"):
        ServiceCurve(sizes, rates)


def test_the_law_is_the_curve_it_was_fitted_to() -> None:
    law = ScalabilityLaw.fit(SIZES, CURVE.rates_per_s)
    assert law.rates(64)[-1] == pytest.approx(KNOWN.rates_per_s[63], rel=1e-6)


def test_throughput_declines_past_saturation_where_the_curve_does() -> None:
    """Pools of 22 do more than pools of 48, and the throughput is then that of the curve: 90 clients keep them full."""
    x = {c: predict(DEMANDS, FULL, Shape(c, c), 90, 0.0).throughput_per_s for c in (4, 12, 22, 48)}
    assert x[4] < x[12] < x[22]
    assert x[48] < 0.9 * x[22]
    free = {n: predict(DEMANDS, FULL, Shape(100, 100), n, 0.0).throughput_per_s for n in (25, 60)}
    assert free[60] < 0.9 * free[25]
    constant = ServiceCurve((1.0, 20.0), (400.0, 3000.0))
    flat = [predict(DEMANDS, constant, Shape(c, c), 90, 0.0).throughput_per_s for c in (22, 32, 48)]
    assert flat == sorted(flat)


def test_without_limits_it_is_the_exact_network() -> None:
    """As many workers and connections as clients: the pools do nothing, and the station alone is a product form."""
    n = 24
    found = predict(DEMANDS, CURVE, Shape(n, n), n, 0.05)
    from sojourn.model import Closed, Delay, LoadDependent, Model, Queue

    stations = [Delay("out"), Queue("dispatcher"), LoadDependent("database", CURVE.rates(n))]
    out = DEMANDS.network_s + DEMANDS.parse_s + DEMANDS.respond_s
    exact = sj.solve(
        Model(
            stations, [Closed("c", n, think_s=0.05 * DEMANDS.empty_share)], visits={"database": {"c": 1.0}},
            demands_s={"out": {"c": out}, "dispatcher": {"c": DEMANDS.dispatch_s}},
        )
    )  # fmt: skip
    assert found.throughput_per_s == pytest.approx(exact.value("throughput"), rel=1e-9)


@pytest.mark.parametrize(
    ("shape", "clients", "limit"),
    [
        (Shape(4, 4), 90, "workers"),
        (Shape(60, 4), 90, "connections"),
        (Shape(60, 22), 90, "database"),
        (Shape(20, 20), 2, "round trip"),
    ],
)
def test_what_limits(shape: Shape, clients: int, limit: str) -> None:
    found = predict(DEMANDS, CURVE, shape, clients, 0.0)
    # few connections are all in use before the workers are: the innermost is named
    assert found.bottleneck == ("connections" if shape.workers == shape.connections == 4 else limit)


def point(
    section: str, workers: int, connections: int, clients: int, retry_s: float, seconds: float, m: int = 1
) -> Point:
    return Point(section, workers, connections, clients, retry_s, m, seconds=seconds)


@pytest.mark.parametrize(
    ("workers", "connections", "clients", "retry_s", "middlewares"),
    [(20, 20, 90, 0.1, 1), (32, 6, 60, 0.0, 1), (6, 32, 60, 0.02, 1), (10, 4, 90, 0.05, 3), (64, 64, 120, 0.0, 1)],
)
def test_the_simulated_service_is_as_predicted(
    workers: int, connections: int, clients: int, retry_s: float, middlewares: int
) -> None:
    """Both pools are resources of the simulation; the model has one in the rates. Within 3 %: decomposition and sampling."""
    seen = SimulatedSystem(KNOWN, 1).run(point("x", workers, connections, clients, retry_s, 20.0, middlewares))
    found = predict(DEMANDS, FULL, Shape(workers, connections, middlewares), clients, retry_s)
    assert found.throughput_per_s == pytest.approx(seen.throughput_per_s, rel=0.03)
    assert found.response_s == pytest.approx(seen.response_s, rel=0.04)
    parts = (seen.dispatch_s, seen.parse_s, seen.wait_s, seen.database_s, seen.respond_s)
    assert sum(parts) + seen.queue_s <= seen.mw_response_s * 1.001
    assert seen.wait_s > -1e-9


def rows(
    seed: int, seconds: float, sizes: tuple[int, ...] = SIZES, repetitions: int = 3, clients: int = 90
) -> pl.DataFrame:
    system = SimulatedSystem(KNOWN, seed)
    points = [point("reference", 20, 20, clients, 0.1, seconds)]
    points += [point("calibration", 2 * c + 16, c, 2 * c + 16, 0.0, seconds) for c in sizes]
    return frame(system.run(p) for p in shuffled(points, repetitions, seed))


KNOWN_STUDY = """
name = "known"
title = "known times"
testbed = "messages"
[load]
seconds = 1.0
repetitions = 3
[calibration]
connections = [1, 8, 32]
"""


def test_each_known_time_is_in_its_interval_as_often_as_it_says(tmp_path: Path) -> None:
    """Line 6 of the issue: 40 studies with 95 % intervals; all eight counts lie in their bands in 99 of 100 such tests."""
    (tmp_path / "study.toml").write_text(KNOWN_STUDY)
    found = coverage(recovered(read_messages_plan(tmp_path), KNOWN, range(40)))
    assert found.height == 8
    assert found["inside"].all(), found
    assert found["bias"].abs().max() < 0.01


def test_no_throughput_of_the_reference_enters() -> None:
    seen = rows(1, 0.3, repetitions=1)
    wrong = seen.with_columns(
        throughput_per_s=pl.when(pl.col("section") == "reference").then(3.0).otherwise(pl.col("throughput_per_s"))
    )
    a, b = (predict(fit(s).demands, fit(s).measured, Shape(20, 20), 30, 0.1) for s in (seen, wrong))
    assert a == b


def test_what_the_reference_has_beyond_the_model_is_a_delay() -> None:
    """Half a millisecond more at the client needs a delay that gives it at the reference; at saturation none is found."""
    plain = fit(rows(1, 4.0, repetitions=1, clients=30))
    assert (
        abs(plain.unexplained_s["measured"]) < 0.1 * plain.response_s.value
    )  # the simulated system is as the model says
    value = plain.response_s.value + 5e-4
    later = replace(plain, response_s=Estimate(value, value, value))
    more = later.unexplained_s["measured"] - plain.unexplained_s["measured"]
    assert more > 5e-4  # a longer cycle takes load from the queues, so it must be longer still
    at = predict(later.demands_of("measured"), later.measured, later.shape, later.clients, later.retry_s)
    assert at.response_s == pytest.approx(value, rel=1e-3)
    full = replace(plain, clients=900, response_s=Estimate(1.0, 1.0, 1.0))
    assert full.unexplained_s["measured"] == 0.0


def test_the_fit_needs_its_runs() -> None:
    with pytest.raises(StudyError, match="no runs of reference"):
        fit(frame([]))


def test_the_best_is_the_peak_of_the_curve() -> None:
    """The curve is greatest at 21 and 22; within 1 % of that from 18 on (USL by hand: X(18)/X(21.8) = 0.9906)."""
    found = best(DEMANDS, FULL, 90, 0.0, 40, 40)
    x = usl(np.arange(1, 41), 400.0, 0.05, 0.002)
    first = int(np.argmax(x >= 0.99 * x.max())) + 1
    assert first <= found.shape.connections <= 22
    assert found.shape.workers >= found.shape.connections
    assert steps(64)[:16] == list(range(1, 17)) and steps(64)[-1] == 64


def test_regret_is_the_share_lost() -> None:
    grid = pl.DataFrame({"workers": [4, 8, 8], "connections": [4, 8, 8], "throughput_per_s": [900.0, 990.0, 1010.0]})
    choice = Best("measured", Shape(4, 4), predict(DEMANDS, CURVE, Shape(4, 4), 9, 0.0))
    found = regret(choice, grid)
    assert found.lost.value == pytest.approx(0.1)
    assert found.shape == Shape(8, 8)
    assert found.lost.low <= 0.1 <= found.lost.high
    assert regret(Best("measured", Shape(8, 8), choice.predicted), grid).lost.value == 0.0


def test_points_of_one_size_are_one_point_of_the_curve() -> None:
    """Where clients are too few to fill more connections, two calibrations have one size."""
    at = lambda v: Estimate(v, v, v)  # noqa: E731
    curve = (CurvePoint(1, at(1.0), at(100.0)), CurvePoint(8, at(6.0), at(400.0)), CurvePoint(16, at(6.05), at(410.0)))
    found = Fitted(Shape(1, 1), 9, 0.0, at(1.0), {"database_s": at(1.0)}, curve, ())
    assert found.measured == ServiceCurve((1.0, 6.0), (100.0, 400.0))
    assert list(found.parallelisms) == ["document", "measured"]
