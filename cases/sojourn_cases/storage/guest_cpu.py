"""Whose CPU time an I/O costs where storage is used in a guest: the guest's own, and what QEMU uses beside it.

As the fifth source document has it (step 2): the hypervisor's is that of the host less that of the guest. Of the host it is here what the
threads of the guest's QEMU ran (proc_pid_schedstat), the guest's is its own account (storage_in_guest.py), and both are read at
the same two times. A virtual CPU that waits for a core is busy for its guest; for how long is told apart (`stolen_cores`).
"""

from __future__ import annotations

from collections.abc import Collection, Mapping
from dataclasses import dataclass
from typing import Any

from sojourn.measure import MeterReading, ResidualMeter
from sojourn_cases.storage.storage_guest_pair import GuestPair
from sojourn_cases.storage.window_cpu import WindowReader

CPU, OTHERS, WAITS = "CPU 0", "others", "waits"


@dataclass(frozen=True)
class GuestCpu:
    """Mean numbers of host cores: what the guest was busy, and what its QEMU used beyond that; `stolen_cores` of what the guest was busy
    it waited for a core."""

    guest_cores: float
    hypervisor_cores: float
    stolen_cores: float

    @property
    def cores(self) -> float:
        """Of the whole virtual machine."""
        return self.guest_cores + self.hypervisor_cores


def guest_cpu(parts: Mapping[str, float], who: str, inside: Mapping[str, float]) -> GuestCpu:
    """Of the guest `who`: `parts` are mean cores of its threads in the window, `inside` is its own count (`busy_s`, `over_s`)."""
    guest = inside["busy_s"] / inside["over_s"]
    ran = parts[f"{who} {CPU}"] + parts[f"{who} {OTHERS}"]
    return GuestCpu(guest, ran - guest, parts[f"{who} {WAITS}"])


class PairReader(WindowReader):
    """As its base class; the parts are the threads of both virtual machines."""

    def __init__(
        self, meter: ResidualMeter | None, pair: GuestPair, cores: Collection[int], start_s: float, length_s: float
    ) -> None:
        self._pair = pair
        super().__init__(meter, {}, cores, start_s, length_s)

    def _read(self) -> tuple[MeterReading, dict[str, float]]:
        reading, parts = super()._read()
        for who, worker in (("client", self._pair.client), ("server", self._pair.server)):
            ran, waited = worker.cpu_s(), worker.wait_s()
            parts |= {
                f"{who} {CPU}": ran.get(CPU, 0.0),
                f"{who} {OTHERS}": ran.get(OTHERS, 0.0),
                f"{who} {WAITS}": waited.get(CPU, 0.0),
            }
        return reading, parts


def told(pair: Mapping[str, GuestCpu], machine_cores: float) -> dict[str, Any]:
    """Columns of a run list. `cpu_cores` is that of the client's virtual machine, which is what the paths are compared by."""
    client, server = pair["client"], pair["server"]
    return {
        "cpu_cores": client.cores, "guest_cores": client.guest_cores, "hypervisor_cores": client.hypervisor_cores,
        "stolen_cores": client.stolen_cores, "server_vm_cores": server.cores, "server_guest_cores": server.guest_cores,
        "server_hypervisor_cores": server.hypervisor_cores, "server_stolen_cores": server.stolen_cores,
        "machine_cores": machine_cores,
    }  # fmt: skip
