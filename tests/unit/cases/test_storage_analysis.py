"""The analysis of storage runs on two simulated hosts whose costs are known, clean and with a planted fault."""

from __future__ import annotations

import numpy as np
import polars as pl
import pytest

from sojourn.errors import DesignError, InputError
from sojourn_cases.storage.costs.cost_per_io import cost_per_io, cost_ratio
from sojourn_cases.storage.costs.effects import storage_effects
from sojourn_cases.storage.costs.lack_of_fit import line_fit
from sojourn_cases.storage.costs.linearity import linearity
from sojourn_cases.storage.costs.run_faults import run_faults
from sojourn_cases.storage.costs.storage_run_list import storage_design
from sojourn_cases.storage.simulated_storage import FAULTS, CpuCostByLayer, SimulatedStorageOptions, simulate_storage

LEVELS = {"read": (0, 1), "random": (0, 1), "block_kib": (4, 8), "path": ("local", "nbd"), "iops": (1000, 4000)}
TRUTH = SimulatedStorageOptions()


def study(seed: int, fault: str | None = None, truth: SimulatedStorageOptions = TRUTH) -> pl.DataFrame:
    return simulate_storage(storage_design(LEVELS, 3, 18, seed), truth, seed, fault)


def test_costs_are_recovered_as_often_as_the_intervals_say() -> None:
    """40 studies, 8 intervals of 90 % each: 288 expected of 320; within four standard deviations of a binomial."""
    held = 0
    for seed in range(40):
        for cost in cost_per_io(study(seed)):
            true = TRUTH.paths[cost.path]
            assert cost.low is not None and cost.high is not None and cost.by_factor is not None
            held += cost.low <= 1e-6 * true.mean_us() <= cost.high
            halves = {"read": -true.read_saves_us / 2, "random": 0.0, "block_kib": 2 * true.copy_us_per_kib}
            held += sum(abs(cost.by_factor[n][0] - 1e-6 * us) <= cost.by_factor[n][1] for n, us in halves.items())
    assert held >= 288 - 4 * (320 * 0.9 * 0.1) ** 0.5


def test_a_background_that_differs_is_carried_into_the_interval() -> None:
    """With two rests that scatter by 0.05 cores the cost is known much less well than with 18 quiet ones."""
    quiet = cost_per_io(study(1))[0]
    loud = SimulatedStorageOptions(background_spread=0.05)
    unsure = cost_per_io(simulate_storage(storage_design(LEVELS, 3, 2, 1), loud, 1))[0]
    assert quiet.std_error is not None and unsure.std_error is not None and unsure.std_error > 5 * quiet.std_error


@pytest.mark.parametrize("fault", FAULTS)
def test_each_fault_is_named(fault: str) -> None:
    for seed in range(10):
        assert {one.name for one in run_faults(study(seed, fault))} == {fault}


def test_clean_studies_are_not_flagged() -> None:
    """At a size of 0.001 a test, 60 studies have a false flag with a chance of about one in five; two of one in fifty."""
    assert sum(bool(run_faults(study(seed))) for seed in range(60)) <= 2


def test_ratio_and_effects() -> None:
    """Truth by the layers: local 37.6, nbd 81.6 us at the middle; path explains most of CPU per I/O; for CPU it comes after IOPS."""
    runs = study(3)
    cheap, dear = (float(path.mean_us()) for path in TRUTH.paths.values())
    ratio = cost_ratio(cost_per_io(runs))
    assert ratio is not None and ratio[1] < dear / cheap < ratio[2]
    found = storage_effects(runs)
    per_io = found.per_io.effect("path")
    assert per_io["share_of_total"] > 0.8 and 2 * per_io["estimate"] == pytest.approx(dear - cheap, rel=0.05)
    shares = {name: found.cpu.effect(name)["share_of_total"] for name in ("iops", "path", "path·iops", "random")}
    assert shares["iops"] > shares["path"] > shares["path·iops"] > shares["random"]


def test_a_run_that_does_not_count_keeps_the_design_balanced() -> None:
    runs = study(4)
    first = runs.filter(pl.col("iops") > 0)["run"][0]
    runs = runs.with_columns(verdict=pl.when(pl.col("run") == first).then(pl.lit("saturated")).otherwise(pl.lit("ok")))
    assert storage_effects(runs).repetitions == 2
    one_gone = (pl.col("path") == "nbd") & (pl.col("iops") == 4000) & (pl.col("read") == 0) & (pl.col("random") == 0)
    with pytest.raises(DesignError, match="2 combinations have no usable run"):  # of both block sizes
        storage_effects(runs.with_columns(verdict=pl.when(one_gone).then(pl.lit("saturated")).otherwise(pl.lit("ok"))))


def six_levels(truth: SimulatedStorageOptions, seed: int = 1) -> pl.DataFrame:
    rates = [0, 500, 1000, 2000, 4000, 8000, 12_000]
    rows = [
        {"run": 7 * k + j, "read": 1, "random": 1, "block_kib": 4, "path": path, "iops": iops}
        for k, path in enumerate(("local", "nbd") * 5) for j, iops in enumerate(rates)
    ]  # fmt: skip
    return simulate_storage(pl.DataFrame(rows), truth, seed)


def test_linear_cost_is_not_refused() -> None:
    refused = sum(not one.proportional for seed in range(50) for one in linearity(six_levels(TRUTH, seed)))
    assert refused <= 15  # 5 of 100 are expected at 5 %; errors that grow as the rate, not its root, make it more


def test_interrupts_that_come_together_are_a_lack_of_fit() -> None:
    batched = SimulatedStorageOptions(
        paths={
            "local": CpuCostByLayer(interrupt_us=20, protocol_us=20, copy_us_per_kib=0.5, batch_at=3000),
            "nbd": CpuCostByLayer(interrupt_us=60, protocol_us=30, copy_us_per_kib=1, server_us=10, batch_at=3000),
        }
    )
    for one in linearity(six_levels(batched)):
        costs = batched.paths[one.path]
        assert not one.proportional and one.line.r_squared > 0.95
        for rate, seconds, error in one.curve:
            assert error is not None
            assert abs(seconds - 1e-6 * float(costs.mean_us(1, 1, 4, rate))) < 5 * error + 0.01 / rate


def test_lack_of_fit_by_hand() -> None:
    """x 1, 1, 2, 2, 3, 3; y 0, 2, 3, 5, 0, 2: means 1, 4, 1; line y = 2, residual 18, pure error 6, lack of fit 12 of 1, F = 12/2."""
    found = line_fit([1, 1, 2, 2, 3, 3], [0, 2, 3, 5, 0, 2])
    assert (found.intercept, found.slope) == (pytest.approx(2.0), pytest.approx(0.0, abs=1e-12))
    assert found.f == pytest.approx(6.0) and found.p == pytest.approx(0.0917, abs=5e-5)  # F(1, 3), t = sqrt 6
    for x, y in (([1, 2], [1, 2]), ([1, 1, 2], [1, 2, 3]), ([1, 2, np.nan], [1, 2, 3])):
        with pytest.raises(DesignError):
            line_fit(x, y)


def test_bad_input() -> None:
    with pytest.raises(InputError, match="'hot'"):
        study(1, "hot")
    with pytest.raises(InputError, match="path 'fc'"):
        simulate_storage(storage_design({**LEVELS, "path": ("fc", "nbd")}, 1, 2), TRUTH, 1)
    with pytest.raises(DesignError, match="backgrounds"):
        storage_design(LEVELS, 1, 1)
