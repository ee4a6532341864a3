"""Operational laws, scalability: examples of textbooks. An id names book and example; expected values are printed there."""

from __future__ import annotations

import numpy as np
import pytest

from sojourn import laws
from sojourn.fit.scalability_law import amdahl, fit_usl

# (id, computed, printed, half of the last printed digit)
X_A, V = 15.70, np.array([181.0, 80.0, 100.0])  # Jain (1991), Section 33.1: CPU, disk A, disk B
SYSTEM = X_A / V[1]
RATES = laws.forced_flow(SYSTEM, V)
EXAMPLES = [
    ("jain-1991-example-33.1-gateway", laws.utilisation(125, 0.002), 0.25, 0.0),
    ("jain-1991-example-33.2-system-throughput", SYSTEM, 0.1963, 6e-5),
    ("jain-1991-example-33.2-cpu-throughput", RATES[0], 35.48, 0.05),
    ("jain-1991-example-33.2-disk-b-throughput", RATES[2], 19.6, 0.05),
    ("jain-1991-example-33.2-cpu-utilisation", laws.utilisation(SYSTEM, 5.0), 0.98, 0.005),
    ("jain-1991-example-33.2-disk-a-utilisation", laws.utilisation(RATES[1], 0.050), 0.785, 5e-4),
    ("jain-1991-example-33.2-disk-b-utilisation", laws.utilisation(RATES[2], 0.030), 0.588, 0.001),
    ("jain-1991-example-33.3-cpu-response", 8.88 / RATES[0], 0.250, 5e-4),
    ("jain-1991-example-33.3-disk-a-response", 3.19 / RATES[1], 0.203, 5e-4),
    ("jain-1991-example-33.3-disk-b-response", 1.40 / RATES[2], 0.071, 5e-4),
    ("jain-1991-example-33.4-response", V @ [0.250, 0.203, 0.071], 68.6, 0.05),
    ("jain-1991-example-33.5-interactive", laws.interactive_response_s(17, SYSTEM, 18), 68.6, 0.05),
    ("lazowska-1984-section-3.2-disk-utilisation", laws.utilisation(40, 0.0225), 0.90, 1e-12),
    ("lazowska-1984-section-3.3-64-users", laws.interactive_response_s(64, 2, 30), 2.0, 1e-12),
    ("menasce-2004-example-3.2-network-segment", laws.utilisation(1000, 0.00015), 0.15, 1e-12),
    ("menasce-2004-example-3.3-disk-throughput", laws.forced_flow(7200 / 3600, 4.5), 9.0, 1e-12),
    ("menasce-2004-example-3.3-disk-utilisation", laws.utilisation(9.0, 0.020), 0.18, 1e-12),
    ("menasce-2004-example-3.5-transactions", 16 / 2.0, 8.0, 0.0),
    ("menasce-2004-example-3.6-40-clients", laws.interactive_response_s(40, 7200 / 3600, 15), 5.0, 1e-12),
]


@pytest.mark.parametrize("example", EXAMPLES, ids=[e[0] for e in EXAMPLES])
def test_laws(example: tuple) -> None:
    _, found, printed, half = example
    assert found == pytest.approx(printed, rel=1e-12, abs=half)


def test_gunther_2007_chapter_5_spec_sdm91() -> None:
    """sigma = 0.0277, kappa = 0.000104, N* = 96, X(1) = 90: known to us through the `usl` package of R (absolute errors)."""
    users = [1, 18, 36, 72, 108, 144, 216]
    scripts_per_h = [64.9, 995.9, 1652.4, 1853.2, 1828.9, 1775.0, 1702.2]
    found = fit_usl(users, scripts_per_h, errors="absolute")
    assert found.sigma == pytest.approx(0.0277, abs=5e-5)
    assert found.kappa == pytest.approx(0.000104, abs=5e-7)
    assert found.peak == pytest.approx(96, abs=1)
    assert found.gamma == pytest.approx(90.0, abs=0.05)
    low, high = found.intervals["sigma"] or (0, 0)
    assert low < 0.0277 < high


def test_amdahl_1967_limit() -> None:
    """5 % serial: never more than 20 times."""
    assert amdahl(1e12, 0.05) == pytest.approx(20, rel=1e-9)
    assert amdahl(20, 0.05) == pytest.approx(20 / 1.95, rel=1e-14)
