"""A time of a request that is another at another load, by the utilisation law: busy/throughput of each level (wake-ups, clock
frequency, caches and batches make it fall; garbage and contention make it grow). A straight line over the rate,
each level weighted by its requests."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np

from sojourn.diagnosis.diagnosis_types import LoadLevel
from sojourn.units import per_second, percent, seconds

LEVELS = 3  # fewer have no error
CHANGES = 0.1  # from the first level to the last
SURE = 3.0  # standard errors
METER = 0.01  # of a level, relative, at least


def demand_trend(order: Sequence[LoadLevel]) -> str:
    """Of what was watched and changes most, in words; empty where nothing does."""
    found = max((_change(order, one.name) for one in order[-1].resources if one.kind != "thread"), default=None,
                key=lambda told: abs(told[0]))  # fmt: skip
    if found is None or not found[0]:
        return ""
    change, name, first_s, last_s = found
    first, last = (per_second(level.throughput_per_s) for level in (order[0], order[-1]))
    does = "less" if change < 0 else "more"
    way = "falls" if change < 0 else "grows"
    return (
        f"a request takes {percent(abs(change), 0)} {does} of {name} at {last} than at {first} ({seconds(last_s)}, {seconds(first_s)}): "
        f"a model whose time {way} with the load can say where it saturates (sojourn fit tries one)"
    )


def _change(order: Sequence[LoadLevel], name: str) -> tuple[float, str, float, float]:
    """Relative, from the first level to the last, 0 where it is not sure; and the times on the line, s."""
    told = [(level.throughput_per_s, one.busy / level.throughput_per_s)
            for level in order for one in level.resources if one.name == name and one.busy > 0]  # fmt: skip
    rate, demand = np.array(told).reshape(-1, 2).T
    if len(np.unique(rate)) < LEVELS:
        return 0.0, name, 0.0, 0.0
    design = np.stack([np.ones_like(rate), rate], axis=1)
    root = np.sqrt(rate / rate.mean())
    line, *_ = np.linalg.lstsq(design * root[:, None], demand * root, rcond=None)
    left = (demand - design @ line) * root
    variance = max(float((left**2).sum()) / max(len(rate) - 2, 1), float((METER * demand.mean()) ** 2))
    slope_error = np.sqrt(variance * np.linalg.inv((design * root[:, None]).T @ (design * root[:, None]))[1, 1])
    first_s, last_s = (float(line[0] + line[1] * end) for end in (rate[0], rate[-1]))
    change = last_s / first_s - 1 if first_s > 0 else 0.0
    sure = abs(line[1]) > SURE * slope_error and abs(change) > CHANGES
    return (change if sure else 0.0), name, first_s, last_s
