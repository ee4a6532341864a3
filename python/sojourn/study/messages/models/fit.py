"""Parameters of the message service's models: times from the reference run, the database's curve from its calibration.

Source: the operational way (Lazowska et al., Quantitative System Performance, 1984, chapter 12): times measured inside the
system. The calibration keeps c connections always busy (more workers and clients than c, no retry delay), so that its
throughput is the rate of the database with c requests in it; how many there were in the mean is taken from Little's
law, throughput x time in the database. Intervals: Student's t over repetitions. No throughput of a run enters that is
predicted later.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from functools import cached_property

import numpy as np
import polars as pl

from sojourn.errors import StudyError
from sojourn.study.estimate import Estimate, estimate
from sojourn.study.messages.models.network import Demands
from sojourn.study.messages.models.parallelism import DocumentRule, Parallelism, ScalabilityLaw, ServiceCurve

CALIBRATION, REFERENCE = "calibration", "reference"
TIMES = ("network_s", "dispatch_s", "parse_s", "respond_s", "empty_share", "database_s")
APART = 1.02  # sizes nearer to each other than this factor are one point of the curve


@dataclass(frozen=True)
class CurvePoint:
    """`size` in the database (mean number), with `connections`; `rate_per_s`."""

    connections: int
    size: Estimate
    rate_per_s: Estimate


@dataclass(frozen=True)
class Fitted:
    """`times`: those of `TIMES` at `clients`; `curve` by connections; `runs`: (size, rate) of each calibration run."""

    clients: int
    times: dict[str, Estimate]
    curve: tuple[CurvePoint, ...]
    runs: tuple[tuple[float, float], ...]

    @property
    def demands(self) -> Demands:
        t = {name: max(e.value, 0.0) for name, e in self.times.items()}
        return Demands(t["network_s"], t["dispatch_s"], t["parse_s"], t["respond_s"], t["empty_share"])

    @property
    def measured(self) -> ServiceCurve:
        """The curve; of points that have one size, the first."""
        points: list[tuple[float, float]] = []
        for p in sorted(self.curve, key=lambda p: p.size.value):
            if not points or p.size.value > APART * points[-1][0]:
                points.append((p.size.value, p.rate_per_s.value))
        sizes, rates = zip(*points, strict=True)
        return ServiceCurve(sizes, rates)

    @cached_property
    def parallelisms(self) -> dict[str, Parallelism]:
        """The models by name that there are data for; `usl` needs three sizes at least."""
        found: list[Parallelism] = [DocumentRule(self.times["database_s"].value), self.measured]
        if len(self.measured.sizes) >= 3:
            found.append(ScalabilityLaw.fit(*zip(*self.runs, strict=True)))
        return {p.name: p for p in found}


def fit(seen: pl.DataFrame, level: float = 0.95) -> Fitted:
    """From the rows of the sections reference and calibration.

    Raises:
        StudyError: there are none.
    """
    reference, calibration = (seen.filter(pl.col("section") == name) for name in (REFERENCE, CALIBRATION))
    for name, rows in ((REFERENCE, reference), (CALIBRATION, calibration)):
        if not rows.height:
            raise StudyError(f"no runs of {name}", "the fit", f"run {REFERENCE} and {CALIBRATION} as well")
    columns: Mapping[str, np.ndarray] = {
        "network_s": (reference["response_s"] - reference["mw_response_s"]).to_numpy(),
        **{name: reference[name].to_numpy() for name in TIMES[1:]},
    }
    times = {name: estimate(values, level) for name, values in columns.items()}
    sized = calibration.with_columns(size=pl.col("throughput_per_s") * pl.col("database_s"))
    curve = []
    for connections in sorted(set(sized["connections"])):
        own = sized.filter(pl.col("connections") == connections)
        size, rate = (estimate(own[c].to_numpy(), level) for c in ("size", "throughput_per_s"))
        curve.append(CurvePoint(connections, size, rate))
    runs = tuple(sized.select("size", "throughput_per_s").iter_rows())
    return Fitted(int(reference["clients"][0]), times, tuple(curve), runs)
