"""A replayed day in a Prometheus of its own: counters and a histogram as OpenMetrics, made into blocks by promtool, nothing scraped.

Each day has a restart, at which all counters begin again and half a scrape is lost, and six minutes that were not scraped, both at random.
"""

from __future__ import annotations

import sys
import time
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path
from tempfile import TemporaryDirectory

import numpy as np
from replayed_day import DAY_S, LE_S, SCRAPE_S, Array, Day, ReplayedService, ScrapedCounters  # type: ignore[import-not-found]

sys.path.insert(0, str(Path(__file__).resolve().parents[2] / "tests/unit/observe"))
from prometheus_data import prometheus  # type: ignore[import-not-found]

NAME, CPU = "http_server_request_duration_seconds", "container_cpu_usage_seconds_total"
GAP = 24  # scrapes: six minutes
ALIGNED_S = 600.0  # a day begins at a multiple, so that windows do too
MAP = f"""
[classes.shop]
requests = '{NAME}_count{{job="shop"}}'
seconds = '{NAME}_sum{{job="shop"}}'

[resources.cpu]
busy = '{CPU}{{container="shop"}}'
cores = %d
"""


@dataclass(frozen=True)
class RecordedDay:
    """`address` of a Prometheus that has the day, which began at `start_s` (Unix time) and lasts `length_s`; `requests` that came."""

    address: str
    start_s: float
    length_s: float
    map_file: Path
    requests: int


def open_metrics(seen: ScrapedCounters, start_s: float, restart_at: int, gap: range) -> str:
    """`restart_at`: the first scrape after the restart."""
    kept = [i for i in range(len(seen.at_s)) if i not in gap]
    lines: list[str] = []

    def series(name: str, values: Array, type_line: str = "") -> None:
        base = (values[restart_at - 1] + values[restart_at]) / 2
        lines.extend([type_line] if type_line else [])
        since = np.where(np.arange(len(values)) < restart_at, 0.0, base)
        lines.extend(f"{name} {values[i] - since[i]:.11g} {start_s + seen.at_s[i]:.3f}" for i in kept)

    for k, (le, within) in enumerate(zip(LE_S, seen.within, strict=True)):
        series(f'{NAME}_bucket{{job="shop",le="{le}"}}', within, "" if k else f"# TYPE {NAME} histogram")
    series(f'{NAME}_bucket{{job="shop",le="+Inf"}}', seen.answers)
    series(f'{NAME}_sum{{job="shop"}}', seen.seconds)
    series(f'{NAME}_count{{job="shop"}}', seen.answers)
    series(f'{CPU}{{container="shop"}}', seen.busy_s, f"# TYPE {CPU.removesuffix('_total')} counter")
    return "\n".join([*lines, "# EOF"]) + "\n"


@contextmanager
def recorded(
    service: ReplayedService, day: Day, seed: int, changed_s: float = np.inf, by: float = 1.0
) -> Iterator[RecordedDay]:
    """`changed_s`: from then on, in seconds since the start, a request takes `by` times the CPU time."""
    random = np.random.default_rng([seed, 59])
    arrivals = day.arrivals(random)
    served = service.served(arrivals, random, np.where(arrivals < changed_s, 1.0, by))
    scrapes = round(DAY_S / SCRAPE_S)
    seen = service.counters(served, day, round(float(random.uniform(0.1, 0.9)) * SCRAPE_S / day.compress, 3))
    restart, gap = int(random.integers(GAP, scrapes - GAP)), int(random.integers(GAP, scrapes - 2 * GAP))
    start_s = ALIGNED_S * np.floor((time.time() - day.length_s - 60.0) / ALIGNED_S)
    with TemporaryDirectory() as place:
        map_file = Path(place) / "shop.map.toml"
        map_file.write_text(MAP % service.workers)
        text = open_metrics(seen, start_s, restart, range(gap, gap + GAP))
        with prometheus(Path(place), text) as address:
            yield RecordedDay(address, float(start_s), day.length_s, map_file, len(arrivals))
