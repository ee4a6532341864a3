"""The whole fit against the event simulator: known demands come back, and spread is foretold from interrupts on core
0."""

from __future__ import annotations

import sys
from pathlib import Path

import numpy as np
import polars as pl
import pytest

from sojourn.fit import compare
from sojourn.predict import gain, predict
from sojourn.validate import validate

sys.path.insert(0, str(Path(__file__).parent))
from priority_simulator import simulate

S, A, DELAY, CLIENT = 1.5e-3, 0.5e-3, 0.3e-3, 3e-5
BLOCKS = 20


def observations(nics: int, rates: tuple[float, ...], seed: int) -> pl.DataFrame:
    """Two cores, 16 s a rate; busy shares with 5 % noise a block."""
    rng, rows = np.random.default_rng(seed), []
    p = nics / 2
    for rate in rates:
        count = int(rate * 16) // BLOCKS
        drawn = simulate(rate, S, A, p, 2, nics, CLIENT, count * BLOCKS, seed + int(rate), crossing_s=DELAY)
        answers = np.array(drawn)[: count * BLOCKS]
        for block, mean in enumerate(answers.reshape(BLOCKS, -1).mean(axis=1)):
            lead, behind, soft = 1 + 0.05 * rng.standard_normal(3)
            row = {
                "run": f"{nics}-{rate:g}",
                "cores": 2,
                "nics": nics,
                "rate_per_s": rate,
                "block": block,
                "requests": count,
            }
            row |= {"response_s": float(mean), "throughput_per_s": rate, "duration_s": 0.8, "valid": True}
            row |= {
                "util_leading": rate / nics * (S + CLIENT + p * A) * lead,
                "softirq_leading": rate / nics * S * soft,
            }
            rows.append(row | {"util_trailing": rate * (1 - p) * A * behind if nics == 1 else None})
    return pl.DataFrame(rows, infer_schema_length=None, schema_overrides={"util_trailing": pl.Float64})


def test_recovery_and_blind_prediction() -> None:
    given: dict[str, float | str] = {"client_s": CLIENT}
    chosen = compare(observations(1, (100.0, 150.0, 200.0, 250.0, 300.0, 350.0, 400.0, 450.0), 11), given=given)
    assert chosen.best == "priority", chosen.why
    fitted = chosen.fits["priority"]
    assert 1 / fitted.parameters["mu1_per_s"].value == pytest.approx(S, rel=0.02)
    assert 1 / fitted.parameters["mu2_per_s"].value == pytest.approx(A, rel=0.03)
    assert fitted.parameters["crossing_s"].value == pytest.approx(DELAY, abs=1.5e-4)
    spread = (200.0, 400.0, 600.0, 750.0)
    found = validate(observations(2, spread, 12), predict(fitted, spread, cores=2, nics=2), up_to=0.8)
    assert found.of("response_time")["median_abs"] < 0.08
    value, low, high = gain(fitted, (2, 1), (2, 2))
    assert low < (2 / (S + CLIENT + A)) * (S + CLIENT + A / 2) < high and value > 1.6
