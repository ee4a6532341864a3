"""iSCSI between guests: what each is told, and what is said where it cannot be; nothing is booted here."""

from __future__ import annotations

from pathlib import Path

import pytest

from sojourn.errors import InputError
from sojourn.lab import GuestParts
from sojourn.study.checked_study import read_plan
from sojourn_cases.common import guest_kernel
from sojourn_cases.storage import storage_guest_pair, storage_in_guest
from sojourn_cases.storage.storage_guest_pair import guest_disks, lacking, server_setup
from sojourn_cases.storage.storage_guests import StorageGuestsOptions

STUDY = Path(__file__).parents[3] / "studies/storage-vm"


def test_three_paths_have_a_study_of_their_own() -> None:
    plan = read_plan(STUDY / "iscsi.toml", quick=True)
    busy = [point for point in plan.measured if point.factors["iops"]]
    assert {point.factors["path"] for point in busy} == {"local", "nfs", "iscsi"} and len(busy) == 36
    assert sum(not point.factors["iops"] for point in plan.measured) == 6


def test_the_server_gives_a_disk_out_to_the_client_alone() -> None:
    """The folders and files of configfs: Documentation/target/tcm_mod_builder.rst and drivers/target/iscsi/iscsi_target_configfs.c."""
    said = server_setup(9000, ("local", "iscsi")).splitlines()
    target = "/sys/kernel/config/target"
    group = f"{target}/iscsi/iqn.2026-11.example.sojourn:disk/tpgt_1"
    client = f"{group}/acls/iqn.2026-11.example.sojourn:client/lun_0"
    in_order = [
        "$b mount -t configfs configfs /sys/kernel/config",
        f"echo udev_path=/dev/vdb > {target}/core/iblock_0/disk/control",
        f"echo 1 > {target}/core/iblock_0/disk/enable",
        f"$b mkdir {group}/np/10.0.9.1:3260",
        f"$b mkdir -p {client}",
        f"$b ln -s {group}/lun/lun_0 {client}/disk",
        f"echo 1 > {group}/enable",
    ]
    places = [said.index(line) for line in in_order]
    assert places == sorted(places) and "generate_node_acls" not in "".join(said)
    assert "/target" not in server_setup(9000)


def parts(tmp_path: Path, *modules: str) -> GuestParts:
    (tmp_path / "modules.dep").write_text("".join(f"kernel/fs/{name}.ko:\n" for name in (*modules, "ext4")))
    here = Path("/bin/sh")
    return GuestParts(here, here, tmp_path, None, None, here)


def test_iscsi_needs_a_program_for_its_login(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(
        storage_guest_pair.shutil, "which", lambda name, **_: None if name == "iscsistart" else f"/sbin/{name}"
    )
    modules = ("nfsd", "nfsv4", "iscsi_tcp", "sd_mod", "target_core_mod", "target_core_iblock", "iscsi_target_mod")
    have = parts(tmp_path, *modules, "configfs", "crc32c_generic")
    assert lacking(have, "tcg") == ""
    found = lacking(have, "tcg", ("local", "iscsi"))
    assert found == "no iscsistart; run: apt-get install --no-install-recommends open-iscsi"


def test_a_disk_is_attached_by_a_command(tmp_path: Path) -> None:
    there = tmp_path / "sda"
    storage_in_guest.attach(["sh", "-c", f"touch {there}"], there)
    with pytest.raises(RuntimeError, match="sh ended with 3: no route"):
        storage_in_guest.attach(["sh", "-c", "echo no route >&2; exit 3"], there)
    with pytest.raises(RuntimeError, match=r"no .*sdb within 0.1 s"):
        storage_in_guest.attach(["true"], tmp_path / "sdb", limit_s=0.1)
    with pytest.raises(RuntimeError, match=r"sleep did not end within 0.1 s"):
        storage_in_guest.attach(["sleep", "9"], there, limit_s=0.1)


def test_a_kernel_of_ones_own_is_that_of_both_guests(tmp_path: Path) -> None:
    (tmp_path / "vmlinuz").write_bytes(bytes(0x202) + b"HdrS" + bytes(8))  # of a bzImage (test_guest_kernel.py)
    have = guest_kernel.parts_of(StorageGuestsOptions(kernel="vmlinuz"), tmp_path)
    assert (have.kernel, have.modules) == (tmp_path / "vmlinuz", None)
    with pytest.raises(InputError, match=r"\[system\] modules: lib; set kernel, too"):
        guest_kernel.parts_of(StorageGuestsOptions(modules="lib"), tmp_path)


def test_the_server_has_a_disk_more(tmp_path: Path) -> None:
    if storage_guest_pair.shutil.which("mkfs.ext4", path=storage_guest_pair.SEARCHED) is None:
        pytest.skip("needs e2fsprogs")
    with guest_disks(tmp_path, 1 << 20, ("local", "iscsi")) as folder:
        assert sorted(path.name for path in folder.iterdir()) == ["client", "owner.json", "server", "target"]
