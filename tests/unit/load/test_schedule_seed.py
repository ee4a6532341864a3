"""Seeds of schedules: issue 29, point 3. Level 2 of every measurement had seed 2, so all services were sent the same gaps."""

from __future__ import annotations

import hashlib
from contextlib import nullcontext
from importlib import import_module
from pathlib import Path
from typing import Any

import pytest

import sojourn as sj
from sojourn.load.schedule_seed import fresh_seed, run_seed
from sojourn.runs.run_folder import RunFolder


def test_a_seed_is_another_for_each_series_and_level_and_repeats() -> None:
    seeds = [run_seed(series, f"rate-{rate}") for series in range(100) for rate in (50, 100, 150)]
    assert len(set(seeds)) == 300 and all(0 <= seed < 2**48 for seed in seeds)  # exact as a number of JSON
    assert run_seed(7, "rate-50") == run_seed(7, "rate-50")
    assert len({fresh_seed() for _ in range(100)}) == 100  # by chance equal in one of 400 000 tries


def test_a_run_seed_is_the_hash_that_it_says() -> None:
    """The first 48 bits of `printf 1/rate-50 | sha256sum`."""
    assert f"{run_seed(1, 'rate-50'):012x}" == hashlib.sha256(b"1/rate-50").hexdigest()[:12]


@pytest.fixture
def seeds(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> Any:
    """Name of each level → its seed and that of the series, of a measurement that sends nothing."""

    def run(**options: Any) -> dict[str, tuple[int, int]]:
        found: dict[str, tuple[int, int]] = {}

        def measured(_out: Path, loads: Any, what: Any, *_more: Any) -> list[RunFolder]:
            found.update({name: (load["seed"], what[name]["series_seed"]) for name, load in loads.items()})
            assert all(load["realtime"] for load in loads.values())  # point 1: it never asked
            return []

        module = import_module("sojourn.measure.measure")  # `sojourn.measure` shows a function of this name
        monkeypatch.setattr(module, "_measured", measured)
        monkeypatch.setattr(module, "only_one", nullcontext)  # others may measure
        sj.measure("http://192.0.2.1/", tmp_path / "out", rates_per_s=[50, 100], duration_s=1.0, **options)
        return found

    return run


def test_measurements_differ_are_told_and_repeat(seeds: Any) -> None:
    first, second = seeds(), seeds()
    assert len({seed for seed, _ in (*first.values(), *second.values())}) == 4
    series = {one for _, one in first.values()}
    assert len(series) == 1 and seeds(seed=series.pop()) == first
