"""A machine that lacks something: what is said, and where the study then runs."""

from __future__ import annotations

import os
from pathlib import Path

import pytest

from sojourn.errors import LabError, PermissionLacking
from sojourn.lab import backends, cleanup_registry, doctor
from sojourn.lab.backends import LoopbackBackend


@pytest.fixture(autouse=True)
def registries(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(cleanup_registry, "directory", lambda: tmp_path)


def machine(tmp_path: Path, steering: bool) -> Path:
    queue = tmp_path / "sys/class/net/eth0/queues/rx-0"
    queue.mkdir(parents=True)
    if steering:
        (queue / "rps_cpus").write_text("0")
    return tmp_path / "sys"


@pytest.mark.parametrize("steering", [True, False])
def test_receive_steering_is_looked_for(tmp_path: Path, steering: bool) -> None:
    check = {c.name: c for c in doctor.quick_checks(machine(tmp_path, steering))}["receive steering"]
    assert check.works is steering
    assert check.remedy == "use a kernel with CONFIG_RPS"


def without_steering(monkeypatch: pytest.MonkeyPatch, sys_root: Path, uid: int) -> None:
    checks = doctor.quick_checks
    monkeypatch.setattr(os, "geteuid", lambda: uid)
    monkeypatch.setattr(doctor, "quick_checks", lambda: checks(sys_root))


def test_a_kernel_without_receive_steering_is_named(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    without_steering(monkeypatch, machine(tmp_path, steering=False), uid=0)
    message = "receive steering: no rps_cpus under .*CONFIG_RPS.*lab.kind = 'auto'"
    with pytest.raises(LabError, match=message), backends.environment("namespaces"):
        pass
    with backends.environment("auto") as place:
        assert isinstance(place, LoopbackBackend)
        assert any("CONFIG_RPS" in why for why in place.not_shown)


def test_a_plain_user_is_told_of_root(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    without_steering(monkeypatch, machine(tmp_path, steering=True), uid=1000)
    with pytest.raises(PermissionLacking, match="root: no"), backends.environment("namespaces"):
        pass
    with backends.environment("auto") as place:
        assert isinstance(place, LoopbackBackend)
        assert any(why.startswith("root: no") for why in place.not_shown)


def test_loopback_has_one_nic_and_says_why(tmp_path: Path) -> None:
    with pytest.raises(LabError, match="nics = 2.*root"):
        LoopbackBackend([]).arrange(2, 2)


def test_books_that_cannot_be_opened_are_named(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(cleanup_registry, "directory", lambda: tmp_path / "nowhere")
    with (
        pytest.raises(LabError, match=r"nowhere/lock.*: No such file.*change its owner"),
        cleanup_registry.only_one("test"),
    ):
        pass


def test_a_control_group_that_resists_stays_in_its_book(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """The next start must find it; a registry that is thrown away too early leaves it for ever."""
    group = "/sys/fs/cgroup/sojourn-0123ab"
    monkeypatch.setattr(cleanup_registry, "_remove_group", lambda path: False)
    monkeypatch.setattr(cleanup_registry, "_left", lambda listed, since: listed["cgroups"] == [group])
    registry = cleanup_registry.CleanupRegistry("0123ab")
    registry.add(cgroup=group)
    registry.close()
    assert registry.path.exists()
