"""A series of blocks at two URLs, whose runs are made up: its seeds, its folder, and that it is answered once."""

from __future__ import annotations

import sys
from pathlib import Path
from types import SimpleNamespace
from typing import Any

import pytest

from sojourn.compare import InterleavedLimits, RunValues, compare_commands, compare_urls
from sojourn.errors import InputError, Interrupted, RunFolderError

MODULE = "sojourn.compare.compare_urls"
URLS = ("http://127.0.0.1:1/", "http://127.0.0.1:2/")


@pytest.fixture
def made(monkeypatch: pytest.MonkeyPatch) -> list[tuple[str, str, int]]:
    """Side, block and seed of each run; the fourth block is interrupted."""
    found: list[tuple[str, str, int]] = []

    def measure(_urls: Any, out: Path, *, seed: int, **_load: Any) -> list[SimpleNamespace]:
        if out.name == "block-04":
            raise Interrupted("Ctrl-C", "test", "none")
        found.append((out.parent.name, out.name, seed))
        out.mkdir(parents=True, exist_ok=True)
        return [SimpleNamespace(name=out.name, manifest={})]

    module = sys.modules[MODULE]  # `sojourn.compare.compare_urls` is the function
    monkeypatch.setattr(module, "measure", measure)
    monkeypatch.setattr(module, "run_values", lambda out: RunValues(out.name, {"mean": 0.01}, {}, out.name))
    return found


def compared(out: Path, blocks: int, seed: int | None = None, **more: Any) -> tuple[str, ...]:
    limits = InterleavedLimits(blocks, seed=seed)
    return compare_urls(
        *URLS, rate_per_s=50, out=out, limits=limits, level=0.5, **more
    ).notes  # where two blocks are enough


def test_blocks_share_a_seed_within_and_none_between(tmp_path: Path, made: list[tuple[str, str, int]]) -> None:
    compared(tmp_path / "one", 3, seed=1)
    first = {(side, block): seed for side, block, seed in made}
    assert all(first["a", block] == first["b", block] for _, block in first)
    made.clear()
    compared(tmp_path / "two", 3, seed=2)
    assert len(set(first.values()) | {seed for *_, seed in made}) == 6, "block 2 of seed 1 is not block 1 of seed 2"


def test_a_seed_that_nobody_gave_is_another_each_time_and_told(
    tmp_path: Path, made: list[tuple[str, str, int]]
) -> None:
    one, two = (compared(tmp_path / name, 2)[-1] for name in ("one", "two"))
    assert one != two and one.startswith("order and repeat the same schedules with --seed ")
    made.clear()
    compared(tmp_path / "again", 2, seed=int(one.split()[-1]))
    with pytest.raises(RunFolderError, match="its runs have the seed"):
        compared(tmp_path / "again", 2, seed=int(two.split()[-1]))


def test_a_series_that_was_answered_takes_no_more_blocks(tmp_path: Path, made: list[tuple[str, str, int]]) -> None:
    told = compared(tmp_path, 2)
    assert compared(tmp_path, 2) == told, "the same answer again is no other look"
    made.clear()
    with pytest.raises(RunFolderError, match="evaluated with 2 blocks.*begin a new series"):
        compared(tmp_path, 3)
    assert made == []


def test_a_series_that_was_interrupted_goes_on_with_its_seed(tmp_path: Path, made: list[tuple[str, str, int]]) -> None:
    with pytest.raises(Interrupted):
        compared(tmp_path, 5)
    before = list(made)
    made.clear()
    with pytest.raises(Interrupted):
        compared(tmp_path, 5)
    assert len(before) == 6 and made == before


def test_a_metric_that_no_run_has_is_refused_before_the_first(tmp_path: Path, made: list[tuple[str, str, int]]) -> None:
    with pytest.raises(InputError, match="p42"):
        compared(tmp_path, 2, metrics=["p42"])
    assert made == []
    mark = tmp_path / "ran"
    with pytest.raises(InputError, match="use one of time, cpu"):
        compare_commands(["touch", str(mark)], ["true"], metrics=["mean"])
    assert not mark.exists()
