"""Groups that count CPU time, on a tree of files: made when asked for, none where a process may not be moved there."""

from __future__ import annotations

from importlib import import_module
from pathlib import Path

import pytest

from sojourn.lab import cgroups, cleanup_registry
from sojourn.lab.cgroups import in_group
from sojourn.lab.counted_groups import CountedGroups


@pytest.fixture
def registry(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> cleanup_registry.CleanupRegistry:
    monkeypatch.setattr(cleanup_registry, "directory", lambda: tmp_path)
    monkeypatch.setattr(cgroups, "group_parents", lambda *_: [tmp_path / "v"])
    return cleanup_registry.CleanupRegistry("0123ab")


def as_the_kernel_does(parent: Path, *parts: str) -> None:
    for part in parts:
        group = parent / f"sojourn-0123ab-{part}"
        group.mkdir(parents=True)
        (group / "cpu.stat").write_text("usage_usec 0\n")
        (group / "cgroup.procs").write_text("")


def test_each_part_has_a_group_once(tmp_path: Path, registry: cleanup_registry.CleanupRegistry) -> None:
    as_the_kernel_does(tmp_path / "v", "client", "database")
    groups = CountedGroups(registry, "0123ab")
    assert groups.made
    assert groups.path("database") == groups.path("database") == str(tmp_path / "v/sojourn-0123ab-database")
    assert registry.listed["cgroups"] == [str(tmp_path / f"v/sojourn-0123ab-{part}") for part in ("client", "database")]


def test_a_part_that_the_registry_would_not_remove_is_refused(
    tmp_path: Path, registry: cleanup_registry.CleanupRegistry
) -> None:
    as_the_kernel_does(tmp_path / "v", "client")
    with pytest.raises(AssertionError, match="Servers: the registry would not remove it"):
        CountedGroups(registry, "0123ab").path("Servers")


def test_there_are_none_where_no_group_counts(tmp_path: Path, registry: cleanup_registry.CleanupRegistry) -> None:
    (tmp_path / "v").mkdir()
    groups = CountedGroups(registry, "0123ab")
    assert not groups.made and groups.path("database") is None


def test_there_are_none_where_processes_may_not_be_moved(
    tmp_path: Path, registry: cleanup_registry.CleanupRegistry, monkeypatch: pytest.MonkeyPatch
) -> None:
    def refused(*_: object) -> None:
        raise PermissionError

    as_the_kernel_does(tmp_path / "v", "client")
    monkeypatch.setattr(import_module("sojourn.lab.counted_groups"), "write", refused)
    assert not CountedGroups(registry, "0123ab").made


def test_a_command_begins_in_its_group() -> None:
    assert in_group("/sys/fs/cgroup/x", ["nginx", "-g"])[-3:] == ["/sys/fs/cgroup/x/cgroup.procs", "nginx", "-g"]
