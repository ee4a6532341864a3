"""The priority variant against an independent event simulator; tolerance from the simulation's own batch means."""

from __future__ import annotations

import sys
from pathlib import Path

import numpy as np
import pytest

from sojourn.solve import two_class

sys.path.insert(0, str(Path(__file__).parent))
from priority_simulator import simulate

S, A = 1.5e-3, 0.5e-3
REQUESTS = 60_000
# rate, S, A, p, cores, nics, client_s, exponential interrupts, allowance beyond sampling error
CASES = {
    "one core": (350.0, S, A, 1.0, 1, 1, 0.0, False, 0.0),
    "spread": (600.0, S, A, 1.0, 2, 2, 0.0, False, 0.0),
    "spread, client": (650.0, S, A, 1.0, 2, 2, 3e-5, False, 0.0),
    "exponential interrupts": (500.0, S, A, 1.0, 2, 2, 0.0, True, 0.0),
    "interrupts on core 0": (400.0, S, A, 0.5, 2, 1, 3e-5, False, 0.01),
    "long pages, four cores": (700.0, 0.3e-3, 2.7e-3, 0.25, 4, 1, 0.0, False, 0.03),
    "two of four leading": (700.0, 1e-3, 2e-3, 0.5, 4, 2, 0.0, False, 0.03),
}


@pytest.mark.parametrize("case", CASES.values(), ids=CASES.keys())
def test_response_time(case: tuple) -> None:
    rate, interrupt_s, page_s, p, cores, nics, client_s, exponential, allowance = case
    answers = simulate(rate, interrupt_s, page_s, p, cores, nics, client_s, REQUESTS, 20141, exponential)
    batches = np.array(answers).reshape(30, -1).mean(axis=1)
    model = two_class(
        rate, mu1_per_s=1 / interrupt_s, mu2_per_s=1 / page_s, p=p, cores=cores, nics=nics, client_s=client_s,
        variant="priority", interrupt_scv=1.0 if exponential else 0.0,
    ).value("response_time")  # fmt: skip
    # 30 batches: 3.4 standard errors is about the 0.1 % level; successive batches are nearly independent here
    tolerance = 3.4 * batches.std(ddof=1) / np.sqrt(batches.size)
    assert tolerance < 0.08 * model, "the simulation is too short to test anything"
    assert abs(batches.mean() - model) < tolerance + allowance * model
