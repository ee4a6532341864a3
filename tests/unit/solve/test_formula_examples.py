"""The examples of formulas, `examples/parts.toml` and `examples/warming.toml`: what comes out by hand."""

from __future__ import annotations

from pathlib import Path

import pytest

import sojourn as sj
from sojourn.model.unknown_parameters import replaced

EXAMPLES = Path(__file__).resolve().parents[3] / "examples"


@pytest.mark.parametrize(
    ("keys", "value_bytes", "service_s"),
    [
        (8, 4096, 0.007),  # 2 ms + 8 keys of 0.5 ms + 4 KiB of 0.25 ms
        (1, 1024, 0.00275),
        (12, 0, 0.008),
    ],
)
def test_parts_is_m_m_1_with_the_sum_of_its_parts(keys: int, value_bytes: int, service_s: float) -> None:
    model = sj.Model.read(EXAMPLES / "parts.toml")
    found = sj.solve(replaced(model, {"parameters.keys": keys, "parameters.value_bytes": value_bytes}))
    assert found.value("utilisation", "cpu") == pytest.approx(100 * service_s, rel=1e-12)
    assert found.value("response_time") == pytest.approx(service_s / (1 - 100 * service_s), rel=1e-12)


@pytest.mark.parametrize("rate", [0.5, 75.0, 99.0])
def test_warming_is_m_m_1_with_the_time_of_its_load(rate: float) -> None:
    """u = a (1 + s (1 - u)) with a = 0.01 rate and s = 0.5 gives u = a (1 + s) / (1 + a s)."""
    model = sj.Model.read(EXAMPLES / "warming.toml")
    found = sj.solve(replaced(model, {"classes.request.rate_per_s": rate}))
    a = 0.01 * rate
    u = a * 1.5 / (1 + a * 0.5)
    assert found.value("utilisation", "cpu") == pytest.approx(u, rel=1e-9)
    assert found.value("response_time") == pytest.approx(u / rate / (1 - u), rel=1e-7)
    if rate == 75.0:
        assert found.value("utilisation", "cpu") == pytest.approx(9 / 11) and found.value(
            "response_time"
        ) == pytest.approx(0.06)


@pytest.mark.parametrize(("rate", "status"), [(99.9, "ok"), (100.1, "unstable")])
def test_warming_is_full_by_its_time_on_a_busy_core(rate: float, status: str) -> None:
    model = sj.Model.read(EXAMPLES / "warming.toml")
    assert sj.solve(replaced(model, {"classes.request.rate_per_s": rate})).status == status
