"""When a run is long enough: relative precision of response times and throughputs, and enough independent observations.

Checked at lengths that grow by a tenth to the double, as far as the precision reached so far suggests. A rule that looks
often stops where the variance happens to be underestimated (Law, Simulation Modeling and Analysis, 5th ed., 9.5.3), so
that intervals of short runs would cover too seldom; hence the floor: the response times of the whole system must be worth
`INDEPENDENT` independent ones (their variance by that of their mean), which costs an engine of 10^7 events/s little.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from sojourn.model.network_arrays import Network
from sojourn.simulate.engine_record import EngineRecord
from sojourn.stats.batch_means import MACRO, Array, ratio
from sojourn.stats.stationarity import steadiness

INDEPENDENT = 4000
LEAST_IN_MACRO = 5
MOST_GROWTH = 2.0
LEAST_GROWTH = 1.1
MARGIN = 1.05


@dataclass(frozen=True)
class ReachedPrecision:
    """How far a run is: widest relative half-width and of what, and `needed`, the share of length still to multiply. `halves`: (class,
    relative half-width) of response times, None: of all classes. `rates`: widest of the throughputs."""

    precision: float
    what: str
    needed: float
    halves: tuple[tuple[int | None, float], ...] = ()
    rates: float = np.inf

    @property
    def enough(self) -> bool:
        return self.needed <= 1


def reached(record: EngineRecord, network: Network, precision: float, level: float) -> ReachedPrecision:
    """Judges what stayed after the warm-up."""
    done, spent = record.tables["completions"][:, :, -1], record.tables["response_s"][:, :, -1]
    seen = done.sum(axis=(0, 1)) > 0
    if not seen.any():
        return ReachedPrecision(np.inf, "response_time", MOST_GROWTH**2)
    time = np.full((*done.shape[:2], 1), record.batch_s)
    response, rate = ratio(spent, done, level), ratio(done, time, level)
    total = ratio(spent.sum(axis=2, keepdims=True), done.sum(axis=2, keepdims=True), level)
    wide = np.concatenate([response.relative()[seen], rate.relative()[seen], total.relative()])
    names = [network.classes[c] for c in np.flatnonzero(seen)]
    what = [*(f"response_time of {n}" for n in names), *(f"throughput of {n}" for n in names), "response_time"]
    worst = int(np.argmax(wide))
    needed = (wide[worst] / precision) ** 2 * MARGIN if wide[worst] > precision else wide[worst] / precision
    few = LEAST_IN_MACRO * MACRO / done.sum(axis=(0, 1))[seen].min()
    needed = max(float(needed), float(few), INDEPENDENT / max(_independent(record, total.value, total.variance), 1.0))
    of_classes = zip(map(int, np.flatnonzero(seen)), map(float, response.relative()[seen]), strict=True)
    halves = (*of_classes, (None, float(total.relative()[0])))
    return ReachedPrecision(float(wide[worst]), what[worst], needed, halves, float(rate.relative()[seen].max()))


def _independent(record: EngineRecord, mean: Array, variance: Array) -> float:
    """How many independent response times the run is worth."""
    done = record.tables["completions"][:, :, -1].sum()
    own = record.tables["response_s2"][:, :, -1].sum() / done - float(mean[0]) ** 2
    if own <= 1e-12 * float(mean[0]) ** 2:
        return float(done)
    error = float(variance[0])
    return float(done) if error == 0 else float(own) / error if np.isfinite(error) else 0.0


def next_length(length: float, needed: float) -> float:
    """The simulated time of the next look; `needed`: by how much to multiply."""
    return length * float(np.clip(needed, LEAST_GROWTH, MOST_GROWTH))


def growing(record: EngineRecord, network: Network) -> str | None:
    """The station whose number present grows through the whole run, or None; open classes only."""
    if network.closed.all() or record.batches < 2 * MACRO:
        return None
    numbers = record.tables["present"][..., ~network.closed].sum(axis=3).mean(axis=0)
    for k in (*np.argsort(-numbers[:, :-1].sum(axis=0)), len(network.stations)):
        quarter = len(numbers) // 4
        if numbers[-quarter:, k].sum() < 1.5 * numbers[:quarter, k].sum():
            continue  # spares the test of the trend, which would say no
        trend = steadiness(numbers[:, k])
        if trend.correlation > 0.9 and trend.drift > 1.0 and trend.p_value < 1e-6:
            return network.stations[k] if k < len(network.stations) else "the system"
    return None


def overload(network: Network) -> dict[str, float]:
    """Stations that are offered more than they can do: name → load a server, at least 1; where nothing is lost."""
    if np.isfinite(network.capacity).any() or network.limits or network.choices or network.closed.any():
        return {}
    chain = network.chain[:, None] == network.chain[None, :]
    offered = (network.demands_s * (network.rate_per_s @ chain)).sum(axis=1)
    most = np.array([_speed(network, k) for k in range(len(network.stations))])
    return {network.stations[k]: float(offered[k] / most[k]) for k in np.flatnonzero(offered >= most)}


def _speed(network: Network, k: int) -> float:
    if network.kind[k] == "delay":
        return np.inf
    if getattr(network.model.station(network.stations[k]), "server_schedule", ()):
        return np.inf
    return float(network.speed(k, len(network.rates[k]) if k in network.rates else int(network.servers[k]))[-1])
