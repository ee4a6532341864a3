"""What a crashed lab left is removed; what belongs to a living one, or is not of our pattern, is not touched."""

import json
import os
import subprocess
import sys
import time
from pathlib import Path

import pytest

from sojourn.errors import Busy
from sojourn.lab import cleanup_registry, process_tree


@pytest.fixture(autouse=True)
def registries(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    monkeypatch.setattr(cleanup_registry, "directory", lambda: tmp_path)
    return tmp_path


def write(path: Path, pid: int, started: str, **more: list[str]) -> None:
    path.write_text(json.dumps({"pid": pid, "started": started, "namespaces": [], "cgroups": [], **more}))


def test_the_registry_of_a_living_process_is_left_alone(registries: Path) -> None:
    write(registries / "lab-aa.json", os.getpid(), cleanup_registry.start_time(os.getpid()) or "")
    assert cleanup_registry.clean_stale() == []
    assert (registries / "lab-aa.json").exists()


def test_the_registry_of_a_reused_process_id_is_stale(registries: Path) -> None:
    write(registries / "lab-aa.json", os.getpid(), "1")
    cleanup_registry.clean_stale()
    assert not (registries / "lab-aa.json").exists()


def test_names_that_are_not_ours_are_never_removed(registries: Path) -> None:
    """A damaged or forged registry must not be able to remove somebody else's namespace or directory."""
    precious = registries / "precious"
    precious.mkdir()
    write(
        registries / "lab-aa.json",
        1,
        "0",
        namespaces=["production", "../x"],
        cgroups=[str(precious), "/sys/fs/cgroup/cpu"],
    )
    assert cleanup_registry.clean_stale() == []
    assert precious.exists()


@pytest.mark.parametrize(
    "host",
    ["client", "server", "switch", "server1", "server16", "proxy9", "proxy10", "client2", "web1", "application4"],
)
def test_hosts_of_ours_are_known(host: str) -> None:
    assert cleanup_registry.NAMESPACE.fullmatch(f"sojourn-0123ab-{host}")


@pytest.mark.parametrize(
    "name",
    ["sojourn-0123ab", "sojourn-0123ab-", "sojourn-0123ab-server0", "sojourn-0123ab-server100", "sojourn-0123ab-client1",
     "sojourn-0123ab-switch1", "sojourn-0123ab-proxy", "sojourn-0123ab-proxy1/..", "sojourn-0123AB-client", "sojourn-switch",
     "x-sojourn-0123ab-server1"],
)  # fmt: skip
def test_other_hosts_are_not_ours(name: str) -> None:
    assert not cleanup_registry.NAMESPACE.fullmatch(name)


@pytest.mark.parametrize(
    "group",
    ["cpu/sojourn-0123ab-server1", "a/b/sojourn-0123ab-proxy16", "cpuacct/sojourn-0123ab-application2",
     "cpuacct/sojourn-0123ab-server"],
)  # fmt: skip
def test_the_group_of_a_host_or_a_tier_is_ours(group: str) -> None:
    assert cleanup_registry.CGROUP.fullmatch(f"/sys/fs/cgroup/{group}")


@pytest.mark.parametrize(
    "group",
    [
        "cpu/sojourn-0123ab-Clients",
        "cpu/sojourn-0123ab-application100",
        "cpu/sojourn-0123ab-server_1",
        "cpu/sojourn-0123ab-server1/x",
    ],
)
def test_other_groups_are_not_ours(group: str) -> None:
    assert not cleanup_registry.CGROUP.fullmatch(f"/sys/fs/cgroup/{group}")


@pytest.mark.parametrize("group", ["sojourn-0123ab", "cpu/sojourn-0123ab", "cpu/a.slice/b@1:2.scope/sojourn-0123ab"])
def test_a_control_group_of_ours_is_known_wherever_it_was_made(group: str) -> None:
    assert cleanup_registry.CGROUP.fullmatch(f"/sys/fs/cgroup/{group}")


@pytest.mark.parametrize("group", ["../sojourn-0123ab", "cpu/../../sojourn-0123ab", "cpu/sojourn-0123ab/x", "cpu"])
def test_a_path_that_leads_elsewhere_is_not_ours(group: str) -> None:
    assert not cleanup_registry.CGROUP.fullmatch(f"/sys/fs/cgroup/{group}")


def test_two_measurements_at_once_are_refused_by_name() -> None:
    busy = pytest.raises(Busy, match=rf"process {os.getpid()}, study web")
    with cleanup_registry.only_one("study web"), busy, cleanup_registry.only_one("measure"):
        pass
    with cleanup_registry.only_one("measure"):
        pass


def test_processes_with_the_mark_of_a_dead_registry_are_ended(registries: Path) -> None:
    """And no others: a mark that is no token of ours is not looked for."""
    marked, other = (
        subprocess.Popen(
            [sys.executable, "-c", "import time; time.sleep(60)"], env={**os.environ, cleanup_registry.MARK: mark}
        )
        for mark in ("0a1b2c", "0a1b2d")
    )
    write(registries / "lab-0a1b2c.json", 1, "0", marks=["0a1b2c", "", "x=y"])
    try:
        while not process_tree.marked(f"{cleanup_registry.MARK}=0a1b2c"):  # until it has begun
            time.sleep(0.01)
        (removed,) = cleanup_registry.clean_stale()
        assert removed.startswith(f"process {marked.pid} ") and marked.wait(10) == -9
        assert other.poll() is None and not (registries / "lab-0a1b2c.json").exists()
    finally:
        for one in (marked, other):
            one.kill()
            one.wait()
