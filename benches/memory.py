"""Memory of a process, sampled, and whether it grew."""

from __future__ import annotations

import csv
import statistics
import threading
import time
from pathlib import Path

EVERY_S = 1.0
GROWTH, GROWTH_BYTES = 0.02, 1 << 20
RULE = (
    f"the median of the last third of the samples is at most {GROWTH:.0%} and {GROWTH_BYTES >> 20} MiB above the median "
    "of the second third"
)


class Memory(threading.Thread):
    """Resident memory each second, until it is stopped or the process ends."""

    def __init__(self, pid: int) -> None:
        super().__init__(daemon=True)
        self.pid, self.halt = pid, threading.Event()
        self.samples: list[tuple[float, int]] = []

    def run(self) -> None:
        while not self.halt.is_set():
            self.samples.append((time.monotonic(), resident_bytes(self.pid)))
            self.halt.wait(EVERY_S)

    def stop(self) -> None:
        self.halt.set()
        self.join()

    def thirds(self) -> list[float]:
        """The median of each third of the samples, bytes."""
        sizes = [size for _, size in self.samples]
        third = len(sizes) // 3
        return [statistics.median(sizes[k * third : (k + 1) * third]) for k in range(3)] if third else []

    def is_flat(self) -> bool:
        thirds = self.thirds()
        return bool(thirds) and thirds[2] <= (1 + GROWTH) * thirds[1] + GROWTH_BYTES

    def told(self) -> str:
        return ", ".join(f"{size / 2**20:.1f}" for size in self.thirds()) + " MiB in the thirds"

    def write(self, path: Path, start: float) -> None:
        with open(path, "w", newline="") as file:
            writer = csv.writer(file)
            writer.writerow(["t_s", "resident_bytes"])
            writer.writerows((f"{at - start:.1f}", size) for at, size in self.samples)


def resident_bytes(pid: int) -> int:
    """0 where the process is gone."""
    try:
        lines = Path(f"/proc/{pid}/status").read_text().splitlines()
    except OSError:
        return 0
    return next((int(line.split()[1]) << 10 for line in lines if line.startswith("VmRSS:")), 0)
