"""What this machine can do for a measurement, what it cannot, and what to install."""

from __future__ import annotations

import os
import secrets
import shutil
from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path

from sojourn.lab.cgroups import CpuShareCgroup
from sojourn.lab.cleanup_registry import CleanupRegistry
from sojourn.lab.cpu_topology import cores
from sojourn.lab.emulated_network import EmulatedNetwork
from sojourn.lab.guest_image import NFS, lacking_modules
from sojourn.lab.guest_parts import TCG, UML, WAYS, GuestParts, guest_parts
from sojourn.lab.loop_disk import SEARCHED
from sojourn.lab.namespaces import make_namespace
from sojourn.lab.real_time import GRANT, real_time
from sojourn.lab.slow_disk import LEAST_BYTES, slow_disk
from sojourn.lab.spinners import make_idle_group


@dataclass(frozen=True)
class AbilityCheck:
    """One ability: what was found, and what to do where it is lacking. `needed_for` says what is lost."""

    name: str
    works: bool
    finding: str
    needed_for: str
    remedy: str = ""


def quick_checks(sys_root: Path = Path("/sys")) -> list[AbilityCheck]:
    """What hosts of one's own need; changes nothing and takes no time."""
    root = os.geteuid() == 0
    steer = any((sys_root / "class/net").glob("*/queues/rx-0/rps_cpus"))
    return [
        AbilityCheck("root", root, "yes" if root else "no", "network namespaces, interrupt work, spinners", "run as root"),
        AbilityCheck("ip", shutil.which("ip") is not None, shutil.which("ip") or "not found", "network namespaces",
              "apt-get install iproute2"),
        AbilityCheck("receive steering", steer, "rps_cpus is there" if steer else "no rps_cpus under /sys/class/net",
              "putting interrupts on chosen cores", "use a kernel with CONFIG_RPS"),
    ]  # fmt: skip


def all_checks() -> list[AbilityCheck]:
    """Everything worth knowing; tries what can be tried, and removes what it made."""
    checks = quick_checks()
    able = all(check.works for check in checks)
    return [
        *checks,
        *([*_made(), _slow_disk(), _interrupt_work()] if able else []),
        _tried("real-time client", real_time, "sending on time under load", f"{GRANT} grants it"),
        *_facts(),
        guest_packages(guest_parts()),
        guest_nfs(guest_parts()),
    ]


def guest_packages(parts: GuestParts) -> AbilityCheck:
    """Whether what a guest is made of is installed; nothing is booted."""
    kinds = [name for way, name in WAYS.items() if not parts.missing(way)]
    lacking = f"without {', '.join(parts.missing(TCG))}; or {', '.join(parts.missing(UML))}"
    return AbilityCheck("guests", bool(kinds), ", ".join(kinds) or lacking, "lab vm only (an option)",
          "apt-get install --no-install-recommends " + " ".join(parts.missing(TCG)))  # fmt: skip


def guest_nfs(parts: GuestParts) -> AbilityCheck:
    """Whether guests of QEMU can have NFS between them; nothing is booted."""
    lacks = [*lacking_modules(parts, NFS), *([] if shutil.which("mkfs.ext4", path=SEARCHED) else ["mkfs.ext4"])]
    found = f"without {', '.join(lacks)}" if lacks else "client and server in the kernel of guests"
    return AbilityCheck("NFS in guests", not lacks, found, "studies/storage-vm only (an option)",
          "apt-get install --no-install-recommends linux-image-cloud-amd64 e2fsprogs")  # fmt: skip


def _tried(name: str, attempt: Callable[[], str], needed_for: str, remedy: str) -> AbilityCheck:
    try:
        return AbilityCheck(name, True, attempt(), needed_for, remedy)
    except Exception as error:  # a doctor reports whatever is wrong
        return AbilityCheck(name, False, str(error)[:200], needed_for, remedy)


def _made() -> list[AbilityCheck]:
    return [
        _making("network namespaces", lambda registry, token: make_namespace(registry, f"sojourn-{token}-client"),
                "hosts of their own", "use a kernel with CONFIG_NET_NS, as root"),
        _making("idle control group", make_idle_group,
                "unbiased soft-interrupt shares", "kernel >= 5.15, cpu controller, root"),
        _making("rate of a NIC", lambda registry, token: EmulatedNetwork(registry, token, ["server1"]).limit("server1", 1e8),
                "hosts on a slow network", "use a kernel with CONFIG_BRIDGE and CONFIG_NET_SCH_TBF, as root"),
        _making("share of the cores", lambda registry, token: CpuShareCgroup.make(registry, f"sojourn-{token}-server1", 0.5),
                "servers with less than a core", "use a kernel with CONFIG_CFS_BANDWIDTH, as root"),
    ]  # fmt: skip


def _making(name: str, make: Callable[[CleanupRegistry, str], object], needed_for: str, remedy: str) -> AbilityCheck:
    """Makes something that the registry removes again."""

    def attempt() -> str:
        token = secrets.token_hex(3)
        registry = CleanupRegistry(token)
        try:
            make(registry, token)
        finally:
            registry.close()
        return "created one and removed it"

    return _tried(name, attempt, needed_for, remedy)


def _slow_disk() -> AbilityCheck:
    def attempt() -> str:
        with slow_disk(1e6, LEAST_BYTES):
            return "created one and removed it"

    return _tried("slow disk", attempt, "lab disk: a disk of a chosen rate", "loop devices, FUSE, e2fsprogs, as root")


def _interrupt_work() -> AbilityCheck:
    def attempt() -> str:
        from sojourn import _native

        work = _native.IrqWork(["lo"], 9, [0.0] * 1024)
        del work
        return "briefly attached to loopback"

    return _tried("interrupt work", attempt, "a known soft-interrupt demand", "use a kernel >= 5.9 with BPF, as root")


def _facts() -> list[AbilityCheck]:
    found = cores()
    steal = _steal()
    pressure = Path("/proc/pressure/cpu").exists()
    return [
        AbilityCheck("cores", len(found) > 1, ", ".join(f"{c.number} (package {c.package})" for c in found),
              "spreading interrupts", "use a machine with at least 2 cores"),
        AbilityCheck("steal since boot", steal < 0.01, f"{steal:.2%}", "undisturbed runs", "move to a quieter host"),
        AbilityCheck("pressure (PSI)", pressure, "yes" if pressure else "no /proc/pressure", "pressure in host.parquet",
              "boot with psi=1"),
        AbilityCheck("browser", shutil.which("chromium") is not None, shutil.which("chromium") or "no chromium",
              "the report's browser test only", "apt-get install chromium"),
    ]  # fmt: skip


def _steal() -> float:
    fields = [float(x) for x in Path("/proc/stat").read_text().split("\n", 1)[0].split()[1:9]]
    return fields[7] / sum(fields)
