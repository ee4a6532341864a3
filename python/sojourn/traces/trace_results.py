"""What is known of one kind of requests, and of one operation of a station."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from sojourn.traces.visit_ratios import VisitRatio


@dataclass(frozen=True)
class TraceClass:
    """Requests of one kind. `counted`: in the traces; `rate_per_s`: by their weights over the time that the traces cover, None
    where it is not known; `response_s`: mean duration of the request's span. `visits`, `residence_s`: station → visits, and self
    time of a request in all visits together, s."""

    counted: int
    rate_per_s: float | None
    response_s: float | None
    visits: Mapping[str, VisitRatio]
    residence_s: Mapping[str, float]


@dataclass(frozen=True)
class Operation:
    """What a station does under one name. `spans` counted; `self_s`, `duration_s`: weighted means, s. Self time is residence, not
    demand."""

    station: str
    name: str
    spans: int
    self_s: float
    duration_s: float


@dataclass(frozen=True)
class TraceRequests:
    """Requests with known times in order of arrival, (requests,) each: `came_s` (Unix time, s), `took_s` (s), `of` (index into `classes`),
    `probability` with which it was kept, in (0, 1]."""

    came_s: NDArray[np.float64]
    took_s: NDArray[np.float64]
    of: NDArray[np.intp]
    probability: NDArray[np.float64]
    classes: tuple[str, ...]
