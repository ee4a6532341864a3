"""What users say of a model's draws: against the product of two normal laws, and a service that serves waiting requests together."""

from __future__ import annotations

import math
from pathlib import Path

import numpy as np
import pytest
from mmm_runs import ONE, mmm_run

import sojourn as sj
from sojourn.capacity import light_load
from sojourn.capacity.rate_interval import RateInterval
from sojourn.capacity.users_evidence import DIFFERS, DISTURBED, UsersEvidence, _weights, saturations
from sojourn.fit import FitRuns, fit
from sojourn.fit.model_averaging import quantiles
from sojourn.plan.predictor import predictor_of
from sojourn.runs.run_folder import RunFolder
from sojourn.simulate.simulated_folder import write_run

Z = 1.6449  # of 90 %


def test_draws_and_users_together_are_as_certain_as_both() -> None:
    """Logarithms of N(0, 0.2) and N(0.1, 0.08) make N(0.1 w, sqrt(w) 0.08), w = 0.2²/(0.2² + 0.08²) (Gelman et al. 2013, 2.5)."""
    draws = 100 * np.exp(0.2 * np.random.default_rng(1).standard_normal(40_000))
    own = math.sqrt(0.08**2 - DIFFERS**2)
    at = 100 * math.exp(0.1)
    weights = _weights(draws, RateInterval(at, at * math.exp(-Z * own), at * math.exp(Z * own)), 0.9) - DISTURBED
    share = 0.2**2 / (0.2**2 + 0.08**2)
    low, middle, high = np.log(quantiles(draws, weights, [0.05, 0.5, 0.95]) / 100)
    assert middle == pytest.approx(0.1 * share, abs=0.005)
    assert (high - low) / 2 == pytest.approx(Z * math.sqrt(share) * 0.08, rel=0.05)


def test_where_no_draw_agrees_all_count_alike() -> None:
    weights = _weights(np.array([50.0, 100.0, 150.0, math.inf]), RateInterval(1000.0, 950.0, 1050.0), 0.9)
    assert weights == pytest.approx(np.full(4, DISTURBED), rel=1e-3)


def test_a_single_queue_is_full_at_what_a_server_can_do() -> None:
    """M/M/1 with services of 8 ms."""
    runs = [mmm_run(rate, service_s=0.008, delay_s=0.0, servers=1) for rate in (50.0, 70.0, 85.0, 100.0)]
    fitted = fit(FitRuns(runs), sj.Model.parse(ONE), seed=1)
    full = saturations(predictor_of(fitted, {}), np.geomspace(70, 230, 40))
    assert np.median(full) == pytest.approx(125, rel=0.02)
    evidence = UsersEvidence.of(fitted, RateInterval(125.0, 120.0, 130.0), 0.9)
    assert evidence is not None and evidence.saturation.high is not None
    assert evidence.saturation.low < 125 < evidence.saturation.high


def test_a_service_that_serves_those_who_wait_together_is_not_full_at_two_users(tmp_path: Path) -> None:
    """Commits to a disk take 10 ms, whoever waits; two users get 110/s, four 200, eight 400, and 16 no more."""
    rates = {1: 100.0, 2: 110.0, 4: 200.0, 8: 400.0, 16: 400.0, 32: 400.0}

    def run(users: int) -> RunFolder:
        begun = np.arange(0, 2.0, 1 / rates[users])
        about = {"name": f"users-{users}", "factors": {"users": users}, "duration_s": 2.0}
        about["load"] = {"lanes": [{"closed": {"users": users, "think_s": 0.0}}]}
        requests = {"intended_s": begun, "done_s": begun + users / rates[users]}
        return write_run(tmp_path / f"users-{users}", manifest=about, requests=requests)

    found = light_load(run, [])
    assert found.few_full_per_s is not None
    assert found.few_full_per_s.value == pytest.approx(400, rel=0.02)
