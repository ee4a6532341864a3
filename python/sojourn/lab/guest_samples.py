"""Counters of a guest and of its host on one clock, as one file of host samples: the cores are the guest's, the processes the host's."""

from __future__ import annotations

import json
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from itertools import pairwise
from pathlib import Path
from statistics import median
from typing import Any

Sample = dict[str, Any]


def merge_samples(guest: Path, host: Path, offset_s: float, out: Path) -> int:
    """Writes to `out` the samples of `guest` within the time of those of `host`, their times moved by `offset_s` to the host's clock, and
    the processes of the host beside them; how many of the guest there were. A cut-off line is left out."""
    header, *inside = _lines(guest)
    _, *outside = _lines(host)
    first_s, last_s = (outside[0]["t_s"], outside[-1]["t_s"]) if outside else (0.0, 0.0)
    moved = [{**sample, "t_s": sample["t_s"] + offset_s} for sample in inside]
    own = [{k: v for k, v in sample.items() if k != "procs"} for sample in moved if first_s <= sample["t_s"] <= last_s]
    processes = [{"t_s": sample["t_s"], "procs": sample["procs"]} for sample in outside if "procs" in sample]
    lines = [header, *sorted([*own, *processes], key=lambda sample: float(sample["t_s"]))]
    out.write_text("".join(json.dumps(line) + "\n" for line in lines))
    return len(own)


@dataclass(frozen=True)
class GuestSamples:
    """A guest's samples, what to add to their times to have the host's clock, and which core of the run its virtual CPU 0 is."""

    path: Path
    offset_s: float
    first_core: int


def merge_guests(guests: Sequence[GuestSamples], host: Path, beside: Sequence[Sample], out: Path) -> int:
    """Writes to `out` the samples of guests that ran beside each other, at even times (a guest that shares its cores is late with its own),
    all counters linear between the samples that there are: the cores of all guests, those of `host` as `host_cpu`, its processes
    and disks, and what `beside` has. Time that a guest is told it was not given is `told_steal` there: it is what such a run asks, and
    no disturbance of it. How many samples there are; a cut-off line is left out."""
    (header, *_), *_ = each = [list(_lines(one.path)) for one in guests]
    _, *outside = _lines(host)
    here = [
        {"t_s": one["t_s"], "host_cpu": one.get("cpu", {}), **{name: one.get(name, {}) for name in ("procs", "disks")}}
        for one in outside
    ]
    inside = [_on_host(lines[1:], one) for lines, one in zip(each, guests, strict=True)]
    times = _even_times([*inside, here])
    merged: list[Sample] = [{"t_s": t_s} for t_s in times]
    for own in (*inside, here, beside) if times else ():
        for sample, found in zip(merged, _at(own, times), strict=True):
            for source, counters in found.items():
                sample.setdefault(source, {}).update(counters)
    for sample in merged:
        sample["told_steal"] = {core: state.pop("steal", 0.0) for core, state in sample["cpu"].items()}
    known = sorted(int(core) for core in (merged[0]["cpu"] if merged else ()))
    out.write_text("".join(json.dumps(line) + "\n" for line in ({**header, "cores": known}, *merged)))
    return len(merged)


def _even_times(each: Sequence[Sequence[Sample]]) -> list[float]:
    """As far apart as the first one's samples in the median, where all have some."""
    if not all(len(own) > 1 for own in each):
        return []
    first_s, last_s = max(own[0]["t_s"] for own in each), min(own[-1]["t_s"] for own in each)
    step_s = median(after["t_s"] - before["t_s"] for before, after in pairwise(each[0]))
    return (
        [first_s + k * step_s for k in range(int((last_s - first_s) / step_s + 1e-9) + 1)] if last_s > first_s else []
    )


def _on_host(samples: Sequence[Sample], of: GuestSamples) -> list[Sample]:
    """Their cores alone, by the numbers and times of the run."""
    return [
        {
            "t_s": sample["t_s"] + of.offset_s,
            "cpu": {str(int(core) + of.first_core): dict(state) for core, state in sample["cpu"].items()},
        }
        for sample in samples
        if "cpu" in sample
    ]


def _at(samples: Sequence[Sample], times: Sequence[float]) -> Iterator[Sample]:
    """Of counters that all `samples` have, their values at `times`, in the same dictionaries of dictionaries."""
    import numpy as np

    each = [dict(_counters(sample)) for sample in samples]
    common = [path for path in each[0] if all(path in one for one in each)] if each else []
    own = [sample["t_s"] for sample in samples]
    values = {path: np.interp(times, own, [one[path] for one in each]) for path in common}
    for k in range(len(times)):
        found: Sample = {}
        for path, series in values.items():
            inner = found
            for name in path[:-1]:
                inner = inner.setdefault(name, {})
            inner[path[-1]] = float(series[k])
        yield found


def _counters(sample: Sample, above: tuple[str, ...] = ()) -> Iterator[tuple[tuple[str, ...], float]]:
    """Path → number; not of threads, whose core is no counter."""
    for name, value in sample.items():
        if isinstance(value, dict):
            if name != "threads":
                yield from _counters(value, (*above, name))
        elif isinstance(value, int | float) and above:
            yield (*above, name), float(value)


def _lines(path: Path) -> Iterator[Sample]:
    for line in path.read_text().splitlines():
        try:
            found = json.loads(line)
        except ValueError:
            continue
        yield found


def ticks_busy(samples: Path, over_s: float) -> dict[str, float]:
    """Busy share of each core by ticks in the last `over_s` of these samples; nothing of fewer than two."""
    counted = [one for one in _lines(samples) if "cpu" in one]
    if len(counted) < 2:
        return {}
    last = counted[-1]
    first = next(one for one in counted if one["t_s"] >= last["t_s"] - over_s)
    return {core: _busy(now, first["cpu"][core]) for core, now in last["cpu"].items()}


def _busy(now: dict[str, float], then: dict[str, float]) -> float:
    spent = {state: now[state] - then[state] for state in now}
    return 1.0 - (spent["idle"] + spent.get("iowait", 0.0)) / (sum(spent.values()) or 1.0)
