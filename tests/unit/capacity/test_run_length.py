"""How long the next run must be: against the delta method by hand."""

from __future__ import annotations

import pytest
from mmm_runs import ONE, mmm_run

import sojourn as sj
from sojourn.capacity.capacity_result import CapacityRun
from sojourn.capacity.rate_interval import RateInterval
from sojourn.capacity.run_length import lacking_s
from sojourn.capacity.search_state import SearchState
from sojourn.fit import FitRuns, fit
from sojourn.query.objectives import read_objectives

FIGURES = {"mean": 0.04, "p50": 0.028, "p99": 0.184}
LENGTH_S, Z = 5.0, 1.6449  # of the run at 100/s; of 90 %
MACHINE = 0.025  # relative, of the answer, and of no run


def run(rate: float, mean_error: float, p99_error: float) -> CapacityRun:
    return CapacityRun("", rate, rate, 0.04, mean_error, FIGURES, True, True, (), {"p99": p99_error})


@pytest.mark.parametrize(("objective", "error"), [("mean < 40ms", 0.2), ("p99 < 200ms", 0.3)])
def test_of_a_single_queue(objective: str, error: float) -> None:
    """M/M/1 with mu = 125/s at 100/s: R = 1/(mu - lambda), and the p99 in proportion, has d ln R/d ln lambda = lambda/(mu - lambda) = 4."""
    fitted = fit(
        FitRuns([mmm_run(rate, service_s=0.008, delay_s=0.0, servers=1) for rate in (50.0, 70.0, 85.0, 100.0)]),
        sj.Model.parse(ONE), seed=1,
    )  # fmt: skip
    runs = [run(50, 0.1, 0.1), run(100, 0.2, 0.3)]
    known = SearchState(fitted, RateInterval(100.0, 90.0, 110.0), runs=runs)
    found = lacking_s(known, [4.0, LENGTH_S], read_objectives([objective]), 0.05, 0.9)
    told_a_second = (4 / error) ** 2 / LENGTH_S
    own = [(width / Z) ** 2 - MACHINE**2 for width in (0.05, 0.1)]
    assert found == pytest.approx((1 / own[0] - 1 / own[1]) / told_a_second, rel=0.1)  # the steepness to 5 %
    assert lacking_s(known, [4.0, LENGTH_S], read_objectives([objective]), 0.2, 0.9) == 0
    easy = read_objectives(["p50 < 1s", objective])  # far from its limit: it asks for no longer run
    assert lacking_s(known, [4.0, LENGTH_S], easy, 0.05, 0.9) == found
    full = SearchState(fitted, RateInterval(100.0, 90.0, None), runs=runs)  # nothing is known of its upper end
    assert found < lacking_s(full, [4.0, LENGTH_S], read_objectives([objective]), 0.05, 0.9) < 2 * found
