"""Where a study runs: hosts of its own with steered interrupts, plain loopback where that cannot be had, or a virtual
host in simulated time."""

from __future__ import annotations

import os
import secrets
from collections.abc import Iterator
from contextlib import contextmanager
from typing import Any

from sojourn.errors import LabError, PermissionLacking
from sojourn.lab.cleanup_registry import CleanupRegistry, clean_stale
from sojourn.lab.cpu_topology import Core, CorePlacement, place
from sojourn.lab.emulated_hosts import EmulatedHosts
from sojourn.lab.spinners import Spinners
from sojourn.lab.worker_process import WorkerProcess


class LoopbackBackend:
    """Client and service on this host's loopback: no NICs of its own, no steering, no interrupt work."""

    kind = "loopback"
    simulated = False
    most_nics = 1
    interrupts = False
    client_network: str | None = None
    server_network: str | None = None

    def __init__(self, why: list[str]) -> None:
        self.not_shown = why
        self.pids: dict[str, int] = {}

    def arrange(self, cores: int, nics: int) -> CorePlacement:
        """Places `cores` cores of the service; a second NIC cannot be had.

        Raises:
            LabError: more than one NIC was asked for.
        """
        if nics != 1:
            raise LabError(f"nics = {nics}", "loopback", "NICs and interrupt steering need root and network namespaces")
        return place(cores, 1)

    def addresses(self, nics: int) -> list[str]:
        return ["127.0.0.1"]

    def interrupt_work(self, nics: int, port: int, table_s: list[float]) -> None:
        return None

    def describe(self) -> dict[str, Any]:
        return {"kind": self.kind, "not shown": self.not_shown}


class NamespaceBackend:
    """A client and a server host with NICs whose soft interrupts go where they are told."""

    kind = "namespaces"
    simulated = False
    most_nics = 4
    interrupts = True

    def __init__(self, registry: CleanupRegistry, token: str, mtu_bytes: int, spinners: bool) -> None:
        self.not_shown: list[str] = []
        self.hosts = EmulatedHosts(registry, token, mtu_bytes)
        self.client_network = EmulatedHosts.path(self.hosts.client)
        self.server_network = EmulatedHosts.path(self.hosts.server)
        self._spinners = Spinners(registry, token, sorted(os.sched_getaffinity(0))) if spinners else None

    @property
    def pids(self) -> dict[str, int]:
        return {"spinners": self._spinners.pid} if self._spinners else {}

    def arrange(self, cores: int, nics: int) -> CorePlacement:
        """Makes `nics` NICs and steers NIC k's soft interrupts to server core k."""
        placement = place(cores, nics)
        self.hosts.connect(placement)
        return placement

    def addresses(self, nics: int) -> list[str]:
        return [EmulatedHosts.server_address(nic) for nic in range(nics)]

    def interrupt_work(self, nics: int, port: int, table_s: list[float]) -> WorkerProcess | None:
        """Attaches a time from `table_s` to each request packet at the server's NICs; None if all are zero."""
        if not any(table_s):
            return None
        config = {
            "network": self.server_network,
            "interfaces": [f"nic{nic}" for nic in range(nics)],
            "port": port,
            "table_s": table_s,
        }
        worker = WorkerProcess("irqwork", config)
        worker.ready()
        return worker

    def describe(self) -> dict[str, Any]:
        cost = {str(core): share for core, share in self._spinners.cost.items()} if self._spinners else None
        return {
            "kind": self.kind,
            "mtu_bytes": self.hosts.mtu_bytes,
            "refused": self.hosts.refused,
            "spinner cost": cost,
        }

    def close(self) -> None:
        if self._spinners:
            self._spinners.close()


class VirtualHostBackend:
    """A virtual host of any size, in simulated time: nothing runs here, and nothing has to be removed."""

    kind = "virtual"
    simulated = True
    most_nics = 1024
    interrupts = True
    client_network: str | None = None
    server_network: str | None = None

    def __init__(self) -> None:
        self.not_shown: list[str] = []
        self.pids: dict[str, int] = {}

    def arrange(self, cores: int, nics: int) -> CorePlacement:
        """The interrupts of NIC k go to core k; the client is elsewhere."""
        return place(cores, nics, [Core(number, 0, number, 0, "") for number in range(cores + nics)])

    def addresses(self, nics: int) -> list[str]:
        return []

    def interrupt_work(self, nics: int, port: int, table_s: list[float]) -> None:
        return None

    def describe(self) -> dict[str, Any]:
        return {"kind": self.kind}


Environment = LoopbackBackend | NamespaceBackend | VirtualHostBackend


@contextmanager
def environment(kind: str = "auto", *, mtu_bytes: int = 1500, spinners: bool = True) -> Iterator[Environment]:
    """Opens a place to run in: `namespaces`, `loopback`, or `auto`: the first if it can be had; or `virtual`.

    Everything made is removed at the end; what a crashed start left is removed at the beginning.

    Raises:
        PermissionLacking: `namespaces` was asked for without root. LabError: it cannot be made here.
    """
    if kind == "virtual":
        yield VirtualHostBackend()
        return
    clean_stale()
    lacking = why_not_namespaces()
    if kind == "loopback" or (kind == "auto" and lacking):
        yield LoopbackBackend(lacking or ["loopback was asked for"])
        return
    if lacking:
        kind_of = PermissionLacking if os.geteuid() else LabError
        raise kind_of("; ".join(lacking), "lab.kind = 'namespaces'", "change this, or use lab.kind = 'auto'")
    token = secrets.token_hex(3)
    registry = CleanupRegistry(token)
    lab: NamespaceBackend | None = None
    try:
        lab = NamespaceBackend(registry, token, mtu_bytes, spinners)
        yield lab
    finally:
        try:
            if lab:
                lab.close()
        finally:
            registry.close()


def why_not_namespaces() -> list[str]:
    """Reasons why this process cannot have hosts of its own, each with the remedy; empty if it can."""
    from sojourn.lab.doctor import quick_checks

    return [f"{check.name}: {check.finding} ({check.remedy})" for check in quick_checks() if not check.works]
