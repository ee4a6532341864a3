"""Is what was put in what comes out? Reference and calibration on simulated systems with known times, many times over."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from typing import Any

import polars as pl

from sojourn.study.messages.models import fit
from sojourn.study.messages.plan import MessagesPlan
from sojourn.study.messages.seen import frame
from sojourn.study.messages.simulated import Known, SimulatedSystem
from sojourn.study.recovery import compared

TIMES = ("network_s", "dispatch_s", "parse_s", "respond_s", "empty_share")


def recovered(plan: MessagesPlan, known: Known, seeds: Iterable[int]) -> pl.DataFrame:
    """A row for each seed and time, and for each rate of the database's curve, as `coverage` wants them."""
    return pl.DataFrame([row for seed in seeds for row in _one(plan, known, seed)])


def _one(plan: MessagesPlan, known: Known, seed: int) -> Iterator[dict[str, Any]]:
    system = SimulatedSystem(known, seed)
    found = fit(frame(system.run(point) for point in plan.first()))
    for name in TIMES:
        yield compared(seed, "reference", name, getattr(known, name), found.times[name])
    for p in found.curve:
        yield compared(seed, "database", f"{p.connections} busy", known.rates_per_s[p.connections - 1], p.rate_per_s)
