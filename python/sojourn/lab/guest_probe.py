"""Which guests can be had on this machine: each kind is booted once, asked what it has, and ended."""

from __future__ import annotations

import subprocess
import time
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path

from sojourn.errors import LabError
from sojourn.lab.guest import Guest, guest
from sojourn.lab.guest_command import GuestShape
from sojourn.lab.guest_image import LOOP
from sojourn.lab.guest_parts import KVM, TCG, UML, WAYS, GuestParts, guest_parts

LIMIT_S = {KVM: 15.0, TCG: 60.0, UML: 30.0}  # until it is ready
LOOP_LIMIT_S = 60.0
TRIES = 3
# A KVM without the processor's help (Huang et al., PVM, SOSP 2023): only a kernel that was built for it runs on the processor itself.
PVM = "module/kvm_pvm"
PVM_INTERPRETS = "KVM of this host is PVM, which interprets each instruction of a kernel that was not built for it"
PVM_REMEDY = "use another kind, or give a kernel built with CONFIG_PVM_GUEST: --kernel FILE"


@dataclass(frozen=True)
class GuestFound:
    """A kind of guest: whether it boots here, and if so how long that takes and what it has.

    `slowdown`: times as slow as the host in a loop of busybox's shell; `kernel_nfs_support`: which of nfs, nfs4, nfsd its kernel has.
    """

    kind: str
    boots: bool
    finding: str
    remedy: str = ""
    boot_s: float | None = None
    slowdown: float | None = None
    kernel: str | None = None
    cpus: int | None = None
    nics: tuple[str, ...] = ()
    kernel_nfs_support: tuple[str, ...] = ()


def probe_guests(
    parts: GuestParts | None = None, dev: Path = Path("/dev"), ways: Sequence[str] = tuple(WAYS)
) -> Iterator[GuestFound]:
    """Each kind in turn, as soon as it is known; at most two minutes together."""
    have = parts or guest_parts()
    for way in ways:
        yield probe_guest(have, way, dev)


def probe_guest(parts: GuestParts, way: str, dev: Path = Path("/dev"), sys_root: Path = Path("/sys")) -> GuestFound:
    """One kind."""
    try:
        parts.check(way)
        if way == KVM and not (dev / "kvm").exists():
            return GuestFound(way, False, "no /dev/kvm", "use a machine with KVM, or switch on nested virtualisation")
        shape = GuestShape(cpus=1) if way == UML else GuestShape(cpus=2, ports=(None, None))
        with guest(parts, way, shape, ready_s=LIMIT_S[way]) as booted:
            return found(booted, _loop_here_s(parts))
    except LabError as error:
        if parts.missing(way):
            return GuestFound(way, False, str(error.value), error.remedy)
        if way == KVM and (sys_root / PVM).exists():
            return GuestFound(way, False, f"{error.value}; {PVM_INTERPRETS}", PVM_REMEDY)
        return GuestFound(way, False, str(error.value), "use another kind")


def guest_kind(parts: GuestParts) -> str:
    """The best kind of guest with several CPUs and NICs here: with KVM where one boots, else translated."""
    return KVM if probe_guest(parts, KVM).boots else TCG


def found(booted: Guest, here_s: float) -> GuestFound:
    """What a guest said, beside the time of its loop on the host."""
    words = booted.said()
    at_s = {name: float(words[name][-1]) for name in ("booted", "begins", "ends", "ready")}
    boot_s = booted.ready_after_s - (at_s["ready"] - at_s["booted"])
    nfs = tuple(sorted({"nfs", "nfs4", "nfsd"} & set(words["filesystems"])))
    cpus, nics = int(words["cpus"][0]), tuple(words.get("nics", []))
    slowdown = max(at_s["ends"] - at_s["begins"], 0.01) / here_s
    finding = (
        f"boots in {boot_s:.1f} s; a loop takes {slowdown:.1f} times as long as here; Linux {words['kernel'][0]}, "
        f"{cpus} CPU{'s' * (cpus > 1)}, {len(nics)} NIC{'s' * (len(nics) != 1)}"
    )
    return GuestFound(booted.way, True, finding, "", boot_s, slowdown, words["kernel"][0], cpus, nics, nfs)


def _loop_here_s(parts: GuestParts) -> float:
    """The loop of the guests by the same program on the host: the best of some."""
    times = []
    for _ in range(TRIES):
        began_s = time.monotonic()
        subprocess.run([str(parts.busybox), "sh", "-c", LOOP], check=True, timeout=LOOP_LIMIT_S)
        times.append(time.monotonic() - began_s)
    return min(times)
