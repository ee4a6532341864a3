"""Visits from traces: how often a request of each kind calls each service, for `[visits]` of a model file of one's own.

What is a visit, what is done with spans that are missing, and what else traces tell: `sojourn.traces`, docs/howto/from-traces.md.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path

import tomli_w

from sojourn.traces import read_traces


@dataclass(frozen=True)
class TraceVisits:
    """`traces`: by kind how many requests were counted; `visits`: service → kind → mean number of visits a request; `left_out`: traces
    without their root."""

    traces: Mapping[str, int]
    visits: Mapping[str, Mapping[str, float]]
    left_out: int

    @property
    def toml(self) -> str:
        """`[visits.STATION]` of a model file, with stations named as services and classes as kinds."""
        return tomli_w.dumps({"visits": self.visits})


def trace_visits(path: Path | str) -> TraceVisits:
    """Of all requests in the file: `read_traces` has their intervals, too.

    Raises:
        InputError: no such file, neither OTLP/JSON nor Jaeger's, a span without its ids or its service, no trace with its root; with file
            and line.
    """
    seen = read_traces([path])
    visits = {
        station: {
            name: one.visits[station].mean if station in one.visits else 0.0 for name, one in seen.classes.items()
        }
        for station in seen.stations
    }
    return TraceVisits({name: one.counted for name, one in seen.classes.items()}, visits, seen.without_root)
