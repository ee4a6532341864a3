"""A generator that was late is an error of known size."""

from __future__ import annotations

import math
from typing import Any

import pytest

from sojourn.runs.generator_lateness import LATE_REASON, lateness_error, only_late


def manifest(share: float | None, *reasons: str, **more: Any) -> dict[str, Any]:
    lateness = None if share is None else share / 2
    return {
        "status": "complete",
        "reasons": list(reasons),
        "checks": {
            "lateness can change": {"mean": share},
            "lateness share of response": {"mean": lateness, "p99": 0.5},
        },
        **more,
    }


def test_two_thirds_with_the_error_of_a_triangular_law() -> None:
    found = lateness_error(manifest(0.3))
    assert found.factor == pytest.approx(0.8)  # between 0.7 and 1 of what was measured
    assert found.error == pytest.approx(
        0.3 / math.sqrt(18) / 0.8
    )  # variance of a triangular law with its mode at an end: width² / 18
    assert lateness_error({}) == lateness_error(manifest(0.04)) == (1.0, 0.0)


def test_a_client_on_the_core_of_its_interrupts_is_part_of_the_system() -> None:
    assert lateness_error(manifest(0.2, placement={"client_shares": True})) == (1.0, 0.0)


def test_an_older_run_has_its_lateness_alone() -> None:
    old: dict[str, Any] = {
        "checks": {"lateness share of response": {"mean": 0.3}},
        "reasons": [f"{LATE_REASON}: it sent"],
    }
    assert lateness_error(old).factor == pytest.approx(0.8)
    assert lateness_error({**old, "reasons": []}) == (1.0, 0.0)


@pytest.mark.parametrize(
    ("share", "reasons", "usable"),
    [
        (0.05, [f"{LATE_REASON}: it sent 1 % 11 ms late"], True),
        (0.4, [f"{LATE_REASON}: it sent 4 ms late on average"], True),
        (None, [f"{LATE_REASON}: it sent 4 ms late on average"], False),
        (0.05, [f"{LATE_REASON}: late", "disturbed: the hypervisor took 9 %"], False),
        (0.05, [], False),
    ],
)
def test_which_runs_are_used(share: float, reasons: list[str], usable: bool) -> None:
    assert only_late(manifest(share, *reasons)) is usable
