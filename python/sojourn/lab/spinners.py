"""Idle-priority spinners: one a core, so that no core stops its tick and wakes late.

They run in a control group with `cpu.idle = 1`, because with `sched_autogroup` idle priority and nice act only
inside the session's group. It is made inside the group that this process is in: beside a group with few shares
(`cpu.shares = 50`: 3 % measured) an idle group is not small. Their cost to others is measured at the start and must
be under 1 %.
"""

from __future__ import annotations

import mmap
import os
import struct
import time
from pathlib import Path

from sojourn import _native
from sojourn.errors import LabError
from sojourn.lab.cgroups import make_group, write
from sojourn.lab.cleanup_registry import CleanupRegistry
from sojourn.lab.worker_process import WorkerProcess

MOST_COST = 0.01
PROOF_S = 0.5
ROUNDS = 10
BEGIN_S = 2.0
STRIDE_BYTES = 128
COUNTER = struct.Struct(f"=Q{STRIDE_BYTES - 8}x")


def make_idle_group(registry: CleanupRegistry, token: str) -> str:
    """Makes a control group whose members get only what nobody else wants; returns its path.

    Raises:
        LabError: no control group with `cpu.idle` can be made here.
    """
    return str(
        make_group(registry, f"sojourn-{token}", lambda group: write(group / "cpu.idle", "1"), "cpu.idle (>= 5.15)")
    )


class Spinners:
    """Spinners on `cores`, from construction to `close`. `cost[core]` is the share they take from others,
    `threads[core]` the thread that spins there."""

    def __init__(self, registry: CleanupRegistry, token: str, cores: list[int]) -> None:
        group = make_idle_group(registry, token)
        self._work = WorkCounters(len(cores))
        self.worker = WorkerProcess("spin", {"cores": cores, "work": self._work.path}, cgroup=group)
        try:
            self.worker.ready()
            self.threads = _threads(self.pid, cores)
            self.cost = self._costs(cores)
            self._prove()
        except BaseException:
            self.worker.close()
            self._work.close()
            raise

    def _costs(self, cores: list[int]) -> dict[int, float]:
        """Of all cores at once, so that it takes no longer on a machine with many."""
        from concurrent.futures import ThreadPoolExecutor  # brings `logging`, and most commands have no spinners

        with ThreadPoolExecutor(len(cores)) as at_once:
            found = at_once.map(lambda core: _native.share_taken(core, self.threads[core], PROOF_S), cores)
            return dict(zip(cores, found, strict=True))

    def _prove(self) -> None:
        """Measures the worst core again while it is above the limit: a spinner that was starved before a trial is owed
        a few ticks at once, each of them 4 to 10 ms."""
        for _ in range(ROUNDS):
            worst = max(self.cost, key=lambda core: self.cost[core])
            if self.cost[worst] <= MOST_COST:
                return
            self.cost[worst] = min(self.cost[worst], _native.share_taken(worst, self.threads[worst], PROOF_S))
        raise LabError(
            f"spinner on core {worst} takes {self.cost[worst]:.1%} from others",
            "spinners",
            "use a kernel that honours cpu.idle of a control group (>= 5.15), or set lab.spinners = false",
        )

    @property
    def pid(self) -> int:
        return self.worker.process.pid

    @property
    def work(self) -> int:
        """Turns that all loops have done. They do fewer in a second of run time where others spoil their cache or leave the machine."""
        return self._work.total

    def close(self) -> None:
        self.worker.stop(2.0)
        self._work.close()


class WorkCounters:
    """A counter of each spinner, in memory that both processes map (crates/spin: `work_counters`): at `path`, while this is open."""

    def __init__(self, count: int) -> None:
        self._file = os.memfd_create("sojourn-work")
        os.ftruncate(self._file, count * STRIDE_BYTES)
        self._mapped = mmap.mmap(self._file, count * STRIDE_BYTES)
        self.path = f"/proc/{os.getpid()}/fd/{self._file}"

    @property
    def total(self) -> int:
        return sum(word for (word,) in COUNTER.iter_unpack(self._mapped))

    def close(self) -> None:
        self._mapped.close()
        os.close(self._file)


def _threads(pid: int, cores: list[int]) -> dict[int, int]:
    """Thread of the spinner of each core, found by its name; it may begin a moment after its process is ready."""
    deadline = time.monotonic() + BEGIN_S
    while True:
        names = {path.parent.name: path.read_text().strip() for path in Path(f"/proc/{pid}/task").glob("*/comm")}
        found = {core: int(thread) for thread, name in names.items() for core in cores if name == f"spin-{core}"}
        if len(found) == len(cores):
            return found
        if time.monotonic() > deadline:
            raise LabError(f"{len(found)} of {len(cores)} spinners run", "spinners", "set lab.spinners = false")
        time.sleep(0.01)
