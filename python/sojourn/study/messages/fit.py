"""Parameters of the message service's models: times from the reference run, the database's curve from its calibration.

Source: the operational way (Lazowska et al., Quantitative System Performance, 1984, chapter 12): times measured inside the
system. The calibration keeps c connections always busy (more workers and clients than c, no retry delay), so that its
throughput is the rate of the database with c requests in it; how many there were in the mean is taken from Little's
law, throughput x time in the database. Intervals: Student's t over repetitions. No throughput of a run enters that is
predicted later.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, replace
from functools import cached_property

import numpy as np
import polars as pl
from scipy.optimize import brentq

from sojourn.errors import FitError
from sojourn.fit.fitted import Estimate
from sojourn.study.estimate import estimate
from sojourn.study.messages.network import Demands, Shape, predict
from sojourn.study.messages.parallelism import DocumentRule, Parallelism, ScalabilityLaw, ServiceCurve
from sojourn.system.messages_reading import FACTORS

CALIBRATION, REFERENCE = "calibration", "reference"
TIMES = ("network_s", "dispatch_s", "parse_s", "respond_s", "empty_share", "own_s", "database_s")
JUDGED = ("throughput_per_s", "response_s")
LEAST_SLOPE = 0.5  # of the response time by a delay: less, and the system is saturated
APART = 1.02  # sizes nearer to each other than this factor are one point of the curve


@dataclass(frozen=True)
class CurvePoint:
    """`size` in the database (mean number), with `connections`; `rate_per_s`."""

    connections: int
    size: Estimate
    rate_per_s: Estimate


@dataclass(frozen=True)
class Fitted:
    """`times`: those of `TIMES` at the reference (`shape`, `clients`, `retry_s`), where the client saw `response_s`; `curve` by
    connections; `runs`: (size, rate) of each calibration run; `spread`: standard deviation of the logarithm of a throughput
    and of a response time from run to run, 0 where no point was repeated."""

    shape: Shape
    clients: int
    retry_s: float
    response_s: Estimate
    times: Mapping[str, Estimate]
    curve: tuple[CurvePoint, ...]
    runs: tuple[tuple[float, float], ...]
    spread: tuple[float, float] = (0.0, 0.0)

    @property
    def demands(self) -> Demands:
        t = {name: max(self.times[name].value, 0.0) for name in TIMES}
        return Demands(t["network_s"], t["dispatch_s"], t["parse_s"], t["respond_s"], t["empty_share"], t["own_s"])

    def unexplained_s(self, name: str) -> float:
        """What the client saw at the reference longer (or shorter) than the model of this name explains, s: threads that
        sleep and must be woken, a database that is slower for requests that come one by one than when it is kept busy.
        A delay, since it is not there at saturation; 0 where the reference is saturated, and says nothing of it. The
        document's model is left as it is."""
        if name == DocumentRule.name:
            return 0.0
        d, seen_s, database = self.demands, self.response_s.value, self.parallelisms[name]

        def response(network_s: float) -> float:
            return predict(replace(d, network_s=network_s), database, self.shape, self.clients, self.retry_s).response_s

        at, low, high = response(d.network_s), 0.0, max(seen_s, d.network_s)
        if response(d.network_s + 0.1 * at) - at < LEAST_SLOPE * 0.1 * at:
            return 0.0
        wrong = lambda s: response(s) - seen_s  # noqa: E731
        if wrong(low) >= 0 or wrong(high) <= 0:
            return (low if wrong(low) >= 0 else high) - d.network_s
        return float(brentq(wrong, low, high, xtol=1e-4 * seen_s)) - d.network_s

    def demands_of(self, name: str) -> Demands:
        """For a model of parallelism: with what it does not explain as a delay beside the network."""
        return replace(self.demands, network_s=self.demands.network_s + self.unexplained_s(name))

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

    def without(self, point: CurvePoint) -> Fitted:
        """The same without the calibration at one number of connections."""
        curve = tuple(p for p in self.curve if p != point)
        return replace(self, curve=curve, runs=tuple(r for r in self.runs if nearest(self.curve, r[0]) != point))


def nearest(curve: tuple[CurvePoint, ...], size: float) -> CurvePoint:
    """The point of the curve that a run of this size belongs to."""
    return min(curve, key=lambda p: abs(p.size.value - size))


def fit(seen: pl.DataFrame, level: float = 0.95) -> Fitted:
    """From the runs of the sections reference and calibration, as `messages_reading.frame` has them; those that are not valid
    count where there is no other of their configuration.

    Raises:
        FitError: there are none.
    """
    seen = where_valid(seen)
    reference, calibration = (seen.filter(pl.col("section") == name) for name in (REFERENCE, CALIBRATION))
    for name, rows in ((REFERENCE, reference), (CALIBRATION, calibration)):
        if not rows.height:
            raise FitError(f"no runs of {name}", "[fit] sections", f"have sections {REFERENCE} and {CALIBRATION}")
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
    first = reference.row(0, named=True)
    shape = Shape(first["workers"], first["connections"], first["middlewares"])
    response_s = estimate(reference["response_s"].to_numpy(), level)
    return Fitted(shape, first["clients"], first["retry_s"], response_s, times, tuple(curve), runs, _spread(seen))


def where_valid(seen: pl.DataFrame) -> pl.DataFrame:
    """Without the runs that are not valid, where there is another of the same configuration."""
    return seen.filter(pl.col("valid") | ~pl.col("valid").any().over("section", *FACTORS))


def _spread(seen: pl.DataFrame) -> tuple[float, float]:
    of_each = seen.group_by("section", *FACTORS).agg(
        pl.len().alias("n"), *(pl.col(name).log().var().alias(name) for name in JUDGED)
    )
    again = of_each.filter(pl.col("n") > 1)
    if again.is_empty():
        return 0.0, 0.0
    found = [again.select(((pl.col("n") - 1) * pl.col(name)).sum() / (pl.col("n") - 1).sum()).item() for name in JUDGED]
    return float(found[0] ** 0.5), float(found[1] ** 0.5)
