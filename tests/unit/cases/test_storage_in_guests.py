"""Storage in guests: what each is told, whose CPU time is whose, and what the figures come to; nothing is booted here."""

from __future__ import annotations

from pathlib import Path
from types import SimpleNamespace
from typing import Any

import polars as pl
import pytest

from sojourn.errors import InputError, LabError, StudyError
from sojourn.lab import GuestParts
from sojourn.study.checked_study import read_plan
from sojourn_cases.common import guest_kernel
from sojourn_cases.storage import storage_guest_pair, storage_in_guest
from sojourn_cases.storage.costs.storage_run_list import storage_design
from sojourn_cases.storage.guest_cpu import guest_cpu, told
from sojourn_cases.storage.simulated_storage import CpuCostByLayer, SimulatedStorageOptions, simulate_storage
from sojourn_cases.storage.storage_guest_pair import guest_disks, guest_pair, lacking, server_setup
from sojourn_cases.storage.storage_guests import StorageGuests, StorageGuestsLoad, StorageGuestsOptions, on_host_clock
from sojourn_cases.storage.storage_guests_analysis import (
    cost_lines,
    cost_table,
    explained_lines,
    parts_of_cost,
    stolen_line,
    storage_guests_analysis,
)

STUDY = Path(__file__).parents[3] / "studies/storage-vm"
LEVELS = {"read": (0, 1), "random": (0, 1), "block_kib": (4, 8), "path": ("local", "nfs"), "iops": (50, 200)}
# as kernel/time/timer_list.c prints it, a processor after the other
TIMER_LIST = """cpu: 0
  .tick_stopped   : 0
  .idle_jiffies   : 4294892296
  .idle_sleeptime : 1500000000 nsecs
  .iowait_sleeptime: 250000000 nsecs
  .last_jiffies   : 4294892296
cpu: 1
  .idle_sleeptime : 40 nsecs
  .iowait_sleeptime: 0 nsecs
"""


def test_the_study_is_a_factorial_with_runs_at_rest() -> None:
    plan = read_plan(STUDY, quick=True)
    busy = [point for point in plan.measured if point.factors["iops"]]
    assert len({tuple(point.factors.items()) for point in busy}) == 32 and len(busy) == 96
    assert sum(not point.factors["iops"] for point in plan.measured) == 18
    assert {point.factors["path"] for point in busy} == {"local", "nfs"}


def system(tmp_path: Path, **options: Any) -> StorageGuests:
    return StorageGuests(StorageGuestsOptions(**options), StorageGuestsLoad(**{"for": 1.0}), tmp_path)


def test_a_path_is_named_once(tmp_path: Path) -> None:
    with pytest.raises(InputError, match=r"\[system\] paths: 'nfs' twice; name each path once"):
        system(tmp_path, paths=["nfs", "local", "nfs"])


def test_there_are_two_paths(tmp_path: Path) -> None:
    assert system(tmp_path).settled({"path": "nfs", "iops": 30}, "here")["path"] == "nfs"
    with pytest.raises(InputError, match=r"path = 'nbd'.*local, nfs"):
        system(tmp_path).settled({"path": "nbd"}, "here")


def test_idle_time_is_that_of_all_processors_with_and_without_io() -> None:
    assert storage_in_guest.idle_s(TIMER_LIST) == pytest.approx(1.75 + 40e-9)
    with pytest.raises(RuntimeError, match="no idle_sleeptime"):
        storage_in_guest.idle_s("Timer List Version: v0.9\n")


def test_a_window_is_busy_for_what_it_is_not_idle(monkeypatch: pytest.MonkeyPatch) -> None:
    """Read at 10.0 and 12.5 s, idle for 1 s by then and for 3 s: of 2.5 s it was busy 0.5 s."""
    seen = iter([(10.0, 1.0), (12.5, 3.0)])
    monkeypatch.setattr(storage_in_guest, "_read", lambda at_s: next(seen))
    assert storage_in_guest.window(10.0, 12.5, None) == {"busy_s": 0.5, "over_s": 2.5}


def test_a_load_that_fails_in_the_guest_is_an_error(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(storage_in_guest, "_read", lambda at_s: (at_s, 0.0))
    with pytest.raises(RuntimeError, match="missing field `duration_s`"):
        storage_in_guest.window(1.0, 2.0, {"lanes": []})


def test_what_no_mount_can_be_is_an_error(tmp_path: Path) -> None:
    with pytest.raises(OSError, match="on "):
        storage_in_guest.mount("none", str(tmp_path / "here"), "no-such-file-system", "")


def test_the_hypervisor_has_what_the_guest_does_not_count() -> None:
    """Its threads ran 0.5 and 0.2 cores, and the guest was busy for 1.2 of 2 s: 0.6 of the 0.7 cores are the guest's."""
    parts = {"client CPU 0": 0.5, "client others": 0.2, "client waits": 0.01}
    found = guest_cpu(parts, "client", {"busy_s": 1.2, "over_s": 2.0})
    assert (found.guest_cores, found.cores) == (pytest.approx(0.6), pytest.approx(0.7))
    assert found.hypervisor_cores == pytest.approx(0.1) and found.stolen_cores == 0.01
    columns = told({"client": found, "server": found}, 1.6)
    assert columns["cpu_cores"] == pytest.approx(columns["guest_cores"] + columns["hypervisor_cores"])
    assert columns["machine_cores"] == 1.6


def test_times_of_the_guest_are_moved_to_the_clock_of_the_host() -> None:
    frame = pl.DataFrame(
        {"intended_s": [1.0, 2.0], "done_s": [1.5, float("nan")], "received_s": [0.0, 0.0], "bytes": [4096, 4096]}
    )
    moved = on_host_clock(frame, 100.0)
    assert (
        moved["intended_s"].to_list() == [101.0, 102.0] and moved["done_s"][0] == 101.5 and moved["done_s"].is_nan()[1]
    )
    assert moved["received_s"].to_list() == [0.0, 0.0] and moved["bytes"].to_list() == [4096, 4096]


def test_the_server_answers_what_its_kernel_would_ask() -> None:
    """fs/nfsd/export.c (svc_export_parse, expkey_parse) and net/sunrpc/svcauth_unix.c (ip_map_parse): the fields and their order."""
    said = server_setup(9000).splitlines()
    channel = {line.split("/rpc/")[1].split("/")[0]: line.split("'")[3].split() for line in said if "/channel" in line}
    assert channel["auth.unix.ip"] == ["nfsd", "10.0.9.2", "2147483647", "client"]
    assert channel["nfsd.export"] == ["client", "/export", "2147483647", str(0x2402), "65534", "65534", "0"]
    assert channel["nfsd.fh"] == ["client", "1", r"\x00000000", "2147483647", "/export"]
    # the caches before the threads, so that nobody asks in vain
    assert max(k for k, line in enumerate(said) if "/channel" in line) < said.index("echo 4 > /proc/fs/nfsd/threads")


def parts(tmp_path: Path, *modules: str) -> GuestParts:
    folder = tmp_path / "modules"
    folder.mkdir(exist_ok=True)
    (folder / "modules.dep").write_text("".join(f"kernel/fs/{name}.ko:\n" for name in modules))
    (folder / "modules.builtin").write_text("kernel/fs/ext4/ext4.ko\n")
    here = Path("/bin/sh")
    return GuestParts(here, here, folder, None, None, here)


def test_what_is_missing_is_named_with_its_package(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(storage_guest_pair.shutil, "which", lambda *_, **__: "/sbin/mkfs.ext4")
    assert lacking(parts(tmp_path, "nfsd", "nfsv4"), "tcg") == ""
    found = lacking(parts(tmp_path, "nfsv4"), "tcg")
    assert (
        found.startswith("the kernel of guests has no nfsd; run: apt-get install")
        and "linux-image-cloud-amd64" in found
    )
    monkeypatch.setattr(storage_guest_pair.shutil, "which", lambda *_, **__: None)
    assert lacking(parts(tmp_path, "nfsd", "nfsv4"), "tcg").endswith("e2fsprogs")
    none = GuestParts(None, None, None, None, None, None)
    with (
        pytest.raises(LabError, match="no qemu-system-x86"),
        guest_pair(none, "tcg", tmp_path, memory_mib=256, mtu=9000, cores=[0]),
    ):
        pass
    monkeypatch.setattr(guest_kernel, "guest_parts", lambda: none)
    assert "apt-get install" in system(tmp_path).why_not({})


def test_the_disks_are_gone_at_the_end(tmp_path: Path) -> None:
    if lacking(storage_guest_pair.GuestParts(Path(), Path(), None, None, None, Path()), "tcg").find("mkfs") >= 0:
        pytest.skip("needs e2fsprogs")
    with guest_disks(tmp_path, 1 << 20) as folder:
        # ext4's superblock is at 1024, its magic number at 56 of that (Documentation/filesystems/ext4/super.rst)
        assert all((folder / name).read_bytes()[1080:1082] == b"\x53\xef" for name in ("client", "server"))
        assert sorted(path.name for path in folder.iterdir()) == ["client", "owner.json", "server"]
    assert not list(tmp_path.iterdir())
    with pytest.raises(LabError, match="No such file"), guest_disks(tmp_path / "none", 1 << 20):
        pass


TRUTH = SimulatedStorageOptions(
    paths={
        "local": CpuCostByLayer(interrupt_us=100, protocol_us=300, copy_us_per_kib=2),
        "nfs": CpuCostByLayer(interrupt_us=200, protocol_us=900, copy_us_per_kib=8),
    },
    meter_cores=0.001, background_spread=0.001,
)  # fmt: skip


def runs(seed: int = 1) -> pl.DataFrame:
    """Of a guest whose costs are known; its hypervisor takes a quarter of that on either path."""
    found = simulate_storage(storage_design(LEVELS, 3, 18, seed), TRUTH, seed).drop("server_cores", "ticks_cores")
    return found.with_columns(
        guest_cores=pl.col("cpu_cores"), hypervisor_cores=0.25 * pl.col("cpu_cores"), cpu_cores=1.25 * pl.col("cpu_cores"),
        stolen_cores=0.05 * pl.col("cpu_cores"), server_guest_cores=pl.lit(0.01), server_hypervisor_cores=pl.lit(0.0),
        server_vm_cores=pl.lit(0.01), machine_cores=1.5 * pl.col("cpu_cores"), verdict=pl.lit(""),
    )  # fmt: skip


def test_costs_by_part_are_those_that_were_put_in() -> None:
    true = {name: float(path.mean_us()) for name, path in TRUTH.paths.items()}
    by = {part.name: part for part in parts_of_cost(runs())}
    for name, share in (("guest", 1.0), ("hypervisor", 0.25), ("sum", 1.25)):
        for path, us in true.items():
            assert 1e6 * by[name].by_path[path].seconds == pytest.approx(share * us, rel=0.1)
        ratio = by[name].ratio
        assert ratio is not None and ratio[1] < true["nfs"] / true["local"] < ratio[2]
    assert by["server's virtual machine"].ratio is None, "it works for one path alone"


def test_a_path_that_is_cheaper_has_a_ratio_below_one() -> None:
    swapped = runs().with_columns(pl.col("path").replace({"local": "nfs", "nfs": "local"}))
    ratio = parts_of_cost(swapped)[0].ratio
    assert ratio is not None and ratio[1] < ratio[0] < ratio[2] < 1


def test_lines_have_the_documents_figures_beside_ours() -> None:
    found = parts_of_cost(runs())
    lines = list(cost_lines(found))
    assert (
        lines[0].startswith("local, us of CPU an I/O: guest ") and "in the document 1.96 (41 us and 81 us" in lines[-1]
    )
    assert [row[0] for row in cost_table(found).rows][:3] == ["guest", "hypervisor", "sum"]
    assert next(explained_lines(runs())).startswith("of the variation of CPU per I/O the path explains: guest 9")


def test_a_virtual_cpu_that_waits_is_told_of() -> None:
    assert stolen_line(runs()) == ""
    assert "for a core for 50 %" in stolen_line(runs().with_columns(stolen_cores=0.5 * pl.col("guest_cores"))).replace(
        "50%", "50 %"
    )


def test_a_study_of_marked_runs_alone_says_so(tmp_path: Path) -> None:
    factors = {"read": 1.0, "random": 1.0, "block_kib": 4, "path": "nfs", "iops": 50}
    manifest = {
        "section": "effects", "factors": factors, "repetition": 1,
        "storage": {"completed": 90, "achieved_iops": 45.0, "cpu_cores": 0.1, "guest_cores": 0.1, "verdict": "disturbed"},
    }  # fmt: skip
    found: Any = SimpleNamespace(runs=[SimpleNamespace(manifest=manifest)], folder=tmp_path)
    lines = storage_guests_analysis(found, found, {"section": "effects"}).lines
    assert lines[0] == "no run of effects counts" and "1 runs are marked" in lines[1]


def test_options_of_the_analysis() -> None:
    nothing: Any = SimpleNamespace(runs=[], folder=Path())
    assert storage_guests_analysis(nothing, nothing, {"section": "effects"}).lines == ("there is no storage run",)
    with pytest.raises(StudyError, match="give section"):
        storage_guests_analysis(nothing, nothing, {})


def test_each_path_has_a_ratio_to_the_local_one() -> None:
    """Of a third path that costs half as much as NFS."""
    half = runs().filter(pl.col("path") == "nfs").with_columns(path=pl.lit("iscsi"))
    parts = ["guest_cores", "hypervisor_cores", "cpu_cores", "machine_cores"]
    rest = runs().filter(pl.col("iops") == 0)
    half = half.with_columns((pl.col(name) + rest[name].mean()) / 2 for name in parts)  # what is above the background
    three = pl.concat([runs(), half.filter(pl.col("iops") > 0)])
    guest = parts_of_cost(three)[0]
    nfs, iscsi = guest.ratios["nfs"], guest.ratios["iscsi"]
    assert nfs and iscsi and iscsi[0] == pytest.approx(nfs[0] / 2, rel=0.02)
    lines = list(cost_lines(parts_of_cost(three)))
    assert lines[-2].startswith("ratio of the paths, iscsi to local: guest ") and "document" not in lines[-2]
    assert "nfs to local" in lines[-1] and "in the document 1.96" in lines[-1]
    table = cost_table(parts_of_cost(three))
    assert {len(row) for row in table.rows} == {len(table.columns)}
