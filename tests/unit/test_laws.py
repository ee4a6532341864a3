"""The operational laws, held against a table."""

from __future__ import annotations

from sojourn.laws import broken, check_laws
from sojourn.solve import two_class
from sojourn.table import Metrics


def test_laws_find_what_is_broken() -> None:
    rows = {
        "arrival_rate": 10.0,
        "throughput": 9.0,
        "response_time": 0.5,
        "queue_length": 5.0,
        "utilisation": 0.5,
        "service_time": 0.05,
    }
    findings = check_laws(
        Metrics.of([{"metric": k, "value": v} for k, v in rows.items()]), 0.05, population=9, think_s=0.5
    )
    assert {f.law: f.ok for f in findings} == {
        "Little's law": False, "utilisation law": False, "flow balance": False, "interactive law": True,
    }  # fmt: skip
    text = str(broken(findings)[0])
    assert "is off by 11 % at system" in text and "tolerance 5.00 %" in text
    assert check_laws(Metrics.of([])) == []


def test_laws_pass_over_rows_without_a_value() -> None:
    m = two_class([100, 9000], mu1_per_s=1000, mu2_per_s=500, variant="priority")
    assert not broken(check_laws(m))
