"""The same model with a little more load: in a network without limits no mean may fall."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import replace

import numpy as np

import sojourn as sj
from agreement.rows import Rows, number
from agreement.tolerance import load
from sojourn.model.components import Closed, LoadDependent, Open

MORE = 1.001


def busier(model: sj.Model) -> sj.Model | None:
    """Poisson rates 0.1 % higher, or one customer more; None where more load may mean less: limits, several closed
    classes, rates that fall, routes by state."""
    slower = any(isinstance(s, LoadDependent) and list(s.rates_per_s) != sorted(s.rates_per_s) for s in model.stations)
    if slower or np.isfinite(model.network.capacity).any() or model.network.limits or model.network.choices:
        return None
    if all(isinstance(c, Open) for c in model.classes):
        rates = [replace(c, rate_per_s=c.rate_per_s * MORE) for c in model.classes if isinstance(c, Open)]
        found = replace(model, classes=rates) if any(c.rate_per_s for c in rates) else None
        return found if found is not None and (load(found) or 0.0) < 1 else None
    if len(model.classes) == 1 and isinstance(only := model.classes[0], Closed) and only.population > 0:
        return replace(model, classes=[replace(only, population=only.population + 1)])
    return None


def falls(before: Rows, after: Rows, slack: float) -> Iterator[str]:
    """Number present and throughput of the system and the stations."""
    for key, row in before.items():
        if key.metric not in ("queue_length", "throughput") or key.cls or row.value is None:
            continue
        more = number(after, key.metric, key.station)
        if more is not None and more < row.value * (1 - slack):
            yield f"{key} falls from {row.value:.12g} to {more:.12g} with more load"
