"""Two services at URLs, loaded in turn on this machine: the same schedule for both in each block."""

from __future__ import annotations

import time
from collections.abc import Callable, Iterable, Sequence
from pathlib import Path
from typing import Any

from sojourn.compare.compare import check_range, compare_values
from sojourn.compare.comparison import Comparison
from sojourn.compare.interleaved import SIDES, InterleavedLimits, interleaved
from sojourn.compare.run_values import RunValues, run_values
from sojourn.measure import measure
from sojourn.measure.measure import Shown
from sojourn.units import USUAL_LEVEL

RUN_S = 6.0


def compare_urls(
    a: str, b: str, *, rate_per_s: float | None = None, users: int | None = None, run_s: float = RUN_S, out: Path | str | None = None,
    limits: InterleavedLimits | None = None, metrics: Sequence[str] = (), margin: float = 0.05, level: float = USUAL_LEVEL,
    names: tuple[str, str] = ("A", "B"), cores: Iterable[int] = (), told: Callable[[str], None] = lambda _line: None,
    shown: Shown | None = None, **load: Any,
) -> Comparison:  # fmt: skip
    """Loads two services in turn, a run each a block, and says whether B is better than A, worse, or the same.

    Args:
        a, b: URLs. Processes that listen there on loopback are watched, which gives the CPU time of a request (`demand`).
        rate_per_s (open loop) or users (closed loop): the load, one of them. run_s: length of a run, s.
        out: folder of the runs [runs/compare-TIME], `a/block-01/rate-50` …; one with the same blocks goes on.
        limits: how many blocks, how long in all. metrics, margin, level, names: as of `compare`.
        cores: those that the services run on [all]. load: what else `http_load` takes. shown: as of `measure`.

    Raises:
        InputError: a value out of range. ServiceError, LoadError: nothing answers there, or no run is valid. LabError: another measurement
        runs. RunFolderError: `out` has something else.
    """
    check_range(margin, level)
    limits = limits or InterleavedLimits()
    where = Path(out) if out is not None else Path("runs") / f"compare-{time.strftime('%Y%m%d-%H%M%S')}"
    urls = dict(zip(SIDES, (a, b), strict=True))
    common: dict[str, Any] = {
        "rates_per_s": [] if rate_per_s is None else [rate_per_s],
        "users": [] if users is None else [users],
        **({"shown": shown} if shown else {}),
    }

    def run(side: str, block: int) -> RunValues:
        folder = measure(
            [urls[side]], where / side / f"block-{block:02d}", **common, cores=list(cores), beside_others=True,
            seed=limits.seed + block, duration_s=run_s, **load,
        )[0]  # fmt: skip
        return run_values(folder)

    runs_a, runs_b, stopped = interleaved(run, limits, told)
    return compare_values(
        runs_a, runs_b, metrics=metrics, margin=margin, level=level, names=names, notes=[stopped] if stopped else []
    )
