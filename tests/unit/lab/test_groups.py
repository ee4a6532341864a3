"""Shares of the cores as control groups say them, version 1 and version 2, on a tree of files."""

from __future__ import annotations

import math
from pathlib import Path

import pytest

from sojourn.errors import LabError
from sojourn.lab import cgroups, cleanup_registry
from sojourn.lab.cgroups import QUOTA_PERIODS, QUOTA_USED_UP, CpuShareCgroup, quota_us


@pytest.fixture
def book(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> cleanup_registry.CleanupRegistry:
    monkeypatch.setattr(cleanup_registry, "directory", lambda: tmp_path)
    monkeypatch.setattr(cgroups, "group_parents", lambda *_: [tmp_path / "v"])
    return cleanup_registry.CleanupRegistry("0123ab")


def group(tmp_path: Path, **files: str) -> Path:
    """A group as the kernel would make it."""
    path = tmp_path / "v/sojourn-0123ab-server1"
    path.mkdir(parents=True)
    for name, text in files.items():
        (path / name.replace("_of_", ".")).write_text(text)
    return path


@pytest.mark.parametrize(
    ("cores", "quota", "period"),
    [
        (0.25, 2_500, 10_000),
        (1.0, 10_000, 10_000),
        (2.5, 25_000, 10_000),
        (0.05, 1_000, 20_000),
        (0.001, 1_000, 1_000_000),
    ],
)
def test_a_quota_is_the_share_of_its_period_and_never_too_small(cores: float, quota: int, period: int) -> None:
    assert quota_us(cores) == (quota, period)
    assert quota / period == pytest.approx(cores) and quota >= 1_000


def test_version_1(tmp_path: Path, book: cleanup_registry.CleanupRegistry) -> None:
    path = group(tmp_path, cpu_of_cfs_period_us="", cpu_of_cfs_quota_us="")
    share = CpuShareCgroup.make(book, path.name, 0.25)
    assert share.path == path and book.listed["cgroups"] == [str(path)]
    assert [(path / f"cpu.cfs_{name}_us").read_text() for name in ("quota", "period")] == ["2500", "10000"]


def test_version_2(tmp_path: Path, book: cleanup_registry.CleanupRegistry) -> None:
    path = group(tmp_path, cpu_of_max="", cgroup_of_procs="")
    CpuShareCgroup.make(book, path.name, 0.5).add(4711)
    assert (path / "cpu.max").read_text() == "5000 10000"
    assert (path / "cgroup.procs").read_text() == "4711"


def test_a_folder_that_is_no_group_is_refused_and_removed(
    tmp_path: Path, book: cleanup_registry.CleanupRegistry
) -> None:
    (tmp_path / "v").mkdir()
    with pytest.raises(LabError, match="no control group with a cpu quota"):
        CpuShareCgroup.make(book, "sojourn-0123ab-server1", 0.5)
    assert list((tmp_path / "v").iterdir()) == []
    assert book.listed["cgroups"], "it was written down before it was tried"


def test_periods_are_read_in_both_versions(tmp_path: Path) -> None:
    path = group(tmp_path, cpu_of_stat="usage_usec 9\nnr_periods 40\nnr_throttled 30\nthrottled_usec 5\n")
    share = CpuShareCgroup(path, 0.5)
    assert (share.counter(QUOTA_PERIODS), share.counter(QUOTA_USED_UP)) == (40.0, 30.0)
    (path / "cpu.stat").unlink()
    assert math.isnan(share.counter(QUOTA_PERIODS))
