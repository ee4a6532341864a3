"""Whose CPU time it was while a load lasted: the run's own, and that of others, by name.

Where the whole service is known (a program that a study starts), others used what the machine did and the run's own processes did not.
Where it may have parts that nobody named (a database behind the web server that listens), those work only while the load lasts: then only
who is as busy at rest, just before or after it, is somebody else. What was busy only meanwhile is told apart, by name.
"""

from __future__ import annotations

import os
import time
from collections import Counter
from collections.abc import Callable, Iterator, Mapping
from contextlib import contextmanager
from dataclasses import dataclass

from sojourn.lab.process_tree import stats
from sojourn.measure.cpu_time import cpu_time, of_idle_groups, own_tree
from sojourn.measure.early_look import taken
from sojourn.measure.process_times import ProcessTimes, process_times, used_between
from sojourn.runs.manifest import Manifest

REST_S = 0.25
AT_REST = 0.05  # of a core: who uses as much without the load is not part of it
STEADY = 0.5  # of what it used meanwhile: less at rest is what the load left to do
MOST_NAMED = 6
LEAST_TOLD = 0.02  # of a core


@dataclass(frozen=True)
class KnownProcesses:
    """Of a run: `instruments` (this process, the generator, the recorder) by role, `service`, and the control groups of it. `whole`: the
    service has no other parts."""

    instruments: Mapping[str, int]
    service: tuple[int, ...] = ()
    cgroups: tuple[str, ...] = ()
    whole: bool = True

    def tree(self) -> set[int]:
        """All of the run's processes now."""
        return own_tree([*self.instruments.values(), *self.service], self.cgroups, stats())


@contextmanager
def cpu_account(manifest: Manifest, known: KnownProcesses, then: Callable[[], object] = lambda: None) -> Iterator[None]:
    """Puts `cpu_time` into the manifest: s of the machine, of the run's own and of others while the load lasted, and who used most.
    `then`: what this process does next, beside the look at who is busy without the load."""
    resting = Counter[str]() if known.whole else _at_rest(known, *taken())
    roots = [*known.instruments.values(), *known.service]
    before, names, start_s = cpu_time(roots, known.cgroups), process_times(), time.monotonic()
    yield
    after, over_s = cpu_time(roots, known.cgroups), time.monotonic() - start_s
    now, now_s, ours = process_times(), time.monotonic(), known.tree() | of_idle_groups()
    manifest["cpu_time"] = {
        "machine_s": after.machine_s - before.machine_s, "own_s": after.own_s - before.own_s, "over_s": over_s, "cores": after.cores,
        "used": _told(used_between(names, now, set(known.instruments.values()), each=True), over_s),
    }  # fmt: skip
    others = used_between(names, now, ours, each=True)
    then()
    if known.whole:
        manifest["cpu_time"]["others"] = _told(others, over_s)
        return
    if any(s >= LEAST_TOLD * over_s for s in others.values()):
        resting |= _at_rest(known, now_s, now)
    foreign = {name: s for name, s in others.items() if resting[name] >= max(AT_REST, STEADY * s / over_s)}
    rest = {name: s for name, s in others.items() if name not in foreign}
    manifest["cpu_time"] |= {
        "others_s": sum(foreign.values()), "others": _told(foreign, over_s), "beside": _told(rest, over_s),
    }  # fmt: skip


def _at_rest(known: KnownProcesses, start_s: float, start: ProcessTimes) -> Counter[str]:
    """Who else has been busy without a load since `start_s`, which is REST_S ago or more when this ends: name → share of a core."""
    time.sleep(max(start_s + REST_S - time.monotonic(), 0.0))
    end, over_s = process_times(), time.monotonic() - start_s
    ours = known.tree() | of_idle_groups() | {os.getpid()}
    return Counter({name: s / over_s for name, s in used_between(start, end, ours, each=True).items()})


def _told(used: Mapping[str, float], over_s: float) -> dict[str, float]:
    """The greatest, as shares of a core."""
    most = Counter({name: round(s / over_s, 4) for name, s in used.items()}).most_common(MOST_NAMED)
    return {name: share for name, share in most if share >= LEAST_TOLD}
