"""Counters of a guest and of its host on one clock, as one file of host samples: the cores are the guest's, the processes the host's."""

from __future__ import annotations

import json
from collections.abc import Iterator
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
