"""What is said of the limit, from runs with a recorded CPU time: the law U = X D decides, with saturation rates that are given."""

from __future__ import annotations

from pathlib import Path

import pytest
from capacity.virtual_service import VirtualService

from sojourn.capacity import RateInterval
from sojourn.capacity.what_limits import what_limits
from sojourn.runs.run_folder import RunFolder

FULL = 2 / 0.006  # two workers of 6 ms


@pytest.fixture(scope="module")
def folders(tmp_path_factory: pytest.TempPathFactory) -> list[RunFolder]:
    service = VirtualService(tmp_path_factory.mktemp("runs"), workers=2, service_s=0.006, watched=True)
    return [service.run(rate, 10.0) for rate in (100.0, 250.0)]


@pytest.mark.parametrize(
    ("saturation", "name", "said"),
    [
        (RateInterval(330, 310, 350), "CPU of processes", "what limits it: CPU of processes, "),
        (RateInterval(200, 190, 210), "", "was not measured"),
        (RateInterval(300, 200, None), "", "cannot be determined"),
        (RateInterval(300, 200, 420), "", "one more run would show it: at 180 /s, or with --allow-saturation"),
        (None, "", "do not show where it saturates"),
    ],
)
def test_by_the_utilisation_law(
    folders: list[RunFolder], saturation: RateInterval | None, name: str, said: str
) -> None:
    found = what_limits(folders, 250.0, saturation)
    assert found.name == name and said in found.text
    assert bool(found.run) == (not name)
    if name:
        assert found.busy == pytest.approx(250 / FULL, rel=0.06)  # by 2500 exponential times


def test_where_nothing_was_watched_it_says_what_to_watch(tmp_path: Path) -> None:
    service = VirtualService(tmp_path)
    found = what_limits([service.run(100.0, 5.0)], 100.0, RateInterval(330, 310, 350))
    assert found.name == "" and "--service-pids" in found.run
