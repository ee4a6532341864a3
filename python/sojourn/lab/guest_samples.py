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
