"""What a simulation found and what that is worth: the table with its status, and a message that says what to do."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field

import numpy as np

from sojourn.model import Network
from sojourn.simulate.engine_record import EngineRecord
from sojourn.simulate.exact_values import exact_values
from sojourn.simulate.heavy_tails import ENDLESS, HeavyTailCheck, TailDoubt
from sojourn.simulate.metrics_table import Row, rows
from sojourn.simulate.simulation_status import TEXT
from sojourn.simulate.stopping_rule import ReachedPrecision
from sojourn.stats.stationarity import at_edge
from sojourn.table import Metrics
from sojourn.units import percent, seconds

FLOWS = ("throughput", "arrival_rate", "utilisation", "service_time", "loss_probability")


@dataclass
class SimulationOutcome:
    """The record after the warm-up, and how the run ended."""

    precision: float
    level: float
    tails: HeavyTailCheck
    overloaded: dict[str, float] = field(default_factory=dict)
    record: EngineRecord | None = None
    found: ReachedPrecision | None = None
    doubt: TailDoubt | None = None  # of the response times of the whole system
    cut: int = 0
    warm_up_s: float = 0.0
    length_s: float = 0.0
    wall_s: float = 0.0
    events: int = 0
    passes: int = 0
    growing: str | None = None
    unstable: bool = False
    interrupted: bool = False
    ended: bool = False
    complete: int = 1  # replications in the record

    @property
    def status(self) -> str:
        if self.unstable:
            return "unstable"
        if self.interrupted:
            return "interrupted"
        if self.doubt and self.doubt.missing:
            return "no_moment"
        if self.doubt and not self.doubt.believed:
            return "heavy_tail"
        return "ok" if self.found and self.found.enough and not self.doubt else "too_short"


def table(network: Network, outcome: SimulationOutcome, quantiles: Sequence[float], seed: int, runs: int) -> Metrics:
    """Metrics of an outcome; rows that do not exist in an unstable system are null and say so."""
    found = rows(outcome.record, network, outcome.level, quantiles) if outcome.record is not None else []
    if outcome.unstable:
        found = [_unstable(row, outcome) for row in found]
    elif outcome.record is not None:
        found = outcome.tails.marked(found, outcome.record)
        found = [_short(row) for row in found] if outcome.status == "too_short" else found
    method = "simulation, batch means" if runs == 1 else f"simulation, {runs} replications"
    lines = [message(outcome, seed, runs), *_other_rows(found, outcome.status), exact_values(network, found)]
    return Metrics.of(found, method, outcome.status, "\n".join(filter(None, lines)))


def _other_rows(found: Sequence[Row], status: str) -> Iterator[str]:
    """Of tables with another status, which rows heavy tails concern."""
    for name in ("no_moment", "heavy_tail"):
        metrics = dict.fromkeys(row["metric"] for row in found if row["status"] == name)
        if metrics and name != status:
            yield f"rows of status {name}: {', '.join(metrics)}"


def message(outcome: SimulationOutcome, seed: int, runs: int) -> str:
    lines = [f"{outcome.status}: {TEXT[outcome.status]}" if outcome.status != "ok" else "", _why(outcome)]
    each = "" if runs == 1 else f" in each of {outcome.complete or runs} runs"
    cut = (
        f"the first {seconds(outcome.warm_up_s)} cut as warm-up (MSER-5)"
        if outcome.cut
        else "no warm-up to cut (MSER-5)"
    )
    if at_edge(outcome.warm_up_s, outcome.length_s):
        cut += ", the latest allowed position: the warm-up may last longer; simulate longer"
    lines.append(f"{seconds(outcome.length_s)} simulated{each}, {cut}; seed {seed}, {outcome.events} events")
    if outcome.complete < runs:
        lines.append(f"{outcome.complete} of {runs} replications had enough time; the others are left out")
    return "\n".join(filter(None, lines))


def _why(outcome: SimulationOutcome) -> str:
    if outcome.unstable:
        return _overload(outcome)
    if outcome.ended and not (outcome.found and outcome.found.enough):
        return "nothing happens any more: the recorded arrivals have ended, or all customers block each other"
    if outcome.found is None:
        return "no batch was completed; give it a longer time"
    if outcome.doubt and outcome.doubt.missing:
        return f"because of {outcome.doubt.source.told(outcome.tails.network)}"
    if outcome.doubt:
        return _doubtful(outcome, outcome.doubt)
    if outcome.found.enough:
        return ""
    reached = percent(outcome.found.precision) if np.isfinite(outcome.found.precision) else "an unknown precision"
    return (
        f"{outcome.found.what} is known to {reached}, {percent(outcome.precision)} asked for: "
        f"run about {_longer(outcome)}"
    )


def _doubtful(outcome: SimulationOutcome, doubt: TailDoubt) -> str:
    why = (
        f"{doubt.source.told(outcome.tails.network)}: times longer than this run is expected to have seen one of make about "
        f"{percent(doubt.share)} of the mean"
    )
    if not doubt.times < ENDLESS:
        return f"{why}; no run of a practical length would determine it to {percent(outcome.precision)}"
    if doubt.endless:
        long = f"; that falls to {percent(outcome.precision)} in a run of {_length(outcome, doubt.times)}"
        return f"{why}{long if doubt.times > 1 else ''}, and no interval shows the error of such an estimate"
    return f"{why}; for a precision of {percent(outcome.precision)} run about {_length(outcome, doubt.times)}"


def _longer(outcome: SimulationOutcome) -> str:
    assert outcome.found is not None
    if not np.isfinite(outcome.found.needed):
        return "ten times as long, then look again"
    return _length(outcome, max(outcome.found.needed, 1.1))


def _length(outcome: SimulationOutcome, times: float) -> str:
    return (
        f"{seconds(outcome.length_s * times, 2)} of simulated time ({times:.{0 if times >= 100 else 1}f} times as long)"
    )


def _overload(outcome: SimulationOutcome) -> str:
    if outcome.overloaded:
        worst = max(outcome.overloaded, key=lambda name: outcome.overloaded[name])
        load = outcome.overloaded[worst]
        return f"station {worst} is offered {load:.4g} times its capacity: stable below {1 / load:.4g} of these rates"
    return f"the number present at {outcome.growing} grew through the whole run"


def _short(row: Row) -> Row:
    """Times and numbers present of a run that is too short; flows are known sooner, and keep their status."""
    return row if row["metric"] in FLOWS or row["status"] != "ok" else {**row, "status": "too_short"}


def _unstable(row: Row, outcome: SimulationOutcome) -> Row:
    """Flows keep their values; numbers and times of what grows have none."""
    grows = {"", *outcome.overloaded, outcome.growing or ""}
    if row["metric"] in FLOWS or row["station"] not in grows:
        return row
    return {**row, "value": None, "low": None, "high": None, "status": "unstable"}
