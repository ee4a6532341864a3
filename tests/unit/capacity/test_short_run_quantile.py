"""What a short run makes of a quantile: against M/M/1 runs of another load than the table's, and laws that the table must keep."""

from __future__ import annotations

import math

import numpy as np
import pytest

from sojourn.capacity.capacity_result import CapacityRun
from sojourn.capacity.capacity_run import figures
from sojourn.capacity.short_run_quantile import of_response, short_run_quantile


def runs_of_mm1(rho: float, error: float, count: int) -> np.ndarray:
    """Response times, runs x requests, in units of the true mean, by Lindley's recursion; the mean of a run has that standard error
    (Daley 1968)."""
    random = np.random.default_rng(5)
    requests = int(((1 + rho) / (1 - rho) / error) ** 2)
    steps = np.cumsum(random.exponential(1, (count, requests)) - random.exponential(1 / rho, (count, requests)), axis=1)
    waiting = steps - np.minimum.accumulate(np.minimum(steps, 0), axis=1)
    return np.asarray((waiting + random.exponential(1, waiting.shape)) * (1 - rho))


@pytest.mark.parametrize(("q", "error"), [(0.9, 0.3), (0.99, 0.15), (0.99, 0.3), (0.999, 0.3)])
def test_beside_runs_at_another_load(q: float, error: float) -> None:
    """The table is of 80 %, these are of 60 %."""
    times = runs_of_mm1(0.6, error, 1000)
    logs = np.log(np.quantile(times, q, axis=1) / -math.log(1 - q))
    off, spread = short_run_quantile(q, error)
    assert logs.mean() == pytest.approx(off, abs=0.06)
    assert logs.std() == pytest.approx(spread, rel=0.15)


def test_a_long_run_is_right_and_a_median_hardly_wrong() -> None:
    assert short_run_quantile(0.99, 0.0) == (0.0, 0.0)
    assert abs(short_run_quantile(0.5, 0.3)[0]) < 0.02
    offs = [short_run_quantile(q, 0.3)[0] for q in (0.9, 0.95, 0.97, 0.99, 0.995, 0.999, 0.9999)]
    assert offs == sorted(offs, reverse=True)


def test_only_waiting_is_put_right() -> None:
    """Of 30 ms with 20 ms alone 10 ms are waiting; those are divided by what is left of a p99 on average. The mean is 4 ms of waiting in
    24, so that 5 % of it are 30 % of the waiting."""
    off, spread = of_response(0.99, 0.030, 0.024, 0.020, 0.05)
    own, own_spread = short_run_quantile(0.99, 0.3)
    assert 0.030 * math.exp(-off) == pytest.approx(0.020 + 0.010 * math.exp(-own))
    assert spread == pytest.approx(own_spread / 3)
    assert of_response(0.99, 0.020, 0.024, 0.020, 0.05) == (0.0, 0.0)


def test_the_search_sees_the_figure_put_right() -> None:
    run = CapacityRun(
        "a", 10.0, 10.0, 0.02, 0.1, {"p99": 0.1, "errors": 0.0}, True, True, short_run_factors={"p99": 1.2}
    )
    assert figures([run])[0].figures == {"p99": pytest.approx(0.12)}
