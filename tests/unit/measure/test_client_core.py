"""The generator's core: issue 29, point 1. With defaults 10 of 13 runs were invalid, away from the service none of 3."""

from __future__ import annotations

from pathlib import Path

import pytest

from sojourn.measure import client_core
from sojourn.measure.client_core import client_cores


def stat(proc: Path, busy: list[int]) -> None:
    """Ticks of each core in user mode."""
    (proc / "stat").write_text(
        "cpu 0\n" + "".join(f"cpu{k} {ticks} 0 0 9 0 0 0 0 0 0\n" for k, ticks in enumerate(busy))
    )


@pytest.mark.parametrize(
    ("service", "lanes", "cores"),
    [
        ([0], 1, (1,)),  # one of two
        ([0, 1], 1, ()),  # it may use all: the scheduler chooses
        ([], 1, ()),  # nobody knows
        ([0], 4, (1,)),
    ],
)
def test_of_two_cores(service: list[int], lanes: int, cores: tuple[int, ...]) -> None:
    assert client_cores(service, lanes, {0, 1}) == cores


@pytest.mark.parametrize(
    ("busy", "lanes", "cores"), [([0, 0, 0, 0], 1, (3,)), ([0, 2, 0, 20], 1, (2,)), ([0, 0, 0, 20], 3, (1, 2, 3))]
)
def test_the_quiet_one_of_several(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, busy: list[int], lanes: int, cores: tuple[int, ...]
) -> None:
    """While it looks for 0.2 s, core 3 is busy for 20 ticks of 10 ms."""
    stat(tmp_path, [0] * 4)
    monkeypatch.setattr(client_core.time, "sleep", lambda _s: stat(tmp_path, busy))
    assert client_cores([0], lanes, {0, 1, 2, 3}, proc=tmp_path) == cores
