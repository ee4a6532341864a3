"""What limits a service and what would limit it next, by the utilisation law: each resource that was watched is full at 1/D_k, D_k what a
request takes of one of its servers (Lazowska et al., Quantitative System Performance (1984), chapter 5: the bounds X <= 1/D_k).

A resource is the limit where that rate is the one at which the service is full, within the uncertainty of both. Where all of that
interval is below, the limit is something that was not watched: workers that wait, a lock, a pool. Else it cannot be told, and one
run is named that would tell.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import NamedTuple

from sojourn.capacity.rate_interval import RateInterval
from sojourn.diagnosis import full_rates, is_limit
from sojourn.diagnosis.load_levels import diagnose
from sojourn.runs.run_folder import RunFolder
from sojourn.units import per_second, percent

MOST_BUSY = 1.1  # where the service is full, of a single thread: a service that bears more has several
HIGH = 0.9  # of the lower end of saturation: a run that tells where it is


class FullAt(NamedTuple):
    """A resource that was watched: the rate in 1/s at which it is full, its name, and whether it is one thread of a process."""

    rate_per_s: float
    name: str
    thread: bool


@dataclass(frozen=True)
class ServiceLimit:
    """`name` of what is full first and its share of busy time at the answer, where it was watched; `next_name`, full at `next_per_s`;
    `run`: the one run that would tell the limit, where these do not; all of it in words."""

    name: str
    busy: float
    next_name: str
    next_per_s: float
    run: str
    text: str


def full_at(folders: Sequence[RunFolder]) -> list[FullAt]:
    """What was watched, by the level with the most load; the first to be full first."""
    return sorted(
        FullAt(rate, one.name, one.kind == "thread")
        for diagnosis in (diagnose(folders).values() if folders else ())
        for rate, one in full_rates(diagnosis.top, threads=True)
    )


def what_limits(folders: Sequence[RunFolder], rate_per_s: float, saturation: RateInterval | None) -> ServiceLimit:
    """At `rate_per_s`, of the runs' watched resources."""
    watched = full_at(folders)
    if saturation is None:
        text = "what limits it is not known: the runs do not show where it saturates"
        text += f"; {watched[0].name} would be full at {per_second(watched[0].rate_per_s)}" if watched else ""
        return _untold(text, watched, rate_per_s)
    watched = [one for one in watched if not (one.thread and saturation.low > MOST_BUSY * one.rate_per_s)]
    if not watched:
        text = "what limits it is not known: no resource of the service was measured"
        run = SERIES if any("observed" in one.manifest for one in folders) else PIDS
        return ServiceLimit("", 0.0, "", 0.0, run, f"{text}; one more run would show it: {run}")
    first, later = watched[0], watched[1:2]
    limits = is_limit(first.rate_per_s, (saturation.value, saturation.low, saturation.high))
    value = percent(saturation.value / first.rate_per_s, 0)
    if limits:
        busy = rate_per_s / first.rate_per_s
        text = f"what limits it: {first.name}, {percent(busy, 0)} busy at that rate, full at {per_second(first.rate_per_s)}"
        return _limit(first.name, busy, later, text)
    if limits is False:
        text = "what limits it was not measured: waiting workers, a lock, a pool or a service behind it"
        text += f"; {first.name} is {value} busy where it is full; one more run would show which: {WORKERS}"
        return _limit("", 0.0, [first], text, WORKERS)
    return _untold(
        f"what limits it cannot be determined: {first.name} would be {value} busy at saturation, but "
            f"the saturation rate is too uncertain",
        watched, saturation.low,
    )  # fmt: skip


PIDS = "the same with --service-pids or --service-cgroup of the service's processes"
SERIES = "the same hours observed with the CPU time of the service ([resources] of the map, or a utilisation series)"
WORKERS = "the same with twice the workers, and --factor workers=N: if a lock or a service behind it is the limit, the rate does not rise"


def _limit(name: str, busy: float, later: Sequence[FullAt], text: str, run: str = "") -> ServiceLimit:
    if later:
        text += f"; next: {later[0].name}, full at {per_second(later[0].rate_per_s)}"
    return ServiceLimit(name, busy, *((later[0].name, later[0].rate_per_s) if later else ("", 0.0)), run, text)


def _untold(text: str, watched: Sequence[FullAt], bearable_per_s: float) -> ServiceLimit:
    """What is missing is where it saturates: as much as it bears, or all that it bears, tells."""
    run = f"at {per_second(HIGH * bearable_per_s)}, or with --allow-saturation, which adds users until the service is saturated"
    return _limit("", 0.0, watched[:1], f"{text}; one more run would show it: {run}", run)
