"""Idle-priority spinners: one a core, so that no core stops its tick and wakes late.

They run in a control group with `cpu.idle = 1`, because with `sched_autogroup` idle priority and nice act only
inside the session's group. Their cost to others is measured at the start and must be under 1 %.
"""

from __future__ import annotations

from contextlib import suppress
from pathlib import Path

from sojourn import _native
from sojourn.errors import LabError
from sojourn.lab.process import Worker
from sojourn.lab.registry import Book

MOST_COST = 0.01
PROOF_S = 0.1
TRIALS = 5
ROUNDS = 10


def make_idle_group(book: Book, token: str) -> str:
    """Makes a control group whose members get only what nobody else wants; returns its path.

    Raises:
        LabError: no control group with `cpu.idle` can be made here.
    """
    for parent in (Path("/sys/fs/cgroup/cpu"), Path("/sys/fs/cgroup")):
        if not parent.is_dir():
            continue
        group = parent / f"sojourn-{token}"
        book.add(cgroup=str(group))
        try:
            group.mkdir(exist_ok=True)
            (group / "cpu.idle").write_text("1")
        except OSError:
            with suppress(OSError):
                group.rmdir()
            continue
        return str(group)
    raise LabError(
        "no control group with cpu.idle", "/sys/fs/cgroup", "use a kernel >= 5.15 with the cpu controller, as root"
    )


class Spinners:
    """Spinners on `cores`, from construction to `close`. `cost[core]` is the share they take from others."""

    def __init__(self, book: Book, token: str, cores: list[int]) -> None:
        group = make_idle_group(book, token)
        alone = {core: _share(core) for core in cores}
        self.worker = Worker("spin", {"cores": cores}, cgroup=group)
        try:
            self.worker.ready()
            self.cost = {core: max(0.0, alone[core] - _share(core)) for core in cores}
            self._prove(alone)
        except BaseException:
            self.worker.close()
            raise

    def _prove(self, alone: dict[int, float]) -> None:
        """Measures the worst core again while it is above the limit: what else is busy here looks like a cost."""
        for _ in range(ROUNDS):
            worst = max(self.cost, key=lambda core: self.cost[core])
            if self.cost[worst] <= MOST_COST:
                return
            self.cost[worst] = min(self.cost[worst], max(0.0, alone[worst] - _share(worst)))
        raise LabError(
            f"spinner on core {worst} takes {self.cost[worst]:.1%} from others",
            "spinners",
            "is something else busy? end it and try again, or set lab.spinners = false",
        )

    @property
    def pid(self) -> int:
        return self.worker.process.pid

    def close(self) -> None:
        self.worker.stop(2.0)


def _share(core: int) -> float:
    """What an ordinary thread gets of a core: the best of several trials, since others can only take away."""
    return max(_native.share_of_core(core, PROOF_S) for _ in range(TRIALS))
