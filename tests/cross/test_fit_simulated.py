"""The whole fit against the event simulator: known demands come back, and spread is foretold from interrupts on core
0."""

from __future__ import annotations

import sys
from pathlib import Path

import numpy as np
import pytest

import sojourn as sj
from sojourn.fit import FitRuns, fit_rivals
from sojourn.fit.fit_runs import FitRun
from sojourn_cases.web.fitted_web import parameters
from sojourn_cases.web.model_files import fit_for, model_file

sys.path.insert(0, str(Path(__file__).parent))
from priority_simulator import simulate

S, A, DELAY, CLIENT = 1.5e-3, 0.5e-3, 0.3e-3, 3e-5
BLOCKS, BLOCK_NOISE, SECONDS = 20, 0.05, 16


def simulated(nics: int, rates: tuple[float, ...], seed: int) -> FitRuns:
    """Two cores, 16 s a rate; busy shares with 5 % noise a block."""
    rng, runs, p = np.random.default_rng(seed), [], nics / 2
    for rate in rates:
        count = int(rate * SECONDS) // BLOCKS * BLOCKS
        answers = np.array(
            simulate(rate, S, A, p, 2, nics, CLIENT, count, seed + int(rate), crossing_s=DELAY)[:count]
        ).reshape(BLOCKS, -1)
        lead, behind, soft = 1 + BLOCK_NOISE / BLOCKS**0.5 * rng.standard_normal(3)
        busy = {"leading": rate * (S + CLIENT + p * A) * lead, "leading interrupts": rate * S * soft}
        busy |= {"trailing": rate * (1 - p) * A * behind} if nics == 1 else {}
        error = answers.mean(axis=1).std(ddof=1) / BLOCKS**0.5 / answers.mean()
        means = {("", "response_time"): (float(answers.mean()), float(error)), ("", "throughput"): (rate, count**-0.5)}
        factors = {"cores": 2, "nics": nics, "interrupt_s": S, "page_s": A, "rate_per_s": rate}
        runs.append(FitRun(f"{nics}-{rate:g}", factors, means, busy))
    return FitRuns(runs)


def test_recovery_and_blind_prediction() -> None:
    runs = simulated(1, (100.0, 150.0, 200.0, 250.0, 300.0, 350.0, 400.0, 450.0), 11)
    models = {name: fit_for(model_file(name), runs, CLIENT) for name in ("priority", "shared", "paper")}
    chosen = fit_rivals(runs, models)
    assert chosen.name == "priority", chosen.why
    fitted = parameters(chosen.fits["priority"])
    assert fitted["interrupt_s"].value == pytest.approx(S, rel=0.02)
    assert fitted["page_s"].value == pytest.approx(A, rel=0.03)
    assert fitted["crossing_s"].value == pytest.approx(DELAY, abs=1.5e-4)
    spread = simulated(2, (200.0, 400.0, 600.0, 750.0), 12)
    beside = chosen.best.validate(spread, 0.9, max_saturation_share=0.8)
    assert beside.filter(metric="response_time")["error"].abs().median() < 0.08
    one, two = ({"cores": 2, "nics": n, "rate_per_s": 100.0} for n in (1, 2))
    value, low, high = sj.capacity_ratio(chosen.best, one, two)
    assert low < (2 / (S + CLIENT + A)) * (S + CLIENT + A / 2) < high and value > 1.6
