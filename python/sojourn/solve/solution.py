"""`Solution`: what every method answers, as arrays; `metric_rows.metrics` makes Metrics of it.

P points of a sweep, K stations, C classes. Throughput and system response are per pass of the class; utilisation is the
mean busy fraction of one server; residence is the total over the visits of a pass; NaN where there is no number.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any

from sojourn.model.network_arrays import Array, Network


@dataclass
class Solution:
    throughput: Array  # P x C, passes/s that are completed
    queue_length: Array  # P x K x C, mean number present
    utilisation: Array  # P x K x C, NaN for delays
    status: list[str] = field(default_factory=list)  # P names of `status.TEXT`; empty: all ok
    residence_s: Array | None = None  # P x K x C; default: Little's law
    # P x K x C per visit; default: residence/visits - service - blocked where servers serve one each
    waiting_s: Array | None = None
    blocked_s: Array | None = None  # P x K x C per visit: served, but the server is held; NaN where that cannot happen
    visit_rate: Array | None = None  # P x K x C, visits/s that are served; default: throughput of the chain · visits
    lost_late: bool = False  # passes may be lost after they took time: then the mean time of the others is not told
    lost_per_s: Array | None = None  # P x C, passes lost anywhere; default: the sum over the stations
    loss: Array | None = None  # P x K x C, share of the visits that are lost
    outside: Array | None = None  # P x C, mean number that wait outside the stations, for a pool or a region
    # bounds, by the names of the fields above, and `response_s` (P x C) for the whole pass of a class
    low: Mapping[str, Array] = field(default_factory=dict)
    high: Mapping[str, Array] = field(default_factory=dict)
    more: list[dict[str, Any]] = field(default_factory=list)  # further rows, `point` says of which point
    message: str = ""
    busy_of: Mapping[str, Array] = field(default_factory=dict)  # "STATION.PART" → P, mean number of its servers at work
    parts: list[PartialSolution] = field(default_factory=list)  # their rows stand for those of the whole


@dataclass
class PartialSolution:
    """Stations and classes that nothing connects with the rest, solved alone at some points of the whole; rows of a
    point at which it is unstable itself are not taken."""

    points: list[int]
    networks: Sequence[Network]
    solution: Solution
