"""A run that is being recorded, as it grows: throughput and quantiles of each second, how busy each core was. Only what is new is read."""

from __future__ import annotations

import json
import time
from collections.abc import Mapping
from pathlib import Path
from typing import Any

import numpy as np

from sojourn.errors import SojournError
from sojourn.files.reading import MIB, opened, parse_json
from sojourn.runs.host_samples import BUSY, EVERYTHING
from sojourn.runs.interval_log import IntervalHistogram, intervals
from sojourn.runs.run_folder import RunFolder

MOST_AT_ONCE = 8 * MIB  # of a log, at one look: the rest at the next
SAMPLES = 10  # of the host between the two that the first look compares
QUANTILES = (0.5, 0.9, 0.99)
WAITS = "the run is beginning"
ENDED = "the run has ended"


class GrowingLog:
    """The lines of a file that came since the last look; one that is not whole yet waits for the next."""

    def __init__(self, path: Path) -> None:
        self.path, self.at, self._rest = path, 0, b""

    def lines(self) -> list[str]:
        if not self.path.is_file():
            return []
        with opened(self.path, "look at the run folder", 1 << 40) as file:
            file.seek(self.at)
            data = file.read(MOST_AT_ONCE)
        self.at += len(data)
        *whole, self._rest = (self._rest + data).split(b"\n")
        if len(self._rest) > MOST_AT_ONCE:
            self._rest = b""
        return [line.decode(errors="replace") for line in whole]


class LiveRun:
    """The run at `path`; `look` says what is new."""

    def __init__(self, path: Path) -> None:
        self.path = path
        self._histograms, self._samples = GrowingLog(path / "latency.hlog"), GrowingLog(path / "host.ndjson")
        self._total: dict[float, int] = {}  # upper edge of a bucket, s → requests so far
        self._ticks: tuple[float, Mapping[str, Mapping[str, float]]] | None = None

    def look(self) -> dict[str, Any]:
        """`seconds`: of each second that came since the last look; `sofar`: quantiles of all; `cores`: name → busy share; `elapsed_s`
        and `duration_s`; `live`: whether it goes on, else `told`. RunFolderError for a folder that is none."""
        run = RunFolder.glance(self.path)
        live = run.is_being_recorded()
        made = [one for one in intervals(self._histograms.lines(), self._histograms.path) if not one.tag]
        for one in made:
            for edge, count in zip(one.high_s.tolist(), one.counts.tolist(), strict=True):
                self._total[edge] = self._total.get(edge, 0) + count
        start = (run.manifest.get("start") or {}).get("monotonic_s")
        elapsed = None if start is None or not live else max(time.monotonic() - float(start), 0.0)
        edges = sorted(self._total)
        counts = np.array([self._total[edge] for edge in edges])
        return {
            "live": live, "told": "" if live else ENDED, "seconds": [_second(one) for one in made],
            "sofar": {"requests": int(counts.sum()), **_quantiles(np.array(edges), counts)}, "cores": self._cores(),
            "elapsed_s": elapsed, "duration_s": run.manifest.get("load", {}).get("duration_s"),
        }  # fmt: skip

    def _cores(self) -> dict[str, float]:
        """From the last sample and that of the last look; at the first look one from just before."""
        found: dict[str, float] = {}
        lines = self._samples.lines()
        beside = [lines[-SAMPLES]] if self._ticks is None and len(lines) > SAMPLES else []
        for line in [*beside, *lines[-1:]]:
            try:
                sample = parse_json(line)
                now, cpu = float(sample["t_s"]), {str(k): dict(v) for k, v in sample["cpu"].items()}
                if self._ticks is not None:
                    found = {core: _busy(self._ticks[1][core], cpu[core]) for core in cpu if core in self._ticks[1]}
            except (json.JSONDecodeError, KeyError, TypeError, ValueError, AttributeError):
                return {}
            self._ticks = now, cpu
        return found


def _second(one: IntervalHistogram) -> dict[str, Any]:
    count = int(one.counts.sum())
    per_s = count / one.length_s if one.length_s > 0 else 0.0
    return {"at_s": one.start_s, "throughput_per_s": per_s, **_quantiles(one.high_s, one.counts)}


def _quantiles(edges: Any, counts: Any) -> dict[str, float | None]:
    """The upper edges of the buckets where the quantiles are."""
    names = [f"p{round(100 * q)}_s" for q in QUANTILES]
    if not counts.sum():
        return dict.fromkeys(names)
    cumulative = np.cumsum(counts)
    places = [int(np.searchsorted(cumulative, q * cumulative[-1])) for q in QUANTILES]
    return {name: float(edges[place]) for name, place in zip(names, places, strict=True)}


def _busy(before: Mapping[str, float], now: Mapping[str, float]) -> float:
    grown = {state: float(now.get(state, 0.0)) - float(before.get(state, 0.0)) for state in EVERYTHING}
    total = sum(grown.values())
    return min(max(sum(grown[state] for state in BUSY) / total, 0.0), 1.0) if total > 0 else 0.0


def looked(run: LiveRun) -> dict[str, Any]:
    """An error of ours as a last word."""
    try:
        return run.look()
    except SojournError as error:
        return {"live": False, "told": str(error), "seconds": [], "sofar": {}, "cores": {}}
