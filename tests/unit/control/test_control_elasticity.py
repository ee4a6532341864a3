"""Workers given against workers needed: figures by hand after the definitions of SPEC-RG-2016-01; demand against Erlang's formula."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import pytest

import sojourn as sj
from sojourn.control import Decision, GuardRails, Load, Schedule, simulate
from sojourn.control.comparison import compared, violations_and_cost
from sojourn.control.elasticity import Elasticity, MeasuredDemand, elasticity, measured_demand, needed_workers, supply
from sojourn.errors import InputError
from sojourn.solve.single.mmm import MMm

POOL = sj.Model(
    stations=[sj.Queue("pool", servers=4)],
    classes=[sj.Open("request", rate_per_s=40)],
    service_s={"pool": {"request": 0.05}},
)
AIM = "p99 < 300ms"


@pytest.mark.parametrize(
    ("given", "needed", "expected"),
    [
        ([3, 3, 3, 3], [3, 3, 3, 3], Elasticity(0, 0, 0, 0, 0)),
        # one short for a quarter of the time, two too many for another; supply rises once while demand stands still (of three steps)
        ([3, 2, 5, 3], [3, 3, 3, 3], Elasticity(0.25, 0.5, 0.25, 0.25, 1 / 3)),
        # demand falls and supply stays: that step counts, too; demand rises and supply stays does not
        ([4, 4, 4], [4, 2, 3], Elasticity(0, 1, 0, 2 / 3, 1 / 2)),
        # both rise, both fall: none
        ([1, 2, 1], [2, 5, 1], Elasticity(4 / 3, 0, 2 / 3, 0, 0)),
    ],
)
def test_by_hand(given: list[int], needed: list[int], expected: Elasticity) -> None:
    assert elasticity(given, needed).to_dict() == pytest.approx(expected.to_dict())


def test_lists_of_two_lengths() -> None:
    with pytest.raises(InputError, match="give two lists of one length"):
        elasticity([1, 2, 3], [1, 2])


def test_demand_between_rates_is_rounded_up_and_held_at_the_ends() -> None:
    demand = MeasuredDemand((10.0, 20.0), (2, 4))
    assert demand.at([5, 10, 10.1, 15, 15.1, 20, 90]).tolist() == [2, 2, 3, 3, 4, 4, 4]


@pytest.mark.parametrize("ends", [(20, 300), (1000, 1000)])
def test_demand_is_that_of_erlangs_formula(ends: tuple[float, float]) -> None:
    """The least servers whose p99 is below 300 ms; 60 000 requests tell 1 % late to 0.1 %, so one server more or less may be missed."""
    demand = measured_demand(POOL, AIM, ends)
    for rate, workers in zip(demand.rates_per_s, demand.workers, strict=True):
        exact = next(
            c for c in range(1, 100) if rate * 0.05 < c and MMm(rate, 0.05, c).response_quantile(0.99)[0] < 0.3
        )
        assert abs(workers - exact) <= 1
    assert list(demand.workers) == sorted(demand.workers)


def test_a_load_that_rests_needs_one_worker() -> None:
    assert measured_demand(POOL, AIM, [0.0, 0.0]).at([0, 0]).tolist() == [1, 1]
    assert measured_demand(POOL, AIM, [0.0, 0.05]).at([0, 0.05]).tolist() == [1, 1]


def test_supply_is_what_the_decisions_set() -> None:
    schedule = Schedule(at=((0, 4), (10, 9), (20, 5)), period_s=2)
    load = Load("constant", (40.0,) * 30)
    run = simulate(schedule, POOL, load, rails=GuardRails(most=20))
    given = supply(run.log, np.arange(30.0))
    assert isinstance(run.log[0], Decision)
    assert given[[5, 9, 10, 15, 19, 20, 29]].tolist() == [4, 4, 9, 9, 9, 5, 5]
    assert len(needed_workers(POOL, AIM, load)) == 30


def _policy(path: Path, workers: int) -> Path:
    path.write_text(f'policy = "fixed"\n[options]\nworkers = {workers}\n')
    return path


def test_a_folder_of_policies_is_one_curve(tmp_path: Path) -> None:
    grid = tmp_path / "grid"
    grid.mkdir()
    files = [_policy(tmp_path / "ours.toml", 5), grid]
    with pytest.raises(InputError, match="no .toml file in it"):
        compared(files, POOL)
    for workers in (8, 4, 6):
        _policy(grid / f"fixed-{workers}.toml", workers)
    found = compared(files, POOL)
    assert [(one.name, one.curve) for one in found] == [
        ("ours", ""), ("grid/fixed-4", "grid"), ("grid/fixed-6", "grid"), ("grid/fixed-8", "grid"),
    ]  # fmt: skip
    with pytest.raises(InputError, match="two policies 'ours'"):
        compared([files[0], files[0]], POOL)
    rows = [
        {"load": load, "policy": one.name, "curve": one.curve, "core_hours": hours + k, "late_requests": 0.01 * k}
        for load, hours in (("a", 1.0), ("b", 3.0)) for k, one in enumerate(found)
    ]  # fmt: skip
    figure = violations_and_cost(rows, AIM)
    ours, curve = figure.series
    assert (ours.name, ours.style, ours.x, ours.y) == ("ours", "points", (2.0,), (0.0,))
    assert (curve.name, curve.style, curve.x) == ("grid", "line", (3.0, 4.0, 5.0))
    assert curve.y == pytest.approx((1.0, 2.0, 3.0))
