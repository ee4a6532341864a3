"""Counters of a guest and of its host on one clock, as one file of host samples: the cores are the guest's, the processes the host's."""

from __future__ import annotations

import json
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path
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


def merge_guests(guests: Sequence[GuestSamples], host: Path, beside: Iterable[Sample], out: Path) -> int:
    """Writes to `out` the samples of guests that ran beside each other: at the times of the first one's samples the cores of all, those of
    the others linear between their own samples. The cores of `host` are `host_cpu` there; its processes, and what `beside` has, stay
    as they are. Time that a guest is told it was not given is `told_steal` there: it is what such a run asks, and no disturbance
    of it. How many samples of the guests there were; a cut-off line is left out."""
    (header, *_), *_ = each = [list(_lines(one.path)) for one in guests]
    _, *outside = _lines(host)
    inside = [_on_host(lines[1:], one) for lines, one in zip(each, guests, strict=True)]
    times = [[sample["t_s"] for sample in own] for own in (*inside, outside)]
    first_s, last_s = (max(own[0] for own in times), min(own[-1] for own in times)) if all(times) else (1.0, 0.0)
    kept = [sample for sample in inside[0] if first_s <= sample["t_s"] <= last_s]
    for own in inside[1:] if kept else ():
        for sample, cores in zip(kept, _between(own, [sample["t_s"] for sample in kept]), strict=True):
            sample["cpu"] |= cores
    for sample in kept:
        sample["told_steal"] = {core: state.pop("steal", 0.0) for core, state in sample["cpu"].items()}
    here = [{"t_s": one["t_s"], "host_cpu": one.get("cpu", {}), "procs": one.get("procs", {})} for one in outside]
    known = sorted(int(core) for core in (kept[0]["cpu"] if kept else ()))
    lines = [{**header, "cores": known}, *sorted([*kept, *here, *beside], key=lambda sample: float(sample["t_s"]))]
    out.write_text("".join(json.dumps(line) + "\n" for line in lines))
    return len(kept)


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


def _between(samples: Sequence[Sample], times: Sequence[float]) -> Iterator[dict[str, dict[str, float]]]:
    """Core → state → its counter at each of `times`."""
    import numpy as np

    own = [sample["t_s"] for sample in samples]
    counters = {
        (core, state): np.interp(times, own, [sample["cpu"][core][state] for sample in samples])
        for core, states in samples[0]["cpu"].items()
        for state in states
    }
    for k in range(len(times)):
        found: dict[str, dict[str, float]] = {}
        for (core, state), values in counters.items():
            found.setdefault(core, {})[state] = float(values[k])
        yield found


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
