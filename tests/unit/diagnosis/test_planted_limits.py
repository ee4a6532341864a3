"""Services whose limit was planted: one of each kind of those that benches/diagnosis has sixty of."""

from __future__ import annotations

import sys
from pathlib import Path

import pytest

from sojourn.diagnosis.load_levels import diagnose

sys.path.insert(0, str(Path(__file__).parents[3] / "benches" / "diagnosis"))
from limited_services import LIMITS, is_right, planted


@pytest.mark.parametrize("limit", LIMITS)
def test_a_planted_limit_is_found(limit: str, tmp_path: Path) -> None:
    service = planted(2, limit)
    (found,) = diagnose(service.measure(tmp_path)).values()
    assert is_right(service, found.kind), f"{found.kind}: {found.sentence}"


def test_a_service_is_full_where_it_was_planted(tmp_path: Path) -> None:
    """A closed form of the bench itself: at 1.3 times the rate that it is planted to be full at, as many leave as that."""
    for limit in ("cores", "lock", "pool", "disk"):
        service = planted(7, limit)
        run = service.run(1.3 * service.full_per_s, 0, tmp_path / limit)
        metrics = run.metrics()
        assert metrics.value("throughput") == pytest.approx(service.full_per_s, rel=0.08), limit


@pytest.mark.parametrize(("seed", "kinds"), [(305, ("client", "unknown")), (408, ("client",))])
def test_a_client_on_the_cores_of_the_service_is_no_unseen_lock(
    seed: int, kinds: tuple[str, ...], tmp_path: Path
) -> None:
    """Issue 29, point 8. 305: both together are 77 % busy; 408: they are full, and a disk is busier than the service's share alone."""
    (found,) = diagnose(planted(seed, "client").measure(tmp_path)).values()
    assert found.kind in kinds, found.sentence
