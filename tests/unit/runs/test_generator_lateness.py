"""A generator that was late is an error of known size."""

from __future__ import annotations

import math
from typing import Any

import pytest

from sojourn.runs.generator_lateness import LATE, lateness_error, only_late


def manifest(share: float, *reasons: str) -> dict[str, Any]:
    return {
        "status": "complete",
        "reasons": list(reasons),
        "checks": {"lateness share of response": {"mean": share, "p99": 0.5}},
    }


def test_the_middle_with_the_error_of_a_uniform_law() -> None:
    found = lateness_error(manifest(0.2))
    assert found.factor == pytest.approx(0.9)  # between 0.8 and 1 of what was measured
    assert found.error == pytest.approx(0.2 / math.sqrt(12) / 0.9)  # variance of a uniform law: width² / 12
    assert lateness_error({}) == (1.0, 0.0)


@pytest.mark.parametrize(
    ("share", "reasons", "usable"),
    [
        (0.05, [f"{LATE}: it sent 1 % 11 ms late"], True),
        (0.4, [f"{LATE}: it sent 4 ms late on average"], False),
        (0.05, [f"{LATE}: late", "disturbed: the hypervisor took 9 %"], False),
        (0.05, [], False),
    ],
)
def test_which_runs_are_used(share: float, reasons: list[str], usable: bool) -> None:
    assert only_late(manifest(share, *reasons)) is usable
